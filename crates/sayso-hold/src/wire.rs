//! How the two sides of a hold write to each other: numbers and strings of bytes, each with its length.
//!
//! Names of files are bytes, not text, so no text format would do. What comes from inside a hold is read as bounded
//! data: a length that is not there is an error, never an allocation.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Something that can be sent.
pub(crate) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Reader<'_>) -> Option<Self>;

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Reads all of `bytes`; `None` if there is less in it, or more.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes };
        let value = Self::take(&mut reader)?;
        reader.rest.is_empty().then_some(value)
    }
}

/// What is still to be read.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn next(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        from.next(1)?.first().copied()
    }
}

impl Wire for u16 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.next(2)?.try_into().ok()?))
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.next(4)?.try_into().ok()?))
    }
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.next(8)?.try_into().ok()?))
    }
}

impl Wire for i32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.next(4)?.try_into().ok()?))
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    // Nothing that is sent comes near this; if it did, the other side would refuse it as cut off.
    u32::try_from(length).unwrap_or(u32::MAX).put(out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn take_bytes(from: &mut Reader<'_>) -> Option<Vec<u8>> {
    let length = usize::try_from(u32::take(from)?).ok()?;
    Some(from.next(length)?.to_vec())
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_vec(take_bytes(from)?))
    }
}

impl Wire for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_os_str().as_bytes(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from(OsString::take(from)?))
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Self::from_utf8(take_bytes(from)?).ok()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        for item in self {
            item.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let length = u32::take(from)?;
        // Not allocated ahead: the length is a claim.
        let mut items = Self::new();
        for _ in 0..length {
            items.push(T::take(from)?);
        }
        Some(items)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        if bool::take(from)? { Some(Some(T::take(from)?)) } else { Some(None) }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl Wire for std::net::Ipv4Addr {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.octets());
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from(<[u8; 4]>::try_from(from.next(4)?).ok()?))
    }
}

/// A path as a C string; `None` if there is a NUL in it.
pub(crate) fn c_path(path: &Path) -> Option<std::ffi::CString> {
    std::ffi::CString::new(path.as_os_str().as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_taken_whole_and_a_cut_or_longer_text_is_not() {
        let value = (vec![PathBuf::from("/a\nb"), PathBuf::from("")], Some(OsString::from_vec(vec![0xff, 0xfe])));
        let bytes = value.bytes();
        assert_eq!(<(Vec<PathBuf>, Option<OsString>)>::from_bytes(&bytes), Some(value));
        for cut in 0..bytes.len() {
            assert_eq!(<(Vec<PathBuf>, Option<OsString>)>::from_bytes(&bytes[..cut]), None);
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(<(Vec<PathBuf>, Option<OsString>)>::from_bytes(&longer), None);
    }

    #[test]
    fn a_length_that_is_not_there_allocates_nothing() {
        assert_eq!(Vec::<u8>::from_bytes(&[0xff, 0xff, 0xff, 0xff]), None);
    }
}
