//! Settings, repositories as such, and what git starts at times.

use crate::effect::NamedBy;
use crate::files::Kind;
use crate::program::{Code, View, join};
use crate::word::{Text, Word};
use std::path::{Path, PathBuf};

/// A store of another name than `.git` holds a configuration that nothing guards.
pub(crate) fn init(view: &mut View<'_>) {
    for (at, _) in view.values("--separate-git-dir") {
        view.named_by_flag(Code::ChangesRepository, "--separate-git-dir", at);
    }
}

/// Without an option that says what to do, `git config key` reads and `git config key value` sets.
pub(crate) fn config(view: &mut View<'_>) {
    shows_secrets(view);
    const SAYS: &[&str] = &[
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "--get-color",
        "--get-colorbool",
        "--replace-all",
        "--add",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
        "--edit",
    ];
    let changes = view.has_any(&[
        "--replace-all",
        "--add",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
        "--edit",
    ]);
    if !view.has_any(SAYS)
        && let Some(at) = view.operand_at(1)
    {
        view.imply("--set", Some(Code::ChangesSettings), at);
        writes_file(view);
        reached_later(view);
    } else if changes {
        writes_file(view);
        reached_later(view);
    }
}

/// Parts of the names of settings that hold a password or a token.
const WORDS: &[&str] =
    &["extraheader", "token", "password", "passwd", "smtppass", "passphrase", "secret", "apikey", "api-key"];

/// How many files of settings are looked at, those that others take in among them. Git gives up after ten in a row.
const MOST_FILES: usize = 32;

/// `git var -l` lists the settings too.
pub(crate) fn var(view: &mut View<'_>) {
    if view.has("-l") {
        lists_secrets(view);
    }
}

/// Settings are listed: they are secrets if one of the files that are in force here holds such a setting.
fn lists_secrets(view: &mut View<'_>) {
    if any_file(view, holds_secret) {
        view.named(Code::ShowsSecrets, NamedBy::Nothing, 0);
    }
}

/// Where the remotes of this repository are is told: that is a secret if an address has a password in it.
pub(crate) fn shows_addresses(view: &mut View<'_>) {
    let tells = matches!(view.path.last(), Some(&("get-url" | "show"))) || view.has_any(&["--verbose", "--get-url"]);
    if tells && any_file(view, holds_password) {
        view.named(Code::ShowsSecrets, NamedBy::Nothing, 0);
    }
}

/// Whether one of the files of settings that are in force satisfies `test`, or cannot be read though it is there.
fn any_file(view: &View<'_>, test: fn(&[u8]) -> bool) -> bool {
    let files = &view.inv.files;
    let read = |path: &Path| path.is_absolute().then(|| files.read(path, crate::limit::MAX_COMMAND)).flatten();
    let mut places: Vec<PathBuf> = Vec::new();
    if let Some(file) = view.value("--file").and_then(Word::exact) {
        places.push(join(view.base.as_deref(), file));
    } else {
        let folders = view.base.as_deref().map(Path::ancestors).into_iter().flatten();
        let top = folders.map(|folder| folder.join(".git")).find(|store| files.kind(store) != Kind::Missing);
        if let Some(store) = top {
            // Of a further working tree, `.git` is a file that tells where its store is.
            let told =
                read(&store).and_then(|text| Some(text.trim_ascii().strip_prefix(b"gitdir:")?.trim_ascii().to_vec()));
            let linked = told.map(|told| join(store.parent(), &told));
            for store in std::iter::once(store).chain(linked.clone()).chain(linked.map(|linked| linked.join("../.."))) {
                places.extend([store.join("config"), store.join("config.worktree")]);
            }
        }
        if let Some(home) = view.inv.home {
            places.extend([home.join(".gitconfig"), home.join(".config/git/config")]);
        }
        places.push(PathBuf::from("/etc/gitconfig"));
    }
    let mut next = 0;
    while let Some(place) = places.get(next) {
        next += 1;
        if next > MOST_FILES {
            return true;
        }
        match read(place) {
            Some(text) if test(&text) => return true,
            Some(text) => {
                let more: Vec<PathBuf> = included(&text, place, view.inv.home).collect();
                places.extend(more);
            }
            None if place.is_absolute() && matches!(files.kind(place), Kind::File { .. } | Kind::Link(_)) => {
                return true;
            }
            None => {}
        }
    }
    false
}

/// The files that a file of settings takes in: `path` below `[include]` and `[includeIf ..]`, whatever the condition is.
fn included<'a>(text: &'a [u8], file: &'a Path, home: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
    let mut includes = false;
    text.split(|byte| *byte == b'\n').filter_map(move |line| {
        let line = String::from_utf8_lossy(line);
        let mut rest = line.trim();
        if let Some(section) = rest.strip_prefix('[') {
            includes = section.get(..7).is_some_and(|name| name.eq_ignore_ascii_case("include"));
            rest = rest.rsplit_once(']').map_or("", |(_, behind)| behind).trim();
        }
        let (key, value) = rest.split_once('=').filter(|_| includes)?;
        if !key.trim().eq_ignore_ascii_case("path") {
            return None;
        }
        let value = value.trim().trim_matches('"');
        match (value.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(file.parent()?.join(value)),
        }
    })
}

/// Whether a line sets something of such a name, or names an address with a password in it.
fn holds_secret(text: &[u8]) -> bool {
    lines(text).any(|line| {
        // Section headers are searched with the keys: `[url "https://x:y@host"]`, `[core] token = x`.
        let (key, value) = line.split_once('=').unwrap_or((&line, ""));
        let names = !value.trim().is_empty() && WORDS.iter().any(|word| key.contains(word));
        names || value.contains("password=") || has_password(&line)
    })
}

/// Whether a line names an address with a password in it.
fn holds_password(text: &[u8]) -> bool {
    lines(text).any(|line| has_password(&line))
}

/// The lines that are no comments, in lower case.
fn lines(text: &[u8]) -> impl Iterator<Item = String> {
    let lines = text.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).to_ascii_lowercase());
    lines.filter(|line| !line.trim_start().starts_with(['#', ';']))
}

/// `https://user:password@host`, or a token in the place of the user's name.
fn has_password(text: &str) -> bool {
    /// Shorter names are those of people.
    const TOKEN: usize = 20;
    text.split("://").skip(1).any(|rest| {
        let place = rest.split(['/', '"', ' ']).next().unwrap_or_default();
        place.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || user.len() >= TOKEN)
    })
}

/// Settings that hold a password or a token, asked for by name.
pub(crate) fn shows_secrets(view: &mut View<'_>) {
    // The settings stand in a file as the repository holds it, or in an object that only its number names.
    for (at, blob) in view.values("--blob") {
        match blob.exact() {
            Some(bytes) if bytes.contains(&b':') => super::revision::reads_file_of_revision(view, bytes, at),
            Some(_) => super::pathspec::whole(view, &crate::effect::Sieve::Tracked),
            None => view.reads_below(&Word::Opaque, at),
        }
    }
    let named = view.path.last() == Some(&"list") || view.has_any(&["--list", "--get-regexp", "--get-urlmatch"]);
    if (named || view.has_any(&["--regexp", "--url"])) && !view.has("--name-only") {
        lists_secrets(view);
    }
    for at in view.operands() {
        let word = view.word(at).and_then(Word::exact_str).map(str::to_ascii_lowercase);
        let secret = |word: &String| WORDS.iter().any(|secret| word.contains(secret));
        let address = |word: &String| word.ends_with("url") || word.ends_with("proxy") || word.ends_with("helper");
        if word.as_ref().is_some_and(secret)
            || word.as_ref().is_some_and(address) && any_file(view, holds_secret_address)
        {
            view.named(Code::ShowsSecrets, NamedBy::Nothing, at);
        }
    }
}

/// Whether an address or a helper that is set here holds a password.
fn holds_secret_address(text: &[u8]) -> bool {
    lines(text).any(|line| has_password(&line) || line.contains("password="))
}

/// A setting that names a repository or a proxy: git will connect there.
pub(crate) fn reached_later(view: &mut View<'_>) {
    let Some(at) = view.operand_at(0) else { return };
    let value = view.operand(1).cloned();
    if let Some(key) = view.operand_str(0) {
        names_host(view, key, value.as_ref(), at);
    }
}

/// What `key = value` makes git connect to.
pub(super) fn names_host(view: &mut View<'_>, key: &str, value: Option<&Word>, at: usize) {
    let lower = key.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or_default();
    if matches!(last, "insteadof" | "pushinsteadof") {
        // `url.BASE.insteadOf`: what is reached stands in the key.
        let base = key.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.')).map_or("", |(base, _)| base);
        super::remote::set_to(view, &Word::Exact(Text::from(base)), at);
    } else if matches!(last, "url" | "pushurl" | "remote" | "pushremote" | "pushdefault" | "proxy" | "lfsurl")
        && let Some(value) = value
    {
        super::remote::set_to(view, value, at);
    }
}

fn writes_file(view: &mut View<'_>) {
    if let Some((at, file)) = view.values("--file").pop() {
        view.writes(&file, at);
    }
}

#[cfg(test)]
mod tests {
    use super::holds_secret;
    use crate::effect::{RunId, Span, Stdin};
    use crate::files::{Files, Kind};
    use crate::program::{Invocation, Prints, describe};
    use crate::word::{Text, Word};
    use std::path::Path;

    /// A repository at `/w` with these settings.
    struct Repository(&'static str);

    impl Files for Repository {
        fn kind(&self, path: &Path) -> Kind {
            if path == Path::new("/w/.git") { Kind::Folder { world_writable: false } } else { Kind::Missing }
        }
        fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
            None
        }
        fn read(&self, path: &Path, _: usize) -> Option<Vec<u8>> {
            (path == Path::new("/w/.git/config")).then(|| self.0.as_bytes().to_vec())
        }
        fn stamp(&self, _: &Path) -> Option<String> {
            None
        }
        fn identity(&self, _: &Path) -> Option<(u64, u64)> {
            None
        }

        fn changeable(&self, _: &Path) -> bool {
            true
        }
    }

    fn shows(files: &Repository, command: &str) -> bool {
        let argv: Vec<Word> = command.split(' ').map(|word| Word::Exact(Text::from(word))).collect();
        let spans = vec![Span::default(); argv.len()];
        let description = describe(&Invocation {
            run: RunId(0),
            name: "git",
            argv: &argv,
            spans: &spans,
            env: &[],
            cwd: Some(Path::new("/w/src")),
            home: None,
            workspace: Some(Path::new("/w")),
            stdin: Stdin::Inherited,
            stdin_text: None,
            stdin_file: None,
            stdin_prints: Prints::Unknown,
            files,
            programs: &crate::program::BUILT_IN,
        });
        format!("{:?}", description.effects).contains("ShowsSecrets")
    }

    #[test]
    fn a_list_of_settings_shows_a_secret_only_where_there_is_one() {
        let lists = [
            "git config -l",
            "git config --list --show-origin",
            "git config list",
            "git config --get-regexp .",
            "git config --get-urlmatch http https://x",
            "git -C .. config -l",
            "git var -l",
        ];
        let secret = Repository("[http]\n\textraheader = AUTHORIZATION: basic x\n");
        let plain = Repository("[user]\n\tname = x\n");
        for command in lists {
            assert!(shows(&secret, command), "{command}");
            assert!(!shows(&plain, command), "{command}");
        }
        for command in ["git config --list --name-only", "git config user.name", "git status"] {
            assert!(!shows(&secret, command), "{command}");
        }
    }

    #[test]
    fn a_file_of_settings_is_known_to_hold_a_secret() {
        for (text, expected) in [
            ("[core]\n\tbare = false\n[user]\n\temail = a@b\n", false),
            ("[remote \"origin\"]\n\turl = git@github.com:a/b\n", false),
            ("[remote \"origin\"]\n\turl = https://github.com/a/b\n", false),
            ("[remote \"origin\"]\n\turl = https://x:y@github.com/a/b\n", true),
            ("[url \"https://x:y@github.com/\"]\n", true),
            ("[http \"https://x\"]\n\textraHeader = AUTHORIZATION: basic x\n", true),
            ("[http]extraheader=x", true),
            ("# token = x\n", false),
            ("[github]\n\ttoken =\n", false),
            ("[github]\n\toauthToken = x\n", true),
        ] {
            assert_eq!(holds_secret(text.as_bytes()), expected, "{text}");
        }
    }
}
