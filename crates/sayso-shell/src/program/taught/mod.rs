//! Programs that owners teach: the language of [`text`], read while Sayso runs.
//!
//! [`read`] takes the texts that belong together and answers with [`Taught`] programs, whose [`Spec`] is what Sayso's own
//! programs have, or with every mistake and its place. It does no I/O and keeps nothing but what it made: a text that was
//! read before is not read again.
//!
//! A text of an owner may use the whole language but for what only Sayso's own texts say ([`Words::Owner`]): functions
//! in Rust, and facets that say that a program's words are those of one that Sayso knows. A program that Sayso knows
//! itself can only be made stricter.
//!
//! ```
//! use sayso_shell::program::taught::read;
//! use sayso_shell::program::text::Source;
//!
//! let text = "program deploy-tool\n  style exact\n  -n --dry-run\n  sub status\n  sub ship : publishes\n";
//! let taught = read(&[Source { name: "deploy.prog", text }]).unwrap();
//! assert_eq!(taught.programs[0].spec.names, ["deploy-tool"]);
//!
//! let problems = read(&[Source { name: "x.prog", text: "program x\n  judge evil\n" }]).unwrap_err();
//! assert_eq!((problems[0].line, problems[0].column), (2, 9));
//! ```

mod stricter;

use super::goes_by::Steered;
use super::text::{self, Case, Command, Document, Facets, Options, Problem, Source, Words};
use super::{Absent, Act, Operands, Role, Spec};
use crate::option::Table;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// What texts teach.
#[derive(Clone, Debug)]
pub struct Taught {
    /// The programs, in the order of the texts.
    pub programs: Vec<Program>,
    /// What must come of commands.
    pub cases: Vec<Case>,
}

/// A program that is taught.
#[derive(Clone, Debug)]
pub struct Program {
    /// What its words do.
    pub spec: &'static Spec,
    /// Its facets, by name.
    pub facets: Vec<(String, Facets)>,
    /// What variables of the environment do to it, a bit for each [`text::Env`].
    pub env: &'static [(&'static str, u8)],
    /// The files that it goes by, by its names.
    pub(crate) goes_by: Vec<(String, &'static Steered)>,
    /// Sayso knows a program of this name; the text made it stricter.
    pub known: bool,
    /// Where it stands.
    pub at: text::Place,
}

/// How many bytes of texts are kept for as long as the process lives. A server that loads its policy anew reads the same
/// texts again, or texts that a person changed meanwhile.
const MOST_KEPT: usize = 16 * 1024 * 1024;

/// What was read, by the texts, and how long they are together.
#[derive(Default)]
struct Kept {
    by_texts: HashMap<Vec<(String, String)>, Taught>,
    bytes: usize,
}

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

/// Reads an owner's texts, which belong together: what one of them names, all may use.
///
/// # Errors
/// Every mistake in the texts, in their order.
pub fn read(sources: &[Source<'_>]) -> Result<Taught, Vec<Problem>> {
    let key: Vec<(String, String)> =
        sources.iter().map(|source| (source.name.to_owned(), source.text.to_owned())).collect();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(taught) = kept.by_texts.get(&key) {
        return Ok(taught.clone());
    }
    let document = text::read(sources, Words::Owner)?;
    let bytes: usize = key.iter().map(|(name, text)| name.len() + text.len()).sum();
    if kept.bytes + bytes > MOST_KEPT {
        let file = key.into_iter().next().map(|(name, _)| name).unwrap_or_default();
        let text = "too many different texts were read since Sayso was started; start it anew".to_owned();
        return Err(vec![Problem { file, line: 1, column: 1, length: 1, text }]);
    }
    let taught = lower(document, sources)?;
    kept.bytes += bytes;
    kept.by_texts.insert(key, taught.clone());
    Ok(taught)
}

/// Whether Sayso knows a program of this name itself, by a table or a facet. A text of an owner may only make it stricter.
#[must_use]
pub fn is_known(name: &str) -> bool {
    super::spec(name).is_some() || super::facets(name) != Facets::NONE
}

fn lower(document: Document, sources: &[Source<'_>]) -> Result<Taught, Vec<Problem>> {
    let Document { programs, facets, cases, goes_by, env_of, .. } = document;
    let mut tables = HashMap::new();
    let (mut lowered, mut problems) = (Vec::new(), Vec::new());
    for program in &programs {
        let command = &program.command;
        let mine = facets.iter().filter(|(name, _)| command.names.contains(name)).cloned().collect();
        match made(command, mine, &mut tables) {
            Ok(program) => {
                let files = goes_by.iter().filter(|(name, _)| command.names.contains(name));
                let files = files.map(|(name, files)| (name.clone(), steered(files))).collect();
                let env = env_of.iter().filter(|(name, _)| command.names.first() == Some(name));
                let env = env.map(|(_, variable)| (self::text(&variable.name), variable.does as u8));
                lowered.push(Program { goes_by: files, env: env.collect::<Vec<_>>().leak(), ..program });
            }
            Err((at, text)) => problems.push(Problem {
                file: sources.get(at.file).map(|source| source.name.to_owned()).unwrap_or_default(),
                line: at.line,
                column: at.column,
                length: at.length,
                text,
            }),
        }
    }
    if problems.is_empty() { Ok(Taught { programs: lowered, cases }) } else { Err(problems) }
}

fn made(command: &Command, facets: Vec<(String, Facets)>, tables: &mut Tables) -> Result<Program, stricter::Refused> {
    let known = command.names.iter().any(|name| is_known(name));
    let spec = if known { known_program(command, &facets, tables)? } else { spec(command, tables) };
    let spec = Box::leak(Box::new(spec));
    Ok(Program { spec, facets, env: &[], goes_by: Vec::new(), known, at: command.at })
}

fn known_program(
    command: &Command,
    facets: &[(String, Facets)],
    tables: &mut Tables,
) -> Result<Spec, stricter::Refused> {
    let [name] = command.names.as_slice() else {
        return Err((command.at, "Sayso knows one of these; describe a program that it knows on its own".to_owned()));
    };
    if facets.iter().any(|(_, facets)| facets.has(Facets::EXACT)) {
        let text = format!("Sayso knows `{name}`, which can only be made stricter: leave out what makes it harmless");
        return Err((command.at, text));
    }
    match super::index::find(name) {
        Some((canonical, spec)) if canonical == name => {
            stricter::stricter(&spec.named(texts(&command.names)), command, tables)
        }
        Some((canonical, _)) => Err((command.at, format!("`{name}` is another name of `{canonical}`; describe that"))),
        None if command.operands == text::Operands::default()
            && command.options.is_empty()
            && command.subs.is_empty() =>
        {
            Ok(spec(command, tables))
        }
        None => Err((
            command.at,
            format!("Sayso knows `{name}` as a program that runs what it is given; `facets` alone can be added"),
        )),
    }
}

/// The files that an owner's program goes by. Each has a key of its own, as Sayso's own have.
fn steered(files: &text::GoesBy) -> &'static Steered {
    static NEXT: AtomicUsize = AtomicUsize::new(1 << 20);
    Box::leak(Box::new(Steered {
        key: NEXT.fetch_add(1, Ordering::Relaxed),
        names: texts(&files.here),
        home: texts(&files.home),
        repository: files.repository,
    }))
}

/// Tables that several commands share are made once.
type Tables = HashMap<*const Options, &'static Table>;

fn spec(command: &Command, tables: &mut Tables) -> Spec {
    let names = texts(&command.names);
    let options: Vec<&'static Table> = command.options.iter().map(|options| table(options, tables)).collect();
    let subs: Vec<Spec> = command.subs.iter().map(|sub| spec(sub, tables)).collect();
    let acts: Vec<Act> = command.acts.iter().map(act).collect();
    let mut spec = Spec::new(names)
        .style(command.style)
        .options(options.leak())
        .subs(subs.leak())
        .operands(operands(&command.operands))
        .acts(acts.leak());
    spec.aliased = command.aliased;
    spec
}

fn table(options: &Rc<Options>, tables: &mut Tables) -> &'static Table {
    tables.entry(Rc::as_ptr(options)).or_insert_with(|| Box::leak(Box::new(Table::of(options))))
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn texts(words: &[String]) -> &'static [&'static str] {
    words.iter().map(|word| text(word)).collect::<Vec<_>>().leak()
}

fn operands(of: &text::Operands) -> Operands {
    Operands {
        first: of.first.iter().map(role).collect::<Vec<_>>().leak(),
        rest: role(&of.rest),
        last: of.last.as_ref().map(role),
        absent: match of.absent {
            text::Absent::Nothing => Absent::Nothing,
            text::Absent::ReadsHere => Absent::ReadsHere,
            text::Absent::NamesHere => Absent::NamesHere,
            text::Absent::ReadsHereIfDeep => Absent::ReadsHereIfDeep,
        },
    }
}

fn role(role: &text::Role) -> Role {
    match role {
        text::Role::Text => Role::Text,
        text::Role::Read => Role::Read,
        text::Role::ReadBelow => Role::ReadBelow,
        text::Role::Sources(suffixes) => Role::Sources(text(suffixes)),
        text::Role::Write => Role::Write,
        text::Role::WriteBelow => Role::WriteBelow,
        text::Role::WriteNamed => Role::WriteNamed,
        text::Role::Edit => Role::Edit,
        text::Role::Delete => Role::Delete,
        text::Role::Move => Role::Move,
        text::Role::Host => Role::Host,
    }
}

fn act(act: &text::Act) -> Act {
    match act {
        text::Act::Named(code) => Act::Named(*code),
        text::Act::NamedUnless(code, flags) => Act::NamedUnless(*code, texts(flags)),
        text::Act::Connects(label) => Act::Connects(text(label)),
        text::Act::Reads(path) => Act::Reads(text(path)),
        text::Act::Writes(path) => Act::Writes(text(path)),
        text::Act::WritesBelow(path) => Act::WritesBelow(text(path)),
        text::Act::Code(language) => Act::Code(text(language)),
        text::Act::Builds => Act::Builds,
        text::Act::Project => Act::Project,
        text::Act::ProjectIf(files) => Act::ProjectIf(texts(files)),
    }
}

#[cfg(test)]
mod tests;
