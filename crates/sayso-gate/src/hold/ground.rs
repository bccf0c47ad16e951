//! Bounds for runs of a workspace: looks at the machine, and hands what it found to the policy.
//!
//! INVARIANT: what could not be looked at gives no bounds, and without bounds nothing runs held.

use crate::policy::own;
use crate::{Error, InForce, KeptFiles, Places};
use sayso_policy::Workspace;
use sayso_policy::hold::{HoldGround, Lowered, Own, lower};
use sayso_shell::git_store;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Where Sayso keeps copies of caches, below its own folder.
const FOLDER: &str = "hold";

/// Where Sayso keeps things besides: the same places as integrity guards.
const OWN_IN_HOME: [&str; 4] = [".config/sayso", ".local/state/sayso", ".local/share/sayso", ".cache/sayso"];
const OWN_OF_SYSTEM: [&str; 3] = ["/etc/sayso", "/var/lib/sayso", "/run/sayso"];

/// Where programs that run for the user listen, in the folder for temporary files. Nothing held can connect there, but it could
/// listen in their place: a client of tmux runs what its server tells it to.
const LISTENERS: &[&str] = &["tmux-", "ssh-", "emacs", "gpg-", ".X11-unix", ".ICE-unix", "screens"];

/// Folders of the home in which tools keep what they fetched or built, and that every build needs.
const CACHES: &[&str] = &[
    ".cache",
    ".npm",
    ".yarn/berry/cache",
    ".local/share/pnpm/store",
    ".bun/install/cache",
    ".deno",
    ".cargo/registry",
    ".cargo/git",
    "go/pkg",
    ".gradle/caches",
    ".gradle/wrapper",
    ".gradle/native",
    ".gradle/daemon",
    ".m2/repository",
    ".ivy2",
    ".sbt/boot",
    ".nuget/packages",
    ".hex",
    ".mix",
    ".cabal/packages",
    ".stack/pantry",
    ".pub-cache",
    ".ccache",
    ".electron",
    ".node-gyp",
];

/// What of the home tools read: programs and toolchains, and settings that hold no secrets.
const SHOWN: &[&str] = &[
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/fnm",
    ".local/share/virtualenvs",
    "bin",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/config",
    ".cargo/config.toml",
    ".rustup",
    "go/bin",
    ".nvm",
    ".fnm",
    ".volta",
    ".nodenv",
    ".npm-global",
    ".bun",
    ".pyenv",
    ".rye",
    ".virtualenvs",
    "miniconda3",
    "anaconda3",
    "mambaforge",
    "miniforge3",
    ".rbenv",
    ".rvm",
    ".gem/ruby",
    ".asdf",
    ".sdkman",
    ".jenv",
    ".ghcup",
    ".opam",
    ".elan",
    ".dotnet",
    ".juliaup",
    ".nix-profile",
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
    ".gitignore",
    ".gitignore_global",
    ".editorconfig",
    ".tool-versions",
];

/// The bounds of runs in this workspace by the policy in force, and what of it they do not say. `env` are the names of the
/// variables that a run would get.
///
/// # Errors
/// If the workspace cannot be looked at to the end, or Sayso's own folder cannot be used.
pub fn bounds(
    places: &Places,
    in_force: &InForce,
    workspace: &Path,
    home: Option<&Path>,
    env: &[OsString],
) -> Result<Lowered, Error> {
    let ground = ground(places, in_force, workspace, home, env)?;
    Ok(lower(&in_force.policy, &ground))
}

fn ground(
    places: &Places,
    in_force: &InForce,
    workspace: &Path,
    home: Option<&Path>,
    env: &[OsString],
) -> Result<HoldGround, Error> {
    let real = workspace.canonicalize().map_err(|e| Error::io("look at", workspace, e))?;
    let home = home.unwrap_or(&places.home);
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let root = Workspace::new(&real, Some(&home)).root_for_allow().map(Path::to_owned);
    let keep = places.own_folder(FOLDER)?.join(name_of(&real));
    let policy = &in_force.policy;
    let protected = own::protected(places);
    let system = OWN_OF_SYSTEM.iter().map(PathBuf::from).chain(run_folder());
    let of_homes = [&home, &places.home].into_iter().flat_map(|home| OWN_IN_HOME.map(|folder| home.join(folder)));
    let mut paths: Vec<PathBuf> = protected.paths.into_iter().chain(system).chain(of_homes).collect();
    paths.sort();
    paths.dedup();
    let mut ground = HoldGround {
        folders: HoldGround::folders_of(policy, root.as_deref(), Some(&home))
            .into_iter()
            .filter(|folder| is_folder_itself(folder))
            .collect(),
        own: paths.into_iter().chain(listeners(Path::new("/tmp"), &real)).map(own_place).collect(),
        registration: protected.registration.into_iter().chain(protected.links).collect(),
        shown: in_home(&home, SHOWN),
        caches: in_home(&home, CACHES).into_iter().filter(|path| path.is_dir()).collect(),
        keep: Some(keep),
        env: env.to_vec(),
        workspace: root,
        home: Some(home),
        ..HoldGround::default()
    }
    .looked_at(policy, &KeptFiles::at(places));
    if ground.cut_short {
        return Err(Error::TooMuchToHold(real));
    }
    let tops = ground.workspace.iter().cloned().chain(ground.repositories.clone());
    for top in tops.collect::<Vec<_>>() {
        let git = top.join(".git");
        match std::fs::symlink_metadata(&git) {
            Ok(meta) if meta.is_dir() => ground.git.extend(git_store::steering(&git, worktrees(&git))),
            // The pointer of a work tree, or a link: what it leads to is outside, or found by its own name.
            Ok(_) => ground.git.push(git),
            // A new store would have hooks and settings of its own.
            Err(_) => ground.names.push(git),
        }
    }
    Ok(ground)
}

/// The names of a repository's work trees.
fn worktrees(git: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    entries.take(256).map(|entry| PathBuf::from(entry.file_name())).collect()
}

/// Whether a folder is there by this very path: one behind a link is another folder.
fn is_folder_itself(path: &Path) -> bool {
    path.is_dir() && path.canonicalize().is_ok_and(|real| real == path)
}

/// What of these is there, not behind a link.
fn in_home(home: &Path, names: &[&str]) -> Vec<PathBuf> {
    let all = names.iter().map(|name| home.join(name));
    all.filter(|path| path.canonicalize().is_ok_and(|real| real == *path)).collect()
}

fn own_place(path: PathBuf) -> Own {
    let meta = std::fs::symlink_metadata(&path).ok();
    // Behind a link is what counts, and that is named besides.
    let there = meta.as_ref().is_some_and(|meta| !meta.is_symlink());
    Own { there, folder: meta.is_none_or(|meta| meta.is_dir()), path }
}

/// The folders in this one in which others listen, but for one that the workspace is in.
fn listeners(folder: &Path, workspace: &Path) -> Vec<PathBuf> {
    let named = |name: &OsString| LISTENERS.iter().any(|begins| name.as_bytes().starts_with(begins.as_bytes()));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| named(&entry.file_name()) && entry.file_type().is_ok_and(|it| it.is_dir()));
    let mut found: Vec<PathBuf> =
        folders.map(|entry| entry.path()).filter(|path| !workspace.starts_with(path)).take(64).collect();
    found.sort();
    found
}

/// Where the server's socket is.
fn run_folder() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    Some(PathBuf::from(format!("/run/user/{uid}/sayso")))
}

/// A name for what is kept of a workspace.
fn name_of(workspace: &Path) -> String {
    blake3::hash(workspace.as_os_str().as_bytes()).to_hex().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_which_others_listen_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["tmux-1000", "ssh-abc/work", "emacs1000", "other"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("tmux-notes"), "").unwrap();
        let found = |workspace: &str| listeners(root, &root.join(workspace));
        assert_eq!(found("other"), ["emacs1000", "ssh-abc", "tmux-1000"].map(|name| root.join(name)));
        assert_eq!(found("ssh-abc/work"), ["emacs1000", "tmux-1000"].map(|name| root.join(name)));
    }
}
