//! The text of a call that runs held: `sayso run` before what the agent wrote, and nothing of that changed.
//!
//! ```text
//! cd sub && export CI=1 && npm test
//! cd sub && export CI=1 && /usr/bin/sayso run --permit 5d0e... -- /bin/bash -c 'npm test'
//! ```
//!
//! A `cd` inside the wrapper would not move the agent's own folder, which agents keep between calls; so leading `cd`s
//! and `export`s stay outside where it is certain what they do. What an attacker would try: an `export` of a variable
//! that `sayso run` itself goes by, so only those stay outside that change nothing about what runs; and a folder that a link
//! leads elsewhere, so both ways to read its path must lead to the same one. What is left inside is the agent's text, byte for byte.

use sayso_policy::shell::Dialect;
use sayso_policy::shell::program::{changes_what_runs, is_secret_variable, names_output};
use sayso_policy::shell::syntax::tree::{Command, CommandKind, Connector, Part, Pipeline, Quote, Tree, Word};
use sayso_policy::shell::syntax::{Options, parse};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// How many commands are left outside at most.
const MOST_OUTSIDE: usize = 8;
/// Variables that a shell or Sayso goes by, and by which no program is known to choose what it runs.
const OWN_VARIABLES: &[&str] = &["HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "IFS", "TMPDIR", "TMP", "TEMP"];
/// The same by how they begin.
const OWN_PREFIXES: &[&str] = &["SAYSO", "XDG_", "LD_", "BASH", "ZSH", "ZDOT", "GLIBC", "MALLOC", "RUST_", "DYLD"];

/// A command's text, parted into what stays outside of the hold and what runs in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parted<'t> {
    /// Commands of the shell itself, as words.
    outside: Vec<Vec<String>>,
    /// What runs held.
    pub(crate) inside: &'t str,
    /// Where it runs.
    pub(crate) folder: PathBuf,
}

impl<'t> Parted<'t> {
    /// Parts a text that a shell would read in this folder, for a user with this home folder.
    pub(crate) fn of(text: &'t str, folder: &Path, home: &Path) -> Self {
        let mut parted = Self { outside: Vec::new(), inside: text, folder: folder.to_owned() };
        if let Ok(tree) = parse(text.as_bytes(), Dialect::Bash, Options::default()) {
            parted.take_leading(text, &tree, home);
        }
        parted
    }

    fn take_leading(&mut self, text: &'t str, tree: &Tree<'_>, home: &Path) {
        for item in tree.body.items.iter() {
            // In the background it would move nobody's folder.
            if item.background {
                return;
            }
            let all = std::iter::once(&item.and_or.first).chain(item.and_or.rest.iter().map(|(_, it)| it));
            let next = item.and_or.rest.iter().map(|(connector, _)| Some(*connector)).chain([None]);
            for (pipeline, next) in all.zip(next) {
                if next == Some(Connector::Or) || self.outside.len() >= MOST_OUTSIDE {
                    return;
                }
                let Some((words, folder, end)) = self.certain(pipeline, home) else { return };
                let Some(rest) = text.get(end..).and_then(after_connector) else { return };
                // A text of which nothing is left runs nothing that could be held.
                if rest.trim().is_empty() || parse(rest.as_bytes(), Dialect::Bash, Options::default()).is_err() {
                    return;
                }
                self.outside.push(words);
                self.inside = rest;
                self.folder = folder;
            }
        }
    }

    /// The words of a command that may stay outside, the folder after it, and where its text ends.
    fn certain(&self, pipeline: &Pipeline<'_>, home: &Path) -> Option<(Vec<String>, PathBuf, usize)> {
        let [Command { kind: CommandKind::Simple(simple), span }] = &*pipeline.commands else { return None };
        let bare = simple.assignments.is_empty() && simple.redirects.is_empty();
        if pipeline.negated || pipeline.timed || !bare {
            return None;
        }
        let end = usize::try_from(span.end).ok()?;
        let (name, operands) = simple.words.split_first()?;
        match (name.plain()?, operands) {
            (b"cd", [to]) => {
                let to = exact(to, Some(home))?;
                let folder = moved(&self.folder, &to)?;
                Some((vec!["cd".to_owned(), to], folder, end))
            }
            (b"export", [_, ..]) => {
                let values: Option<Vec<String>> = operands.iter().map(exported).collect();
                let words = std::iter::once("export".to_owned()).chain(values?).collect();
                Some((words, self.folder.clone(), end))
            }
            _ => None,
        }
    }

    /// The program that runs held, and its arguments.
    pub(crate) fn words(&self, shell: &Path) -> Vec<OsString> {
        vec![shell.as_os_str().to_owned(), "-c".into(), self.inside.into()]
    }

    /// The text that the agent's shell is given in place of the original.
    pub(crate) fn line(&self, sayso: &str, permit: &str, shell: &str) -> String {
        let mut text = String::new();
        for command in &self.outside {
            let words: Vec<String> = command.iter().map(|word| assigned(word)).collect();
            text.push_str(&words.join(" "));
            text.push_str(" && ");
        }
        text.push_str(&held(sayso, permit, &[shell, "-c", self.inside]));
        text
    }
}

/// A run of these words under a permit, for a shell.
pub(crate) fn held(sayso: &str, permit: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{} run --permit {} -- {}", quoted(sayso), quoted(permit), words.join(" "))
}

/// What stands in the place of the original in the text of a call that runs held, if it is one: the last word.
pub(crate) fn original(text: &str) -> Option<String> {
    let at = text.find(" run --permit ")?;
    let tree = parse(text.as_bytes(), Dialect::Bash, Options::default()).ok()?;
    let last = tree.body.items.last()?;
    let pipeline = last.and_or.rest.last().map_or(&last.and_or.first, |(_, it)| it);
    let [Command { kind: CommandKind::Simple(simple), span }] = &*pipeline.commands else { return None };
    let words: Option<Vec<String>> = simple.words.iter().map(|word| exact(word, None)).collect();
    match words?.as_slice() {
        [_, run, permit, _, end, _, c, text]
            if [run, permit, end, c] == ["run", "--permit", "--", "-c"]
                && usize::try_from(span.start).is_ok_and(|start| start < at) =>
        {
            Some(text.clone())
        }
        _ => None,
    }
}

/// The words of a text that is one simple command, if each is the same to every shell.
pub(crate) fn simple_words(text: &str) -> Option<Vec<String>> {
    let tree = parse(text.as_bytes(), Dialect::Bash, Options::default()).ok()?;
    let [item] = &*tree.body.items else { return None };
    let alone = !item.background && item.and_or.rest.is_empty();
    let pipeline = &item.and_or.first;
    let [Command { kind: CommandKind::Simple(simple), .. }] = &*pipeline.commands else { return None };
    let bare = alone && !pipeline.negated && !pipeline.timed;
    if !bare || !simple.assignments.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    simple.words.iter().map(|word| exact(word, None)).collect()
}

/// What follows `&&`, `;` or the end of a line. Of one newline, as of one `;`.
fn after_connector(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    if let Some(rest) = text.strip_prefix("&&") {
        return Some(rest);
    }
    let rest = text.strip_prefix(';').or_else(|| text.strip_prefix('\n'))?;
    (!rest.starts_with([';', '&'])).then_some(rest)
}

/// The value of a word, if it is the same to every shell whatever it knows. `home`: where a leading `~/` leads.
fn exact(word: &Word<'_>, home: Option<&Path>) -> Option<String> {
    let mut value = String::new();
    for (number, part) in word.parts.iter().enumerate() {
        match part {
            Part::Literal { text, .. } => {
                let mut text = std::str::from_utf8(text).ok()?;
                if let (0, Some(home), Some(below)) = (number, home, text.strip_prefix('~')) {
                    if !below.is_empty() && !below.starts_with('/') || below.is_empty() && word.parts.len() > 1 {
                        return None;
                    }
                    value.push_str(home.to_str()?);
                    text = below;
                }
                // Not `=`, `~`, `#`, braces and the like, which mean something to some shell in some place.
                let plain = |c: char| c.is_ascii_alphanumeric() || "_./,:@%+-".contains(c) || !c.is_ascii();
                if !text.chars().all(plain) {
                    return None;
                }
                value.push_str(text);
            }
            Part::Quoted { text, quote: Quote::Single | Quote::Double | Quote::Backslash, .. } => {
                value.push_str(std::str::from_utf8(text).ok()?);
            }
            _ => return None,
        }
    }
    Some(value)
}

/// `NAME=value`, where the variable only tells programs something.
fn exported(word: &Word<'_>) -> Option<String> {
    let (first, rest) = word.parts.split_first()?;
    let Part::Literal { text, span } = first else { return None };
    let (name, begins) = std::str::from_utf8(text).ok()?.split_once('=')?;
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let upper = name.to_ascii_uppercase();
    let own = OWN_VARIABLES.contains(&upper.as_str()) || OWN_PREFIXES.iter().any(|prefix| upper.starts_with(prefix));
    // A secret would be withheld from the run, unless it is set inside.
    if !named || own || is_secret_variable(name) || changes_what_runs(name) || names_output(name) {
        return None;
    }
    let head = Part::Literal { text: begins.as_bytes().into(), span: *span };
    let parts = std::iter::once(head).chain(rest.iter().cloned()).collect::<Vec<_>>();
    let value = Word { parts: parts.into_iter().collect(), span: word.span };
    let value = exact(&value, None)?;
    Some(format!("{name}={value}"))
}

/// Where `cd` leads, if that folder is there and both ways to read its path lead to it: shells take `..` off the name by
/// which they came, the system off the folder itself.
fn moved(from: &Path, to: &str) -> Option<PathBuf> {
    // Options, `cd -`, and what zsh keeps on its stack.
    if to.is_empty() || to.starts_with(['-', '+']) {
        return None;
    }
    let path = from.join(to);
    let real = path.canonicalize().ok().filter(|real| real.is_dir())?;
    let mut by_name = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                by_name.pop();
            }
            other => by_name.push(other),
        }
    }
    (by_name.canonicalize().ok()? == real).then_some(real)
}

/// A word as every shell reads it back, whatever bytes it has.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The same for an assignment of `export`, whose name must not be quoted.
fn assigned(word: &str) -> String {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            format!("{name}={}", quoted(value))
        }
        _ => quoted(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Process;

    const SAYSO: &str = "/opt/my apps/sayso";

    fn shells() -> Vec<&'static str> {
        // A machine without one of them tests the others.
        ["/bin/bash", "/usr/bin/zsh", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect()
    }

    /// The text that is left outside, and what runs inside, in a folder that has `sub`, `sub/deep` and `it's`.
    fn parted(text: &str) -> (String, String, String) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["sub/deep", "it's", "home/src"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("sub/deep"), root.join("link")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        let parted = Parted::of(text, &root, &root.join("home"));
        let line = parted.line("/s", "7", "/bin/sh");
        let outside = line.split_once("/s run --permit 7 -- /bin/sh -c ").unwrap().0.to_owned();
        let below = |text: &str| text.replace(root.to_str().unwrap(), "ROOT");
        let folder = parted.folder.strip_prefix(&root).unwrap().display().to_string();
        (below(&outside), below(parted.inside), folder)
    }

    #[test]
    fn certain_leading_commands_stay_outside() {
        for (text, outside, inside, folder) in [
            ("npm test", "", "npm test", ""),
            ("cd sub && npm test", "cd sub && ", " npm test", "sub"),
            ("cd sub; npm test", "cd sub && ", " npm test", "sub"),
            ("cd sub\nnpm test\n", "cd sub && ", "npm test\n", "sub"),
            ("cd sub&&cd deep&&make", "cd sub && cd deep && ", "make", "sub/deep"),
            ("cd sub/deep/.. && make", "cd 'sub/deep/..' && ", " make", "sub"),
            ("cd \"it's\" && make", "cd 'it'\\''s' && ", " make", "it's"),
            ("cd ~/src && make", "cd ROOT/home/src && ", " make", "home/src"),
            ("export CI=1 && make", "export CI=1 && ", " make", ""),
            ("export A='b c' B=2; cd sub && make x", "export A='b c' B=2 && cd sub && ", " make x", "sub"),
            ("cd sub && a || b", "cd sub && ", " a || b", "sub"),
            ("cd sub && a; b & c", "cd sub && ", " a; b & c", "sub"),
            ("cd sub && cat <<E\nx\nE\n", "cd sub && ", " cat <<E\nx\nE\n", "sub"),
        ] {
            let expected = (outside.replace("'sub/deep/..'", "sub/deep/.."), inside.to_owned(), folder.to_owned());
            assert_eq!(parted(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_certain_runs_inside() {
        for text in [
            "cd",
            "cd sub",
            "cd sub;",
            "cd - && make",
            "cd -P sub && make",
            "cd nowhere && make",
            "cd file && make",
            // Shells go back to where the link is, the system to where it leads.
            "cd link/.. && make",
            "cd $X && make",
            "cd s* && make",
            "cd {sub,sub} && make",
            "cd $'sub' && make",
            "cd sub || make",
            "cd sub & make",
            "cd sub && make &",
            "cd sub | make",
            "! cd sub && make",
            "time cd sub && make",
            "A=1 cd sub && make",
            "cd sub >x && make",
            "cd sub # x\nmake",
            "(cd sub && make)",
            "{ cd sub; make; }",
            "if cd sub; then make; fi",
            "cd ~root && make",
            "cd +1 && make",
            "command cd sub && make",
            "pushd sub && make",
            "export A && make",
            "export -n A=1 && make",
            "export A=$X && make",
            "export A=~/x && make",
            "export A=`x` && make",
            "export A+=1 && make",
            "export PATH=/x && make",
            "export HOME=/x && make",
            "export XDG_STATE_HOME=/x && make",
            "export SAYSO_X=1 && make",
            "export LD_PRELOAD=/x.so && make",
            "export BASH_ENV=/x && make",
            "export NODE_OPTIONS=--require=x && make",
            "export GIT_SSH_COMMAND=x && make",
            "export GITHUB_TOKEN=x && make",
            "cd sub && 'unclosed",
        ] {
            assert_eq!(parted(text), (String::new(), text.to_owned(), String::new()), "{text}");
        }
    }

    #[test]
    fn the_folder_moves_and_the_run_begins_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a b/c")).unwrap();
        // In the place of `sayso`: shows where it runs, and runs what follows `--`.
        let sayso = root.join("say so");
        std::fs::write(&sayso, "#!/bin/sh\npwd\necho \"$CI\"\nshift 4\nexec \"$@\"\n").unwrap();
        std::fs::set_permissions(&sayso, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for shell in shells() {
            let parted = Parted::of("cd 'a b' && export CI=\"x'y\"; cd c\necho in; pwd", &root, &root);
            let line = parted.line(sayso.to_str().unwrap(), "7", "/bin/sh");
            let said = Process::new(shell).arg("-c").arg(format!("{line}; pwd")).current_dir(&root).output().unwrap();
            let here = root.join("a b/c").display().to_string();
            let expected = format!("{here}\nx'y\nin\n{here}\n{here}\n");
            assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{shell}: {line}");
            assert_eq!(parted.folder, root.join("a b/c"));
        }
    }

    #[test]
    fn the_original_is_found_in_a_rewritten_text() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        for text in
            ["npm test", "cd sub && echo 'it'\\''s' \"$x\"\n\tls", "export A=1; a && b", "x run --permit y -- z -c w"]
        {
            let parted = Parted::of(text, dir.path(), dir.path());
            assert_eq!(original(&parted.line(SAYSO, "7", "/bin/bash")).as_deref(), Some(parted.inside), "{text}");
        }
        for text in [
            "npm test",
            "sayso run -- npm test",
            "echo ' run --permit 7 -- sh -c x'",
            "sayso run --permit 7 -- sh -c 'x' y",
        ] {
            assert_eq!(original(text), None, "{text}");
        }
    }

    /// What a shell makes of the words of a line.
    fn read_back(shell: &str, options: &[&str], words: &[String]) -> Vec<String> {
        let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let script = format!("printf '%s\\0' {}", line.join(" "));
        let said = Process::new(shell).args(options).arg("-c").arg(script).output().unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        text.split_terminator('\0').map(ToOwned::to_owned).collect()
    }

    #[test]
    fn every_character_is_read_back() {
        let all: Vec<String> = (1..=0x2ff_u32).filter_map(char::from_u32).map(String::from).collect();
        let pairs = [
            "'",
            "''",
            "'\\''",
            "\\",
            "\n",
            "!",
            "!!",
            "$(x)",
            "`x`",
            "=ls",
            "~",
            "~root",
            "#",
            "*",
            "{a,b}",
            "-n",
            "\u{feff}",
            "\u{10ffff}",
            "\r\n",
            "\x1b[0m",
        ];
        let words: Vec<String> = all
            .iter()
            .cloned()
            .chain(pairs.iter().map(|it| (*it).to_owned()))
            .chain(pairs.iter().flat_map(|a| pairs.iter().map(move |b| format!("{a}{b}"))))
            .collect();
        for shell in shells() {
            assert_eq!(read_back(shell, &[], &words), words, "{shell}");
        }
        // With the option under which two quotes are one.
        if Path::new("/usr/bin/zsh").exists() {
            assert_eq!(read_back("/usr/bin/zsh", &["-o", "rcquotes"], &words), words);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        #[test]
        fn what_is_quoted_is_read_back(words in proptest::collection::vec("[^\0]{1,30}|['\\\\\"$`!\n ]{1,12}", 1..40)) {
            for shell in shells() {
                proptest::prop_assert_eq!(&read_back(shell, &[], &words), &words, "{}", shell);
            }
        }

        #[test]
        fn nothing_of_a_text_is_lost(text in "(cd sub|export A=1|cd \\$x|make)( && |; |\n| \\|\\| | & )(cd sub|export B='x y'|a)(;|\n|&&| )[^\0]{0,20}") {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("sub")).unwrap();
            let parted = Parted::of(&text, dir.path(), dir.path());
            proptest::prop_assert!(text.ends_with(parted.inside));
            let line = parted.line(SAYSO, "7", "/bin/bash");
            let inside = original(&line);
            proptest::prop_assert_eq!(inside.as_deref(), Some(parted.inside));
        }
    }
}
