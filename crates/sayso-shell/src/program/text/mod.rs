//! The language in which programs are described: a text becomes programs, or a list of mistakes with their places.
//!
//! The same reader reads Sayso's own texts (`programs/*.prog`) when the crate is built, and an owner's when a policy is
//! loaded. It depends on nothing else in the crate, because the build script includes it, and takes any input: it never
//! panics, and what it makes is bounded by the length of the text.
//!
//! ```text
//! # A line that begins with a number sign is a comment. A line that ends with a backslash goes on in the next.
//!
//! program sort                            described alike: several names; `program npm = n`: `n` means `npm`
//!   style gnu                             how words are read, see `Style`; `gnu` unless something is said
//!   -r --reverse, -u --unique             options, a table as long as no other line comes between
//!   -k --key KEYDEF                       a value is required: the next word, `--key=2`, `-k2`
//!   --color [WHEN]                        a value may be joined (`--color=never`), never the next word
//!   -o --output FILE : writes             what the options of a line do stands behind the colon, see `Does` and `Code`
//!   -# -n --lines N                       `-#` is a number: `-10` means `--lines 10`
//!   --arg NAME VALUE                      the next two words; the second is its value
//!   + TOOLCHAIN                           words that begin with a plus
//!   with common                           options, or subcommands, that several share
//!   operands read*                        what operands are: `text read* write`; all others are marked with a star
//!   does builds, connects registry        what it always does beyond that, see `Act`
//!   judge sort::special                   a function for what data does not say (Sayso's own texts alone)
//!   sub-style exact                       how subcommands read their words, unless they say otherwise
//!   sub push : publishes                  a subcommand; what it always does may stand behind a colon
//!     -f --force : changes-service
//!   facets filter                         facts in a word, see `Facets`
//!   facets sort : reader                  facts of some of its names; so with the lines below
//!   env CC CFLAGS_* : changes-what-runs   variables, see `Env`; such a line may also stand by itself
//!   goes-by Makefile home .makerc         files that say what it does though no word names them
//!   goes-by @python                       those of `files python`
//!   listens up-to 1 unless -c --command   whoever types into it commands it (Sayso's own texts alone, as the next)
//!   keeps-lines basic --regexp            with these options it prints lines that it reads, and nothing else
//!   part reader : sort --check            a facet of commands of this program alone, as a pattern
//!   prints-number date                    it prints a number if this function of `number.rs` says so
//!
//! options common                          options under a name of their own
//!   -v --verbose
//!
//! subs shared                             subcommands under a name
//!   sub list ls
//!
//! words scripts js jsx mjs                a list, written `@scripts` where it is used
//!
//! files python                            what several programs go by
//!   pyproject.toml setup.cfg
//!   home .config/pip/pip.conf
//!   repository                            and the settings and hooks of the repository
//!
//! known auggie                            a program of which no option is known
//!   facets agent
//!
//! family takes-data                       of all programs of this text
//!
//! secrets                                 where commands hold secrets, for those who show or record them
//!   curl : login -u --proxy-user          `secret`, `joined`, `login` and `pair` with options
//!   cargo login, bw unlock : operands 0   or `slashed`, `assignments`, `behind-name`
//!   sudo -S, * --password-stdin : on-stdin  what they read there is one; `*` is any program
//!
//! rehearses --dry-run -n                  options that hold any program back
//!
//! cases
//!   sort -o out in => run sort, read in, write out !writes-file
//! ```
//!
//! The first long spelling of an option is its canonical name; without one, the first spelling.

mod act;
mod code;
mod command;
mod document;
mod does;
mod facet;
mod fact;
mod line;
mod options;
mod problem;
mod style;

pub use act::{Absent, Act, Operands, Role};
pub use code::Code;
pub use command::Command;
pub(crate) use document::Limits;
pub use document::{Case, Document, Family, Program, Source, Words};
pub use does::{Does, Takes};
pub use facet::Facets;
pub use fact::{Env, Expressions, GoesBy, Hides, KeepsLines, Listens, Secret, Variable};
pub(crate) use options::{HEAPS, heap};
pub use options::{Options, Spelling};
pub use problem::{Place, Problem};
pub use style::Style;

use command::{Heading, Reader, Shared, rest};
use line::Line;
use problem::{Problems, shown};
use std::collections::HashSet;
use std::rc::Rc;

/// Reads texts that belong together: what one of them names, all may use.
///
/// # Errors
/// Every mistake, in the order of the texts.
pub fn read(sources: &[Source<'_>], words: Words) -> Result<Document, Vec<Problem>> {
    let mut problems = Problems::default();
    let texts: Vec<Vec<Line>> = sources
        .iter()
        .enumerate()
        .map(|(file, source)| line::lines(file, source.text, &["cases"], &mut problems))
        .collect();
    let mut limits = Limits { commands: 0 };
    let mut shared = Shared::default();
    let mut document = Document::default();
    for line in texts.iter().flatten() {
        collect(line, &mut shared, &mut document, &mut problems);
    }
    groups(&texts, words, &mut shared, &mut limits, &mut problems);
    for text in &texts {
        let mut reader = Reader { words, shared: &shared, limits: &mut limits, problems: &mut problems };
        reader.text(text, &mut document);
    }
    twice(&document, &mut problems);
    let files: Vec<&str> = sources.iter().map(|source| source.name).collect();
    problems.finish(&files).map(|()| document)
}

/// Takes up the options and lists that have names.
fn collect(line: &Line, shared: &mut Shared, document: &mut Document, problems: &mut Problems) {
    if !matches!(line.first(), "options" | "words" | "files") {
        return;
    }
    let Some(name) = rest(line).first() else {
        problems.add(line.at, format!("{} needs a name", shown(line.first())));
        return;
    };
    let taken = match line.first() {
        "words" => shared.lists.contains_key(&name.text),
        "files" => shared.files.contains_key(&name.text),
        _ => shared.has(&name.text),
    };
    if taken {
        problems.add(name.at, format!("the name {} is taken", shown(&name.text)));
    }
    if line.first() == "files" {
        shared.files.insert(name.text.clone(), fact::files(line));
        return;
    }
    if line.first() == "words" {
        let words = rest(line).iter().skip(1).map(|token| token.text.clone()).collect();
        shared.lists.insert(name.text.clone(), words);
        return;
    }
    let mut options = Options::default();
    let mut seen = HashSet::new();
    for below in &line.below {
        if below.first().starts_with(['-', '+']) {
            options.add_line(&below.tokens, &mut seen, problems);
        } else {
            problems.add(below.at, "here stand options alone, which begin with `-` or `+`");
        }
    }
    options.sort_into_heaps();
    let options = Rc::new(options);
    document.options.push((name.text.clone(), Rc::clone(&options)));
    shared.options.insert(name.text.clone(), options);
}

/// Takes up the subcommands that have names. One group may hold others that stand before it.
fn groups(texts: &[Vec<Line>], words: Words, shared: &mut Shared, limits: &mut Limits, problems: &mut Problems) {
    for line in texts.iter().flatten().filter(|line| line.first() == "subs") {
        let mut reader = Reader { words, shared, limits, problems };
        let group = reader.command(line, Style::GNU, &mut |_, _, _| false);
        let empty = group.options.is_empty() && group.acts.is_empty() && group.judge.is_none() && !group.aliased;
        if group.names.len() != 1 || !empty {
            problems.add(line.at, "`subs NAME`, and below it `sub`, `with` and `sub-style` alone");
        }
        let name = group.names.into_iter().next().unwrap_or_default();
        if shared.has(&name) {
            problems.add(line.at, format!("the name {} is taken", shown(&name)));
        }
        shared.subs.insert(name, group.subs);
    }
}

impl Reader<'_> {
    fn text(&mut self, text: &[Line], document: &mut Document) {
        let family = self.family(text);
        for line in text {
            if self.problems.is_full() {
                return;
            }
            match line.first() {
                "program" => self.program(line, family, document),
                "known" if self.words == Words::BuiltIn => self.known(line, document),
                "cases" => self.cases(line, document),
                "env" if self.words == Words::BuiltIn => {
                    self.env(line, document);
                    self.nothing_below(line);
                }
                "secrets" if self.words == Words::BuiltIn => self.secrets(line, document),
                "rehearses" if self.words == Words::BuiltIn => self.rehearses(line, document),
                "options" | "words" | "files" | "subs" => {}
                "family" if self.words == Words::BuiltIn => self.nothing_below(line),
                "known" | "family" | "secrets" | "env" | "rehearses" => {
                    self.problems.add(line.at, "only Sayso's own texts say this")
                }
                other => {
                    let text = format!(
                        "{} begins nothing; a text holds `program`, `options`, `subs`, `words`, `files` and `cases`",
                        shown(other)
                    );
                    self.problems.add(line.at, text);
                }
            }
        }
    }

    fn family(&mut self, text: &[Line]) -> Family {
        // Of a program that its owner describes, nobody has looked at every word.
        let mut family = Family { takes_addresses: self.words == Words::Owner, ..Family::default() };
        for token in text.iter().filter(|line| line.first() == "family").flat_map(rest) {
            match token.text.as_str() {
                "starts-others" => family.starts_others = true,
                "takes-data" => family.takes_data = true,
                "takes-addresses" => family.takes_addresses = true,
                _ => self.problems.add(token.at, "a family is `starts-others`, `takes-data` or `takes-addresses`"),
            }
        }
        family
    }

    fn program(&mut self, line: &Line, family: Family, document: &mut Document) {
        let mut facets = Vec::new();
        let command = self.command(line, Style::GNU, &mut |reader, line, names| {
            if line.first() != "facets" {
                return reader.fact(line, names, document);
            }
            reader.facets(line, names, &mut facets);
            reader.nothing_below(line);
            true
        });
        if !self.limits.count(&command) {
            self.problems.add(line.at, "too many programs");
        }
        add_facets(facets, document);
        document.programs.push(Program { command, family });
    }

    fn known(&mut self, line: &Line, document: &mut Document) {
        let Heading { names, .. } = self.heading(line);
        let mut facets = Vec::new();
        for below in &line.below {
            match below.first() {
                "facets" => {
                    self.facets(below, &names, &mut facets);
                    self.nothing_below(below);
                }
                _ if self.fact(below, &names, document) => {}
                _ => self.problems.add(below.at, "nothing of a program's words: only its name is known"),
            }
        }
        add_facets(facets, document);
    }

    /// `facets filter reader`, or of some of the names alone: `facets awk gawk : filter`.
    fn facets(&mut self, line: &Line, names: &[String], found: &mut Vec<(String, Facets)>) {
        let tokens = rest(line);
        let colon = tokens.iter().position(|token| token.is(":"));
        let (of, words) = match colon {
            Some(colon) => (tokens.get(..colon).unwrap_or_default(), tokens.get(colon + 1..).unwrap_or_default()),
            None => (&[][..], tokens),
        };
        let mut facets = Facets::NONE;
        for token in words {
            match Facets::named(&token.text) {
                Some(facet) if self.words == Words::Owner && !Facets::OWNERS.has(facet) => {
                    self.problems
                        .add(token.at, format!("{} can only be said of Sayso's own programs", shown(&token.text)));
                }
                Some(facet) => facets = facets.and(facet),
                None => self.problems.add(token.at, format!("{} is no facet", shown(&token.text))),
            }
        }
        if words.is_empty() || colon.is_some() && of.is_empty() {
            self.problems.add(line.at, "`facets WORD...`, or of some names alone `facets NAME... : WORD...`");
        }
        for token in of {
            if !names.contains(&token.text) {
                self.problems.add(token.at, format!("{} is none of the names of this program", shown(&token.text)));
            }
            found.push((token.text.clone(), facets));
        }
        if of.is_empty() {
            found.extend(names.iter().map(|name| (name.clone(), facets)));
        }
    }

    fn cases(&mut self, line: &Line, document: &mut Document) {
        if !rest(line).is_empty() {
            self.problems.add(line.at, "`cases` stands alone, and below it `command => effects`");
        }
        for below in &line.below {
            self.nothing_below(below);
            match below.raw.split_once(" =>") {
                Some((command, wanted)) => {
                    let case =
                        Case { command: command.trim_end().to_owned(), wanted: wanted.trim().to_owned(), at: below.at };
                    document.cases.push(case);
                }
                None => self.problems.add(below.at, "a case is `command => effects`"),
            }
        }
    }
}

/// Facets that are said in several lines add up.
fn add_facets(found: Vec<(String, Facets)>, document: &mut Document) {
    let mut all: Vec<(String, Facets)> = Vec::new();
    for (name, facets) in found {
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, had)) => *had = had.and(facets),
            None => all.push((name, facets)),
        }
    }
    document.facets.extend(all);
}

/// A name is described once.
fn twice(document: &Document, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for Program { command, .. } in &document.programs {
        for name in &command.names {
            if !seen.insert(name.as_str()) {
                problems.add(command.at, format!("the program {} stands twice", shown(name)));
            }
        }
    }
    let mut seen = HashSet::new();
    for (name, _) in &document.facets {
        if !seen.insert(name.as_str()) {
            problems.add(Place::default(), format!("the facets of {} stand in two places", shown(name)));
        }
    }
}

/// The hash by which names are found.
#[must_use]
pub(crate) const fn hash(bytes: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut rest = bytes;
    while let [byte, others @ ..] = rest {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        rest = others;
    }
    (hash ^ (hash >> 15)) as usize
}

#[cfg(test)]
mod tests;
