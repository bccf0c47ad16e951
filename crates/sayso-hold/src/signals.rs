//! Signals that are meant for the program.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

const FORWARDED: [Signal; 6] =
    [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGUSR1, Signal::SIGUSR2];

/// The code of a signal that the kernel sent.
const BY_KERNEL: i32 = 0x80;

/// Signals to this thread's process, collected instead of acted upon.
pub(crate) struct Forwarded {
    signals: SignalFd,
    before: SigSet,
}

impl Forwarded {
    pub(crate) fn begin() -> io::Result<Self> {
        let set = SigSet::from_iter(FORWARDED);
        let mut before = SigSet::empty();
        pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&set), Some(&mut before))?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { signals, before })
    }

    /// What came since last time. A key pressed at the terminal reached the program as well, so it is not repeated.
    pub(crate) fn received(&self) -> Vec<i32> {
        let mut received = Vec::new();
        while let Ok(Some(signal)) = self.signals.read_signal() {
            if signal.ssi_code != BY_KERNEL
                && let Ok(number) = i32::try_from(signal.ssi_signo)
            {
                received.push(number);
            }
        }
        received
    }
}

impl Drop for Forwarded {
    fn drop(&mut self) {
        // Whatever came last was for a program that is gone.
        let _ = self.received();
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&self.before), None);
    }
}

impl AsFd for Forwarded {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}
