//! How words become options and operands.
//!
//! Which options a program has stands in its text: [`crate::program::text`].

mod reader;

pub(crate) use reader::{Reader, Seen, Step};

pub use crate::program::text::{Does, Spelling, Style, Takes};
use crate::program::text::{HEAPS, heap};
use std::borrow::Cow;

/// The options of a program or subcommand.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub(crate) text: &'static str,
    pub(crate) spellings: &'static [Spelling],
    /// One more than the index of the first spelling of each heap; 0: it is empty.
    pub(crate) heaps: [u16; HEAPS],
    pub(crate) risky: bool,
}

impl Table {
    /// A table of what was read while Sayso runs.
    pub(crate) fn of(options: &crate::program::text::Options) -> Self {
        let spellings: &'static [Spelling] = options.spellings.clone().leak();
        Self {
            text: options.text.clone().leak(),
            spellings,
            heaps: options.heaps(),
            risky: spellings.iter().any(|spelling| spelling.does.risky()),
        }
    }

    /// Whether one of the options is dangerous, so that a word of unknown value might be.
    #[must_use]
    pub const fn risky(&self) -> bool {
        self.risky
    }

    /// Every option: all spellings in order, with what it takes and does.
    pub fn spellings(&self) -> impl Iterator<Item = (&'static str, Takes, Does)> + '_ {
        self.spellings.iter().map(|s| (self.spelled(s), s.takes, s.does))
    }

    /// The option with this spelling.
    pub(crate) fn named(&self, spelling: &str) -> Option<Found> {
        self.exact(spelling.as_bytes())
    }

    /// The same, where the option of this canonical name does that.
    pub(crate) fn with(&self, name: &str, does: Does) -> &'static Self {
        let mut spellings = self.spellings.to_vec();
        for spelling in &mut spellings {
            if self.found(spelling).name == name {
                spelling.does = does;
            }
        }
        Box::leak(Box::new(Self { spellings: spellings.leak(), risky: self.risky || does.risky(), ..*self }))
    }

    /// What the option of this canonical name does.
    pub(crate) fn does(&self, name: &str) -> Option<Does> {
        self.spellings
            .iter()
            .map(|spelling| self.found(spelling))
            .find(|found| found.name == name)
            .map(|found| found.does)
    }

    fn spelled(&self, s: &Spelling) -> &'static str {
        let at = usize::from(s.at);
        self.text.get(at..at + usize::from(s.len)).unwrap_or("")
    }

    fn found(&self, s: &Spelling) -> Found {
        let at = usize::from(s.canonical_at);
        let name = self.text.get(at..at + usize::from(s.canonical_len)).unwrap_or("");
        Found { name, takes: s.takes, does: s.does }
    }

    /// The option with this spelling, dashes included.
    fn exact(&self, spelling: &[u8]) -> Option<Found> {
        let text = self.text.as_bytes();
        let mut next = *self.heaps.get(heap(spelling.len(), *spelling.last()?))?;
        loop {
            let s = self.spellings.get(usize::from(next).checked_sub(1)?)?;
            let at = usize::from(s.at);
            if usize::from(s.len) == spelling.len() && text.get(at..at + spelling.len()) == Some(spelling) {
                return Some(self.found(s));
            }
            next = s.next;
        }
    }

    fn short(&self, letter: u8) -> Option<Found> {
        self.exact(&[b'-', letter])
    }

    fn abbreviated<'t>(&'t self, prefix: &'t [u8]) -> impl Iterator<Item = Found> + 't {
        self.spellings.iter().filter(move |s| self.spelled(s).as_bytes().starts_with(prefix)).map(|s| self.found(s))
    }
}

/// An option as the table has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Canonical spelling.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) does: Does,
}

/// The tables that apply at one point, inner first.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) near: &'static [&'static Table],
    pub(crate) far: &'static [&'static Table],
    pub(crate) root: &'static [&'static Table],
}

impl Tables {
    fn all(self) -> impl Iterator<Item = &'static Table> {
        self.near.iter().chain(self.far).chain(self.root).copied()
    }

    pub(crate) fn risky(self) -> bool {
        self.all().any(Table::risky)
    }

    fn exact(self, spelling: &[u8]) -> Option<Found> {
        self.all().find_map(|t| t.exact(spelling))
    }

    /// The longest option of several letters and one dash with which this word begins and whose value follows, and
    /// its length.
    fn begins(self, word: &[u8]) -> Option<(Found, usize)> {
        let spelled = self.all().flat_map(|table| table.spellings.iter().map(move |s| (table, s)));
        let fits = |table: &Table, s: &Spelling| {
            let name = table.spelled(s).as_bytes();
            s.takes == Takes::Value
                && name.len() > 2
                && name.len() < word.len()
                && !name.starts_with(b"--")
                && word.starts_with(name)
        };
        let longest = spelled.filter(|(table, s)| fits(table, s)).max_by_key(|(_, s)| s.len)?;
        Some((longest.0.found(longest.1), usize::from(longest.1.len)))
    }

    fn short(self, letter: u8) -> Option<Found> {
        self.all()
            .find_map(|t| t.short(letter))
            .or_else(|| if letter.is_ascii_digit() { self.all().find_map(|t| t.short(b'#')) } else { None })
    }

    /// A long option as written, without its value.
    pub(crate) fn long(self, name: &[u8], style: Style) -> Option<Found> {
        if let Some(found) = self.exact(name) {
            return Some(found);
        }
        if style.has(Style::WORDS)
            && let Some(found) = name.strip_prefix(b"-").and_then(|single| self.exact(single))
        {
            return Some(found);
        }
        match name {
            b"--help" => return Some(Found { name: "--help", takes: Takes::Nothing, does: Does::Nothing }),
            b"--version" => return Some(Found { name: "--version", takes: Takes::Nothing, does: Does::Nothing }),
            _ => {}
        }
        if style.has(Style::ABBREVIATES)
            && name.len() > 2
            && let Some(found) = self.abbreviation(name)
        {
            return Some(found);
        }
        // Where unknown options pass, one that may be short for a dangerous one must not.
        if style.has(Style::HARMLESS)
            && name.len() > 3
            && let Some(found) = self.all().flat_map(|t| t.abbreviated(name)).find(|f| f.does.risky())
        {
            return Some(found);
        }
        if style.has(Style::NEGATES) && self.negated(name, style) {
            return Some(Found { name: "--no-", takes: Takes::Nothing, does: Does::Nothing });
        }
        None
    }

    /// `--no-x` where there is `--x`, or the reverse.
    fn negated(self, name: &[u8], style: Style) -> bool {
        let opposite = match name.strip_prefix(b"--no-") {
            Some(positive) => [b"--", positive].concat(),
            None => [b"--no-", name.strip_prefix(b"--").unwrap_or(name)].concat(),
        };
        self.exact(&opposite).is_some()
            || style.has(Style::ABBREVIATES) && name.len() > 6 && self.abbreviation(&opposite).is_some()
    }

    fn abbreviation(self, prefix: &[u8]) -> Option<Found> {
        let mut only: Option<Found> = None;
        for found in self.all().flat_map(|t| t.abbreviated(prefix)) {
            match only {
                Some(other) if other.name != found.name => return None,
                _ => only = Some(found),
            }
        }
        only
    }
}

/// Canonical names of one flag as a person writes it in a pattern: `-rf` is `--recursive` and `--force`.
pub(crate) fn canonical(flag: &str, tables: Tables, style: Style) -> Vec<Cow<'static, str>> {
    let name = flag.split('=').next().unwrap_or(flag);
    let bytes = name.as_bytes();
    let owned = |text: &str| vec![Cow::Owned(text.to_owned())];
    if bytes.len() < 2 || !bytes.starts_with(b"-") {
        return owned(name);
    }
    let found = if bytes.starts_with(b"--") || style.has(Style::WORDS) {
        tables.long(bytes, style)
    } else if bytes.len() > 2 {
        tables.exact(bytes)
    } else {
        None
    };
    match found {
        Some(found) if found.name != "--no-" => return vec![Cow::Borrowed(found.name)],
        Some(_) => return owned(name),
        None if bytes.starts_with(b"--") || style.has(Style::WORDS) => return owned(name),
        None => {}
    }
    let mut names = Vec::new();
    for letter in name.chars().skip(1) {
        let found = u8::try_from(letter).ok().and_then(|b| tables.short(b));
        match found {
            Some(found) => {
                names.push(Cow::Borrowed(found.name));
                if found.takes != Takes::Nothing {
                    break;
                }
            }
            None => names.push(Cow::Owned(format!("-{letter}"))),
        }
    }
    names
}
