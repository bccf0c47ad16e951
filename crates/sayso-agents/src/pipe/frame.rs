//! Lines out of a stream of bytes, with a limit.

use super::skim::{Glance, Skimmed};
use std::io::Read;

/// The longest line that is looked at. A prompt may hold several images.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// A buffer that grew for a long line is given back above this.
const KEPT: usize = 1024 * 1024;

/// What came out of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Whole lines, their ends included; the last one of a stream may have none.
    Lines,
    /// A line over the limit, which was not kept.
    TooLong(Skimmed),
    /// The stream has ended.
    End,
}

/// Lines out of a stream.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    source: R,
    longest: usize,
    buffer: Vec<u8>,
    filled: usize,
    /// Of the buffer, where no line ends.
    searched: usize,
    /// Of the buffer, what was handed out.
    taken: usize,
    too_long: Option<Glance>,
    ended: bool,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(source: R, longest: usize) -> Self {
        Self { source, longest, buffer: vec![0; CHUNK], filled: 0, searched: 0, taken: 0, too_long: None, ended: false }
    }

    /// The lines that [`Frame::Lines`] told of.
    pub(crate) fn lines(&self) -> &[u8] {
        self.buffer.get(..self.taken).unwrap_or_default()
    }

    /// Waits for the next whole lines: as many as are there.
    pub(crate) fn next(&mut self) -> std::io::Result<Frame> {
        self.forget_taken();
        loop {
            if let Some(frame) = self.frame() {
                return Ok(frame);
            }
            if self.ended {
                return Ok(Frame::End);
            }
            self.read()?;
        }
    }

    /// What can be said of the bytes at hand.
    fn frame(&mut self) -> Option<Frame> {
        let bytes = self.buffer.get(..self.filled).unwrap_or_default();
        if let Some(mut glance) = self.too_long.take() {
            let end = memchr::memchr(b'\n', bytes).map(|end| end + 1);
            glance.feed(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
            let all = end.unwrap_or(self.filled);
            self.drop_front(all);
            if end.is_none() && !self.ended {
                self.too_long = Some(glance);
                return None;
            }
            return Some(Frame::TooLong(glance.end()));
        }
        let new = bytes.get(self.searched..).unwrap_or_default();
        let end = memchr::memrchr(b'\n', new).map(|end| self.searched + end + 1);
        self.searched = self.filled;
        let end = end.or((self.ended && self.filled > 0).then_some(self.filled));
        if let Some(end) = end {
            self.taken = end;
            return Some(Frame::Lines);
        }
        if self.filled > self.longest {
            self.too_long = Some(Glance::default());
            return self.frame();
        }
        None
    }

    fn read(&mut self) -> std::io::Result<()> {
        if self.filled == self.buffer.len() {
            let more = self.buffer.len().min(self.longest.max(CHUNK)).max(CHUNK);
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match self.source.read(room) {
            Ok(0) => self.ended = true,
            Ok(count) => self.filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn forget_taken(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        self.drop_front(taken);
    }

    fn drop_front(&mut self, count: usize) {
        self.buffer.copy_within(count..self.filled, 0);
        self.filled -= count;
        self.searched = self.searched.saturating_sub(count);
        if self.buffer.len() > KEPT && self.filled <= CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stream that gives a few bytes at a time.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(room.len());
            let (now, later) = self.0.split_at(count);
            room[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn all(bytes: &[u8], step: usize, longest: usize) -> (Vec<u8>, Vec<Skimmed>) {
        let mut frames = Frames::new(Dribble(bytes, step), longest);
        let (mut out, mut long) = (Vec::new(), Vec::new());
        loop {
            match frames.next().unwrap() {
                Frame::Lines => out.extend_from_slice(frames.lines()),
                Frame::TooLong(skimmed) => long.push(skimmed),
                Frame::End => return (out, long),
            }
        }
    }

    #[test]
    fn a_line_over_the_limit_is_told_and_the_next_one_is_read() {
        let long = format!("{{\"method\":\"x\",\"params\":\"{}\",\"id\":7}}\n", "y".repeat(200_000));
        let text = format!("{{\"id\":1}}\n{long}{{\"id\":2}}\n");
        let (out, told) = all(text.as_bytes(), 10_000, 100_000);
        assert_eq!(out, b"{\"id\":1}\n{\"id\":2}\n");
        assert_eq!(told, [Skimmed { id: Some(b"7".to_vec()), request: true, answer: false }]);
    }

    #[test]
    fn a_long_line_within_the_limit_is_kept_whole() {
        let text = format!("\"{}\"\n\"b\"", "y".repeat(3_000_000));
        let (out, told) = all(text.as_bytes(), 70_000, LONGEST_LINE);
        assert!(out == text.as_bytes() && told.is_empty());
    }

    proptest! {
        #[test]
        fn what_is_read_comes_out_whatever_the_pieces(
            lines in proptest::collection::vec("[a-z]{0,20}", 0..10), step in 1_usize..40, end in any::<bool>()
        ) {
            let mut text = lines.join("\n");
            if end { text.push('\n'); }
            prop_assert_eq!(all(text.as_bytes(), step, 1000).0, text.as_bytes());
        }
    }
}
