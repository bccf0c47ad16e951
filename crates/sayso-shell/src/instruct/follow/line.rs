//! The words of a line that may name files, tools and folders.

use super::language::Language;
use super::{MOST_WORDS, Named};
use crate::program;
use crate::program::goes_by::{self, Steered};
use crate::program::{Facets, facets};
use std::collections::BTreeSet;

/// What is found in a file.
#[derive(Debug, Default)]
pub(in super::super) struct Words {
    pub(in super::super) named: Vec<Named>,
    /// Tools that it names.
    pub(in super::super) tools: Vec<&'static Steered>,
    /// It goes to other folders.
    pub(in super::super) moves: bool,
    /// It goes to a folder that only turns out when it runs.
    pub(in super::super) lost: bool,
    /// It holds what is no text among what is.
    pub(in super::super) unreadable: bool,
    /// It holds more words than are looked at.
    pub(in super::super) full: bool,
    seen: BTreeSet<(String, bool)>,
    /// Folders that it goes to and that were looked for in its text.
    looked: usize,
}

/// Folders of one file that are looked for in its text: each takes a look at all of it.
const MOST_MOVES: usize = 64;

/// How the words of a line are meant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meant {
    /// What they name is taken in as instructions.
    pub(super) taken_in: bool,
    /// A folder is taken in with what lies in it.
    pub(super) whole: bool,
    pub(super) endings: &'static [&'static str],
}

impl Meant {
    /// As the line, or as its variable, wants it.
    pub(super) fn or(self, other: Self) -> Self {
        let endings = if self.endings.is_empty() { other.endings } else { self.endings };
        Self { taken_in: self.taken_in || other.taken_in, whole: self.whole || other.whole, endings }
    }
}

/// Words behind which a folder stands to which a command goes.
const MOVES: &[&str] = &["cd", "pushd", "chdir", "-C", "--directory", "--prefix", "--cwd", "cwd", "dir", "--dir"];

/// Options of tools that name a file for them to go by.
const FILES: &[&str] =
    &["-f", "--file", "--makefile", "--justfile", "-c", "--config", "--config-file", "-r", "--require", "--import"];

fn is_apart(c: char) -> bool {
    c.is_whitespace() || "\"'`;()<>|&\\".contains(c)
}

/// What may stand between two words, or in the midst of a name.
fn is_inside(c: char) -> bool {
    ",=[]{}!:$^".contains(c)
}

/// What the value of a variable is meant for that a line sets.
pub(super) fn assigned(name: &str) -> Meant {
    let name = name.trim_end_matches([' ', ':', '?', '+', '!']);
    let name = name.rsplit([' ', '\t']).next().unwrap_or_default();
    let taken_in = program::changes_what_runs(name);
    Meant { taken_in, whole: taken_in && !super::super::variable::is_searched(name), endings: &[] }
}

/// What the words before one say of it.
enum Before {
    Nothing,
    /// An interpreter: one of the next words is its script.
    Interpreter(Language, u8),
    /// A tool, whose options may name its files.
    Tool,
    /// An option that names a file.
    File,
}

impl Words {
    pub(super) fn push(&mut self, text: &str, meant: Meant, by: Option<Language>) {
        let text = text.trim_start_matches(['@', '+']).trim_end_matches('.');
        if text.len() >= 4096 || !text.bytes().any(|b| b.is_ascii_alphanumeric() || b == b'*') {
            return;
        }
        if self.named.len() >= MOST_WORDS {
            self.full = true;
            return;
        }
        if self.seen.insert((text.to_owned(), meant.taken_in)) {
            let Meant { taken_in, whole, endings } = meant;
            self.named.push(Named { text: text.to_owned(), taken_in, whole, endings, by });
        }
    }

    /// Notices where a line goes to.
    pub(super) fn goes(&mut self, line: &str, text: &str) {
        let mut rest = line;
        while let Some(at) =
            ["cd ", "pushd ", "-C "].iter().filter_map(|word| Some(rest.find(word)? + word.len())).min()
        {
            let (before, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
            rest = behind;
            let word = before.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).next();
            if self.lost || !matches!(word, Some("cd" | "pushd" | "-C")) {
                continue;
            }
            self.looked += 1;
            self.lost = self.looked > MOST_MOVES || is_unknown(behind, text);
        }
    }

    /// Every word, and what stands between quotes or blanks as one word.
    pub(super) fn line(&mut self, line: &str, meant: Meant) {
        let mut before = Before::Nothing;
        let mut from = 0;
        for (at, c) in line.char_indices().chain([(line.len(), ' ')]).filter(|(_, c)| is_apart(*c)) {
            let chunk = line.get(from..at).unwrap_or_default();
            from = at + c.len_utf8();
            if !chunk.is_empty() {
                before = self.chunk(chunk, meant, before);
            }
            if matches!(c, ';' | '&' | '|') {
                before = Before::Nothing;
            }
        }
        self.quoted(line, meant);
    }

    /// `--file=x`, `a:b`: each part is a word, and so is the whole.
    fn chunk(&mut self, chunk: &str, meant: Meant, mut before: Before) -> Before {
        let meant = match chunk.split_once('=') {
            Some((name, _)) => meant.or(assigned(name)),
            None => meant,
        };
        let mut taken = false;
        for word in chunk.split(is_inside).filter(|word| !word.is_empty()) {
            let script = matches!(before, Before::Interpreter(..) | Before::File) && !word.starts_with('-');
            taken |= script;
            before = self.word(word, meant, before);
        }
        if chunk.contains(is_inside) {
            self.push(chunk, Meant { taken_in: meant.taken_in || taken, ..meant }, None);
        }
        before
    }

    fn word(&mut self, word: &str, meant: Meant, before: Before) -> Before {
        let name = word.rsplit('/').next().unwrap_or_default();
        let is_option = word.starts_with('-');
        self.moves |= MOVES.contains(&word);
        let tool = goes_by::named_in_file(name);
        if let Some(tool) = tool
            && !self.tools.iter().any(|known| std::ptr::eq(*known, tool))
        {
            self.tools.push(tool);
        }
        let (taken, by, next) = match before {
            Before::File => (true, None, Before::Tool),
            Before::Interpreter(language, _) if is_option => (false, None, Before::Interpreter(language, 2)),
            Before::Interpreter(language, left) => {
                let more = left > 1 && !super::has_script_ending(word);
                let next = if more { Before::Interpreter(language, left - 1) } else { Before::Nothing };
                (true, Some(language), next)
            }
            Before::Tool if FILES.contains(&word) => (false, None, Before::File),
            Before::Tool | Before::Nothing => {
                let next = match Language::of_interpreter(name) {
                    Some(language) => Before::Interpreter(language, 1),
                    None if tool.is_some() || facets(name).has(Facets::SCRIPT_BY_OPTION) => Before::Tool,
                    None => before,
                };
                (false, None, next)
            }
        };
        // `make -frules`
        if let (Before::Tool, Some(rest)) = (&next, word.strip_prefix("-f")) {
            self.push(rest, Meant { taken_in: true, ..meant }, None);
        }
        let endings = match by {
            Some(language) if meant.endings.is_empty() => language.endings(),
            _ => meant.endings,
        };
        self.push(word, Meant { taken_in: meant.taken_in || taken, endings, ..meant }, by);
        next
    }

    /// `". 'my lib.sh'"`: names with blanks in them.
    fn quoted(&mut self, line: &str, meant: Meant) {
        for quote in ['"', '\'', '`'] {
            for part in line.split(quote).skip(1).step_by(2).filter(|part| part.contains(|c| c == ' ' || is_apart(c))) {
                self.push(part.trim(), meant, None);
            }
        }
        // `key = a name with blanks`, `key: ...`, `include my\ file`
        for apart in ['=', ':'] {
            if let Some((_, value)) = line.split_once(apart)
                && value.trim().contains(' ')
            {
                self.push(value.split([';', '#']).next().unwrap_or_default().trim(), meant, None);
            }
        }
        if line.contains("\\ ") {
            for part in line.replace("\\ ", "\u{1}").split_whitespace().filter(|part| part.contains('\u{1}')) {
                self.push(&part.replace('\u{1}', " "), meant, None);
            }
        }
    }
}

/// What a folder is called that a script knows without being told.
const OWN: &[&str] = &[
    "dirname",
    "BASH_SOURCE",
    "$0",
    "${0",
    "pwd",
    "PWD",
    "CURDIR",
    "HOME",
    "__dirname",
    "rev-parse",
    "mktemp",
    "MAKEFILE_LIST",
    "justfile_directory",
    "$1",
    "$2",
    "$@",
    "$*",
    "$<",
    "$^",
];

/// Whether a folder (`cd $X`) has a name that stands nowhere in the text.
fn is_unknown(behind: &str, text: &str) -> bool {
    let end = behind.find([';', '&', '|', '\n']).unwrap_or(behind.len());
    let folder = behind.get(..end).unwrap_or_default();
    if !folder.contains(['$', '`']) && !folder.contains("{{") || OWN.iter().any(|own| folder.contains(own)) {
        return false;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names: Vec<&str> = folder
        .split(['$', '{'])
        .skip(1)
        .map(|part| part.trim_start_matches(['(', '{', '$', ' ']).split(|c| !is_name(c)).next().unwrap_or_default())
        .filter(|name| !name.is_empty())
        .collect();
    // A command whose output is the folder is no name.
    let runs = folder.contains('`')
        || folder.split("$(").skip(1).any(|inner| inner.split(')').next().is_some_and(|inner| inner.contains(' ')));
    runs || names.is_empty() || !names.iter().all(|name| is_set(name, text))
}

/// Whether the text itself says what a variable holds; its words are looked at then as all others are.
fn is_set(name: &str, text: &str) -> bool {
    let ends = |before: &str| !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(name) {
        let sets =
            behind.trim_start().trim_start_matches([':', '?', '+']).starts_with('=') || behind.starts_with(" in ");
        if sets && ends(before) {
            return true;
        }
        rest = behind;
    }
    false
}
