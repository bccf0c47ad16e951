//! Everything that the policy in force depends on, in a form that can be compared.
//!
//! Where to look is found anew each time (which repository this is, which files may speak, which book of trust is
//! theirs): an agent may move folders, plant files nearer to the workspace, or turn `.git` into a pointer. What was
//! there is told by what the system says of each file, and for what an agent may be able to write by its content too.

use crate::policy::repository::Repository;
use crate::policy::{programs, source, trust};
use crate::{Places, files};
use rustix::fs::{Mode, OFlags};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Project files up to this size are told by their content too. Larger ones would cost more to read than they are
/// worth: there the system's word counts, as for the owner's own files.
const LARGEST_READ: usize = 64 * 1024;
/// Two changes within this time may look like one: the clocks of file systems are coarse. What is younger is not
/// remembered yet.
const SETTLED: Duration = Duration::from_secs(2);

/// Everything that the policy in force depends on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    /// In full: what is not the same byte by byte is not the same.
    pub(super) label: Vec<u8>,
    /// The latest change of any of them, in nanoseconds since 1970.
    latest: i128,
}

impl Inputs {
    /// Looks at everything. `None`: something cannot be looked at, so that nothing can be said.
    pub(super) fn look(places: &Places, workspace: Option<&Path>) -> Option<Self> {
        let mut inputs = Self { label: Vec::with_capacity(1024), latest: 0 };
        inputs.text(env!("CARGO_PKG_VERSION").as_bytes());
        // Presets, sets and the code that reads all this are in the program.
        let program = std::fs::metadata(program()?).ok()?;
        inputs.seen(&program);
        // It cannot be written while it runs, only replaced.
        inputs.latest = 0;
        inputs.number(rustix::process::geteuid().as_raw());
        inputs.number(places.managed_owner);
        for place in [&places.home, &places.state] {
            inputs.path(place);
        }
        inputs.file(&places.managed, OFlags::empty())?;
        inputs.path(places.managed.parent()?);
        inputs.there(std::fs::metadata(places.managed.parent()?))?;
        inputs.file(&places.user, OFlags::empty())?;
        for folder in programs::folders(places) {
            inputs.folder(&folder)?;
        }
        inputs.number(u32::from(workspace.is_some()));
        if let Some(workspace) = workspace {
            let repository = Repository::of(workspace);
            inputs.path(workspace);
            inputs.path(&repository.root);
            inputs.path(&repository.identity);
            for folder in repository.chain(workspace) {
                inputs.project_file(&folder.join(source::PROJECT_FILE))?;
            }
            for folder in programs::project_folders(&repository, workspace) {
                inputs.project_folder(&folder)?;
            }
            inputs.file(&trust::book(places, &repository), OFlags::NOFOLLOW)?;
        }
        Some(inputs)
    }

    /// Whether all of them are old enough that a later change cannot look like no change.
    pub(super) fn are_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok();
        now.and_then(|now| now.checked_sub(SETTLED))
            .and_then(|before| i128::try_from(before.as_nanos()).ok())
            .is_some_and(|before| self.latest < before)
    }

    fn number(&mut self, number: u32) {
        self.label.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, bytes: &[u8]) {
        self.label.extend_from_slice(&bytes.len().to_le_bytes());
        self.label.extend_from_slice(bytes);
    }

    fn path(&mut self, path: &Path) {
        self.text(path.as_os_str().as_bytes());
    }

    /// A file that may be there, or not. Opened, as whoever reads it would: over a network only that asks the server
    /// whether it changed.
    fn file(&mut self, path: &Path, flags: OFlags) -> Option<()> {
        self.path(path);
        let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(std::io::Error::from);
        let found = self.there(opened.and_then(|file| std::fs::File::from(file).metadata()))?;
        if found.is_none() && !flags.contains(OFlags::NOFOLLOW) {
            self.number(u32::from(source::leads_nowhere(path)));
        }
        Some(())
    }

    /// A folder of texts about programs, and the texts.
    fn folder(&mut self, folder: &Path) -> Option<()> {
        self.path(folder);
        if self.there(std::fs::metadata(folder))?.is_some() {
            for file in programs::listed(folder).ok()? {
                self.file(&file, OFlags::empty())?;
            }
        }
        Some(())
    }

    /// The same of a project.
    fn project_folder(&mut self, folder: &Path) -> Option<()> {
        self.path(folder);
        if self.there(std::fs::symlink_metadata(folder))?.is_some_and(|meta| meta.is_dir()) {
            for file in programs::listed(folder).ok()? {
                self.project_file(&file)?;
            }
        }
        Some(())
    }

    /// A project's file, which an agent may be able to write.
    fn project_file(&mut self, path: &Path) -> Option<()> {
        self.path(path);
        let meta = self.there(std::fs::symlink_metadata(path))?;
        if meta.is_some_and(|meta| meta.is_file() && meta.len() <= LARGEST_READ as u64) {
            let (content, _) = files::read_regular(path, LARGEST_READ, OFlags::NOFOLLOW).ok()?;
            self.label.extend_from_slice(blake3::hash(&content).as_bytes());
        }
        Some(())
    }

    fn there(&mut self, meta: std::io::Result<Metadata>) -> Option<Option<Metadata>> {
        match meta {
            Ok(meta) => {
                self.number(1);
                self.seen(&meta);
                Some(Some(meta))
            }
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                self.number(0);
                Some(None)
            }
            Err(_) => None,
        }
    }

    fn seen(&mut self, meta: &Metadata) {
        for number in [meta.dev(), meta.ino(), meta.size()] {
            self.label.extend_from_slice(&number.to_le_bytes());
        }
        for number in [meta.mode(), meta.uid(), meta.gid()] {
            self.number(number);
        }
        for (seconds, nanos) in [(meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec())] {
            self.label.extend_from_slice(&seconds.to_le_bytes());
            self.label.extend_from_slice(&nanos.to_le_bytes());
            self.latest = self.latest.max(i128::from(seconds) * 1_000_000_000 + i128::from(nanos));
        }
    }
}

/// The program that runs here.
fn program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") { Some("/proc/self/exe".into()) } else { std::env::current_exe().ok() }
}
