//! What `sayso run` starts is held by `sayso run`.
//!
//! Where an agent's hook cannot rewrite calls, the agent writes `sayso run -- make` itself. That judges `make` again, by the
//! same user's policy, and holds it; so a hook that sees it need not ask what a hold answers.
//!
//! What an attacker would try: another program of that name, another `HOME` (and so another policy) for it, another folder
//! (which would be its workspace), a permit or a weaker level. Each of these, and whatever cannot be told, does not count.

use crate::explain::effect::command_text;
use crate::judging::Judging;
use crate::stage::integrity::Protected;
use sayso_shell::bounds::Need;
use sayso_shell::effect::Shadow;
use sayso_shell::program::Facets;
use sayso_shell::{Run, RunId};

/// The run that holds everything it starts, at least as much as this; `None`: none does for certain.
pub(super) fn holder(judging: &Judging<'_>, protected: &Protected, need: Need) -> Option<RunId> {
    let analysis = judging.analysis()?;
    let (at, run) = analysis.runs.iter().enumerate().find(|(_, run)| is_at_the_beginning(judging, run))?;
    let holds = run.parent.is_none()
        && run.program.facets().has(Facets::HOLDS)
        && run.subcommand(0) == Some("run")
        && is_registered(run, protected)
        && run.env.is_empty()
        && !run.open_options
        && is_strong(run, need)
        && has_own_home(judging)
        && stays(judging, run);
    holds.then_some(RunId(u32::try_from(at).ok()?))
}

/// Whether a run is started by another, however deep.
pub(crate) fn is_below(judging: &Judging<'_>, run: RunId, holder: RunId) -> bool {
    let mut at = Some(run);
    for _ in 0..sayso_shell::limit::MAX_DEPTH {
        match at {
            Some(id) if id == holder => return true,
            Some(id) => at = judging.run(id).and_then(|run| run.parent),
            None => return false,
        }
    }
    false
}

/// Whether nothing stands before it that could change its variables: nothing at all, or one `cd`.
fn is_at_the_beginning(judging: &Judging<'_>, run: &Run) -> bool {
    let Some(text) = command_text(judging.operation) else { return false };
    let start = |run: &Run| usize::try_from(run.span.start).ok();
    let end = |run: &Run| usize::try_from(run.span.end).ok();
    let between = |from: usize, to: usize| text.get(from..to).map(<[u8]>::trim_ascii);
    let Some(at) = start(run).filter(|_| run.program.facets().has(Facets::HOLDS)) else { return false };
    if between(0, at).is_some_and(<[u8]>::is_empty) {
        return true;
    }
    let Some(first) = judging.analysis().and_then(|analysis| analysis.runs.first()) else { return false };
    let moves = first.program.builtin && first.parent.is_none() && first.program.facets().has(Facets::MOVES);
    let (Some(begins), Some(ends)) = (start(first), end(first)) else { return false };
    moves
        && first.env.is_empty()
        && between(0, begins).is_some_and(<[u8]>::is_empty)
        && between(ends, at) == Some(b"&&")
}

/// Whether it is the program that guards here, or lies beside it. By its full path it is the same wherever `PATH` leads.
fn is_registered(run: &Run, protected: &Protected) -> bool {
    let program = &run.program;
    let full = run.name().is_some_and(|name| name.starts_with('/'));
    let itself = program.shadow.is_none() || full && program.shadow == Some(Shadow::Path);
    itself
        && program.path.as_ref().is_some_and(|path| protected.registration.contains(path))
        && program.path.as_ref().and_then(|path| path.file_name()) == program.base.as_deref().map(std::ffi::OsStr::new)
}

/// Whether its options leave it at what the policy needs.
fn is_strong(run: &Run, need: Need) -> bool {
    run.options.iter().all(|option| match option.name.as_ref() {
        "--need" => option.value.as_ref().and_then(|value| value.exact_str()).is_some_and(|value| match need {
            Need::Whole => value == "whole",
            Need::Files => matches!(value, "whole" | "files"),
        }),
        "--try" => true,
        _ => false,
    })
}

/// Whether it goes by the policy by which this call is judged.
fn has_own_home(judging: &Judging<'_>) -> bool {
    let home = judging.facts.env.get("HOME");
    let operation = judging.operation;
    operation.claimed_homes.is_empty()
        && operation.home.as_deref().is_some_and(|own| home.is_some_and(|home| own == std::path::Path::new(&home)))
}

/// Whether its folder, which is its workspace, is the workspace. Below it `.` would mean another folder in every rule, and
/// the project's own file would not count.
fn stays(judging: &Judging<'_>, run: &Run) -> bool {
    let Some(root) = judging.operation.workspace.root_for_allow() else { return false };
    run.cwd.as_deref().is_some_and(|folder| sayso_shell::canonical(judging.facts.files, folder).path == root)
}
