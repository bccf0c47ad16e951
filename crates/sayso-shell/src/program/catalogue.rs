//! The programs that are known at a call: Sayso's own, and those that its owner teaches.
//!
//! Whoever analyses a command for a policy hands its [`Catalogue`] in with the environment. Without one, the programs that
//! are built in are known.

use super::goes_by::Steered;
use super::taught::{self, Program};
use super::text::{Case, Problem, Source};
use super::{Facets, Spec};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// An owner's text about programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Its file, as it is shown to people.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Whose it is: of a program that several describe, the text with the lowest number counts. Two with the same number
    /// may not describe the same program.
    pub rank: u8,
    /// It came with a project: what it says of programs counts, but nothing passes because it calls them harmless.
    pub of_project: bool,
}

/// Sayso's own programs, and those of an owner's texts.
#[derive(Clone, Default)]
pub struct Catalogue(Option<Arc<Lessons>>);

struct Lessons {
    texts: Vec<Lesson>,
    /// Which programs they are about. Sorted.
    names: Vec<String>,
    /// Read when one of these programs is asked for: most processes judge one command.
    read: OnceLock<HashMap<String, Entry>>,
}

/// A program of an owner's text.
#[derive(Clone, Copy)]
pub struct Entry {
    name: &'static str,
    spec: Option<&'static Spec>,
    facets: Facets,
    env: &'static [(&'static str, u8)],
    goes_by: Option<&'static Steered>,
    known: bool,
}

/// Sayso's own programs alone.
pub static BUILT_IN: Catalogue = Catalogue(None);

impl Catalogue {
    /// Reads an owner's texts.
    ///
    /// # Errors
    /// Every mistake in them.
    pub fn read(texts: Vec<Lesson>) -> Result<Self, Vec<Problem>> {
        if texts.is_empty() {
            return Ok(Self::default());
        }
        let entries = entries(&texts)?;
        let mut names: Vec<String> = entries.keys().cloned().collect();
        names.sort_unstable();
        let read = OnceLock::from(entries);
        Ok(Self(Some(Arc::new(Lessons { texts, names, read }))))
    }

    /// What was read before, by its texts and names. It is read again once one of the names is asked for.
    #[must_use]
    pub fn again(texts: Vec<Lesson>, names: Vec<String>) -> Self {
        if texts.is_empty() {
            return Self::default();
        }
        Self(Some(Arc::new(Lessons { texts, names, read: OnceLock::new() })))
    }

    /// The texts and the names of the programs they are about, sorted.
    #[must_use]
    pub fn lessons(&self) -> (&[Lesson], &[String]) {
        self.0.as_ref().map_or((&[], &[]), |lessons| (&lessons.texts, &lessons.names))
    }

    /// What an owner's text says of a program of this name.
    #[must_use]
    pub fn taught(&self, name: &str) -> Option<Entry> {
        let lessons = self.0.as_ref()?;
        lessons.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        let read = lessons.read.get_or_init(|| entries(&lessons.texts).unwrap_or_default());
        // INVARIANT: a program that cannot be described any more is one that nobody knows, not the one that it was.
        let lost = Entry { name: "", spec: None, facets: Facets::RUNS_ANYTHING, env: &[], goes_by: None, known: false };
        Some(read.get(name).copied().unwrap_or(lost))
    }

    /// The canonical name of a program, and its table.
    pub(crate) fn find(&self, name: &str) -> Option<(&'static str, &'static Spec)> {
        match self.taught(name) {
            Some(entry) => entry.spec.map(|spec| (entry.name, spec)),
            None => super::index::find(name),
        }
    }

    /// The table of a program, by its base name.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<&'static Spec> {
        self.find(name).map(|(_, spec)| spec)
    }

    /// What is known of a program of this name.
    #[must_use]
    pub fn facets(&self, name: &str) -> Facets {
        let facets = super::facets(name);
        self.taught(name).map_or(facets, |entry| facets.and(entry.facets))
    }

    /// The programs of an owner's texts that have one of these facets.
    pub fn with(&self, any: Facets) -> impl Iterator<Item = &str> {
        let (_, names) = self.lessons();
        names.iter().map(String::as_str).filter(move |name| self.taught(name).is_some_and(|e| e.facets.has(any)))
    }

    /// What must come of commands by the texts, each with its file.
    #[must_use]
    pub fn cases(&self) -> Vec<(String, Case)> {
        let (texts, _) = self.lessons();
        let read = |lesson: &Lesson| {
            let taught = taught::read(&[lesson.source()]).map(|taught| taught.cases).unwrap_or_default();
            let file = lesson.name.clone();
            taught.into_iter().map(move |case| (file.clone(), case))
        };
        texts.iter().flat_map(read).collect()
    }
}

/// An environment in which these programs are known.
#[derive(Clone, Copy)]
pub struct Knowing<'a> {
    /// The rest.
    pub env: &'a dyn crate::Environment,
    /// The programs.
    pub programs: &'a Catalogue,
}

impl crate::Environment for Knowing<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.env.get(name)
    }

    fn given(&self) -> &[(String, String)] {
        self.env.given()
    }

    fn shells(&self) -> crate::dialect::Shells {
        self.env.shells()
    }

    fn claimed_homes(&self) -> &[std::path::PathBuf] {
        self.env.claimed_homes()
    }

    fn known(&self, name: &str) -> Option<String> {
        self.env.known(name)
    }

    fn programs(&self) -> &Catalogue {
        self.programs
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Catalogue").field(&self.lessons().1).finish()
    }
}

impl Entry {
    /// Its table; `None`: it cannot be read any more.
    #[must_use]
    pub fn spec(&self) -> Option<&'static Spec> {
        self.spec
    }

    /// Its facets.
    #[must_use]
    pub fn facets(&self) -> Facets {
        self.facets
    }

    /// What a variable of this name does to it, a bit for each [`super::text::Env`].
    pub(crate) fn env(&self, name: &str) -> u8 {
        self.env.iter().filter(|(known, _)| *known == name).fold(0, |all, (_, bits)| all | bits)
    }

    /// The files that it goes by, beside those that Sayso knows.
    pub(crate) fn goes_by(&self) -> Option<&'static Steered> {
        self.goes_by
    }

    /// Sayso has a table of its own for it, which the text made stricter.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.known
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let spec = |entry: &Self| entry.spec.map(std::ptr::from_ref);
        (self.name, self.facets, self.known) == (other.name, other.facets, other.known) && spec(self) == spec(other)
    }
}

impl Eq for Entry {}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.name).finish()
    }
}

impl Lesson {
    fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

/// Each text is read by itself: a mistake in one of them is no mistake in the others.
fn entries(texts: &[Lesson]) -> Result<HashMap<String, Entry>, Vec<Problem>> {
    let mut entries: HashMap<String, (Entry, &Lesson)> = HashMap::new();
    let mut problems = Vec::new();
    let mut ranked: Vec<&Lesson> = texts.iter().collect();
    ranked.sort_by_key(|lesson| lesson.rank);
    for lesson in ranked {
        match taught::read(&[lesson.source()]) {
            Ok(taught) => taught.programs.iter().for_each(|program| add(program, lesson, &mut entries, &mut problems)),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(entries.into_iter().map(|(name, (entry, _))| (name, entry)).collect())
    } else {
        Err(problems)
    }
}

fn add<'l>(
    program: &Program,
    lesson: &'l Lesson,
    entries: &mut HashMap<String, (Entry, &'l Lesson)>,
    problems: &mut Vec<Problem>,
) {
    for name in program.spec.names {
        let facets = program.facets.iter().find(|(of, _)| of == name).map_or(Facets::NONE, |(_, facets)| *facets);
        let facets = if lesson.of_project { facets.without(Facets::EXACT) } else { facets };
        let goes_by = program.goes_by.iter().find(|(of, _)| of == name).map(|(_, files)| *files);
        let entry = Entry {
            name: program.spec.canonical(name),
            spec: Some(program.spec),
            facets,
            env: program.env,
            goes_by,
            known: program.known,
        };
        match entries.get(*name) {
            None => {
                entries.insert((*name).to_owned(), (entry, lesson));
            }
            Some((_, other)) if other.rank == lesson.rank => problems.push(Problem {
                file: lesson.name.clone(),
                line: program.at.line,
                column: program.at.column,
                length: program.at.length,
                text: format!("`{name}` is already described in {}", other.name),
            }),
            // The machine's text counts before the user's, and that before the project's.
            Some(_) => {}
        }
    }
}
