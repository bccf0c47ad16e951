//! Whether a command consists of plain parts, all of which are listed or safe.

use super::config::Exec;
use super::safe_bin;
use crate::plain;
use sayso_policy::shell::RunId;
use sayso_policy::{Facts, Operation, Request};

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
) -> Result<(), String> {
    let (Some(text), Some(analysis)) = (&operation.command, &operation.analysis) else {
        return Err("There is no readable command.".to_owned());
    };
    plain::is_plain(text)?;
    if analysis.runs.is_empty() {
        return Err("The command runs nothing.".to_owned());
    }
    for (at, run) in (0_u32..).zip(&analysis.runs).filter(|(_, run)| !run.guessed) {
        let listed = approved(RunId(at)) || exec.allowlist.iter().any(|entry| entry.covers(run, operation));
        if !listed && !safe_bin::is_safe(exec, run, operation, facts) {
            let name = run.program.base.as_deref().unwrap_or("a program");
            return Err(format!("Neither the allowlist nor the safe programs cover `{name}` as it is used here."));
        }
    }
    Ok(())
}
