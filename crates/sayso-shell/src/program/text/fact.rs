//! Facts of programs by their names, beside what their words do.

use super::command::{Reader, rest};
use super::line::{Line, Token};
use super::problem::{Place, shown};
use super::{Document, Facets, Words};

/// Files that say what a program does though no word of a command names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoesBy {
    /// Looked for where the program starts, in folders that its words name, and above. A name may lead into a folder;
    /// `*` stands for any part of its last component, `**/` in front for every folder below.
    pub here: Vec<String>,
    /// Looked for in the home folder.
    pub home: Vec<String>,
    /// The settings and hooks of the repository, wherever they lie.
    pub repository: bool,
}

/// How a program takes commands from whoever types into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listens {
    /// The program.
    pub name: String,
    /// With one of these options it does what it is told and no more.
    pub unless: Vec<String>,
    /// With more operands than this, too.
    pub up_to: Option<usize>,
    /// It reads keys from the terminal even where its input comes through a pipe.
    pub piped: bool,
}

/// How a program passes lines on that it reads, and prints nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepsLines {
    /// The program.
    pub name: String,
    /// The options with which it prints some of the lines that it reads, unchanged.
    pub options: Vec<String>,
    /// It looks for a pattern, its first operand, of this kind.
    pub pattern: Option<Expressions>,
}

/// Regular expressions, as a program reads them without an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expressions {
    /// `\(a\|b\)`
    Basic,
    /// `(a|b)`
    Extended,
}

/// A variable of the environment, and what setting it for a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; `GIT_*` are all that begin so, `*_URL` all that end so.
    pub name: String,
    /// What setting it does.
    pub does: Env,
}

/// What setting a variable does. The number is a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Env {
    /// `changes-what-runs`: which code runs, where it is fetched from, or whom a program trusts.
    ChangesWhatRuns = 1,
    /// `tunes`: of those that begin as others do which change what runs, this one only tunes output.
    Tunes = 1 << 1,
    /// `writes`: its value is a file that a program writes.
    Writes = 1 << 2,
    /// `writes-below`: its value is a folder below which a program writes.
    WritesBelow = 1 << 3,
    /// `ordinary`: nobody fears it, whatever it holds.
    Ordinary = 1 << 4,
}

impl Env {
    const WORDS: [(&'static str, Self); 5] = [
        ("changes-what-runs", Self::ChangesWhatRuns),
        ("tunes", Self::Tunes),
        ("writes", Self::Writes),
        ("writes-below", Self::WritesBelow),
        ("ordinary", Self::Ordinary),
    ];
}

/// What commands hide a secret, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// A program each, and the words that must stand behind its name. A name that ends with `*` is all that begin so.
    pub commands: Vec<String>,
    /// Where.
    pub hides: Hides,
}

/// Where a command holds a secret. The crate's `Hides` says what each means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hides {
    /// `secret -p --pass`, `joined -p`, `login -u` and `pair --encrypt`: in one of these options.
    Option(&'static str, Vec<String>),
    /// `operands 1`: in its operands, from this one on.
    OperandsFrom(usize),
    /// `slashed`
    Slashed,
    /// `assignments`
    Assignments,
    /// `behind-name`
    BehindName,
}

impl Reader<'_> {
    /// A fact that is said below a program. False: the line is none.
    pub(super) fn fact(&mut self, line: &Line, names: &[String], document: &mut Document) -> bool {
        match line.first() {
            "goes-by" => self.goes_by(line, names, document),
            "env" if self.words == Words::BuiltIn => self.env(line, document),
            "env" => self.env_of_owner(line, names, document),
            "prints-number" if self.words == Words::BuiltIn => self.prints_number(line, names, document),
            "listens" if self.words == Words::BuiltIn => self.listens(line, names, document),
            "keeps-lines" if self.words == Words::BuiltIn => self.keeps_lines(line, names, document),
            "part" if self.words == Words::BuiltIn => self.part(line, names, document),
            "listens" | "keeps-lines" | "prints-number" | "part" => {
                self.problems.add(line.at, "only Sayso's own texts say this")
            }
            _ => return false,
        }
        self.nothing_below(line);
        true
    }

    /// The names that a line is about, and what it says: `goes-by make gmake : Makefile`.
    fn about<'l>(&mut self, line: &'l Line, names: &[String]) -> (Vec<String>, &'l [Token]) {
        let tokens = rest(line);
        let Some(colon) = tokens.iter().position(|token| token.is(":")) else { return (names.to_vec(), tokens) };
        let (of, said) = tokens.split_at(colon);
        for token in of {
            if !names.contains(&token.text) {
                let text = format!("{} is none of the names of this program", shown(&token.text));
                self.problems.add(token.at, text);
            }
        }
        if of.is_empty() {
            self.problems.add(line.at, "a name stands before the colon");
        }
        (of.iter().map(|token| token.text.clone()).collect(), said.get(1..).unwrap_or_default())
    }

    /// `goes-by FILE... [home FILE...]`, or `goes-by @NAME` of `files NAME`.
    fn goes_by(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let (of, said) = self.about(line, names);
        let files = match said {
            [only] if only.text.starts_with('@') => {
                let name = only.text.trim_start_matches('@');
                let Some(files) = self.shared.files.get(name) else {
                    self.problems.add(only.at, format!("no files are called {}", shown(name)));
                    return;
                };
                files.clone()
            }
            _ => {
                let home = said.iter().position(|token| token.is("home")).unwrap_or(said.len());
                let (here, home) = said.split_at(home);
                GoesBy { here: texts(here), home: texts(home.get(1..).unwrap_or_default()), repository: false }
            }
        };
        if files == GoesBy::default() {
            self.problems.add(line.at, "`goes-by FILE... home FILE...`, or `goes-by @NAME` of `files NAME`");
        }
        for name in of {
            if document.goes_by.iter().any(|(other, _)| *other == name) {
                self.problems.add(line.at, format!("what {} goes by is said twice", shown(&name)));
            }
            document.goes_by.push((name, files.clone()));
        }
    }

    /// `listens [even-piped] [up-to N] [unless FLAG...]`
    fn listens(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let (of, said) = self.about(line, names);
        let unless = said.iter().position(|token| token.is("unless")).unwrap_or(said.len());
        let (before, flags) = said.split_at(unless);
        let mut before = before.iter();
        let (mut up_to, mut piped) = (None, false);
        while let Some(token) = before.next() {
            match token.text.as_str() {
                "even-piped" => piped = true,
                "up-to" => match before.next().and_then(|number| number.text.parse().ok()) {
                    Some(number) => up_to = Some(number),
                    None => self.problems.add(token.at, "`up-to` takes a number of operands"),
                },
                _ => self.problems.add(token.at, "`listens [even-piped] [up-to N] [unless FLAG...]`"),
            }
        }
        let unless = texts(flags.get(1..).unwrap_or_default());
        let listens = |name| Listens { name, unless: unless.clone(), up_to, piped };
        document.listens.extend(of.into_iter().map(listens));
    }

    /// `keeps-lines [basic | extended] [OPTION...]`
    fn keeps_lines(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let (of, said) = self.about(line, names);
        let (pattern, options) = match said {
            [first, options @ ..] if first.is("basic") => (Some(Expressions::Basic), options),
            [first, options @ ..] if first.is("extended") => (Some(Expressions::Extended), options),
            options => (None, options),
        };
        if let Some(token) = options.iter().find(|token| !token.text.starts_with('-')) {
            self.problems.add(token.at, "`keeps-lines [basic | extended] [OPTION...]`");
        }
        let keeps = |name| KeepsLines { name, options: texts(options), pattern };
        document.keeps_lines.extend(of.into_iter().map(keeps));
    }

    /// `part FACET : PATTERN`, of commands of this program that have a facet which the program has not.
    fn part(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let (facet, pattern) = match rest(line) {
            [facet, colon, pattern @ ..] if colon.is(":") && pattern.len() > 1 => (Facets::named(&facet.text), pattern),
            _ => (None, &[][..]),
        };
        let Some(facet) = facet else {
            self.problems.add(line.at, "`part FACET : PROGRAM WORDS...`");
            return;
        };
        let program = pattern.first().map_or("", |token| token.text.trim_matches(['{', '}']));
        if let Some(other) = program.split(',').find(|name| !names.iter().any(|known| known == name)) {
            self.problems.add(line.at, format!("{} is none of the names of this program", shown(other)));
        }
        document.parts.push((facet, texts(pattern).join(" ")));
    }

    /// `rehearses OPTION...`, of every program.
    pub(super) fn rehearses(&mut self, line: &Line, document: &mut Document) {
        for token in rest(line) {
            if !token.text.starts_with('-') {
                self.problems.add(token.at, "`rehearses OPTION...`");
            }
            document.rehearses.push(token.text.clone());
        }
        self.nothing_below(line);
    }

    /// `prints-number FUNCTION`: it decides whether the program prints a number and nothing else.
    fn prints_number(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let (of, said) = self.about(line, names);
        match said {
            [function] if function.text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
                document.numbers.extend(of.into_iter().map(|name| (name, function.text.clone())));
            }
            _ => self.problems.add(line.at, "`prints-number FUNCTION`, one of `program/number.rs`"),
        }
    }

    /// `env NAME... : WHAT`, below a program or by itself.
    pub(super) fn env(&mut self, line: &Line, document: &mut Document) {
        let tokens = rest(line);
        let colon = tokens.iter().position(|token| token.is(":")).unwrap_or(tokens.len());
        let (names, said) = tokens.split_at(colon);
        let does = match said {
            [_, word] => Env::WORDS.iter().find(|(name, _)| *name == word.text).map(|(_, does)| *does),
            _ => None,
        };
        let Some(does) = does else {
            let words: Vec<&str> = Env::WORDS.iter().map(|(name, _)| *name).collect();
            self.problems.add(line.at, format!("`env NAME... : WHAT`, and what is one of {}", words.join(", ")));
            return;
        };
        for token in names {
            let letters = token.text.trim_start_matches('*');
            let letters = if letters.len() == token.text.len() { letters.trim_end_matches('*') } else { letters };
            if letters.is_empty() || !letters.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                let text =
                    format!("{} is no variable; `GIT_*` and `*_URL` are all that begin or end so", shown(&token.text));
                self.problems.add(token.at, text);
            }
            document.env.push(Variable { name: token.text.clone(), does });
        }
    }

    /// The same of an owner's program: what a variable does to it, and never that it does nothing.
    fn env_of_owner(&mut self, line: &Line, names: &[String], document: &mut Document) {
        let mut said = Document::default();
        self.env(line, &mut said);
        for variable in said.env {
            if matches!(variable.does, Env::Tunes | Env::Ordinary) {
                self.problems.add(line.at, "only Sayso's own texts say that a variable is harmless");
                return;
            }
            if variable.name.contains('*') {
                self.problems.add(line.at, "name each variable; only Sayso's own texts say how they begin or end");
                return;
            }
            document.env_of.extend(names.iter().map(|name| (name.clone(), variable.clone())));
        }
    }

    /// The lines below `secrets`: `curl, wget : login -u`.
    pub(super) fn secrets(&mut self, line: &Line, document: &mut Document) {
        for below in &line.below {
            self.nothing_below(below);
            let tokens = &below.tokens;
            let colon = tokens.iter().position(|token| token.is(":")).unwrap_or(tokens.len());
            let (commands, said) = tokens.split_at(colon);
            let written = commands.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
            let commands: Vec<String> = written.split(", ").map(str::to_owned).collect();
            if matches!(said, [_, word] if word.is("on-stdin")) {
                // `sudo -S`, and `* --password-stdin` of whatever program.
                let fed = commands.iter().map(|command| command.split_once(' ').unwrap_or((command, "")));
                let named = |name: &str| if name == "*" { String::new() } else { name.to_owned() };
                document.fed.extend(fed.map(|(name, word)| (named(name), word.to_owned())));
                continue;
            }
            if commands.iter().any(|command| command.trim_matches(' ').len() < 2) {
                self.problems.add(below.at, "`COMMAND, COMMAND : WHERE`; a program's name has two letters at least");
            }
            if let Some(hides) = self.hides(said.get(1..).unwrap_or_default(), below.at) {
                document.secrets.push(Secret { commands, hides });
            }
        }
    }

    fn hides(&mut self, said: &[Token], at: Place) -> Option<Hides> {
        let words: Vec<&str> = said.iter().map(|token| token.text.as_str()).collect();
        match words.as_slice() {
            ["slashed"] => return Some(Hides::Slashed),
            ["assignments"] => return Some(Hides::Assignments),
            ["behind-name"] => return Some(Hides::BehindName),
            ["operands", number] => {
                if let Ok(number) = number.parse() {
                    return Some(Hides::OperandsFrom(number));
                }
            }
            [kind, options @ ..] if !options.is_empty() => {
                const KINDS: [(&str, &str); 4] =
                    [("secret", "Secret"), ("joined", "Joined"), ("login", "Login"), ("pair", "Pair")];
                if let Some((_, takes)) = KINDS.iter().find(|(word, _)| word == kind) {
                    return Some(Hides::Option(takes, options.iter().map(|&option| option.to_owned()).collect()));
                }
            }
            _ => {}
        }
        let text = "where the secret stands: `secret`, `joined`, `login` or `pair` with options, `operands N`, `slashed`, \
                    `assignments`, `behind-name` or `on-stdin`";
        self.problems.add(at, text);
        None
    }
}

fn texts(tokens: &[Token]) -> Vec<String> {
    tokens.iter().map(|token| token.text.clone()).collect()
}

/// The files below `files NAME`: lines of them, `home FILE...`, and `repository`.
pub(super) fn files(line: &Line) -> GoesBy {
    let mut files = GoesBy::default();
    for below in &line.below {
        match below.first() {
            "home" => files.home.extend(texts(rest(below))),
            "repository" if below.tokens.len() == 1 => files.repository = true,
            _ => files.here.extend(texts(&below.tokens)),
        }
    }
    files
}
