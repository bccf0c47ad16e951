//! The bytes of an image: a head that is read and checked at once, and data that is read block by block when it is
//! asked for, each block checked against its sum in the head. So an image of ten thousand rules costs what is used
//! of it, and nothing that is damaged is ever used.

use super::bytes::{Imaged, Reader, put_bytes};
use super::checksum::checksum;
use super::lazily::Lazily;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Changes with every change of the layout.
const FORMAT: &[u8; 8] = b"sayso\0\x00\x09";
/// What is read and checked at once.
const BLOCK: usize = 4096;
/// The length of a checksum, which tells damage; an image is no secret and no proof.
const SUM: usize = 16;
/// Format, the head's length, its sum.
const FIRST: usize = FORMAT.len() + 4 + SUM;
/// What is read at first: the whole of most images.
const AT_ONCE: usize = 16 * 1024;
/// The largest image.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Where an image lies.
pub trait Source: std::fmt::Debug + Send + Sync {
    /// How many bytes there are.
    fn length(&self) -> u64;

    /// Fills the buffer with the bytes from `offset` on. False: that cannot be done.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool;
}

impl Source for Vec<u8> {
    fn length(&self) -> u64 {
        u64::try_from(self.len()).unwrap_or(u64::MAX)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = start.checked_add(buffer.len()).and_then(|end| self.get(start..end));
        found.is_some_and(|found| {
            buffer.copy_from_slice(found);
            true
        })
    }
}

/// The data of an image that was opened.
#[derive(Debug)]
pub(crate) struct Data {
    source: Box<dyn Source>,
    /// What was read with the head, and where in it the data begins.
    first: Vec<u8>,
    start: usize,
    length: usize,
    sums: Range<usize>,
    blocks: Lazily<Box<[u8]>>,
    /// Blocks of `first` that were checked.
    checked: Lazily<()>,
    damaged: AtomicBool,
}

/// An image from its head and its data.
pub(super) fn seal(head: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(head.len() + data.len() / BLOCK * SUM + 64);
    put_bytes(head, &mut body);
    data.len().put(&mut body);
    for block in data.chunks(BLOCK) {
        body.extend_from_slice(&checksum(b"", block));
    }
    let mut image = FORMAT.to_vec();
    u32::try_from(body.len()).ok()?.put(&mut image);
    image.extend_from_slice(&checksum(b"", &body));
    image.extend_from_slice(&body);
    image.extend_from_slice(data);
    u32::try_from(data.len()).ok()?;
    (u64::try_from(image.len()).ok()? <= LARGEST).then_some(image)
}

impl Data {
    /// Opens an image: its data, and where its head is in [`Data::head`]. `None` if it is none, or not whole.
    pub(super) fn open(source: Box<dyn Source>) -> Option<(Self, Range<usize>)> {
        let total = usize::try_from(source.length().min(LARGEST)).ok()?;
        let mut first = vec![0; total.min(AT_ONCE)];
        if !source.read(0, &mut first) {
            return None;
        }
        let mut reader = Reader::new(&first);
        if reader.array()? != *FORMAT {
            return None;
        }
        let body_length = usize::try_from(u32::take(&mut reader)?).ok()?;
        let sum: [u8; SUM] = reader.array()?;
        let start = FIRST.checked_add(body_length).filter(|start| *start <= total)?;
        if start > first.len() {
            first = vec![0; start];
            if !source.read(0, &mut first) {
                return None;
            }
        }
        let body = first.get(FIRST..start)?;
        if checksum(b"", body) != sum {
            return None;
        }
        let mut reader = Reader::new(body);
        let head_length = usize::try_from(u32::take(&mut reader)?).ok()?;
        reader.bytes(head_length)?;
        let length = usize::take(&mut reader)?;
        let count = length.div_ceil(BLOCK);
        let sums_at = FIRST.checked_add(4)?.checked_add(head_length)?.checked_add(8)?;
        let sums = sums_at..sums_at.checked_add(count.checked_mul(SUM)?)?;
        if sums.end != start || start.checked_add(length)? != total {
            return None;
        }
        let head = FIRST + 4..FIRST + 4 + head_length;
        let (blocks, checked) = (Lazily::new(count), Lazily::new(count));
        let damaged = AtomicBool::new(false);
        Some((Self { source, first, start, length, sums, blocks, checked, damaged }, head))
    }

    #[cfg(test)]
    pub(super) fn length(&self) -> u64 {
        u64::try_from(self.length).unwrap()
    }

    /// Bytes of the head.
    pub(super) fn head(&self, range: Range<usize>) -> &[u8] {
        self.first.get(range).unwrap_or_default()
    }

    /// Whether something that was asked for was not there as it was written.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Remembers that something makes no sense.
    pub(crate) fn damaged<T>(&self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.damaged.store(true, Ordering::Relaxed);
        }
        value
    }

    /// Bytes of the data, checked.
    pub(crate) fn bytes(&self, at: usize, length: usize) -> Option<Cow<'_, [u8]>> {
        self.damaged(self.find(at, length))
    }

    fn find(&self, at: usize, length: usize) -> Option<Cow<'_, [u8]>> {
        let end = at.checked_add(length).filter(|end| *end <= self.length)?;
        let (first, within) = (at / BLOCK, at % BLOCK);
        if within + length <= BLOCK {
            if length == 0 {
                return Some(Cow::Borrowed(&[]));
            }
            return self.block(first)?.get(within..within + length).map(Cow::Borrowed);
        }
        let mut whole = Vec::with_capacity(length);
        for block in first..=(end - 1) / BLOCK {
            let from = at.saturating_sub(block * BLOCK);
            let to = (end - block * BLOCK).min(BLOCK);
            whole.extend_from_slice(self.block(block)?.get(from..to)?);
        }
        Some(Cow::Owned(whole))
    }

    fn block(&self, number: usize) -> Option<&[u8]> {
        let from = number * BLOCK;
        let length = BLOCK.min(self.length.checked_sub(from)?);
        // Asked only when a block is first used: of many names each is looked up in blocks that are known.
        let holds = |block: &[u8]| {
            let at = self.sums.start + number * SUM;
            self.first.get(at..at + SUM).is_some_and(|sum| checksum(b"", block) == *sum)
        };
        let place = self.start + from;
        if let Some(block) = self.first.get(place..place + length) {
            self.checked.get(number, || holds(block).then_some(()))?;
            return Some(block);
        }
        let made = self.blocks.get(number, || {
            let mut block = vec![0; length].into_boxed_slice();
            let read = self.source.read(u64::try_from(place).ok()?, &mut block);
            (read && holds(&block)).then_some(block)
        });
        made.map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn bytes_come_back_from_every_place() {
        for length in [0, 1, 4095, 4096, 4097, 70_000] {
            let data = data(length);
            let (opened, head) = Data::open(Box::new(seal(b"head", &data).unwrap())).unwrap();
            assert_eq!(opened.head(head), b"head");
            for (at, count) in
                [(0, 0), (0, length), (length / 2, length / 3), (4000, 200), (length.saturating_sub(1), 1)]
            {
                let wanted = data.get(at..at + count);
                assert_eq!(opened.find(at, count).as_deref(), wanted, "{length} {at} {count}");
            }
            assert!(!opened.is_damaged());
            assert!(opened.bytes(length, 1).is_none());
            assert!(opened.is_damaged());
        }
    }

    #[test]
    fn a_changed_byte_is_never_handed_out() {
        let data = data(30_000);
        let image = seal(b"head", &data).unwrap();
        for at in (0..image.len()).step_by(7) {
            let mut changed = image.clone();
            changed[at] ^= 0x40;
            let Some((opened, _)) = Data::open(Box::new(changed)) else { continue };
            for from in (0..data.len()).step_by(1000) {
                let found = opened.bytes(from, 1000);
                assert!(found.is_none_or(|found| *found == data[from..from + 1000]), "{at} {from}");
            }
            assert!(opened.is_damaged(), "{at}");
        }
    }

    #[test]
    fn a_cut_or_longer_image_is_none() {
        let image = seal(b"head", &data(9000)).unwrap();
        for length in (0..image.len()).step_by(13) {
            assert!(Data::open(Box::new(image[..length].to_vec())).is_none());
        }
        let longer = [image.as_slice(), b"x"].concat();
        assert!(Data::open(Box::new(longer)).is_none());
    }
}
