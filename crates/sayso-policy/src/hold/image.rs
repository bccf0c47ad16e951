//! The section as bytes of an image.

use super::section::{HoldSection, Placed, WriteList};
use crate::image::{Imaged, Reader, choice, fields};
use crate::text::Caches;
use sayso_shell::bounds::{Leave, Need};

choice!(Need { 0 => Self::Files, 1 => Self::Whole });
choice!(Leave { 0 => Self::End, 1 => Self::Session });
choice!(Caches { 0 => Self::Copy, 1 => Self::Private, 2 => Self::None });
fields!(WriteList { any, except });
fields!(HoldSection { lifts, run, run_except, always, need, write, caches, connect, connect_except, env, leave });

impl<P: Imaged> Imaged for Placed<P> {
    fn put(&self, out: &mut Vec<u8>) {
        self.pattern.put(out);
        self.written.put(out);
        self.source.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { pattern: P::take(from)?, written: Imaged::take(from)?, source: Imaged::take(from)? })
    }
}
