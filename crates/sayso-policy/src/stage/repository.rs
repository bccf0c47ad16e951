//! What git starts by itself: hooks, and what a repository's settings name in its work tree.
//!
//! `git commit` is allowed because it is git; a hook makes it whatever the project's scripts say, which the agent may have
//! written. No rule about files bounds that, so a hold does, as with builds.

use crate::judging::Judging;
use crate::pattern::{Purpose, RunPattern, expand_braces};
use crate::word::Tri;
use sayso_shell::RunId;
use sayso_shell::program::{Facets, commands};
use std::sync::OnceLock;

/// Whether a run is git's and starts a program of the project, or goes by what this session or call wrote.
pub(super) fn starts_something(judging: &Judging<'_>, id: RunId) -> bool {
    let is_git = judging.run(id).is_some_and(|run| run.program.facets().has(Facets::REPOSITORY));
    if !is_git {
        return false;
    }
    let reads = || reading().iter().any(|pattern| judging.matches_run(pattern, id, Purpose::Permit) == Tri::Yes);
    judging.own_files(id).is_some_and(|own| own.has_programs(!reads()))
        || judging.self_written(id).answer.is_some_and(|answer| answer != Tri::No)
}

/// Commands of git that only look, and start no hooks.
fn reading() -> &'static [RunPattern] {
    static READING: OnceLock<Vec<RunPattern>> = OnceLock::new();
    READING.get_or_init(|| {
        let texts =
            commands(Facets::READS_REPOSITORY).into_iter().flat_map(|text| expand_braces(&text).unwrap_or_default());
        texts.filter_map(|text| RunPattern::parse(&text, &mut |_| Ok(Vec::new())).ok()).collect()
    })
}
