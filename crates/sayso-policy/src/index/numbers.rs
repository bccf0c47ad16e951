//! Numbers of rules by key: built in memory, or as they lie in an image.

use super::key::{Key, Part};
use crate::image::Slots;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Numbers by key.
#[derive(Debug)]
pub(crate) enum Numbers {
    Built(Built),
    Image(Slots),
}

/// Made while a policy is compiled.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// A bit for each part that holds anything.
    pub parts: u32,
    pub lists: HashMap<u64, Vec<u32>, BuildHasherDefault<AsIs>>,
}

impl Built {
    /// Keeps a number under a key. Once is enough.
    pub(crate) fn add(&mut self, part: Part, key: Key, number: u32) {
        self.parts |= 1 << part.code();
        let list = self.lists.entry(key.number()).or_default();
        if list.last() != Some(&number) {
            list.push(number);
        }
    }
}

impl Numbers {
    /// Whether a part holds anything at all.
    pub(crate) fn has(&self, part: Part) -> bool {
        let parts = match self {
            Self::Built(built) => built.parts,
            Self::Image(slots) => slots.parts,
        };
        parts & (1 << part.code()) != 0
    }

    /// Calls `visit` with each number under a key, in order.
    pub(crate) fn each(&self, key: Key, visit: &mut dyn FnMut(u32)) {
        match self {
            Self::Built(built) => {
                if let Some(list) = built.lists.get(&key.number()) {
                    list.iter().for_each(|number| visit(*number));
                }
            }
            Self::Image(slots) => slots.each(key.number(), visit),
        }
    }

    /// Each number of a part that is one list.
    pub(crate) fn all(&self, part: Part, visit: &mut dyn FnMut(u32)) {
        if self.has(part) {
            self.each(Key::new(part), visit);
        }
    }
}

/// The keys are mixed already.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| sum.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
