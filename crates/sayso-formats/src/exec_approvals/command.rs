//! Whether a command consists of plain parts, all of which are listed or safe.

use super::allowlist::Entry;
use super::config::Exec;
use super::safe_bin;
use crate::plain;
use sayso_policy::shell::{Analysis, Run, RunId};
use sayso_policy::{Facts, Operation, Request, Source};

/// Whether a call hands a command to a shell.
pub(super) fn is_one(operation: &Operation) -> bool {
    matches!(operation.request, Request::Command(_))
        || (operation.tool.canonical == "bash_execute" && !operation.tool.disguised)
}

/// Why the allowlist does not cover a command. `approved` are the programs that a charter approves.
pub(super) fn satisfies(
    exec: &Exec,
    operation: &Operation,
    facts: Facts<'_>,
    approved: &dyn Fn(RunId) -> bool,
) -> Result<Covered, String> {
    let (Some(text), Some(analysis)) = (&operation.command, &operation.analysis) else {
        return Err("There is no readable command.".to_owned());
    };
    plain::is_plain(text)?;
    if analysis.runs.is_empty() {
        return Err("The command runs nothing.".to_owned());
    }
    let mut covered = Covered::default();
    let entry_of = |run: &Run| exec.allowlist.iter().find(|entry| entry.covers(run, operation, facts));
    for (at, run) in (0_u32..).zip(&analysis.runs).filter(|(_, run)| !run.guessed) {
        // What a listed script runs is trusted with it: it was listed by its path, and by its content where the entry says.
        let inside = operation.provenance.has_run(RunId(at))
            && callers(analysis, run).any(|caller| {
                let script =
                    caller.program.path.as_ref().is_some_and(|path| operation.provenance.files().contains(path));
                script && entry_of(caller).is_some_and(Entry::trusts_script)
            });
        if inside {
            continue;
        }
        let entry = entry_of(run);
        if let Some(entry) = entry {
            covered.name(entry);
        }
        if entry.is_none() && !approved(RunId(at)) && !safe_bin::is_safe(exec, run, operation, facts) {
            let name = run.program.base.as_deref().unwrap_or("a program");
            return Err(format!("Neither the allowlist nor the safe programs cover `{name}` as it is used here."));
        }
    }
    Ok(covered)
}

/// The runs that started this one, the nearest first.
fn callers<'a>(analysis: &'a Analysis, run: &'a Run) -> impl Iterator<Item = &'a Run> {
    let next = move |run: &&'a Run| analysis.run(run.parent?);
    std::iter::successors(next(&run), next).take(64)
}

/// The entries that covered a command.
#[derive(Debug, Default)]
pub(super) struct Covered {
    patterns: Vec<String>,
    pub source: Option<Source>,
}

impl Covered {
    fn name(&mut self, entry: &Entry) {
        if !self.patterns.iter().any(|known| known == entry.pattern()) {
            self.patterns.push(entry.pattern().to_owned());
        }
        if self.source.is_none() {
            self.source.clone_from(&entry.source);
        }
    }

    pub(super) fn text(&self) -> String {
        if self.patterns.is_empty() {
            return "The safe programs cover every part.".to_owned();
        }
        let names: Vec<String> = self.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        format!("The allowlist covers every part: {}.", names.join(", "))
    }
}
