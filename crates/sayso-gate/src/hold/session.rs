//! Where the supervisors of sessions listen.
//!
//! A session's runs share a hold, so that a server that one of them starts answers the next. A supervisor keeps it, and
//! has a socket in a folder of Sayso's own: one for each session and each set of bounds.

use crate::{Error, Places};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Holds of one session, of other bounds each. Further ones end with their run.
const MOST: usize = 8;
/// A longer path is no address of a socket.
const LONGEST: usize = 100;
const FOLDER: &str = "hold/run";

/// Whose session.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The agent, as its way in names it.
    pub agent: Option<&'a str>,
    /// The session's id.
    pub session: &'a str,
}

impl Whose<'_> {
    /// The beginning of the names of its sockets: a session's id is the agent's text, and could be `../../x`.
    fn name(self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("sayso session of held runs 1");
        for part in [if self.agent.is_some() { "agent" } else { "" }, self.agent.unwrap_or_default(), self.session] {
            hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// The socket of a session's hold with these bounds, told apart by whatever text describes them. `None`: the session has
/// as many as it may have, or no place for a socket.
///
/// # Errors
/// If Sayso's folder cannot be used.
pub fn socket(places: &Places, whose: Whose<'_>, bounds: &str) -> Result<Option<PathBuf>, Error> {
    let folder = match runtime_folder(places).filter(|folder| make(folder)) {
        Some(folder) => folder,
        None => places.own_folder(FOLDER)?,
    };
    let bounds: String = blake3::hash(bounds.as_bytes()).to_hex().chars().take(12).collect();
    let path = folder.join(format!("{}-{bounds}", whose.name()));
    let there = sockets(places, whose);
    let free = there.contains(&path) || there.len() < MOST;
    Ok(Some(path).filter(|path| free && path.as_os_str().len() <= LONGEST))
}

/// The sockets of a session: whoever hears that it ended ends what listens there. Costs a look into a folder.
#[must_use]
pub fn sockets(places: &Places, whose: Whose<'_>) -> Vec<PathBuf> {
    let beginning = format!("{}-", whose.name());
    let folders = [runtime_folder(places), Some(places.state.join(FOLDER))];
    let listings = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok());
    let names = listings.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.as_bytes()).unwrap_or_default();
        name.starts_with(beginning.as_bytes()) && !name.contains(&b'.')
    };
    names.filter(is_one).collect()
}

/// The word with which Sayso ends what listens at the sockets that follow it.
pub const END: &str = "hold-end";

/// Ends a session's holds and everything in them, without waiting for it: for hooks. Costs a look into a folder where there is
/// none. Tells whether there was one.
pub fn end(places: &Places, whose: Whose<'_>) -> bool {
    let sockets = sockets(places, whose);
    let Ok(program) = std::env::current_exe() else { return false };
    // A hook knows nothing of holds; the program beside it does.
    let program = program.with_file_name("sayso");
    let mut command = std::process::Command::new(program);
    command.arg(END).args(&sockets).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // If that fails, they end by themselves when nobody has used them for a while.
    !sockets.is_empty() && command.spawn().is_ok()
}

/// A folder of this user's running programs, by the system and not by a variable: one that nobody else can enter. A home
/// folder may be too long for the address of a socket.
fn runtime_folder(places: &Places) -> Option<PathBuf> {
    let outer = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw()));
    // One for each home: tests, and people with several, keep theirs apart.
    let home: String = blake3::hash(places.state.as_os_str().as_bytes()).to_hex().chars().take(8).collect();
    is_own(&outer).then(|| outer.join("sayso").join(home))
}

/// Whether it could be made, or is there, for nobody else to enter.
fn make(folder: &Path) -> bool {
    // If it fails, it is there already, or what follows says so.
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    is_own(folder) && folder.parent().is_some_and(is_own)
}

fn is_own(folder: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == user && meta.mode() & 0o077 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_finds_its_own_sockets_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let of = |session| Whose { agent: Some("codex"), session };
        let mut made = Vec::new();
        for bounds in 0..MOST {
            let path = socket(&places, of("../../x"), &bounds.to_string()).unwrap().unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::write(path.with_extension("lock"), "").unwrap();
            made.push(path);
        }
        assert_eq!(socket(&places, of("../../x"), "one more").unwrap(), None);
        assert_eq!(socket(&places, of("../../x"), "3").unwrap().as_ref(), made.get(3));
        assert!(socket(&places, of("other"), "0").unwrap().is_some());
        let mut found = sockets(&places, of("../../x"));
        found.sort();
        made.sort();
        assert_eq!(found, made);
        assert!(sockets(&places, Whose { agent: None, session: "../../x" }).is_empty());
        made.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}
