//! The life of the program on the far side.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to end by itself once nobody listens to it, and then once it was asked to.
const PATIENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(2)];

/// The program on the far side.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending(ExitStatus);

impl Ending {
    /// The exit code to end with ourselves: its own, or 128 and the signal, as a shell tells it.
    pub(crate) fn code(self) -> u8 {
        let code = self.0.code().or_else(|| self.0.signal().map(|signal| 128 + signal)).unwrap_or(1);
        u8::try_from(code).unwrap_or(1)
    }
}

impl Agent {
    /// Starts it. Its errors go where ours go.
    pub(crate) fn start(command: &[OsString]) -> std::io::Result<(Self, File, File)> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let missing = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let input = File::from(OwnedFd::from(child.stdin.take().ok_or_else(missing)?));
        let output = File::from(OwnedFd::from(child.stdout.take().ok_or_else(missing)?));
        Ok((Self { child }, input, output))
    }

    /// Calls back when it has ended. It stays to be waited for, so that its number is nobody else's meanwhile.
    pub(crate) fn when_ended(&self, tell: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let pid = self.pid();
        std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            if let Some(pid) = pid {
                while matches!(rustix::process::waitid(WaitId::Pid(pid), ended), Err(rustix::io::Errno::INTR)) {}
            }
            tell();
        })?;
        Ok(())
    }

    /// Waits until it has ended; helps it to, if it takes too long, or at once in a `hurry`.
    pub(crate) fn end(mut self, hurry: bool) -> std::io::Result<Ending> {
        for (patience, signal) in PATIENCE.into_iter().zip([Signal::TERM, Signal::KILL]) {
            let patience = if hurry && signal == Signal::TERM { Duration::ZERO } else { patience };
            let until = Instant::now() + patience;
            while Instant::now() < until {
                if let Some(status) = self.child.try_wait()? {
                    return Ok(Ending(status));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            if let Some(pid) = self.pid() {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        self.child.wait().map(Ending)
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}
