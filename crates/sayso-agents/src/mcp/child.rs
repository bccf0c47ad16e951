//! A server that is a program: its life, and the lines in between.

use super::setting::INHERITED;
use super::upstream::{Gone, Link, Upstream};
use crate::pipe::{Frame, Frames, Reader, Sink};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest line of a server that is looked at. Longer than the largest result may be, so that one that is too
/// large can still be told from one that is not.
const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// How long a program may take to end by itself once nobody listens to it, and then once it was asked to.
const PATIENCE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(2)];

/// How long what it said last may take to be passed on.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A server that is a program.
pub(crate) struct ChildLink {
    command: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    running: Mutex<Option<Running>>,
}

struct Running {
    input: Sink,
    child: Arc<Mutex<Child>>,
    /// Hears that everything it said has been passed on.
    heard: Receiver<()>,
}

impl ChildLink {
    pub(crate) fn new(command: Vec<OsString>, env: Vec<(OsString, OsString)>, cwd: Option<PathBuf>) -> Self {
        Self { command, env, cwd, running: Mutex::new(None) }
    }

    fn spawn(&self) -> std::io::Result<(Child, File, File)> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        let inherited = INHERITED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(inherited).envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        // A group of its own, so that what it starts itself ends with it.
        command.process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let missing = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let input = File::from(OwnedFd::from(child.stdin.take().ok_or_else(missing)?));
        let output = File::from(OwnedFd::from(child.stdout.take().ok_or_else(missing)?));
        Ok((child, input, output))
    }
}

impl Link for ChildLink {
    fn start(&self, upstream: &Arc<Upstream>, life: u64) -> std::io::Result<()> {
        let (child, input, output) = self.spawn()?;
        let child = Arc::new(Mutex::new(child));
        let input = Sink::new(input)?;
        let reader = (Arc::clone(upstream), Arc::clone(&child), input.clone());
        let (tell, heard) = channel();
        *lock(&self.running) = Some(Running { input, child, heard });
        std::thread::Builder::new().name("mcp-server".to_owned()).spawn(move || {
            let (upstream, child, input) = reader;
            read(&upstream, output);
            let _ = tell.send(());
            input.close();
            let status = end(&child);
            upstream.gone(life, &ending(status));
        })?;
        Ok(())
    }

    fn send(&self, line: &[u8]) -> Result<(), Gone> {
        let input = lock(&self.running).as_ref().map(|running| running.input.clone());
        input.ok_or(Gone)?.pass(line).map_err(|_| Gone)
    }

    fn forget(&self) {
        lock(&self.running).take();
    }

    fn close(&self) {
        if let Some(running) = lock(&self.running).take() {
            running.input.close();
            end(&running.child);
            let _ = running.heard.recv_timeout(LAST_WORDS);
        }
    }
}

fn read(upstream: &Arc<Upstream>, output: File) {
    let mut frames = Frames::new(output, LONGEST_LINE);
    let mut reader = Reader::default();
    loop {
        match frames.next() {
            Ok(Frame::Lines) => {
                for line in frames.lines().split_inclusive(|byte| *byte == b'\n') {
                    upstream.line_from_server(&mut reader, line);
                }
            }
            Ok(Frame::TooLong(skimmed)) => upstream.too_long_from_server(&skimmed, LONGEST_LINE),
            Ok(Frame::End) | Err(_) => return,
        }
    }
}

/// Waits until it has ended; helps it to, if it takes too long.
fn end(child: &Mutex<Child>) -> Option<ExitStatus> {
    let mut child = lock(child);
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    for (patience, signal) in PATIENCE.into_iter().zip([rustix::process::Signal::TERM, rustix::process::Signal::KILL]) {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            match child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
    child.wait().ok()
}

fn ending(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("it ended with exit code {code}"),
            (_, Some(signal)) => format!("it was ended by signal {signal}"),
            _ => "it ended".to_owned(),
        },
        None => "it ended".to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
