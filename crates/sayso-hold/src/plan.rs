//! What to mount where: the bounds, as a list that is worked off from the top.
//!
//! This is the pure half. What must be looked up on the machine first is in `prepare`; what makes the mounts is in
//! `mounts`.

use crate::step::Step;
use crate::wire::{Reader, Wire};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// How much the kernel keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Landlock and seccomp only; [`left_open`](crate::left_open) lists what that does not cover.
    Files,
    /// Everything that the bounds say.
    Whole,
}

/// What is seen at a path. Where two are said of one path, the later in this order counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// Itself, so that it cannot be renamed.
    Pin,
    /// Itself, though the folder around it is hidden.
    Show,
    /// Itself, to be written.
    Write,
    /// What is there; changes go elsewhere.
    Copy { upper: PathBuf, work: PathBuf },
    /// Another folder.
    Private(PathBuf),
    /// An empty folder to write in.
    Scratch,
    /// An empty folder.
    Hide,
    /// Itself, but read-only.
    ReadOnly,
    /// A text that anybody may read.
    Text(String),
    /// A text in place of a secret. Who opens it is told.
    Decoy(String),
    /// Something that cannot be opened.
    Refuse,
}

impl What {
    /// Whether the run may write below.
    pub(crate) const fn is_written(&self) -> bool {
        matches!(self, Self::Write | Self::Copy { .. } | Self::Private(_) | Self::Scratch)
    }
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cover {
    pub(crate) path: PathBuf,
    pub(crate) what: What,
}

/// Everything that the inner side of a hold needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: Level,
    /// From the top: a folder comes before what is in it.
    pub(crate) covers: Vec<Cover>,
    /// What Landlock lets a run read; `Files` only, where no mount hides anything.
    pub(crate) readable: Vec<PathBuf>,
    /// What Landlock lets a run write.
    pub(crate) writable: Vec<PathBuf>,
    /// Addresses that are routed to the machine itself, besides those for names.
    pub(crate) addresses: Vec<Ipv4Addr>,
    /// Where the supervisor answers for hosts.
    pub(crate) listeners: Vec<(Ipv4Addr, u16)>,
    /// The working directory at the start.
    pub(crate) folder: PathBuf,
    /// Whether files that are opened for writing are told to the supervisor.
    pub(crate) report_writes: bool,
    /// Fail there, for tests.
    pub(crate) fail_at: Option<Step>,
}

/// Orders the covers, leaves out those that change nothing, and pins the folders above read-only files.
pub(crate) fn arrange(wanted: Vec<Cover>) -> Vec<Cover> {
    let mut at: BTreeMap<PathBuf, What> = BTreeMap::new();
    for cover in wanted {
        match at.get_mut(&cover.path) {
            Some(what) if *what >= cover.what => {}
            Some(what) => *what = cover.what,
            None => drop(at.insert(cover.path, cover.what)),
        }
    }
    // A path sorts before everything below it, so what is around a path has been looked at when its turn comes.
    let paths: Vec<PathBuf> = at.keys().cloned().collect();
    for path in paths {
        let Some(what) = at.get(&path) else { continue };
        let around = nearest(&at, &path).map(|(_, what)| what);
        let changes_nothing = match (what, around) {
            // Inside an empty folder there is nothing to protect.
            (
                What::ReadOnly | What::Decoy(_) | What::Refuse | What::Hide | What::Pin,
                Some(What::Hide | What::Scratch),
            ) => true,
            (What::ReadOnly | What::Show, None | Some(What::ReadOnly | What::Show)) => true,
            (What::Write, Some(What::Write)) | (What::Show, Some(What::Write)) => true,
            _ => false,
        };
        if changes_nothing {
            at.remove(&path);
        }
    }
    let mut pins = Vec::new();
    for (path, what) in &at {
        if *what != What::ReadOnly {
            continue;
        }
        for folder in path.ancestors().skip(1) {
            match at.get(folder) {
                Some(what) if *what == What::ReadOnly => {}
                Some(_) => break,
                None => pins.push(folder.to_path_buf()),
            }
        }
    }
    for folder in pins {
        at.entry(folder).or_insert(What::Pin);
    }
    at.into_iter().map(|(path, what)| Cover { path, what }).collect()
}

/// The innermost cover around a path, without the path's own.
pub(crate) fn nearest<'a>(at: &'a BTreeMap<PathBuf, What>, path: &Path) -> Option<(&'a Path, &'a What)> {
    path.ancestors().skip(1).find_map(|folder| at.get_key_value(folder)).map(|(path, what)| (path.as_path(), what))
}

impl Wire for What {
    fn put(&self, out: &mut Vec<u8>) {
        let (tag, text, folders): (u8, &str, [Option<&PathBuf>; 2]) = match self {
            Self::Pin => (0, "", [None, None]),
            Self::Show => (1, "", [None, None]),
            Self::Write => (2, "", [None, None]),
            Self::Copy { upper, work } => (3, "", [Some(upper), Some(work)]),
            Self::Private(folder) => (4, "", [Some(folder), None]),
            Self::Scratch => (5, "", [None, None]),
            Self::Hide => (6, "", [None, None]),
            Self::ReadOnly => (7, "", [None, None]),
            Self::Text(text) => (8, text, [None, None]),
            Self::Decoy(text) => (9, text, [None, None]),
            Self::Refuse => (10, "", [None, None]),
        };
        tag.put(out);
        text.to_owned().put(out);
        for folder in folders {
            folder.cloned().put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let tag = u8::take(from)?;
        let text = String::take(from)?;
        let (first, second) = (<Option<PathBuf> as Wire>::take(from)?, <Option<PathBuf> as Wire>::take(from)?);
        Some(match tag {
            0 => Self::Pin,
            1 => Self::Show,
            2 => Self::Write,
            3 => Self::Copy { upper: first?, work: second? },
            4 => Self::Private(first?),
            5 => Self::Scratch,
            6 => Self::Hide,
            7 => Self::ReadOnly,
            8 => Self::Text(text),
            9 => Self::Decoy(text),
            10 => Self::Refuse,
            _ => return None,
        })
    }
}

impl Wire for Cover {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        self.what.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { path: PathBuf::take(from)?, what: What::take(from)? })
    }
}

impl Wire for Plan {
    fn put(&self, out: &mut Vec<u8>) {
        (self.level == Level::Whole).put(out);
        self.covers.put(out);
        self.readable.put(out);
        self.writable.put(out);
        self.addresses.put(out);
        self.listeners.put(out);
        self.folder.put(out);
        self.report_writes.put(out);
        self.fail_at.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            level: if bool::take(from)? { Level::Whole } else { Level::Files },
            covers: Vec::take(from)?,
            readable: Vec::take(from)?,
            writable: Vec::take(from)?,
            addresses: Vec::take(from)?,
            listeners: Vec::take(from)?,
            folder: PathBuf::take(from)?,
            report_writes: bool::take(from)?,
            fail_at: <Option<Step> as Wire>::take(from)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(wanted: &[(&str, What)]) -> Vec<(String, What)> {
        let covers = wanted.iter().map(|(path, what)| Cover { path: path.into(), what: what.clone() }).collect();
        arrange(covers).into_iter().map(|cover| (cover.path.display().to_string(), cover.what)).collect()
    }

    #[test]
    fn folders_above_a_read_only_file_are_pinned_up_to_what_is_mounted_anyway() {
        assert_eq!(
            arranged(&[("/w", What::Write), ("/w/.git/hooks/deep", What::ReadOnly)]),
            [
                ("/w".into(), What::Write),
                ("/w/.git".into(), What::Pin),
                ("/w/.git/hooks".into(), What::Pin),
                ("/w/.git/hooks/deep".into(), What::ReadOnly),
            ]
        );
    }

    #[test]
    fn what_is_read_only_or_visible_anyway_needs_no_mount() {
        assert_eq!(arranged(&[("/etc/x", What::ReadOnly), ("/usr", What::Show)]), []);
        assert_eq!(
            arranged(&[("/w", What::Write), ("/w/sub", What::Write), ("/w/lib", What::Show)]),
            [("/w".into(), What::Write)]
        );
    }

    #[test]
    fn nothing_is_mounted_in_an_empty_folder_but_what_is_shown_there() {
        assert_eq!(
            arranged(&[
                ("/home", What::Hide),
                ("/home/.env", What::Decoy("no".into())),
                ("/home/w", What::Write),
                ("/home/.cargo", What::Show),
            ]),
            [("/home".into(), What::Hide), ("/home/.cargo".into(), What::Show), ("/home/w".into(), What::Write)]
        );
    }

    #[test]
    fn the_strictest_word_on_a_path_counts() {
        assert_eq!(
            arranged(&[("/w", What::Write), ("/w/f", What::Refuse), ("/w/f", What::ReadOnly)]),
            [("/w".into(), What::Write), ("/w/f".into(), What::Refuse)]
        );
        assert_eq!(arranged(&[("/w", What::Hide), ("/w", What::Write)]), [("/w".into(), What::Hide)]);
    }

    #[test]
    fn a_writable_folder_inside_a_read_only_one_keeps_its_mount() {
        assert_eq!(
            arranged(&[("/w", What::Write), ("/w/a", What::ReadOnly), ("/w/a/out", What::Write)]),
            [("/w".into(), What::Write), ("/w/a".into(), What::ReadOnly), ("/w/a/out".into(), What::Write)]
        );
    }

    #[test]
    fn a_plan_arrives_as_it_was_sent() {
        let plan = Plan {
            level: Level::Whole,
            covers: vec![Cover { path: "/a".into(), what: What::Copy { upper: "/u".into(), work: "/w".into() } }],
            readable: vec![],
            writable: vec!["/a".into()],
            addresses: vec![Ipv4Addr::new(198, 18, 0, 1)],
            listeners: vec![(Ipv4Addr::UNSPECIFIED, 443)],
            folder: "/a".into(),
            report_writes: true,
            fail_at: Some(Step::Seccomp),
        };
        assert_eq!(Plan::from_bytes(&plan.bytes()), Some(plan));
    }
}
