//! Which language a file of instructions is written in, as far as that says how it names others.

use crate::program::{Facets, facets};
use std::path::Path;

/// How a file names others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Language {
    /// Commands and settings: a shell's, a makefile's, most others.
    Plain,
    Python,
    /// JavaScript and TypeScript.
    Script,
    Ruby,
    Lua,
    Perl,
    Php,
    Rust,
    /// `Cargo.toml`.
    Cargo,
    /// `package.json`.
    Package,
    /// Git's settings.
    Git,
    /// npm's settings.
    Npm,
}

impl Language {
    /// By its name; else by its first line; else by who reads it.
    pub(super) fn of(path: &Path, content: &[u8], by: Option<Self>) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match name {
            "package.json" => return Self::Package,
            "Cargo.toml" => return Self::Cargo,
            ".npmrc" | "npmrc" => return Self::Npm,
            "config" | "config.worktree" | ".gitconfig" | ".gitmodules" => return Self::Git,
            _ => {}
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension {
            "py" | "pyw" => Self::Python,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx" => Self::Script,
            "rb" | "rake" | "gemspec" | "ru" => Self::Ruby,
            "lua" => Self::Lua,
            "pl" | "pm" | "t" => Self::Perl,
            "php" => Self::Php,
            "rs" => Self::Rust,
            _ => mark(content).or(by).unwrap_or(Self::Plain),
        }
    }

    /// The language that a program of this name reads.
    pub(in super::super) fn of_interpreter(name: &str) -> Option<Self> {
        const LANGUAGES: [(Facets, Language); 7] = [
            (Facets::READS_PLAIN, Language::Plain),
            (Facets::READS_PYTHON, Language::Python),
            (Facets::READS_JAVASCRIPT, Language::Script),
            (Facets::READS_RUBY, Language::Ruby),
            (Facets::READS_LUA, Language::Lua),
            (Facets::READS_PERL, Language::Perl),
            (Facets::READS_PHP, Language::Php),
        ];
        let of = |name: &str| {
            let facets = facets(name);
            LANGUAGES.iter().find(|(facet, _)| facets.has(*facet)).map(|(_, language)| *language)
        };
        // `python3.12`, `ruby2.7`; a variable of a makefile that holds one of them is mostly called after it.
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_variable = || plain.bytes().all(|byte| !byte.is_ascii_lowercase());
        of(plain).or_else(|| if is_variable() { of(&plain.to_ascii_lowercase()) } else { None })
    }

    /// How a name may go on that stands for a file of this language.
    pub(in super::super) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &[".py", "/__init__.py", "/__main__.py"],
            Self::Script => &[
                ".js",
                ".mjs",
                ".cjs",
                ".ts",
                ".mts",
                ".tsx",
                ".jsx",
                ".json",
                ".node",
                "/index.js",
                "/index.ts",
                "/index.mjs",
                "/index.cjs",
                super::MODULE,
            ],
            Self::Ruby => &[".rb"],
            Self::Lua => &[".lua", "/init.lua"],
            Self::Perl => &[".pm", ".pl"],
            Self::Php => &[".php"],
            Self::Rust => &[".rs", "/mod.rs"],
            Self::Plain | Self::Cargo | Self::Package | Self::Git | Self::Npm => &[],
        }
    }

    /// Whether folders that a file names are ones in which its modules may lie (`use lib 'x'`, `sys.path`).
    pub(in super::super) fn has_search_path(self) -> bool {
        matches!(self, Self::Python | Self::Ruby | Self::Lua | Self::Perl | Self::Php)
    }
}

/// `#!/usr/bin/env -S node --x`: the language of the program that the first line names.
fn mark(content: &[u8]) -> Option<Language> {
    let line = content.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let line = String::from_utf8_lossy(line.get(..line.len().min(256))?);
    let names = line.split([' ', '\t', '\r']).map(|word| word.rsplit('/').next().unwrap_or_default());
    let mut names =
        names.filter(|name| !name.is_empty() && !name.starts_with('-') && *name != "env" && !name.contains('='));
    names.find_map(Language::of_interpreter)
}
