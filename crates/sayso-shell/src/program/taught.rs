//! Programs that owners teach: the language of [`text`](super::text), read while Sayso runs.
//!
//! [`read`] takes the texts that belong together and answers with [`Taught`] programs, whose [`Spec`] is what Sayso's own
//! programs have, or with every mistake and its place. It does no I/O and keeps nothing but what it made: a text that was
//! read before is not read again.
//!
//! A text of an owner may use the whole language but for what only Sayso's own texts say ([`Words::Owner`]): functions
//! in Rust, and facets that say that a program's words are those of one that Sayso knows. Whether a program that Sayso
//! knows itself was made stricter and nothing else is for the caller to see to: [`is_known`] says which those are.
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

use super::text::{self, Case, Command, Document, Facets, GoesBy, Options, Problem, Source, Variable, Words};
use super::{Absent, Act, Operands, Role, Spec};
use crate::option::Table;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{LazyLock, Mutex, PoisonError};

/// What texts teach.
#[derive(Clone, Debug)]
pub struct Taught {
    /// The programs, in the order of the texts.
    pub programs: Vec<Program>,
    /// Which files programs go by, by their names.
    pub goes_by: Vec<(String, GoesBy)>,
    /// Variables that change what a program runs, or name what it writes.
    pub env: Vec<Variable>,
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
    let taught = lower(document);
    kept.bytes += bytes;
    kept.by_texts.insert(key, taught.clone());
    Ok(taught)
}

/// Whether Sayso knows a program of this name itself, by a table or a facet. A text of an owner may only make it stricter.
#[must_use]
pub fn is_known(name: &str) -> bool {
    super::spec(name).is_some() || super::facets(name) != Facets::NONE
}

fn lower(document: Document) -> Taught {
    let Document { programs, facets, goes_by, env, cases, .. } = document;
    let mut tables = HashMap::new();
    let lowered = |program: text::Program| {
        let facets = facets.iter().filter(|(name, _)| program.command.names.contains(name)).cloned().collect();
        let spec: &'static Spec = Box::leak(Box::new(spec(&program.command, &mut tables)));
        Program { spec, facets, at: program.command.at }
    };
    Taught { programs: programs.into_iter().map(lowered).collect(), goes_by, env, cases }
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
mod tests {
    use super::*;
    use crate::program::spec as built_in;
    use std::fmt::Write as _;
    use std::path::Path;

    fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, found);
            } else {
                found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }

    /// All that a table says but for functions, which no text read at run time has.
    fn shown(spec: &Spec, out: &mut String) {
        writeln!(out, "{:?} {} {:?}", spec.names, spec.aliased, spec.style).unwrap();
        writeln!(out, "{:?} {:?} {:?}", spec.operands, spec.acts, spec.initials).unwrap();
        for table in spec.options {
            writeln!(out, "{table:?}").unwrap();
        }
        spec.subs.iter().for_each(|sub| shown(sub, out));
    }

    #[test]
    fn a_text_says_the_same_when_sayso_is_built_and_while_it_runs() {
        let mut found = Vec::new();
        texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"), &mut found);
        found.sort();
        let sources: Vec<Source<'_>> = found.iter().map(|(name, text)| Source { name, text }).collect();
        let taught = lower(text::read(&sources, Words::BuiltIn).unwrap());
        assert!(taught.programs.len() > 400);
        for program in &taught.programs {
            let (mut built, mut read) = (String::new(), String::new());
            shown(built_in(program.spec.names[0]).unwrap(), &mut built);
            shown(program.spec, &mut read);
            assert_eq!(built, read);
        }
    }

    #[test]
    fn a_text_that_was_read_before_gives_the_same_tables() {
        let text =
            "program in-house\n  facets reader\n  goes-by .in-house\n  env IN_HOUSE : changes-what-runs\n  sub a\n";
        let source = [Source { name: "in-house.prog", text }];
        let (one, two) = (read(&source).unwrap(), read(&source).unwrap());
        assert!(std::ptr::eq(one.programs[0].spec, two.programs[0].spec));
        assert_eq!(one.programs[0].facets, [("in-house".to_owned(), Facets::READER)]);
        assert_eq!((one.goes_by.len(), one.env.len()), (1, 1));
        assert!(is_known("git") && is_known("auggie") && !is_known("in-house"));
    }
}
