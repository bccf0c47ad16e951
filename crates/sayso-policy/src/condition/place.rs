//! Conditions on where something happens: the path of an effect, and the folder that a program must stay in.

use super::best;
use crate::judging::Judging;
use crate::normalise::Kind;
use crate::pattern::{PathPattern, Purpose};
use crate::rule::run_of;
use crate::word::Tri;
use sayso_shell::{PathTarget, Target, Verb};
use std::path::Path;

/// Whether an effect is one of these verbs on such a path.
pub(super) fn path(
    judging: &Judging<'_>,
    index: usize,
    verbs: &[Verb],
    pattern: &PathPattern,
    purpose: Purpose,
) -> Tri {
    let Some(effect) = judging.operation.effects.get(index) else { return Tri::No };
    let Target::Path(target) = &effect.target else { return Tri::No };
    let edits = judging.operation.kind == Kind::Edit && judging.operation.analysis.is_none();
    let part_of_edit = edits && effect.verb == Verb::Read && verbs.contains(&Verb::Write) && purpose == Purpose::Permit;
    if !verbs.contains(&effect.verb) && !part_of_edit {
        return Tri::No;
    }
    judging.matches_path(pattern, index, effect.verb, target, purpose)
}

/// Bounds the working directory and every path named; never covers a connect or an unknown program.
pub(super) fn within(judging: &Judging<'_>, index: usize, patterns: &[PathPattern], purpose: Purpose) -> Tri {
    let Some(effect) = judging.operation.effects.get(index) else { return Tri::No };
    let id = run_of(effect);
    let inside_path = |index: usize, verb: Verb, target: &PathTarget| {
        best(patterns.iter().map(|pattern| judging.matches_path(pattern, index, verb, target, purpose)))
    };
    let mut result = Tri::Yes;
    if let Some(run) = id.and_then(|id| judging.run(id)) {
        if !run.program.known && !run.program.builtin && purpose == Purpose::Permit {
            return Tri::No;
        }
        result = result.and(judging.folder_within(run.cwd.as_deref(), patterns, purpose));
    } else if !matches!(effect.target, Target::Path(_)) {
        result = result.and(judging.folder_within(judging.operation.cwd.as_deref(), patterns, purpose));
    }
    for (at, other) in judging.operation.effects.iter().enumerate() {
        let same = at == index || (id.is_some() && run_of(other) == id) || (id.is_none() && other.run.is_none());
        if !same {
            continue;
        }
        match &other.target {
            Target::Path(target) => result = result.and(inside_path(at, other.verb, target)),
            Target::Host(_) | Target::Anything if purpose == Purpose::Permit => return Tri::No,
            _ => {}
        }
    }
    result
}

/// Whether an effect stays in a directory, and with it all that its program does.
///
/// Stricter than [`within`] about redirects, and a plain prefix instead of patterns: an embedding program gives a
/// directory, not a text of the policy language.
pub(super) fn in_directory(judging: &Judging<'_>, index: usize, directory: &Path) -> Tri {
    let Some(effect) = judging.operation.effects.get(index) else { return Tri::No };
    let id = run_of(effect);
    match &effect.target {
        // What connects, what cannot be seen through and what an option does is nowhere.
        Target::Host(_) | Target::Anything => return Tri::No,
        Target::Option(_) | Target::Code { .. } => return Tri::Maybe,
        Target::Path(_) | Target::Program(_) | Target::Wrapper(_) | Target::Tool => {}
    }
    if let Some(run) = id.and_then(|id| judging.run(id))
        && !run.program.known
        && !run.program.builtin
    {
        return Tri::Maybe;
    }
    let executes = judging.operation.analysis.is_some();
    let folder = || judging.folder(id).map_or(Tri::Maybe, |folder| folder.starts_with(directory).into());
    let mut answer = if executes { folder() } else { Tri::Yes };
    for (at, other) in judging.operation.effects.iter().enumerate() {
        // A redirect belongs to no program, so it bounds them all.
        if let Target::Path(target) = &other.target
            && (at == index || other.run == id || other.run.is_none())
        {
            answer = answer.and(path_in(judging, at, target, directory));
        }
    }
    answer
}

fn path_in(judging: &Judging<'_>, index: usize, target: &PathTarget, directory: &Path) -> Tri {
    let canonical = judging.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
    let Some(path) = canonical else { return Tri::Maybe };
    let inside = Tri::from(path.starts_with(directory));
    let climbs = matches!(target, PathTarget::Glob { pattern, .. }
        if pattern.as_bytes().split(|byte| *byte == b'/').any(|part| part == b".."));
    if climbs { inside.and(Tri::Maybe) } else { inside }
}
