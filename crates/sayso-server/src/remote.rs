//! The remotes of a repository, as its configuration names them: what people see instead of `origin`.
//!
//! The text is the repository's own and decides nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longest configuration that is looked at.
const LONGEST: u64 = 256 * 1024;
/// Remotes of one repository that are told.
const MOST: usize = 32;

/// The remotes of the repository that a folder is in: their names, and where pushes go.
pub(crate) fn remotes(folder: &Path) -> Vec<(String, String)> {
    let Some(config) = config_of(folder) else { return Vec::new() };
    let mut found: Vec<(String, Option<String>, Option<String>)> = Vec::new();
    let mut at: Option<usize> = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            let name = line.strip_prefix("[remote \"").and_then(|rest| rest.split('"').next());
            at = name.filter(|_| found.len() < MOST).map(|name| {
                let known = found.iter().position(|(other, ..)| other == name);
                known.unwrap_or_else(|| {
                    found.push((name.to_owned(), None, None));
                    found.len() - 1
                })
            });
            continue;
        }
        let (Some((key, value)), Some(remote)) = (line.split_once('='), at.and_then(|at| found.get_mut(at))) else {
            continue;
        };
        let value = Some(value.trim().trim_matches('"').to_owned());
        match key.trim().to_ascii_lowercase().as_str() {
            "url" if remote.1.is_none() => remote.1 = value,
            "pushurl" if remote.2.is_none() => remote.2 = value,
            _ => {}
        }
    }
    found.into_iter().filter_map(|(name, url, push)| Some((name, place(&push.or(url)?)))).collect()
}

/// `github.com/acme/app` of an address of git, without its user and password.
fn place(url: &str) -> String {
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => match url.split_once(':') {
            Some(parts) => parts,
            None => return format!("the folder {url}"),
        },
    };
    // A password may stand before the last `@`, wherever that is.
    let behind = |text: &str| text.rsplit('@').next().unwrap_or_default().to_owned();
    let (host, path) = (behind(host), behind(path));
    let host = host.split(':').next().unwrap_or_default();
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_matches('/');
    if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") }
}

fn config_of(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|above| above.join(".git")).find(|git| git.symlink_metadata().is_ok())?;
    let store = if git.is_dir() { git } else { common(&git)? };
    read(&store.join("config"))
}

/// The store of a worktree.
fn common(file: &Path) -> Option<PathBuf> {
    let named = read(file)?;
    let store = file.parent()?.join(named.trim().strip_prefix("gitdir:")?.trim());
    match read(&store.join("commondir")) {
        Some(common) => Some(store.join(common.trim())),
        None => Some(store),
    }
}

/// A plain file, and no pipe that never ends.
fn read(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_its_host_and_path_and_never_with_a_password() {
        for (url, shown) in [
            ("https://github.com/acme/app.git", "github.com/acme/app"),
            ("https://ann:s3cret@github.com/acme/app", "github.com/acme/app"),
            ("https://ann:s3cret/@x.example/app", "ann/x.example/app"),
            ("git@github.com:acme/app.git", "github.com/acme/app"),
            ("ssh://git@host.example:2222/acme/app.git", "host.example/acme/app"),
            ("../elsewhere.git", "the folder ../elsewhere.git"),
            ("/srv/app.git", "the folder /srv/app.git"),
        ] {
            assert_eq!(place(url), shown, "{url}");
        }
    }

    #[test]
    fn remotes_are_those_of_the_configuration_and_pushes_go_to_their_own_address() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(remotes(dir.path()), []);
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir_all(dir.path().join("src")).unwrap();
        let text = "[core]\n\turl = nowhere\n[remote \"origin\"]\n\turl = https://a.example/x.git\n\tfetch = +refs\n[remote \"up\"]\n\turl = git@b.example:y\n\tpushurl = git@c.example:z.git\n";
        std::fs::write(dir.path().join(".git/config"), text).unwrap();
        let found = remotes(&dir.path().join("src"));
        assert_eq!(found, [("origin".into(), "a.example/x".into()), ("up".into(), "c.example/z".into())]);
    }
}
