//! Where lines are written to: one side of the pipe.
//!
//! What is passed on is written at once, by the thread that read it. What we say ourselves goes through a thread of
//! its own: the thread that reads a side must never wait until that same side takes an answer, or two full pipes
//! would wait for each other for ever.

use rustix::event::{PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many lines of our own may wait. A side that asks and asks and never reads is cut off beyond that.
const MOST_WAITING: usize = 4096;

/// Why nothing more can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The other end is closed.
    Closed,
    /// The other end does not read what it asked for.
    Flooded,
}

/// What waits to be written.
#[derive(Debug)]
enum Own {
    Line(Vec<u8>),
    End,
}

/// One side of the pipe, to be written to.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    /// `None` once it is closed.
    file: Arc<Mutex<Option<File>>>,
    own: SyncSender<Own>,
    /// Hears that the last line of our own is out.
    done: Arc<Mutex<Receiver<()>>>,
}

impl Sink {
    /// Starts the thread that writes our own lines.
    pub(crate) fn new(file: File) -> std::io::Result<Self> {
        let file = Arc::new(Mutex::new(Some(file)));
        let (own, waiting) = sync_channel(MOST_WAITING);
        let (finished, done) = sync_channel(1);
        let target = Arc::clone(&file);
        std::thread::Builder::new().stack_size(128 * 1024).spawn(move || {
            while let Ok(Own::Line(line)) = waiting.recv() {
                let _ = write(&target, &line);
            }
            target.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = finished.send(());
        })?;
        Ok(Self { file, own, done: Arc::new(Mutex::new(done)) })
    }

    /// Passes lines on.
    pub(crate) fn pass(&self, lines: &[u8]) -> Result<(), Stopped> {
        write(&self.file, lines)
    }

    /// Says something of our own, without waiting.
    pub(crate) fn say(&self, line: Vec<u8>) -> Result<(), Stopped> {
        self.own.try_send(Own::Line(line)).map_err(|error| match error {
            TrySendError::Full(_) => Stopped::Flooded,
            TrySendError::Disconnected(_) => Stopped::Closed,
        })
    }

    /// Whether nobody reads the other end any more, as far as can be told without writing.
    pub(crate) fn is_deaf(&self) -> bool {
        // Held by a writer that waits: then somebody may still read.
        let Ok(file) = self.file.try_lock() else { return false };
        let Some(open) = file.as_ref() else { return true };
        let mut polled = [PollFd::new(open, PollFlags::empty())];
        let now = Timespec::default();
        rustix::event::poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0)
    }

    /// Closes it behind what still waits, so that the reader sees the end.
    pub(crate) fn close(&self) {
        // A side that let so many lines wait is being cut off anyway.
        let _ = self.own.try_send(Own::End);
    }

    /// Closes it, and waits a moment until what still waits is out.
    pub(crate) fn finish(&self, patience: Duration) {
        self.close();
        let _ = self.done.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience);
    }
}

fn write(file: &Mutex<Option<File>>, lines: &[u8]) -> Result<(), Stopped> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(open) = file.as_mut() else { return Err(Stopped::Closed) };
    if open.write_all(lines).is_err() {
        // Half a line may be out: nothing may follow it.
        file.take();
        return Err(Stopped::Closed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn pipe() -> (File, File) {
        let (reader, writer) = std::io::pipe().unwrap();
        (File::from(std::os::fd::OwnedFd::from(reader)), File::from(std::os::fd::OwnedFd::from(writer)))
    }

    #[test]
    fn a_side_that_never_reads_is_cut_off_and_nobody_waits() {
        let (_kept_open, writer) = pipe();
        let sink = Sink::new(writer).unwrap();
        let line = vec![b'x'; 1024];
        let said = (0..MOST_WAITING * 2).map(|_| sink.say(line.clone())).find(Result::is_err);
        assert_eq!(said, Some(Err(Stopped::Flooded)));
    }

    #[test]
    fn after_closing_the_reader_sees_the_end() {
        let (mut reader, writer) = pipe();
        let sink = Sink::new(writer).unwrap();
        sink.pass(b"a\n").unwrap();
        sink.say(b"b\n".to_vec()).unwrap();
        sink.close();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\nb\n");
        assert_eq!(sink.pass(b"c\n"), Err(Stopped::Closed));
    }
}
