//! What a file of instructions names in its turn: a recipe's scripts and tools, a makefile's includes, a script's modules.
//!
//! Nothing is understood here, only words are looked at: what names a file that is there, and looks like instructions,
//! may be followed. A word too many binds a file too many; a word too few would be a way around a yes.

mod language;
mod line;
mod package;

pub(super) use language::Language;
pub(super) use line::Words;

use line::Meant;
use std::borrow::Cow;
use std::path::Path;

/// Different words of one file that are looked at.
const MOST_WORDS: usize = 16 * 1024;
/// Lines that an import in brackets goes on.
const MOST_LINES: usize = 200;
/// A folder that is imported says in a file of this name what is loaded.
pub(super) const MODULE: &str = "/package.json";

/// A word of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// As it is written.
    pub(super) text: String,
    /// What stands there is taken in as instructions, whatever it looks like.
    pub(super) taken_in: bool,
    /// If it is a folder, what lies in it is.
    pub(super) whole: bool,
    /// It may stand for a name that goes on like this.
    pub(super) endings: &'static [&'static str],
    /// In what language who takes it in would read it.
    pub(super) by: Option<Language>,
}

/// Which part of a file that holds more than is run.
#[derive(Clone, Debug)]
pub(super) enum Asked<'w> {
    /// What these words of the command ask for.
    Words(&'w [&'w str]),
    /// Nobody knows: another file makes use of it.
    All,
    /// What is loaded as a module.
    Module,
}

/// The words of a file that may name others. `by` is the language in which it is read if it does not say so itself.
pub(super) fn words(path: &Path, content: &[u8], by: Option<Language>, asked: &Asked<'_>) -> (Language, Words) {
    let text = String::from_utf8_lossy(content);
    let language = Language::of(path, content, by);
    // A name in it that is no text cannot be looked for. What is not made of text at all names nothing in words.
    let mut found = Words::default();
    found.unreadable = matches!(text, Cow::Owned(_)) && !content.contains(&0);
    match language {
        Language::Package => match package::texts(&text, asked) {
            Some(texts) => texts.iter().for_each(|text| package_text(text, asked, &mut found)),
            None => lines(&text, Language::Script, &mut found),
        },
        _ => lines(&text, language, &mut found),
    }
    (language, found)
}

fn package_text(text: &str, asked: &Asked<'_>, found: &mut Words) {
    found.goes(text, text);
    let taken_in = matches!(asked, Asked::Module);
    found.line(text, Meant { taken_in, endings: Language::Script.endings(), ..Meant::default() });
}

fn lines(text: &str, language: Language, found: &mut Words) {
    for line in joined(text, language) {
        let line = line.trim_start();
        one(line, text, language, found);
        // `'./\u0062'` names a file as well as `'./b'`.
        if let Some(plain) = unescaped(line) {
            one(&plain, text, language, found);
        }
        if found.full {
            return;
        }
    }
}

fn one(line: &str, text: &str, language: Language, found: &mut Words) {
    let endings = language.endings();
    let with = |taken_in: bool| Meant { taken_in, whole: false, endings };
    match language {
        Language::Python => {
            let code = line.split('#').next().unwrap_or(line);
            for statement in code.split([';', ':']).map(str::trim_start) {
                if statement.starts_with("import ") || statement.starts_with("from ") {
                    modules(statement, found);
                }
            }
            found.line(line, with(false));
            if line.contains('.') {
                found.line(&line.replace('.', "/"), with(false));
            }
        }
        Language::Script => found.line(line, with(false)),
        Language::Ruby => found.line(line, with(line.contains("require") || line.contains("load"))),
        Language::Php => found.line(line, with(line.contains("require") || line.contains("include"))),
        Language::Lua => {
            let takes = line.contains("require") || line.contains("dofile") || line.contains("loadfile");
            found.line(line, with(takes));
            found.line(&line.replace('.', "/"), with(takes));
        }
        Language::Perl => {
            let takes = line.contains("use ") || line.contains("require ") || line.contains("do ");
            found.line(line, with(takes));
            if line.contains("::") {
                found.line(&line.replace("::", "/"), with(takes));
            }
        }
        Language::Rust => {
            if line.starts_with("mod ") || line.starts_with("pub mod ") {
                found.line(line, with(true));
            }
        }
        Language::Cargo => {
            // What is compiled is no instruction; what the build runs, and the packages beside this one, are.
            found.line(line, with(key(line) == "build"));
        }
        Language::Npm => found.line(line, with(true)),
        Language::Git => {
            let line = behind_section(line);
            let key = key(line);
            let runs = line
                .split_once('=')
                .is_some_and(|(_, value)| value.trim_start_matches([' ', '\t', '"']).starts_with('!'));
            let taken_in = runs || takes_in(&key) || RUN_BY_GIT.iter().any(|end| key.ends_with(end));
            found.line(line, Meant { taken_in, whole: takes_whole(&key), endings });
        }
        Language::Plain | Language::Package => {
            found.goes(line, text);
            let inner = behind_section(line);
            for line in [line, inner].into_iter().take(if inner == line { 1 } else { 2 }) {
                let key = key(line);
                let endings = if key == "mod" { JUST } else { endings };
                let meant = Meant { taken_in: takes_in(&key), whole: takes_whole(&key), endings };
                // `export SHELL := ./sh`, `BASH_ENV: ./x`
                let name = line.find(['=', ':']).and_then(|at| line.get(..at)).unwrap_or_default();
                found.line(line, meant.or(line::assigned(name)));
            }
        }
    }
}

/// `mod x` of a justfile.
const JUST: &[&str] = &[".just", "/mod.just", "/justfile", "/.justfile", "/Justfile"];

/// How settings of git end that name what it runs.
const RUN_BY_GIT: &[&str] = &[
    "command",
    "cmd",
    "helper",
    "pager",
    "editor",
    "program",
    "external",
    "textconv",
    "clean",
    "smudge",
    "process",
    "driver",
    "fsmonitor",
    "attributesfile",
    "askpass",
    "path",
    "tool",
];

/// The lines of a text, those that go on in the next made one.
fn joined(text: &str, language: Language) -> Vec<Cow<'_, str>> {
    let mut found: Vec<Cow<'_, str>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let opens = |line: &str| {
            language == Language::Python && line.contains("import") && line.contains('(') && !line.contains(')')
        };
        if !line.ends_with('\\') && !opens(line) {
            found.push(Cow::Borrowed(line));
            continue;
        }
        let mut whole = line.to_owned();
        // A makefile puts a blank between the lines, a shell nothing.
        let mut tight = line.trim_end_matches('\\').to_owned();
        for _ in 0..MOST_LINES {
            let goes_on = whole.ends_with('\\');
            if !goes_on && !opens(&whole) {
                break;
            }
            let Some(next) = lines.next() else { break };
            if goes_on {
                whole.pop();
            }
            whole.push(' ');
            whole.push_str(next);
            tight.push_str(next.trim_end_matches('\\'));
        }
        found.push(Cow::Owned(tight));
        found.push(Cow::Owned(whole));
    }
    found
}

/// A line with `\x62`, `\u0062` and `\u{62}` as what they stand for; `None`: it holds none.
fn unescaped(line: &str) -> Option<String> {
    if !line.contains("\\x") && !line.contains("\\u") {
        return None;
    }
    let mut found = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\\') {
        found.push_str(before);
        let (digits, end) = match behind.as_bytes() {
            [b'x', ..] => (behind.get(1..3), 3),
            [b'u', b'{', ..] => {
                let end = behind.find('}').unwrap_or(0);
                (behind.get(2..end), end + 1)
            }
            [b'u', ..] => (behind.get(1..5), 5),
            _ => (None, 0),
        };
        let c = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        match (c, behind.get(end..)) {
            (Some(c), Some(behind)) => {
                found.push(c);
                rest = behind;
            }
            _ => {
                found.push('\\');
                rest = behind;
            }
        }
    }
    found.push_str(rest);
    Some(found)
}

/// `[core] hooksPath = x`: what stands behind the name of a section.
fn behind_section(line: &str) -> &str {
    let Some(rest) = line.strip_prefix('[') else { return line };
    let mut quoted = false;
    for (at, c) in rest.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ']' if !quoted => return rest.get(at + 1..).unwrap_or_default().trim_start(),
            _ => {}
        }
    }
    line
}

/// The first word of a line, as far as it says what the line is about.
fn key(line: &str) -> String {
    let line = line.trim_start_matches(['-', '!', '#', '@', '[', '"', '\'', ' ']);
    let end =
        line.find(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '(' | '"' | '?' | '\'')).unwrap_or(line.len());
    line.get(..end.min(64)).unwrap_or_default().to_ascii_lowercase()
}

/// Whether a line takes another file in: of a makefile, of git's settings, of many other formats.
fn takes_in(key: &str) -> bool {
    matches!(
        key,
        "include"
            | "sinclude"
            | "includes"
            | "import"
            | "imports"
            | "extends"
            | "source"
            | "."
            | "load"
            | "subninja"
            | "hookspath"
            | "path"
            | "env_file"
            | "dockerfile"
            | "dofile"
            | "require"
            | "mod"
            | "template"
            | "playbook"
            | "file"
            | "script"
    ) || key.starts_with("include_")
        || key.starts_with("import_")
}

/// Whether a line takes a folder in with what lies in it.
fn takes_whole(key: &str) -> bool {
    matches!(
        key,
        "hookspath" | "templatedir" | "include" | "includes" | "import" | "imports" | "load" | "plugins" | "plugin"
    )
}

/// `import a.b, c` and `from .x import y`.
fn modules(line: &str, found: &mut Words) {
    let relative = line.trim_start_matches("from ").trim_start();
    let dots = relative.bytes().take_while(|b| *b == b'.').count();
    let up = if dots > 1 { "../".repeat((dots - 1).min(64)) } else { String::new() };
    let of = relative.get(dots..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().replace('.', "/");
    let meant = Meant { taken_in: true, whole: false, endings: Language::Python.endings() };
    for word in line.split(|c: char| c.is_whitespace() || ",();".contains(c)).filter(|word| !word.is_empty()) {
        let word = word.trim_start_matches('.').replace('.', "/");
        for text in [format!("{up}{word}"), format!("{up}{of}/{word}")] {
            found.push(&text, meant, None);
        }
    }
}

const ENDINGS: &[&str] = &[
    "awk",
    "bash",
    "bat",
    "bats",
    "bzl",
    "cfg",
    "cjs",
    "cmake",
    "cmd",
    "command",
    "conf",
    "csh",
    "exs",
    "expect",
    "fish",
    "gradle",
    "groovy",
    "hcl",
    "ini",
    "js",
    "json5",
    "just",
    "kts",
    "ksh",
    "lua",
    "mak",
    "mjs",
    "mk",
    "mts",
    "ninja",
    "nix",
    "php",
    "pl",
    "pm",
    "properties",
    "ps1",
    "py",
    "r",
    "rake",
    "rb",
    "sbt",
    "sed",
    "sh",
    "sql",
    "tcl",
    "tf",
    "tfvars",
    "toml",
    "ts",
    "yaml",
    "yml",
    "zsh",
];

fn has_script_ending(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ENDINGS.contains(&extension.to_ascii_lowercase().as_str())
}

/// Whether a file looks like instructions and not like data, a source that is compiled, or what a build made.
pub(super) fn is_script(path: &Path, executable: bool, begin: &[u8]) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    begin.starts_with(b"#!")
        || executable && !super::is_machine_code(begin)
        || has_script_ending(name)
        || crate::program::goes_by::steers(name)
}

#[cfg(test)]
mod tests;
