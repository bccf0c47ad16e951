//! Values as bytes. Every read is checked: any bytes at all give a value or `None`, never a panic, and never a list
//! larger than the bytes that are there.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A value that an image can hold.
pub(crate) trait Imaged: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Reader<'_>) -> Option<Self>;
}

/// Bytes that are read from the front.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let length = u32::take(self)?;
        std::str::from_utf8(self.bytes(usize::try_from(length).ok()?)?).ok()
    }

    /// A value and nothing behind it.
    pub(crate) fn whole<T: Imaged>(bytes: &'b [u8]) -> Option<T> {
        let mut reader = Self(bytes);
        T::take(&mut reader).filter(|_| reader.0.is_empty())
    }
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Imaged for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut Reader<'_>) -> Option<Self> {
                from.array().map(Self::from_le_bytes)
            }
        }
    )*};
}
number!(u8, u16, u32, u64);

impl Imaged for usize {
    fn put(&self, out: &mut Vec<u8>) {
        u64::try_from(*self).unwrap_or(u64::MAX).put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        u64::take(from)?.try_into().ok()
    }
}

impl Imaged for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_bytes(text.as_bytes(), out);
}

pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    // Longer ones do not fit into an image, which is checked when it is written.
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).put(out);
    out.extend_from_slice(bytes);
}

impl Imaged for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        from.text().map(str::to_owned)
    }
}

impl Imaged for Arc<str> {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        from.text().map(Self::from)
    }
}

impl Imaged for Cow<'static, str> {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        String::take(from).map(Cow::Owned)
    }
}

impl<T: Imaged> Imaged for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<T: Imaged> Imaged for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_ref().put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        T::take(from).map(Self::new)
    }
}

pub(crate) fn put_list<T: Imaged>(list: &[T], out: &mut Vec<u8>) {
    u32::try_from(list.len()).unwrap_or(u32::MAX).put(out);
    list.iter().for_each(|value| value.put(out));
}

impl<T: Imaged> Imaged for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self, out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let count = usize::try_from(u32::take(from)?).ok()?;
        // INVARIANT: every value is at least a byte, so no count makes this larger than the bytes that are there.
        let mut list = Self::with_capacity(count.min(from.0.len()).min(1024));
        for _ in 0..count {
            if from.0.is_empty() {
                return None;
            }
            list.push(T::take(from)?);
        }
        Some(list)
    }
}

impl<A: Imaged, B: Imaged> Imaged for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl Imaged for Range<usize> {
    fn put(&self, out: &mut Vec<u8>) {
        self.start.put(out);
        self.end.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(usize::take(from)?..usize::take(from)?)
    }
}

impl Imaged for Duration {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_secs().put(out);
        self.subsec_nanos().put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let (seconds, nanos) = (u64::take(from)?, u32::take(from)?);
        (nanos < 1_000_000_000).then(|| Self::new(seconds, nanos))
    }
}

/// A choice by number: each variant with what it holds.
macro_rules! choice {
    ($kind:ty { $($code:literal => $variant:path),+ $(,)? }) => {
        impl $crate::image::Imaged for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(match self { $($variant => $code),+ });
            }
            fn take(from: &mut $crate::image::Reader<'_>) -> Option<Self> {
                match u8::take(from)? { $($code => Some($variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use choice;

/// A struct, field by field. A field that is added and forgotten here does not compile.
macro_rules! fields {
    ($kind:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::image::Imaged for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($crate::image::Imaged::put($field, out);)+
            }
            fn take(from: &mut $crate::image::Reader<'_>) -> Option<Self> {
                $(let $field = $crate::image::Imaged::take(from)?;)+
                Some(Self { $($field),+ })
            }
        }
    };
}
pub(crate) use fields;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_cut_ones_do_not() {
        let value = (vec![Some("a".to_owned()), None], (7_u64, Duration::from_millis(1500)));
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        assert_eq!(Reader::whole(&bytes), Some(value));
        for length in 0..bytes.len() {
            assert_eq!(Reader::whole::<(Vec<Option<String>>, (u64, Duration))>(&bytes[..length]), None);
        }
    }

    #[test]
    fn a_count_that_lies_costs_nothing() {
        assert_eq!(Reader::whole::<Vec<u64>>(&[0xff; 12]), None);
        assert_eq!(Reader::whole::<String>(&[0xff, 0xff, 0xff, 0x7f, b'a']), None);
    }
}
