//! An analysis as other programs read it: plain lists of strings, `null` where something is not known.

use crate::effect::{Effect, HostTarget, PathTarget, Target, Verb};
use crate::word::Word;
use crate::{Analysis, Doubt};
use serde::Serialize;

/// The summary of an [`Analysis`] (`sayso analyze --jsonl`). `S` is what stands for a string: words and paths are
/// bytes, and not every reader's strings can hold them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report<S = String> {
    /// There may be more than is listed.
    pub opaque: bool,
    /// Every simple command that the shell or a known wrapper would start.
    pub programs: Vec<ReportedProgram<S>>,
    /// Paths that are read.
    pub reads: Vec<Option<S>>,
    /// Files opened for writing.
    pub writes: Vec<Option<S>>,
    /// Paths that are removed.
    pub deletes: Vec<Option<S>>,
    /// Hosts that are connected to.
    pub connects: Vec<Option<S>>,
    /// What is not sure, and why.
    pub doubts: Vec<ReportedDoubt>,
}

/// One program of a [`Report`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedProgram<S = String> {
    /// Its name as called; `null` if that is not known.
    pub name: Option<S>,
    /// Its words after expansion; `null` if not even their number is known.
    pub argv: Option<Vec<Option<S>>>,
    /// The file that the name resolves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<S>,
    /// A builtin or function of the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin: Option<bool>,
}

/// One doubt of a [`Report`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedDoubt {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// A sentence for people.
    pub text: String,
}

impl From<&Analysis> for Report {
    /// With what is not UTF-8 replaced.
    fn from(analysis: &Analysis) -> Self {
        Self::new(analysis, &|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

impl<S> Report<S> {
    /// With strings made of bytes by `string`.
    #[must_use]
    pub fn new(analysis: &Analysis, string: &dyn Fn(&[u8]) -> S) -> Self {
        let strings = |items: Vec<Option<Vec<u8>>>| items.iter().map(|item| item.as_deref().map(string)).collect();
        let guessed = |effect: &&Effect| effect.run.and_then(|id| analysis.run(id)).is_some_and(|run| run.guessed);
        let paths = |verb: Verb| {
            let mut out: Vec<Option<Vec<u8>>> = Vec::new();
            for effect in analysis.effects.iter().filter(|effect| effect.verb == verb && !guessed(effect)) {
                if let Target::Path(target) = &effect.target {
                    push(&mut out, path(target));
                }
            }
            strings(out)
        };
        let mut connects = Vec::new();
        for effect in analysis.effects.iter().filter(|effect| !guessed(effect)) {
            if let (Verb::Connect, Target::Host(target)) = (effect.verb, &effect.target) {
                push(&mut connects, host(target));
            }
        }
        Self {
            opaque: analysis.opaque,
            programs: analysis.runs.iter().filter(|run| !run.guessed).map(|run| program(run, string)).collect(),
            reads: paths(Verb::Read),
            writes: paths(Verb::Write),
            deletes: paths(Verb::Delete),
            connects: strings(connects),
            doubts: analysis.doubts.iter().map(doubt).collect(),
        }
    }
}

fn push(out: &mut Vec<Option<Vec<u8>>>, item: Option<Vec<u8>>) {
    if !out.contains(&item) {
        out.push(item);
    }
}

fn program<S>(run: &crate::Run, string: &dyn Fn(&[u8]) -> S) -> ReportedProgram<S> {
    // A word that may become none or several leaves the number of words open.
    let counted = run.argv.iter().all(|word| match word {
        Word::Exact(_) => true,
        Word::Dynamic(shape) => !shape.splits(),
        Word::Opaque => false,
    });
    let text = |word: &Word| match word {
        Word::Exact(text) => Some(string(text.as_bytes())),
        Word::Dynamic(_) | Word::Opaque => None,
    };
    ReportedProgram {
        name: run.argv.first().and_then(text),
        argv: counted.then(|| run.argv.iter().map(text).collect()),
        path: run.program.path.as_ref().map(|path| string(path.as_os_str().as_encoded_bytes())),
        builtin: run.program.builtin.then_some(true),
    }
}

fn path(target: &PathTarget) -> Option<Vec<u8>> {
    match target {
        // A relative path here means that the working directory is not known.
        PathTarget::Exact(path) | PathTarget::Below(path) => {
            path.is_absolute().then(|| crate::canonical::lexical(path).into_os_string().into_encoded_bytes())
        }
        PathTarget::Told(of) => path(of),
        PathTarget::Sifted(_) | PathTarget::Glob { .. } | PathTarget::Listed(_) | PathTarget::Unknown(_) => None,
    }
}

fn host(target: &HostTarget) -> Option<Vec<u8>> {
    match target {
        HostTarget::Exact { host, .. } => Some(host.clone().into_bytes()),
        HostTarget::Configured(_) | HostTarget::Unknown => None,
    }
}

fn doubt(doubt: &Doubt) -> ReportedDoubt {
    ReportedDoubt { code: doubt.code.as_str(), text: doubt.text.clone() }
}
