//! An analysis as other programs read it: plain lists of strings, `null` where something is not known.

use crate::effect::{HostTarget, PathTarget, Target, Verb};
use crate::word::Word;
use crate::{Analysis, Doubt};
use serde::Serialize;

/// The summary of an [`Analysis`] (`sayso analyze --jsonl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// There may be more than is listed.
    pub opaque: bool,
    /// Every simple command that the shell or a known wrapper would start.
    pub programs: Vec<ReportedProgram>,
    /// Paths that are read.
    pub reads: Vec<Option<String>>,
    /// Files opened for writing.
    pub writes: Vec<Option<String>>,
    /// Paths that are removed.
    pub deletes: Vec<Option<String>>,
    /// Hosts that are connected to.
    pub connects: Vec<Option<String>>,
    /// What is not sure, and why.
    pub doubts: Vec<ReportedDoubt>,
}

/// One program of a [`Report`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedProgram {
    /// Its name as called; `null` if that is not known.
    pub name: Option<String>,
    /// Its words after expansion; `null` if not even their number is known.
    pub argv: Option<Vec<Option<String>>>,
    /// The file that the name resolves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
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
    fn from(analysis: &Analysis) -> Self {
        let paths = |verb: Verb| {
            let mut out: Vec<Option<String>> = Vec::new();
            for effect in analysis.effects.iter().filter(|effect| effect.verb == verb) {
                if let Target::Path(target) = &effect.target {
                    push(&mut out, path(target));
                }
            }
            out
        };
        let mut connects = Vec::new();
        for effect in &analysis.effects {
            if let (Verb::Connect, Target::Host(target)) = (effect.verb, &effect.target) {
                push(&mut connects, host(target));
            }
        }
        Self {
            opaque: analysis.opaque,
            programs: analysis.runs.iter().map(program).collect(),
            reads: paths(Verb::Read),
            writes: paths(Verb::Write),
            deletes: paths(Verb::Delete),
            connects,
            doubts: analysis.doubts.iter().map(doubt).collect(),
        }
    }
}

fn push(out: &mut Vec<Option<String>>, item: Option<String>) {
    if !out.contains(&item) {
        out.push(item);
    }
}

fn program(run: &crate::Run) -> ReportedProgram {
    // A word that may become none or several leaves the number of words open.
    let counted = run.argv.iter().all(|word| match word {
        Word::Exact(_) => true,
        Word::Dynamic(shape) => !shape.splits,
        Word::Opaque => false,
    });
    let text = |word: &Word| match word {
        Word::Exact(text) => Some(text.to_string_lossy().into_owned()),
        Word::Dynamic(_) | Word::Opaque => None,
    };
    ReportedProgram {
        name: run.argv.first().and_then(text),
        argv: counted.then(|| run.argv.iter().map(text).collect()),
        path: run.program.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
        builtin: run.program.builtin.then_some(true),
    }
}

fn path(target: &PathTarget) -> Option<String> {
    match target {
        // A relative path here means that the working directory is not known.
        PathTarget::Exact(path) | PathTarget::Below(path) => {
            path.is_absolute().then(|| crate::canonical::lexical(path).to_string_lossy().into_owned())
        }
        PathTarget::Glob { .. } | PathTarget::Listed(_) | PathTarget::Unknown(_) => None,
    }
}

fn host(target: &HostTarget) -> Option<String> {
    match target {
        HostTarget::Exact { host, .. } => Some(host.clone()),
        HostTarget::Configured(_) | HostTarget::Unknown => None,
    }
}

fn doubt(doubt: &Doubt) -> ReportedDoubt {
    ReportedDoubt { code: doubt.code, text: doubt.text.clone() }
}
