//! Patterns on programs: `git push --force`, `{curl,wget} | @shells`, `/usr/bin/*`, `re:...`.
//!
//! Program, then leading words (subcommands), then flags that must all be present in any spelling and position.

use super::pipe::{LONGEST, Line, Programs, too_long};
use super::{Glob, PatternError, Purpose, RunKind};
use crate::word::Tri;
use regex::Regex;
use sayso_shell::program::{BUILT_IN, Catalogue, is_fact, plain_name};
use sayso_shell::{NamedBy, Run, RunId, Word};

/// A pattern on programs.
#[derive(Clone, Debug)]
pub(crate) enum RunPattern {
    /// Whatever runs, what cannot be seen through too.
    Anything,
    /// Commands of one pipeline, from left to right; each any of several. Mostly one with one.
    Pipe(Vec<Vec<CommandPattern>>),
    /// `re:` on the words of the command, joined with single blanks.
    Regex(Regex),
    /// Runs of a kind: `@builds`, `@scripts`, `@code`.
    Kind(RunKind),
}

/// A pattern on one command.
#[derive(Clone, Debug)]
pub(crate) struct CommandPattern {
    pub(super) program: ProgramPattern,
    pub(super) words: Vec<Glob>,
    pub(super) flags: Vec<FlagPattern>,
}

#[derive(Clone, Debug)]
pub(super) enum ProgramPattern {
    /// `*`.
    Any,
    /// A name or a glob of names.
    Name(Glob),
    /// A path or a glob of paths, matched against what the name resolves to.
    Path(super::PathPattern),
}

/// Flags to which a program answers what it is, and ends.
const QUESTIONS: &[&str] = &["--version", "--help", "-version", "-help", "-V"];

/// A flag by its canonical spelling, with a value if one was written.
#[derive(Clone, Debug)]
pub(super) struct FlagPattern {
    pub(super) name: String,
    pub(super) value: Option<Glob>,
}

impl RunPattern {
    /// Reads one pattern, alternatives already expanded. `set` resolves `@name` to the texts it stands for.
    pub(crate) fn parse(
        text: &str,
        set: &mut dyn FnMut(&str) -> Result<Vec<String>, PatternError>,
    ) -> Result<Self, PatternError> {
        Self::parse_in(text, &BUILT_IN, set)
    }

    /// The same where these programs are known.
    pub(crate) fn parse_in(
        text: &str,
        programs: &Catalogue,
        set: &mut dyn FnMut(&str) -> Result<Vec<String>, PatternError>,
    ) -> Result<Self, PatternError> {
        if let Some(re) = text.strip_prefix("re:") {
            return compile_regex(re).map(Self::Regex);
        }
        let mut stages = Vec::new();
        // Each would be compared with each program of a command, and no pipe that long is followed.
        if text.split('|').count() > LONGEST {
            let text = format!("pipes of more than {LONGEST} programs are not followed, so this would match nothing");
            return Err(PatternError::new(text)
                .suggest("name the first and the last, as in `curl | sh`; others may come between"));
        }
        for stage in text.split('|') {
            let stage = stage.trim();
            if stage.is_empty() {
                return Err(PatternError::new("a pipe needs a command on both sides"));
            }
            let texts = match stage.strip_prefix('@') {
                Some(name) => set(name)?,
                None => vec![stage.to_owned()],
            };
            stages.push(texts.iter().map(|text| CommandPattern::parse(text, programs)).collect::<Result<_, _>>()?);
        }
        Ok(Self::Pipe(stages))
    }

    /// The program's name and first word, where the pattern fixes them: what it is looked up by.
    pub(crate) fn key(&self) -> (Option<&str>, Option<&str>) {
        let Self::Pipe(stages) = self else { return (None, None) };
        match stages.as_slice() {
            [only] => match only.as_slice() {
                [command] => (command.program_name(), command.words.first().and_then(Glob::literal)),
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    /// The names of all programs that it can match, where it fixes them.
    pub(crate) fn program_names(&self) -> Option<Vec<&str>> {
        let Self::Pipe(stages) = self else { return None };
        stages.iter().flatten().map(CommandPattern::program_name).collect()
    }

    /// Matches one program of an analysis. A pipe pattern matches each of its programs' runs, so that the caret
    /// stands under the pair.
    pub(crate) fn matches(&self, programs: &Programs<'_>, id: RunId, bases: &super::Bases, purpose: Purpose) -> Tri {
        let Some(run) = programs.analysis().run(id) else { return Tri::No };
        match self {
            Self::Anything => Tri::Yes,
            Self::Kind(kind) => kind.matches(programs.kinds(), id, run, purpose),
            Self::Regex(regex) => match joined(run) {
                Some(text) => regex.is_match(&text).into(),
                None if purpose == Purpose::Restrict => Tri::Maybe,
                None => Tri::No,
            },
            Self::Pipe(stages) => match stages.as_slice() {
                [only] => any_of(only, run, bases, purpose),
                stages => pipe(stages, programs, run, bases, purpose),
            },
        }
    }

    /// Whether of every flag whose value it names no other value is given. An attacker would repeat the flag: the first
    /// value is the one that was answered for, the last is the one that counts.
    pub(crate) fn names_all_values(&self, run: &Run) -> bool {
        match self {
            Self::Anything | Self::Regex(_) | Self::Kind(_) => true,
            Self::Pipe(stages) => stages.iter().flatten().all(|command| command.names_all_values(run)),
        }
    }

    /// Whether it names an effect that no plain allow carries.
    pub(crate) fn names(&self, by: &NamedBy, run: &Run, bases: &super::Bases) -> bool {
        match self {
            Self::Anything => true,
            // What a kind names is asked of the kind.
            Self::Regex(_) | Self::Kind(_) => false,
            Self::Pipe(stages) => stages
                .iter()
                .flatten()
                .any(|command| command.matches(run, bases, Purpose::Permit) == Tri::Yes && command.names(by)),
        }
    }
}

fn any_of(commands: &[CommandPattern], run: &Run, bases: &super::Bases, purpose: Purpose) -> Tri {
    commands.iter().map(|command| command.matches(run, bases, purpose)).max().unwrap_or(Tri::No)
}

/// The run is one stage; the others must stand in the same pipeline, in order, not necessarily side by side.
fn pipe(
    stages: &[Vec<CommandPattern>],
    programs: &Programs<'_>,
    run: &Run,
    bases: &super::Bases,
    purpose: Purpose,
) -> Tri {
    let mine = stages.iter().map(|stage| any_of(stage, run, bases, purpose)).max().unwrap_or(Tri::No);
    if mine == Tri::No || run.pipe.is_none() {
        return Tri::No;
    }
    let line = match programs.line(run) {
        Line::Whole(line) => line,
        Line::TooLong => return mine.and(too_long(purpose)),
    };
    // best[k]: how surely stages 0..k stand before here.
    let mut best = vec![Tri::No; stages.len() + 1];
    if let Some(first) = best.first_mut() {
        *first = Tri::Yes;
    }
    for group in line.chunk_by(|a, b| a.place == b.place) {
        let mut next = best.clone();
        for ((stage, before), slot) in stages.iter().zip(&best).zip(next.iter_mut().skip(1)) {
            if *before == Tri::No {
                continue;
            }
            for other in group {
                *slot = (*slot).max(before.and(any_of(stage, other.run, bases, purpose)));
            }
        }
        best = next;
    }
    mine.and(best.last().copied().unwrap_or(Tri::No))
}

impl CommandPattern {
    /// The program's name, where it is fixed.
    fn program_name(&self) -> Option<&str> {
        match &self.program {
            ProgramPattern::Name(glob) => glob.literal(),
            _ => None,
        }
    }

    fn parse(text: &str, programs: &Catalogue) -> Result<Self, PatternError> {
        let mut tokens = text.split_whitespace();
        let Some(program) = tokens.next() else { return Err(PatternError::new("this names no program")) };
        if program.starts_with('-') {
            return Err(PatternError::new("a pattern starts with a program, not a flag"));
        }
        if program.starts_with('@') {
            return Err(PatternError::new("a set must stand alone, or alone between pipes"));
        }
        let mut words: Vec<&str> = Vec::new();
        let mut flags: Vec<&str> = Vec::new();
        for token in tokens {
            if token == "--" {
                return Err(PatternError::new("`--` only ends the options; it is not a flag")
                    .suggest("name the subcommand or flag you mean"));
            }
            if token.len() > 1 && token.starts_with('-') {
                flags.push(token);
            } else if flags.is_empty() {
                words.push(token);
            } else {
                return Err(PatternError::new(format!("`{token}` comes after a flag; words go before flags"))
                    .suggest(reordered(program, &words, token, &flags)));
            }
        }
        let mut compiled = Vec::new();
        for flag in flags {
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(Glob::new(value))),
                None => (flag, None),
            };
            for name in canonical_flags(programs, program, &words, name) {
                compiled.push(FlagPattern { name, value: value.clone() });
            }
        }
        let words = canonical_words(programs, program, &words);
        Ok(Self { program: ProgramPattern::parse(program)?, words, flags: compiled })
    }

    fn matches(&self, run: &Run, bases: &super::Bases, purpose: Purpose) -> Tri {
        let mut program = self.program.matches(run, bases, purpose);
        if program == Tri::No {
            return Tri::No;
        }
        if run.guessed {
            program = if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe };
        }
        // Of a program that nobody named, `* --help` means just that: no word and no option beside it.
        let any = matches!(self.program, ProgramPattern::Any) && !(self.words.is_empty() && self.flags.is_empty());
        if any && purpose == Purpose::Permit && run.argv.len() != 1 + self.words.len() + self.flags.len() {
            return Tri::No;
        }
        if purpose == Purpose::Permit && self.asks_about_itself() && !self.only_asks(run) {
            return Tri::No;
        }
        program.and(self.words_match(run, purpose)).and(self.flags_match(run))
    }

    /// `sqlite3 --version`: a question about the program and nothing that works with it.
    fn asks_about_itself(&self) -> bool {
        self.flags.iter().any(|flag| flag.value.is_none() && QUESTIONS.contains(&flag.name.as_str()))
    }

    /// INVARIANT: who allows the question allows nothing else. What stands beside it may be done first
    /// (`sqlite3 -cmd '.shell x' -version`), or may be the program that is asked (`npm x evil --version`).
    fn only_asks(&self, run: &Run) -> bool {
        let beside = |name: &str| QUESTIONS.contains(&name) || matches!(name, "--verbose" | "+") || is_fact(name);
        run.words.len() == self.words.len()
            && run
                .options
                .iter()
                .all(|option| beside(&option.name) || self.flags.iter().any(|flag| flag.name == option.name))
    }

    fn words_match(&self, run: &Run, purpose: Purpose) -> Tri {
        let mut result = Tri::Yes;
        for (at, wanted) in self.words.iter().enumerate() {
            let index = run.words.get(at).map(|index| usize::from(*index));
            let word = index.and_then(|index| run.argv.get(index));
            let here = match word {
                // `npm i` is `npm install`, whichever of the two a rule or a command writes.
                Some(Word::Exact(text))
                    if wanted.matches(text.as_bytes())
                        || run.subcommand(at).is_some_and(|name| wanted.matches(name.as_bytes())) =>
                {
                    // Without a table nobody knows whether an option before it takes this word as its value.
                    let options_before = !run.program.known
                        && index.is_some_and(|index| run.argv.iter().take(index).skip(1).any(Word::may_be_option));
                    if options_before { Tri::Maybe } else { Tri::Yes }
                }
                Some(Word::Exact(_)) => {
                    let options = !run.program.known && run.argv.iter().skip(1).any(Word::may_be_option);
                    let later = || {
                        run.words.iter().skip(at).any(|index| {
                            run.argv.get(usize::from(*index)).is_none_or(|word| match word {
                                Word::Exact(text) => wanted.matches(text.as_bytes()),
                                _ => true,
                            })
                        })
                    };
                    if purpose == Purpose::Restrict && options && later() { Tri::Maybe } else { Tri::No }
                }
                Some(Word::Dynamic(shape)) if wanted.may_match(shape) => Tri::Maybe,
                Some(Word::Dynamic(_)) => Tri::No,
                Some(Word::Opaque) => Tri::Maybe,
                None => Tri::No,
            };
            result = result.and(here);
        }
        // A word that may become none or several moves all words behind it.
        if result == Tri::No && self.words.iter().enumerate().any(|(at, _)| unstable_before(run, at)) {
            return Tri::Maybe;
        }
        result
    }

    fn flags_match(&self, run: &Run) -> Tri {
        self.flags
            .iter()
            .map(|wanted| {
                let present = run
                    .options
                    .iter()
                    .filter(|option| option.name == wanted.name)
                    .map(|option| match (&wanted.value, &option.value) {
                        (None, _) => Tri::Yes,
                        (Some(_), None) => Tri::No,
                        (Some(glob), Some(Word::Exact(text))) => glob.matches(text.as_bytes()).into(),
                        (Some(glob), Some(Word::Dynamic(shape))) => {
                            if glob.may_match(shape) {
                                Tri::Maybe
                            } else {
                                Tri::No
                            }
                        }
                        (Some(_), Some(Word::Opaque)) => Tri::Maybe,
                    })
                    .max()
                    .unwrap_or(Tri::No);
                let open = run.open_options
                    || run.argv.first().is_some_and(|name| name.exact().is_none())
                    // An option the table does not know may be an abbreviation or a new spelling.
                    || run.options.iter().any(|option| {
                        !option.known && run.program.known && wanted.name.starts_with(&option.name)
                    });
                // A fact stands in no word.
                if open && !is_fact(&wanted.name) { present.max(Tri::Maybe) } else { present }
            })
            .min()
            .unwrap_or(Tri::Yes)
    }

    fn names_all_values(&self, run: &Run) -> bool {
        run.options.iter().all(|option| {
            let mut named = self.flags.iter().filter(|flag| flag.name == option.name).peekable();
            let value = option.value.as_ref().and_then(Word::exact);
            let fits = |flag: &FlagPattern| match (&flag.value, value) {
                (None, _) => true,
                (Some(glob), Some(value)) => glob.matches(value),
                (Some(_), None) => false,
            };
            named.peek().is_none() || named.any(fits)
        })
    }

    fn names(&self, by: &NamedBy) -> bool {
        match by {
            NamedBy::Flag(flag) => self.flags.iter().any(|mine| mine.name == *flag),
            NamedBy::Words(words) => self.names_words(words),
            NamedBy::Task(words) => self.words.len() < words.len() || self.names_words(words),
            NamedBy::Program => match &self.program {
                ProgramPattern::Name(glob) => glob.is_specific(),
                // One file, by its path: nothing says more exactly which program is meant.
                ProgramPattern::Path(path) => path.is_one_file(),
                ProgramPattern::Any => false,
            },
            NamedBy::Env(_) | NamedBy::Nothing => false,
        }
    }

    fn names_words(&self, words: &[String]) -> bool {
        let named = |(word, mine): (&String, &Glob)| mine.is_specific() && mine.matches(word.as_bytes());
        !words.is_empty() && words.len() <= self.words.len() && words.iter().zip(&self.words).all(named)
    }
}

fn unstable_before(run: &Run, at: usize) -> bool {
    run.words.iter().take(at + 1).any(|index| match run.argv.get(usize::from(*index)) {
        Some(Word::Dynamic(shape)) => shape.splits(),
        Some(Word::Opaque) => true,
        _ => false,
    })
}

impl ProgramPattern {
    fn parse(text: &str) -> Result<Self, PatternError> {
        if text == "*" {
            Ok(Self::Any)
        } else if text.contains('/') || text.starts_with('~') {
            super::PathPattern::parse(text).map(Self::Path)
        } else {
            Ok(Self::Name(Glob::new(text)))
        }
    }

    fn matches(&self, run: &Run, bases: &super::Bases, purpose: Purpose) -> Tri {
        match (self, purpose) {
            (Self::Any, Purpose::Permit) => is_what_it_says(run).into(),
            (Self::Any, Purpose::Restrict) => Tri::Yes,
            (Self::Name(glob), Purpose::Permit) => {
                let named = run.program.base.as_deref().is_some_and(|base| glob.matches(base.as_bytes()));
                (named && is_what_it_says(run)).into()
            }
            (Self::Name(glob), Purpose::Restrict) => match run.program.base.as_deref() {
                Some(base) if glob.matches(base.as_bytes()) => Tri::Yes,
                // `grm` is `rm`.
                Some(base) if plain_name(base).is_some_and(|name| glob.matches(name.as_bytes())) => Tri::Yes,
                Some(base) if glob.matches_folded(base.as_bytes()) => Tri::Maybe,
                Some(_) => Tri::No,
                None => match run.argv.first() {
                    Some(Word::Dynamic(shape)) if !may_end_in(glob, shape) => Tri::No,
                    _ => Tri::Maybe,
                },
            },
            (Self::Path(pattern), purpose) => match &run.program.path {
                Some(path) => pattern.matches_path(path, bases, purpose).into(),
                None if purpose == Purpose::Restrict && run.program.base.is_none() => Tri::Maybe,
                None => Tri::No,
            },
        }
    }
}

/// Whether an unknown program may be one of these: the name may stand behind a path.
fn may_end_in(glob: &Glob, shape: &sayso_shell::Shape) -> bool {
    use super::glob::{Token, overlap, shape_tokens};
    if shape.splits() {
        return true;
    }
    let mut mine = vec![Token::Many];
    mine.extend(glob.tokens());
    overlap(&mine, &shape_tokens(shape))
}

/// Folders that hold the system's programs, and only its owner may write to.
const SYSTEM_FOLDERS: [&str; 9] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/snap/bin",
];

/// Whether a name means the program of that name. Called by a path, it does only from the system's folders: an
/// agent can put a `git` of its own anywhere else.
pub(super) fn is_what_it_says(run: &Run) -> bool {
    if run.program.shadow.is_some() {
        return false;
    }
    match run.name() {
        Some(name) if name.contains('/') => run
            .program
            .path
            .as_deref()
            .and_then(std::path::Path::parent)
            .is_some_and(|folder| SYSTEM_FOLDERS.iter().any(|known| folder == std::path::Path::new(known))),
        Some(_) => true,
        None => false,
    }
}

/// The words of a command joined with blanks, if all are certain and UTF-8.
fn joined(run: &Run) -> Option<String> {
    let mut text = String::new();
    for (at, word) in run.argv.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(word.exact_str()?);
    }
    Some(text)
}

fn reordered(program: &str, words: &[&str], late: &str, flags: &[&str]) -> String {
    [&[program], words, &[late], flags].concat().join(" ")
}

/// A flag as the program's table spells it; `-rf` is two.
pub(crate) fn canonical_flags(programs: &Catalogue, program: &str, words: &[&str], flag: &str) -> Vec<String> {
    let base = program.rsplit('/').next().unwrap_or(program);
    match programs.spec(base) {
        Some(spec) => {
            let found = sayso_shell::program::canonical_flag(spec, words, flag);
            if found.is_empty() {
                vec![flag.to_owned()]
            } else {
                found.into_iter().map(std::borrow::Cow::into_owned).collect()
            }
        }
        None => vec![flag.to_owned()],
    }
}

fn canonical_words(programs: &Catalogue, program: &str, words: &[&str]) -> Vec<Glob> {
    let base = program.rsplit('/').next().unwrap_or(program);
    match programs.spec(base) {
        Some(spec) => sayso_shell::program::canonical_words(spec, words).into_iter().map(Glob::new).collect(),
        None => words.iter().map(|word| Glob::new(word)).collect(),
    }
}

/// A regular expression of linear time and bounded size.
pub(crate) fn compile_regex(text: &str) -> Result<Regex, PatternError> {
    regex::RegexBuilder::new(text)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| PatternError::new(format!("invalid regular expression: {error}")))
}
