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
const WORDS: &[&str] = &["extraheader", "token", "password", "passwd", "smtppass", "secret"];

/// `git var -l` lists the settings too.
pub(crate) fn var(view: &mut View<'_>) {
    if view.has("-l") {
        lists_secrets(view);
    }
}

/// Settings are listed: they are secrets if one of the files that are in force here holds such a setting.
fn lists_secrets(view: &mut View<'_>) {
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
    if places.iter().any(|place| read(place).is_some_and(|text| holds_secret(&text))) {
        view.named(Code::ShowsSecrets, NamedBy::Nothing, 0);
    }
}

/// Whether a line sets something of such a name, or names an address with a password in it.
fn holds_secret(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        if line.trim_start().starts_with(['#', ';']) {
            return false;
        }
        // Section headers are searched with the keys: `[url "https://x:y@host"]`, `[core] token = x`.
        let (key, value) = line.split_once('=').unwrap_or((&line, ""));
        let has_password = |text: &str| {
            let place = text.split_once("://").map(|(_, rest)| rest.split(['/', '"', ' ']).next().unwrap_or_default());
            place.and_then(|place| place.rsplit_once('@')).is_some_and(|(user, _)| user.contains(':'))
        };
        let names = !value.trim().is_empty() && WORDS.iter().any(|word| key.contains(word));
        names || has_password(&line)
    })
}

/// Settings that hold a password or a token, asked for by name.
pub(crate) fn shows_secrets(view: &mut View<'_>) {
    let named = view.path.last() == Some(&"list") || view.has_any(&["--list", "--get-regexp", "--get-urlmatch"]);
    if (named || view.has_any(&["--regexp", "--url"])) && !view.has("--name-only") {
        lists_secrets(view);
    }
    for at in view.operands() {
        let word = view.word(at).and_then(Word::exact_str).map(str::to_ascii_lowercase);
        if word.is_some_and(|word| WORDS.iter().any(|secret| word.contains(secret))) {
            view.named(Code::ShowsSecrets, NamedBy::Nothing, at);
        }
    }
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
            stdin: Stdin::Inherited,
            stdin_text: None,
            stdin_file: None,
            stdin_prints: Prints::Unknown,
            files,
            programs: &crate::program::BUILT_IN,
        });
        format!("{:?}", description.effects).contains("shows-secrets")
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
