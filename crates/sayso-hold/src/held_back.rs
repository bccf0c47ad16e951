//! What a hold refused, as data. It informs; nothing is decided by it, since the run can make it say anything.

use crate::wire::{Reader, Wire};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many different things are kept.
const MOST: usize = 200;

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HeldBack {
    /// A secret was opened; a decoy was read.
    Read(PathBuf),
    /// Something appeared under a guarded name, and was moved aside.
    Write {
        /// The name.
        path: PathBuf,
        /// Where it is now; `None` if it could not be moved, or was only taken away.
        aside: Option<PathBuf>,
    },
    /// A file outside the bounds was opened for writing. Only where that is asked for:
    /// [`Launch::report_writes`](crate::Launch::report_writes).
    WriteOutside(PathBuf),
    /// A Unix socket outside, by the path that the run gave.
    Socket(PathBuf),
    /// A host that is not allowed was asked for.
    Connect {
        /// Its name, as the run gave it.
        host: String,
        /// The port, where it is known.
        port: Option<u16>,
    },
}

/// Counts what was held back, without growing with what the run does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    counts: BTreeMap<HeldBack, u64>,
    more: u64,
    reached: BTreeMap<(String, u16), u64>,
}

impl Record {
    pub(crate) fn add(&mut self, what: HeldBack) {
        if let Some(count) = self.counts.get_mut(&what) {
            *count = count.saturating_add(1);
        } else if self.counts.len() < MOST {
            self.counts.insert(what, 1);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds something that was found under a guarded name after the run, and where it was moved to.
    pub fn add_moved(&mut self, path: PathBuf, aside: Option<PathBuf>) {
        self.add(HeldBack::Write { path, aside });
    }

    pub(crate) fn reach(&mut self, host: &str, port: u16) {
        if self.reached.len() < MOST {
            let count = self.reached.entry((host.to_owned(), port)).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Hosts that the run connected to, with the port, and how often. Not all of them, if there were very many.
    pub fn reached(&self) -> impl Iterator<Item = (&str, u16, u64)> {
        self.reached.iter().map(|((host, port), count)| (host.as_str(), *port, *count))
    }

    /// What was held back, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (&HeldBack, u64)> {
        self.counts.iter().map(|(what, count)| (what, *count))
    }

    /// How many more there were, of which only the number is kept.
    #[must_use]
    pub const fn more(&self) -> u64 {
        self.more
    }

    /// Whether nothing was held back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.more == 0
    }
}

impl Wire for HeldBack {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Read(path) => {
                0_u8.put(out);
                path.put(out);
            }
            Self::Write { path, aside } => {
                1_u8.put(out);
                path.put(out);
                aside.put(out);
            }
            Self::Connect { host, port } => {
                2_u8.put(out);
                host.put(out);
                port.put(out);
            }
            Self::Socket(path) => {
                3_u8.put(out);
                path.put(out);
            }
            Self::WriteOutside(path) => {
                4_u8.put(out);
                path.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Read(PathBuf::take(from)?),
            1 => Self::Write { path: PathBuf::take(from)?, aside: <Option<PathBuf> as Wire>::take(from)? },
            2 => Self::Connect { host: String::take(from)?, port: <Option<u16> as Wire>::take(from)? },
            3 => Self::Socket(PathBuf::take(from)?),
            4 => Self::WriteOutside(PathBuf::take(from)?),
            _ => return None,
        })
    }
}

impl Wire for Record {
    fn put(&self, out: &mut Vec<u8>) {
        let pairs: Vec<(HeldBack, u64)> = self.counts.iter().map(|(what, count)| (what.clone(), *count)).collect();
        pairs.put(out);
        self.more.put(out);
        let reached: Vec<((String, u16), u64)> = self.reached.iter().map(|(at, count)| (at.clone(), *count)).collect();
        reached.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            counts: Vec::<(HeldBack, u64)>::take(from)?.into_iter().collect(),
            more: u64::take(from)?,
            reached: Vec::<((String, u16), u64)>::take(from)?.into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_tries_everything_fills_no_memory() {
        let mut record = Record::default();
        for number in 0..100_000 {
            record.add(HeldBack::Connect { host: format!("h{number}.example"), port: None });
        }
        assert_eq!((record.iter().count(), record.more()), (MOST, 100_000 - 200));
    }
}
