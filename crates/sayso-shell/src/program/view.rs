//! What a judge sees of a command, and how it adds to its description.

use super::path::{is_stream, join, path_target};
use super::{Code, Description, Invocation, Prints, Spec, Start, host};
use crate::effect::{Carry, Effect, HostTarget, Listing, NamedBy, Opt, PathTarget, Sieve, Span, Target, Verb};
use crate::files::Kind;
use crate::option::{Does, Seen};
use crate::value::pattern::{matches, parse};
use crate::word::{Part, Text, Word};
use crate::{Dialect, Doubt};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// A command with its words told apart, and the description so far.
pub struct View<'a> {
    /// The command.
    pub inv: &'a Invocation<'a>,
    /// The program's canonical name.
    pub name: &'static str,
    /// The program's table.
    pub root: &'static Spec,
    /// The table of the innermost subcommand.
    pub spec: &'static Spec,
    /// Canonical names of the subcommands that were met.
    pub path: Vec<&'static str>,
    /// Where relative paths begin: the working directory after `-C` and the like. `None`: not known.
    pub base: Option<Cow<'a, Path>>,
    /// Operands are taken with all below them.
    pub deep: bool,
    /// Index of a `--` in the words.
    pub terminator: Option<usize>,
    /// What the command does.
    pub out: Description,
    pub(crate) seen: Vec<Seen>,
}

impl<'a> View<'a> {
    /// The word at an index of `argv`.
    #[must_use]
    pub fn word(&self, at: usize) -> Option<&'a Word> {
        self.inv.argv.get(at)
    }

    /// Where the word at an index of `argv` stands.
    #[must_use]
    pub fn span(&self, at: usize) -> Span {
        self.inv.spans.get(at).copied().unwrap_or_default()
    }

    /// How many operands there are, subcommands not counted.
    #[must_use]
    pub fn operand_count(&self) -> usize {
        self.out.words.len().saturating_sub(usize::from(self.out.subcommands))
    }

    /// The index in `argv` of an operand, subcommands not counted.
    #[must_use]
    pub fn operand_at(&self, n: usize) -> Option<usize> {
        self.out.words.get(usize::from(self.out.subcommands) + n).map(|&at| usize::from(at))
    }

    /// An operand, subcommands not counted.
    #[must_use]
    pub fn operand(&self, n: usize) -> Option<&'a Word> {
        self.operand_at(n).and_then(|at| self.word(at))
    }

    /// An operand as text, if that is certain.
    #[must_use]
    pub fn operand_str(&self, n: usize) -> Option<&'a str> {
        self.operand(n).and_then(Word::exact_str)
    }

    /// Indexes in `argv` of all operands, subcommands not counted.
    #[must_use]
    pub fn operands(&self) -> Vec<usize> {
        self.out.words.iter().skip(usize::from(self.out.subcommands)).map(|&at| usize::from(at)).collect()
    }

    /// Whether an option is there, by its canonical name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.seen.iter().any(|s| s.opt.name == name)
    }

    /// Whether one of these options is there.
    #[must_use]
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.seen.iter().any(|s| names.contains(&s.opt.name.as_str()))
    }

    /// The value of the last option of this name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Word> {
        self.seen.iter().rev().find(|s| s.opt.name == name).and_then(|s| s.opt.value.as_ref())
    }

    /// The index in `argv` and the value of every option of this name.
    #[must_use]
    pub fn values(&self, name: &str) -> Vec<(usize, Word)> {
        self.seen
            .iter()
            .filter(|s| s.opt.name == name)
            .filter_map(|s| s.opt.value.clone().map(|value| (s.at, value)))
            .collect()
    }

    /// Whether a word names something on another machine where a file may stand.
    #[must_use]
    pub fn is_address(&self, word: &Word) -> bool {
        word.exact().is_some_and(|bytes| bytes.windows(3).any(|three| three == b"://") || bytes.starts_with(b"git@"))
    }

    /// Whether a file lies, by its name, in the working directory or in the repository around it.
    #[must_use]
    pub fn is_of_the_project(&self, file: &Word) -> bool {
        let (Some(name), Some(cwd)) = (file.exact(), self.inv.cwd) else { return false };
        let top = cwd.ancestors().find(|folder| self.inv.files.kind(&folder.join(".git")) != Kind::Missing);
        let path = join(self.base.as_deref(), name);
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => _ = real.pop(),
                part => real.push(part),
            }
        }
        real.starts_with(top.unwrap_or(cwd))
    }

    /// A word as a path, seen from where relative paths begin.
    #[must_use]
    pub fn path_of(&self, word: &Word, below: bool) -> PathTarget {
        path_target(word, self.base.as_deref(), below)
    }

    /// What a file holds, if its name is certain, its place known, and it can be read.
    #[must_use]
    pub fn content(&self, file: &Word) -> Option<Vec<u8>> {
        let path = join(self.base.as_deref(), file.exact()?);
        if !path.is_absolute() {
            return None;
        }
        self.inv.files.read(&path, crate::limit::MAX_COMMAND)
    }

    /// Adds an effect that is caused by the word at `at`.
    pub fn effect(&mut self, verb: Verb, target: Target, at: usize, carry: Carry) {
        let span = self.span(at);
        self.out.effects.push(Effect { verb, target, span, run: Some(self.inv.run), carry, certain: true });
    }

    /// Adds an effect on a path; streams and `/dev/null` are none.
    pub fn path_effect(&mut self, verb: Verb, word: &Word, at: usize, below: bool, carry: Carry) {
        if verb != Verb::Delete && word.exact().is_some_and(is_stream) {
            return;
        }
        let target = Target::Path(self.path_of(word, below));
        self.effect(verb, target, at, carry);
    }

    /// The file is read; `-` is standard input.
    pub fn reads(&mut self, word: &Word, at: usize) {
        if word.exact() != Some(b"-") {
            let below = self.deep;
            self.path_effect(Verb::Read, word, at, below, Carry::Plain);
        }
    }

    /// The file or folder is read with all below it.
    pub fn reads_below(&mut self, word: &Word, at: usize) {
        self.path_effect(Verb::Read, word, at, true, Carry::Plain);
    }

    /// The file is read, or those files below the folder that have one of these suffixes.
    pub(crate) fn reads_sources(&mut self, word: &Word, at: usize, suffixes: &str) {
        self.sources(Verb::Read, word, at, suffixes);
    }

    /// As [`Self::reads_sources`], for files that are written over.
    pub(crate) fn writes_sources(&mut self, word: &Word, at: usize, suffixes: &str) {
        self.sources(Verb::Write, word, at, suffixes);
    }

    /// The file or folder is read with all below it, or what a pattern matches that the program itself expands.
    pub(crate) fn reads_matching(&mut self, word: &Word, at: usize) {
        match word.exact().and_then(own_glob) {
            Some((folder, names)) => self.own_glob(Verb::Read, folder, names, at),
            None => self.reads_below(word, at),
        }
    }

    fn own_glob(&mut self, verb: Verb, folder: &[u8], names: Option<Vec<Text>>, at: usize) {
        let folder = if folder.is_empty() { b"." } else { folder };
        self.sifted(verb, &Word::Exact(folder.into()), at, &names.map_or(Sieve::All, Sieve::Sources));
    }

    fn sources(&mut self, verb: Verb, word: &Word, at: usize, suffixes: &str) {
        let more = self.endings();
        let chosen = more.is_none() && self.has_any(CHOOSES_FILES);
        let all = more.map(|more| format!("{suffixes} {more}"));
        let suffixes = all.as_deref().unwrap_or(suffixes);
        match word.exact().and_then(own_glob) {
            Some((folder, names)) => self.own_glob(verb, folder, names.filter(|_| !chosen), at),
            None if chosen => self.sifted(verb, word, at, &Sieve::All),
            None => self.sifted(verb, word, at, &of_suffixes(suffixes)),
        }
    }

    /// The endings that `--ext .ts,.tsx` adds, if nothing else chooses files.
    fn endings(&self) -> Option<String> {
        let chosen = self.seen.iter().filter(|seen| CHOOSES_FILES.contains(&seen.opt.name.as_str()));
        let mut endings: Vec<String> = Vec::new();
        for seen in chosen {
            let list = seen.opt.value.as_ref().filter(|_| seen.opt.name == "--ext").and_then(Word::exact_str)?;
            for ending in list.split(',').map(|ending| ending.trim().trim_start_matches('.')) {
                if ending.is_empty() || !ending.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.') {
                    return None;
                }
                endings.push(ending.to_owned());
            }
        }
        (!endings.is_empty()).then(|| endings.join(" "))
    }

    /// The file is written, as is expected of this program.
    pub fn writes(&mut self, word: &Word, at: usize) {
        let below = self.deep;
        self.path_effect(Verb::Write, word, at, below, Carry::Plain);
    }

    /// Files below the folder (or the file itself) are written.
    pub fn writes_below(&mut self, word: &Word, at: usize) {
        self.path_effect(Verb::Write, word, at, true, Carry::Plain);
    }

    /// The file is removed.
    pub fn deletes(&mut self, word: &Word, at: usize) {
        let below = self.deep;
        self.path_effect(Verb::Delete, word, at, below, Carry::Plain);
    }

    /// This path, relative to the working directory, is read or written.
    pub fn touches(&mut self, verb: Verb, path: &str, below: bool) {
        let path = join(self.base.as_deref(), path.as_bytes());
        let target = if below { PathTarget::Below(path) } else { PathTarget::Exact(path) };
        self.effect(verb, Target::Path(target), 0, Carry::Plain);
    }

    /// It connects to the host that the word names as a URL, `host:port` or `user@host:path`.
    pub fn connects(&mut self, word: &Word, at: usize) {
        let target = host::of_word(word);
        self.effect(Verb::Connect, Target::Host(target), at, Carry::Plain);
    }

    /// It connects to a host that its configuration names.
    pub fn connects_configured(&mut self, label: &str, at: usize) {
        self.effect(Verb::Connect, Target::Host(HostTarget::Configured(label.to_owned())), at, Carry::Plain);
    }

    /// Something that needs a yes of its own.
    pub fn named(&mut self, code: Code, by: NamedBy, at: usize) {
        let carry = Carry::Named { code, by };
        self.effect(Verb::Run, Target::Option(self.inv.run), at, carry);
    }

    /// As [`Self::named`], by a flag in canonical spelling.
    pub fn named_by_flag(&mut self, code: Code, flag: &str, at: usize) {
        self.named(code, NamedBy::Flag(flag.to_owned()), at);
    }

    /// As [`Self::named`], by the subcommands that were met, or by the program if there are none.
    pub fn named_by_words(&mut self, code: Code) {
        let by = self.by_words();
        self.named(code, by, 0);
    }

    /// The subcommands that were met, or the program if there are none.
    #[must_use]
    pub fn by_words(&self) -> NamedBy {
        if self.path.is_empty() {
            NamedBy::Program
        } else {
            NamedBy::Words(self.path.iter().map(|&w| w.to_owned()).collect())
        }
    }

    /// Code that nobody can see through is run.
    pub fn code(&mut self, language: &'static str, code: Code, by: NamedBy, at: usize) {
        let target = Target::Code { run: self.inv.run, language };
        self.effect(Verb::Run, target, at, Carry::Named { code, by });
    }

    /// An option that is not written but implied by the word at `at`; with a code, it needs a yes of its own.
    pub fn imply(&mut self, flag: &str, code: Option<Code>, at: usize) {
        if !self.has(flag) {
            let opt = Opt { name: flag.to_owned(), value: None, span: self.span(at), known: true, implied: true };
            self.seen.push(Seen { opt, does: Does::Nothing, at });
        }
        if let Some(code) = code {
            self.named_by_flag(code, flag, at);
        }
    }

    /// Something is not understood.
    pub fn doubt(&mut self, code: Code, text: String, at: usize) {
        let span = self.span(at);
        self.out.doubts.push(Doubt { code, text, span });
    }

    /// A shell would run this text.
    pub fn starts_shell(&mut self, text: Word, at: usize) {
        let span = self.span(at);
        self.out.starts.push(Start::Shell {
            text,
            span,
            dialect: Dialect::Other,
            elsewhere: false,
            parameters: Vec::new(),
        });
    }

    /// The words from `at` on are a command that would be started.
    pub fn starts_words(&mut self, at: usize) {
        let argv = self.inv.argv.get(at..).unwrap_or_default().to_vec();
        if argv.is_empty() {
            return;
        }
        let spans = (at..self.inv.argv.len()).map(|i| self.span(i)).collect();
        self.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    }

    /// Operands from the `from`th on go to code that nobody sees through: paths and URLs among them may be used.
    pub fn hands_on(&mut self, from: usize) {
        for at in self.operands().into_iter().skip(from) {
            if let Some(word) = self.word(at) {
                self.hands_on_word(word, at);
            }
        }
    }

    /// As [`Self::hands_on`], for one word.
    pub fn hands_on_word(&mut self, word: &Word, at: usize) {
        if let Some(bytes) = word.exact() {
            let span = self.span(at);
            super::unknown::maybe(self.inv, word, bytes, span, &mut self.out);
        }
    }

    /// A program of another name would be started with the words from `at` on (`python -m pytest tests`).
    pub fn starts_as(&mut self, name: &str, name_at: usize, at: usize) {
        let rest = self.inv.argv.get(at..).unwrap_or_default();
        let mut argv = Vec::with_capacity(rest.len() + 1);
        argv.push(Word::Exact(Text::from(name)));
        argv.extend_from_slice(rest);
        let spans = std::iter::once(name_at).chain(at..self.inv.argv.len()).map(|i| self.span(i)).collect();
        self.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    }

    /// It prints exactly this.
    pub fn prints(&mut self, bytes: Vec<u8>) {
        self.out.prints = Prints::Exact(Text::from(bytes));
    }

    /// It prints names below the working directory.
    pub fn prints_names_here(&mut self) {
        self.prints_names(Sieve::All);
    }

    /// It prints those names below the working directory that the sieve lets through.
    pub(crate) fn prints_names(&mut self, sieve: Sieve) {
        let listing = Listing::new(self.here(), sieve).told_from(self.base.as_deref());
        self.out.prints = Prints::Names(listing);
    }

    /// Names, sizes and times of what the word names are told. If it `lists`, a folder's names are told as well: only what
    /// is none now and is no link counts as a file then.
    pub(crate) fn tells(&mut self, word: &Word, at: usize, lists: bool) {
        if word.exact().is_some_and(|word| word == b"-" || is_stream(word)) {
            return;
        }
        let target = self.path_of(word, false);
        let is_file = |path: &Path| {
            path.is_absolute() && matches!(self.inv.files.kind(path), Kind::File { .. } | Kind::Missing | Kind::Other)
        };
        let told = match &target {
            PathTarget::Exact(path) => path.file_name().is_some() && (!lists || is_file(path)),
            PathTarget::Glob { base, pattern, .. } => {
                !pattern.as_bytes().contains(&b'/') && (!lists || self.expands(base, pattern, is_file))
            }
            PathTarget::Listed(_) => !lists,
            _ => false,
        };
        let target = if told { PathTarget::Told(Box::new(target)) } else { target };
        self.effect(Verb::Read, Target::Path(target), at, Carry::Plain);
    }

    /// Whether all that a pattern without a slash stands for now satisfies `test`.
    fn expands(&self, base: &Path, pattern: &Text, test: impl Fn(&Path) -> bool) -> bool {
        const MANY: usize = 10_000;
        let mut pieces = Vec::new();
        let known = base.is_absolute() && parse(pattern.as_bytes(), &mut pieces).is_some();
        let Some(names) = self.inv.files.list(base, MANY).filter(|_| known) else { return false };
        names.iter().filter(|name| matches(&pieces, name.as_encoded_bytes())).all(|name| test(&base.join(name)))
    }

    /// Where relative paths begin.
    pub(crate) fn here(&self) -> PathBuf {
        join(self.base.as_deref(), b".")
    }

    /// Those of the files below what the word names are read that the sieve lets through.
    pub(crate) fn reads_sifted(&mut self, word: &Word, at: usize, sieve: &Sieve) {
        self.sifted(Verb::Read, word, at, sieve);
    }

    /// As [`Self::reads_sifted`], where the word is known as this path with all below it.
    pub(crate) fn reads_sifted_target(&mut self, target: PathTarget, word: &Word, at: usize, sieve: &Sieve) {
        self.sifted_target(Verb::Read, target, word, at, sieve);
    }

    fn sifted(&mut self, verb: Verb, word: &Word, at: usize, sieve: &Sieve) {
        let target = self.path_of(word, true);
        self.sifted_target(verb, target, word, at, sieve);
    }

    fn sifted_target(&mut self, verb: Verb, target: PathTarget, word: &Word, at: usize, sieve: &Sieve) {
        match (target, sieve) {
            // A name that is listed is opened, whatever it is; of a folder among them, what the sieve lets through.
            (PathTarget::Listed(listing), sieve) if *sieve != Sieve::All => {
                let below = PathTarget::Sifted(Listing::new(listing.folder, sieve.clone()));
                self.path_effect(verb, word, at, false, Carry::Plain);
                self.effect(verb, Target::Path(below), at, Carry::Plain);
            }
            (PathTarget::Below(folder), sieve) if *sieve != Sieve::All => {
                let target = PathTarget::Sifted(Listing::new(folder, sieve.clone()));
                self.effect(verb, Target::Path(target), at, Carry::Plain);
            }
            _ => self.path_effect(verb, word, at, true, Carry::Plain),
        }
    }
}

/// Options by which linters and formatters look at other files than those of their language.
const CHOOSES_FILES: &[&str] = &[
    "--ext",
    "--extend-include",
    "--extension",
    "--extensions",
    "--file-extensions",
    "--filename",
    "--include",
    "--include-regex",
    "--supported-extension",
];

/// A pattern that a program expands itself (`prettier 'src/**/*.ts'`): the folder before it, and what its last part
/// matches, where that ends in a suffix. Such programs may take a leading dot as any other character.
fn own_glob(word: &[u8]) -> Option<(&[u8], Option<Vec<Text>>)> {
    let wild = word.iter().position(|b| matches!(b, b'*' | b'?' | b'[' | b'{'))?;
    if word.starts_with(b"!") {
        // Less, not more.
        return None;
    }
    let slash = word.iter().take(wild).rposition(|b| *b == b'/');
    let folder = match slash {
        Some(0) => word.get(..1),
        Some(at) => word.get(..at),
        None => word.get(..0),
    };
    let last = word.rsplit(|b| *b == b'/').next().unwrap_or_default();
    Some((folder.unwrap_or_default(), suffixed(last)))
}

/// `*.ts` and `*.{ts,tsx}`, and nothing that needs more thought.
fn suffixed(last: &[u8]) -> Option<Vec<Text>> {
    let name = std::str::from_utf8(last).ok()?.strip_prefix("*.")?;
    let names: Vec<&str> = match name.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?.split(',').collect(),
        None => vec![name],
    };
    let plain = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    names.iter().all(plain).then(|| names.iter().map(|name| Text::from(format!("*.{name}").as_str())).collect())
}

/// Files with one of these suffixes, which stand between blanks.
fn of_suffixes(suffixes: &str) -> Sieve {
    Sieve::Sources(suffixes.split(' ').map(|suffix| Text::from(format!("*.{suffix}").as_str())).collect())
}

/// Whether a word may become none or several words.
pub(crate) fn may_split(word: &Word) -> bool {
    match word {
        Word::Exact(_) => false,
        Word::Dynamic(shape) => {
            shape.splits() && !(shape.origin.is_number() && shape.parts.iter().all(|p| matches!(p, Part::Hole)))
        }
        Word::Opaque => true,
    }
}
