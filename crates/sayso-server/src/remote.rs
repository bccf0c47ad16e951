//! The remotes of a repository, as its configuration names them: what people see instead of `origin`.
//!
//! The text is the repository's own and decides nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longest configuration that is looked at.
const LONGEST: u64 = 256 * 1024;
/// Remotes of one repository that are told.
const MOST: usize = 32;

/// The remotes of the repository that a folder is in: their names, and where they lead.
///
/// Of a remote that may lead elsewhere than its one `url` says nothing is told, and of none where the file has settings that
/// change addresses or lie in other files, or cannot be read as plainly as this does.
pub(crate) fn remotes(folder: &Path) -> Vec<(String, String)> {
    let Some(config) = config_of(folder) else { return Vec::new() };
    told(config.strip_prefix('\u{feff}').unwrap_or(&config)).unwrap_or_default()
}

/// `None`: what the file says of remotes may not be what git does.
fn told(config: &str) -> Option<Vec<(String, String)>> {
    // The address is `None` once it is doubtful.
    let mut found: Vec<(String, Vec<Option<String>>)> = Vec::new();
    let mut at: Option<usize> = None;
    for line in config.lines().map(str::trim) {
        if line.ends_with('\\') {
            return None;
        }
        if line.starts_with('[') {
            let name = remote_of(line)?;
            at = name.filter(|_| found.len() < MOST).map(|name| {
                let known = found.iter().position(|(other, _)| other == name);
                known.unwrap_or_else(|| {
                    found.push((name.to_owned(), Vec::new()));
                    found.len() - 1
                })
            });
            continue;
        }
        let Some((_, addresses)) = at.and_then(|at| found.get_mut(at)) else { continue };
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "url" => addresses.push(address(value)),
            "pushurl" | "vcs" => addresses.push(None),
            _ => {}
        }
    }
    let one = |(name, addresses): (String, Vec<Option<String>>)| match addresses.as_slice() {
        [Some(url)] => Some((name, place(url))),
        _ => None,
    };
    Some(found.into_iter().filter_map(one).collect())
}

/// The remote that a section is about, if it is about one. `None`: it changes addresses, includes other files, or is not
/// written as git writes it.
fn remote_of(line: &str) -> Option<Option<&str>> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    let (section, name) = match inside.split_once(' ') {
        Some((section, name)) => (section, Some(name.strip_prefix('"')?.strip_suffix('"')?)),
        None => (inside, None),
    };
    // A dot in it is the old way to name a remote.
    let plain = section.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let section = section.to_ascii_lowercase();
    let changes = matches!(section.as_str(), "url" | "include" | "includeif");
    if !plain || changes || name.is_some_and(|name| name.contains(['"', '\\'])) {
        return None;
    }
    Some(name.filter(|_| section == "remote"))
}

/// An address that stands there as it is. `None`: with quotes, escapes or a comment, or for a program of its own (`ext::sh`).
fn address(value: &str) -> Option<String> {
    let value = value.trim();
    let plain = value.bytes().all(|b| b.is_ascii_graphic() && !b"\"\\#;".contains(&b));
    (plain && !value.is_empty() && !value.contains("::")).then(|| value.to_owned())
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
    let (own, common) = if git.is_dir() { (git.clone(), git) } else { stores(&git)? };
    // What a worktree has for itself may lead elsewhere.
    if own.join("config.worktree").symlink_metadata().is_ok() {
        return None;
    }
    read(&common.join("config"))
}

/// The store of a worktree, and the one that it shares with others.
fn stores(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let named = read(file)?;
    let own = file.parent()?.join(named.trim().strip_prefix("gitdir:")?.trim());
    let common = match read(&own.join("commondir")) {
        Some(common) => own.join(common.trim()),
        None => own.clone(),
    };
    Some((own, common))
}

/// A plain file, no pipe that never ends, and all of it.
fn read(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LONGEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LONGEST).then_some(text)
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

    fn repository(config: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir_all(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join(".git/config"), config).unwrap();
        dir
    }

    const ORIGIN: &str =
        "[core]\n\turl = nowhere\n[remote \"origin\"]\n\turl = https://a.example/x.git\n\tfetch = +refs\n";

    #[test]
    fn remotes_are_those_of_the_configuration() {
        assert_eq!(remotes(tempfile::tempdir().unwrap().path()), []);
        let dir = repository(&format!(
            "{ORIGIN}[remote \"up\"]\n\turl = git@b.example:y\n[branch \"main\"]\n\tremote = up\n"
        ));
        let found = remotes(&dir.path().join("src"));
        assert_eq!(found, [("origin".into(), "a.example/x".into()), ("up".into(), "b.example/y".into())]);
    }

    #[test]
    fn nothing_is_told_of_remotes_that_another_setting_may_lead_elsewhere() {
        for more in [
            "[url \"https://evil.example/\"]\n\tinsteadOf = https://a.example/\n",
            "[URL \"https://evil.example/\"]\n\tpushInsteadOf = https://a.example/\n",
            "[include]\n\tpath = more\n",
            "[includeIf \"gitdir:~/\"]\n\tpath = more\n",
            "[remote.origin]\n\turl = https://evil.example/\n",
            "[core] ; [url]\n",
            "\turl = https://evil.example/\n",
            "\tpushurl = https://evil.example/\n",
            "\tvcs = evil\n",
            "[Remote \"origin\"]\n\tURL=https://evil.example/\n",
            "[core]\n\teditor = vi \\\n[remote \"origin\"]\n",
        ] {
            assert_eq!(remotes(repository(&format!("{ORIGIN}{more}")).path()), [], "{more}");
        }
        for url in ["https://a.example/x # not", "ext::sh -c id", "ext::evil", "\"https://a.example/x\"", ""] {
            assert_eq!(remotes(repository(&format!("[remote \"origin\"]\n\turl = {url}\n")).path()), [], "{url}");
        }
        let dir = repository(ORIGIN);
        std::fs::write(dir.path().join(".git/config.worktree"), "").unwrap();
        assert_eq!(remotes(dir.path()), []);
        let long = format!("{ORIGIN}{}", "#\n".repeat(200_000));
        assert_eq!(remotes(repository(&long).path()), []);
    }
}
