//! What a file of instructions names in its turn: a recipe's scripts, a makefile's includes, a script's modules.
//!
//! Nothing is understood here, only words are looked at: what names a file that is there, and looks like instructions,
//! may be followed. A word too many binds a file too many; a word too few would be a way around a yes.

use std::path::Path;

/// Words of one file that are looked at.
pub(super) const MOST_WORDS: usize = 4096;

/// A word of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// As it is written.
    pub(super) text: String,
    /// What stands there is taken in as instructions, whatever it looks like.
    pub(super) taken_in: bool,
    /// It may stand for a name that goes on like this.
    pub(super) endings: &'static [&'static str],
}

const PYTHON: &[&str] = &[".py", "/__init__.py", "/__main__.py"];
const SCRIPT: &[&str] =
    &[".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".json", "/index.js", "/index.ts", "/index.mjs"];
const RUBY: &[&str] = &[".rb"];
const LUA: &[&str] = &[".lua", "/init.lua"];
const PERL: &[&str] = &[".pm", ".pl"];
const RUST: &[&str] = &[".rs", "/mod.rs"];

/// The words of a file that may name others. `asked` are the words of the command, for files that hold more than is run.
pub(super) fn words(path: &Path, content: &[u8], asked: &[&str]) -> Vec<Named> {
    let text = String::from_utf8_lossy(content);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let mut found: Vec<Named> = Vec::new();
    if name == "package.json" {
        for script in scripts(&text, asked) {
            script.lines().for_each(|line| plain(line, false, &[], &mut found));
        }
        return found;
    }
    for line in text.lines() {
        let line = line.trim_start();
        if found.len() >= MOST_WORDS {
            break;
        }
        match extension {
            "py" | "pyw" if line.starts_with("import ") || line.starts_with("from ") => modules(line, &mut found),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx" => plain(line, false, SCRIPT, &mut found),
            "rb" | "rake" if line.contains("require") || line.contains("load") => plain(line, false, RUBY, &mut found),
            "lua" if line.contains("require") => plain(&line.replace('.', "/"), false, LUA, &mut found),
            "pl" | "pm" if line.starts_with("use ") || line.starts_with("require ") => {
                plain(&line.replace("::", "/"), false, PERL, &mut found);
            }
            "rs" if line.starts_with("mod ") || line.starts_with("pub mod ") => plain(line, true, RUST, &mut found),
            "rs" => {}
            "toml" if name == "Cargo.toml" => {
                // What is compiled is no instruction; what the build runs, and the packages beside this one, are.
                let key = line.split('=').next().unwrap_or_default().trim();
                plain(line, key == "build", &[], &mut found);
            }
            _ => plain(line, takes_in(line), &[], &mut found),
        }
    }
    found.truncate(MOST_WORDS);
    found
}

/// Whether a line takes another file in: of a makefile, of git's settings, of many other formats.
fn takes_in(line: &str) -> bool {
    let line = line.trim_start_matches(['-', '!', '#', '@', '[', '"', '\'']);
    let first =
        line.split(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '(' | '"')).next().unwrap_or_default();
    let first = first.to_ascii_lowercase();
    matches!(
        first.as_str(),
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
    ) || first.starts_with("include_")
        || first.starts_with("import_")
}

fn plain(line: &str, taken_in: bool, endings: &'static [&'static str], found: &mut Vec<Named>) {
    let apart = |c: char| c.is_whitespace() || "\"'`,;=()[]{}<>|&!:$^\\".contains(c);
    for word in line.split(apart) {
        let word = word.trim_start_matches(['@', '+']).trim_end_matches('.');
        if word.len() < 256 && word.bytes().any(|b| b.is_ascii_alphanumeric() || b == b'*') {
            found.push(Named { text: word.to_owned(), taken_in, endings });
        }
    }
}

/// `import a.b, c` and `from .x import y`.
fn modules(line: &str, found: &mut Vec<Named>) {
    let relative = line.trim_start_matches("from ").trim_start();
    let dots = relative.bytes().take_while(|b| *b == b'.').count();
    let up = if dots > 1 { "../".repeat(dots - 1) } else { String::new() };
    let of = relative.get(dots..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().replace('.', "/");
    let line = line.split('#').next().unwrap_or(line);
    for word in line.split(|c: char| c.is_whitespace() || ",();".contains(c)).filter(|word| !word.is_empty()) {
        let word = word.trim_start_matches('.').replace('.', "/");
        for text in [format!("{up}{word}"), format!("{up}{of}/{word}")] {
            found.push(Named { text, taken_in: true, endings: PYTHON });
        }
    }
}

/// The scripts of a `package.json` that these words run, and those that they run in their turn.
fn scripts(text: &str, asked: &[&str]) -> Vec<String> {
    let all = pairs(text);
    // Escapes in a name: whoever hides one is not asked which it is.
    let hidden = text.contains("\\u");
    let mut wanted: Vec<usize> = Vec::new();
    let runs_some = asked.iter().any(|word| all.iter().any(|(name, _)| name == word));
    let is_asked = |name: &str| {
        let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
        hidden || !runs_some || asked.iter().any(|word| *word == name || *word == plain)
    };
    wanted.extend(all.iter().enumerate().filter(|(_, (name, _))| is_asked(name)).map(|(at, _)| at));
    let mut next = 0;
    while let Some(at) = wanted.get(next).copied() {
        next += 1;
        let Some((_, body)) = all.get(at) else { continue };
        let named = |name: &str| {
            let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
            body.split(|c: char| c.is_whitespace() || "\"';&|*".contains(c)).any(|word| {
                !word.is_empty() && (word == name || word == plain || word.ends_with(':') && name.starts_with(word))
            })
        };
        for (at, _) in all.iter().enumerate().filter(|(_, (name, _))| named(name)) {
            if !wanted.contains(&at) {
                wanted.push(at);
            }
        }
    }
    wanted.into_iter().filter_map(|at| all.get(at).map(|(_, body)| body.clone())).collect()
}

/// The names and texts of every `"scripts": { ... }`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"scripts\"") {
        rest = rest.get(at + "\"scripts\"".len()..).unwrap_or_default();
        let inside = rest.trim_start().strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('{'));
        let Some(inside) = inside else { continue };
        let mut strings = Vec::new();
        let (mut open, mut escaped, mut end) = (None, false, inside.len());
        for (at, c) in inside.char_indices() {
            match (open, c) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(from), '"') => {
                    strings.push(inside.get(from..at).unwrap_or_default().replace("\\\"", "\"").replace("\\\\", "\\"));
                    open = None;
                }
                (None, '"') => open = Some(at + 1),
                (None, '}') => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let mut strings = strings.into_iter();
        while let (Some(name), Some(body)) = (strings.next(), strings.next()) {
            found.push((name, body));
        }
        rest = inside.get(end..).unwrap_or_default();
    }
    found
}

/// Whether a file looks like instructions and not like data, a source that is compiled, or what a build made.
pub(super) fn is_script(path: &Path, begin: &[u8]) -> bool {
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
        "conf",
        "csh",
        "exs",
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
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    begin.starts_with(b"#!") || ENDINGS.contains(&extension.to_ascii_lowercase().as_str()) || super::steer::steers(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, content: &str, asked: &[&str]) -> Vec<String> {
        words(Path::new(path), content.as_bytes(), asked).into_iter().map(|named| named.text).collect()
    }

    #[test]
    fn a_package_names_what_the_script_that_runs_names() {
        let package = r#"{"main": "lib.js", "scripts": {"a": "node a.js", "prea": "sh pre.sh", "b": "npm run c && x", "c": "node c.js"}}"#;
        let of = |asked: &str| texts("package.json", package, &["run", asked]);
        assert_eq!(of("a"), ["node", "a.js", "sh", "pre.sh"]);
        assert!(of("b").contains(&"c.js".to_owned()) && !of("b").contains(&"a.js".to_owned()));
        assert!(!of("none").contains(&"lib.js".to_owned()));
        assert!(of("none").contains(&"a.js".to_owned()));
    }

    #[test]
    fn includes_and_modules_are_named() {
        let makefile = words(Path::new("Makefile"), b"-include conf *.mk\nall:\n\t@./run $(X)/y.sh", &[]);
        let named = |text: &str| makefile.iter().find(|named| named.text == text).map(|named| named.taken_in);
        assert_eq!(
            [named("conf"), named("*.mk"), named("./run"), named("/y.sh")],
            [Some(true), Some(true), Some(false), Some(false)]
        );
        let python = texts("x.py", "import a.b, c\nfrom .d import e\nfrom ..f.g import h", &[]);
        for name in ["a/b", "c", "d", "d/e", "../f/g", "../f/g/h"] {
            assert!(python.contains(&name.to_owned()), "{name}: {python:?}");
        }
        assert!(texts("x.js", "const a = require('./lib/a')", &[]).contains(&"./lib/a".to_owned()));
    }
}
