//! Bounds for runs of a workspace: looks at the machine, and hands what it found to the policy.
//!
//! INVARIANT: what could not be looked at gives no bounds, and without bounds nothing runs held.

use super::blank;
use super::linked;
use super::store::UNDER_WAY;
use crate::fact::{self, Whose};
use crate::files::read_regular;
use crate::places::home_in_database;
use crate::policy::{common_folder, own};
use crate::{Error, InForce, KeptFiles, Places};
use rustix::fs::OFlags;
use sayso_policy::hold::{HoldGround, Lowered, OuterStore, Own, lower};
use sayso_policy::{Actor, Known, Workspace};
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

/// Settings that tools need and that may hold secrets: those are left out.
const SETTINGS: &[&str] = &[
    ".gitconfig",
    ".config/git/config",
    ".cargo/config",
    ".cargo/config.toml",
    ".npmrc",
    ".config/pnpm/rc",
    ".yarnrc",
    ".yarnrc.yml",
    ".bunfig.toml",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".condarc",
    ".gemrc",
    ".bundle/config",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".config/go/env",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet/NuGet.Config",
];
/// The same of the system.
const SETTINGS_OF_SYSTEM: &[&str] = &["/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/uv/uv.toml"];
/// Longer ones are not shown.
const LARGEST_SETTINGS: usize = 64 * 1024;

/// Folders for temporary files that everybody uses.
const SCRATCH: [&str; 2] = ["/tmp", "/var/tmp"];
/// What is in them since this long before the first held run counts as the session's: it may have been written by a call that
/// was not held.
const BEFORE: u64 = 60 * 60;
/// After so long without a held run, another stretch of work begins.
const STRETCH: u64 = 4 * 60 * 60;

/// The bounds of an actor's runs in this workspace by the policy in force, and what of it they do not say. `env` are the
/// names of the variables that a run would get.
///
/// # Errors
/// If the workspace cannot be looked at to the end, or Sayso's own folder cannot be used.
pub fn bounds(
    places: &Places,
    in_force: &InForce,
    workspace: &Path,
    home: Option<&Path>,
    (actor, env): (&Actor, &[OsString]),
) -> Result<Lowered, Error> {
    let ground = HoldGround {
        actor: in_force.policy.owned(actor.clone(), false),
        ..ground(places, in_force, workspace, home, env, None)?
    };
    let lowered = lower(&in_force.policy, &ground);
    super::open::begin(places, &ground, &lowered)?;
    Ok(lowered)
}

/// What there is now, after a run: of guarded things there may be more than a hold is made for.
pub(super) fn seen_again(
    places: &Places,
    in_force: &InForce,
    workspace: &Path,
    home: &Path,
) -> Result<(HoldGround, Lowered), Error> {
    let ground = ground(places, in_force, workspace, Some(home), &[], Some(usize::MAX))?;
    let lowered = lower(&in_force.policy, &ground);
    Ok((ground, lowered))
}

/// What this machine's user did in the workspace, under either name of it. Whoever runs something held may not have said in
/// which session.
fn past(places: &Places, names: [&Path; 2]) -> Known {
    let [mut known, other] = names.map(|name| fact::known(places, &Whose::of(&Actor::default(), Some(name))));
    known.lost |= other.lost;
    known.after.extend(other.after);
    known
}

fn ground(
    places: &Places,
    in_force: &InForce,
    workspace: &Path,
    home: Option<&Path>,
    env: &[OsString],
    most: Option<usize>,
) -> Result<HoldGround, Error> {
    let real = workspace.canonicalize().map_err(|e| Error::io("look at", workspace, e))?;
    let home = home.unwrap_or(&places.home);
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let root = Workspace::new(&real, Some(&home)).root_for_allow().map(Path::to_owned);
    let keep = places.own_folder(FOLDER)?.join(name_of(&real));
    let policy = &in_force.policy;
    let other_homes = other_homes(places, &home);
    let of_all_homes = |names: &[&str]| -> Vec<PathBuf> {
        std::iter::once(&home).chain(&other_homes).flat_map(|home| in_home(home, names)).collect()
    };
    let protected = own::protected(places);
    let system = OWN_OF_SYSTEM.iter().map(PathBuf::from).chain(run_folder());
    let of_homes = [&home, &places.home]
        .into_iter()
        .chain(&other_homes)
        .flat_map(|home| OWN_IN_HOME.map(|folder| home.join(folder)));
    let mut paths: Vec<PathBuf> = protected.paths.into_iter().chain(system).chain(of_homes).collect();
    paths.sort();
    paths.dedup();
    let files = KeptFiles::at(places);
    // After a run nobody asks.
    let linked = root.as_deref().filter(|_| most.is_none()).map(linked::below).unwrap_or_default();
    let mut ground = HoldGround {
        folders: HoldGround::folders_of(policy, root.as_deref(), Some(&home))
            .into_iter()
            .filter(|folder| is_folder_itself(folder))
            .collect(),
        own: paths.into_iter().chain(listeners(Path::new("/tmp"), &real)).map(own_place).collect(),
        registration: protected.registration.into_iter().chain(protected.links).collect(),
        shown: of_all_homes(SHOWN).into_iter().chain(of_all_homes(SETTINGS)).collect(),
        blanked: of_all_homes(SETTINGS)
            .into_iter()
            .chain(SETTINGS_OF_SYSTEM.iter().map(PathBuf::from).filter(|path| path.is_file()))
            .filter_map(|path| Some((path.clone(), without_secrets(&path)?)))
            .collect(),
        env_with_secrets: env
            .iter()
            .filter_map(|name| Some((name.clone(), blank::variable(std::env::var_os(name)?.to_str()?)?)))
            .map(|(name, value)| (name, value.map(OsString::from)))
            .collect(),
        scratch: SCRATCH.iter().map(PathBuf::from).filter(|path| is_folder_itself(path)).collect(),
        scratch_since: since(&keep),
        most,
        past: if policy.remembers() { past(places, [&real, workspace]) } else { Known::default() },
        caches: of_all_homes(CACHES).into_iter().filter(|path| path.is_dir()).collect(),
        keep: Some(keep),
        env: env.to_vec(),
        workspace: root,
        home: Some(home.clone()),
        other_homes: other_homes.clone(),
        linked: linked.folders,
        linked_files: linked.files,
        ..HoldGround::default()
    }
    .looked_at(policy, &files);
    if ground.cut_short {
        return Err(Error::TooMuchToHold(real));
    }
    // Git makes these while it works; they are looked at when the run has ended.
    ground
        .names
        .retain(|name| !(is_in_store(name) && UNDER_WAY.iter().any(|end| name.iter().any(|part| part == *end))));
    // What is read in place of a secret of settings are the settings without it.
    let of_tools = |path: &Path| SETTINGS.iter().any(|name| Path::new(name).file_name() == path.file_name());
    let known: Vec<PathBuf> = ground.blanked.iter().map(|(path, _)| path.clone()).collect();
    let found = ground.found.iter().filter(|found| !found.folder && !found.tracked && of_tools(&found.path));
    let new = found.map(|found| &found.path).filter(|path| !known.contains(path) && !path.is_symlink());
    let new: Vec<_> = new.map(|path| (path.clone(), without_secrets(path))).collect();
    ground.blanked.extend(new.into_iter().map(|(path, text)| {
        let text = text.unwrap_or_else(|| std::fs::read_to_string(&path).unwrap_or_default());
        (path, text)
    }));
    let tops = ground.workspace.iter().cloned().chain(ground.repositories.clone());
    for top in tops.collect::<Vec<_>>() {
        let git = top.join(".git");
        match std::fs::symlink_metadata(&git) {
            Ok(meta) if meta.is_dir() => {
                ground.git.extend(steering(&git));
                ground.git.extend(named_by_settings(&top, &git, &home, &files));
            }
            // The pointer of a work tree, or a link: what it leads to is outside, or found by its own name.
            Ok(_) => {
                let inside = |common: &PathBuf| ground.workspace.as_ref().is_some_and(|root| common.starts_with(root));
                if let Some(common) = common_folder(&git).filter(|common| !inside(common)) {
                    let steering = steering(&common);
                    ground.git.extend(named_by_settings(&top, &common, &home, &files));
                    ground.stores.push(OuterStore { pointer: git.clone(), common, steering });
                }
                ground.git.push(git);
            }
            // A new store would have hooks and settings of its own.
            Err(_) => ground.names.push(git),
        }
    }
    Ok(ground)
}

fn is_in_store(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}

/// What steers git in a store. The lines of a rebase that is not under way yet are looked at when the run has ended: git writes
/// them while it works.
fn steering(store: &Path) -> Vec<PathBuf> {
    let all = git_store::steering(store, worktrees(store)).into_iter();
    all.filter(|path| !path.ends_with("git-rebase-todo") || std::fs::symlink_metadata(path).is_ok()).collect()
}

/// What the settings that count in a repository name in its work tree: programs that git starts, other hooks, more settings.
fn named_by_settings(top: &Path, store: &Path, home: &Path, files: &KeptFiles) -> Vec<PathBuf> {
    let trees = worktrees(store).into_iter().map(|tree| store.join("worktrees").join(tree).join("config.worktree"));
    let own = [store.join("config"), store.join("config.worktree")];
    let of_user = [".gitconfig", ".config/git/config"].map(|name| home.join(name));
    let all = own.into_iter().chain(trees).chain(of_user).chain([PathBuf::from("/etc/gitconfig")]);
    let named = all.flat_map(|settings| git_store::named(top, &settings, files));
    // The top folder itself is nobody's folder of hooks alone.
    named.filter(|path| path.starts_with(top) && path != top && !path.starts_with(store)).collect()
}

/// The home folder that the user database names, where it is another one.
fn other_homes(places: &Places, home: &Path) -> Vec<PathBuf> {
    const SYSTEM: [&str; 11] =
        ["/usr", "/bin", "/sbin", "/lib", "/etc", "/dev", "/proc", "/sys", "/boot", "/run", "/nonexistent"];
    let named = home_in_database().and_then(|home| home.canonicalize().ok());
    let all = named.into_iter().chain([places.home.clone()]);
    let mut found: Vec<PathBuf> = all
        .filter(|other| other.parent().is_some() && other != home && other.is_dir())
        .filter(|other| !SYSTEM.iter().any(|system| other.starts_with(system)))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Settings without the secrets in them; `None`: there are none. What cannot be read as a text is not shown at all.
fn without_secrets(path: &Path) -> Option<String> {
    let content = read_regular(path, LARGEST_SETTINGS, OFlags::empty()).ok().map(|(content, _)| content);
    match content.map(String::from_utf8) {
        Some(Ok(text)) => blank::settings(&text),
        _ => Some(String::new()),
    }
}

/// Since when temporary files count as the session's: from some time before the first held run of a stretch of work. Kept,
/// for equal bounds share a hold.
fn since(keep: &Path) -> u64 {
    let now = std::time::SystemTime::now();
    let seconds = |time: std::time::SystemTime| {
        time.duration_since(std::time::UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
    };
    let path = keep.join("since");
    let used = std::fs::symlink_metadata(&path).and_then(|meta| meta.modified()).map(seconds).unwrap_or_default();
    let began = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let now = seconds(now);
    let goes_on = began.filter(|_| used.saturating_add(STRETCH) > now && used <= now.saturating_add(1));
    let began = goes_on.unwrap_or(now.saturating_sub(BEFORE));
    if goes_on.is_none() || used.saturating_add(60) < now {
        // Without it, the next hold is one of its own.
        let _ = std::fs::create_dir_all(keep).and_then(|()| std::fs::write(&path, began.to_string()));
    }
    began
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
