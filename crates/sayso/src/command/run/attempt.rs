//! `sayso run --try`: runs a command over a copy of what it may write, and makes the changes that the policy allows.
//!
//! Each change is an effect like any other: it is judged as if a tool wrote or deleted that file, by the same policy. What is
//! allowed is made, what asks goes to a person who sees the contents, and everything else is thrown away.

use super::cleared::{Cleared, circumstances, live};
use super::{NOT_ALLOWED, Stop, held, inner, told};
use sayso_gate::audit::Spool;
use sayso_gate::wire::workspace_at;
use sayso_gate::{FactsOf, Gate, Memory};
use sayso_hold::Launch;
use sayso_hold::attempt::{self, Change, ChangeKind, Diff, Node};
use sayso_policy::explain::visible;
use sayso_policy::shell::bounds::Bounds;
use sayso_policy::{Answer, Request, ToolCall};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::process::ExitCode;

/// How many questions are put for one run.
const MOST_QUESTIONS: usize = 16;
/// How many changes are named on standard error.
const MOST_NAMED: usize = 50;

/// Runs a command, and makes what is allowed of its changes.
pub(super) fn run(cleared: Cleared, bounds: &Bounds) -> Result<ExitCode, Stop> {
    let store = cleared.places.own_folder("hold/try")?;
    let mut launch = Launch::here(cleared.words.clone(), inner::stage()?)?;
    launch.folder.clone_from(&cleared.folder);
    let (cleared, tried) = cleared.spend(|_| attempt::run(bounds, &launch, &store));
    let tried = tried?;
    let mut said = judge(&cleared, &tried.changes)?;
    let (ended, changes, left_out) = (tried.ended.clone(), tried.changes.clone(), tried.left_out);
    let chosen: Vec<usize> = said.iter().filter(|(_, said)| said.is_ok()).map(|(number, _)| *number).collect();
    let committed = tried.commit(&chosen);
    for (number, why) in committed.refused {
        said.insert(number, Err(why.to_string()));
    }
    let made = said.values().filter(|said| said.is_ok()).count();
    let thrown_away = u64::try_from(said.len().saturating_sub(made)).unwrap_or(u64::MAX).saturating_add(left_out);
    let in_all = format!("{made} changes made, {thrown_away} thrown away");
    told::tell(&cleared, &ended, Some(&format!("tried: {in_all}")), &[]);
    eprintln!("sayso: {in_all}");
    show(&cleared, &changes, &said);
    if thrown_away > 0 {
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    Ok(held::end_like(ended.status))
}

/// What is said of each change: that it is made, or why not.
type Said = BTreeMap<usize, Result<(), String>>;

fn judge(cleared: &Cleared, changes: &[Change]) -> Result<Said, Stop> {
    let spool = Box::new(Spool::open(&cleared.places)?);
    let gate = Gate::over(live(&cleared.places, &cleared.workspace)?, spool).with_memory(Memory::of(&cleared.places));
    let mut questions = 0;
    let mut said = Said::new();
    for (number, change) in changes.iter().enumerate() {
        said.insert(number, one(&gate, cleared, change, &mut questions));
    }
    Ok(said)
}

fn one(gate: &Gate, cleared: &Cleared, change: &Change, questions: &mut usize) -> Result<(), String> {
    if change.conflict {
        return Err("it changed in the meantime".to_owned());
    }
    if !change.can_be_committed() {
        return Err("it is neither a file nor a folder nor a link".to_owned());
    }
    if let Some(Node::Link { target }) = &change.after
        && leads_out(&change.path, target, &change.root)
    {
        return Err("it is a link that leads out of the folder".to_owned());
    }
    let (name, arguments) = call(change).ok_or("its name is not UTF-8")?;
    let call = ToolCall {
        request: Request::Tool { name: name.to_owned(), arguments, server: None },
        actor: cleared.actor.clone(),
        cwd: Some(cleared.folder.clone()),
        workspace: workspace_at(&cleared.workspace, cleared.home.as_deref()),
        home: cleared.home.clone(),
        reported_kind: None,
    };
    let judgement = gate.judge(call, circumstances(None), FactsOf::Gate);
    let first = |decision: &sayso_policy::Decision| {
        decision.reasons.first().map(|reason| format!("{} [{}]", reason.text, reason.code)).unwrap_or_default()
    };
    match judgement.alone().answer {
        // The bounds know a way to something guarded that the judgement does not.
        Answer::Allow if change.guarded => Err("it leads to a guarded name".to_owned()),
        Answer::Allow => Ok(()),
        Answer::Deny => Err(first(judgement.alone())),
        _ if *questions >= MOST_QUESTIONS => Err("it needs approval, and too many do".to_owned()),
        _ => {
            *questions += 1;
            let judged = judgement.settle().record();
            match judged.permit {
                Some(permit) => permit.spend(|| Ok(())),
                None => Err(first(&judged.decision)),
            }
        }
    }
}

/// A change as the call of a tool that would make it; `None` for names that no call can hold.
fn call(change: &Change) -> Option<(&'static str, Value)> {
    let path = change.path.to_str()?;
    Some(match (change.kind(), &change.after, &change.diff) {
        (ChangeKind::Removed, ..) => ("file_delete", json!({"path": path})),
        (ChangeKind::Renamed, ..) => {
            ("file_move", json!({"source": change.from.as_ref()?.to_str()?, "destination": path}))
        }
        (_, Some(Node::Folder { .. }), _) => ("create_directory", json!({"path": path})),
        (_, _, Diff::Text { after: Some(text), .. }) => ("file_write", json!({"path": path, "content": text})),
        _ => ("file_write", json!({"path": path, "content": ""})),
    })
}

/// Whether a link leads out of this folder, by its text alone. What is named before a `..` may itself be a link, so that
/// nobody can tell which folder is above it.
fn leads_out(link: &Path, target: &Path, root: &Path) -> bool {
    let mut at = link.parent().unwrap_or(root).to_owned();
    let climbs_last = |pair: [Component<'_>; 2]| matches!(pair, [Component::Normal(_), Component::ParentDir]);
    let parts = target.components().filter(|part| *part != Component::CurDir);
    if parts.clone().zip(parts.skip(1)).any(|(one, next)| climbs_last([one, next])) {
        return true;
    }
    for part in target.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return !target.starts_with(root) || climbs(target),
            Component::ParentDir => {
                at.pop();
            }
            Component::CurDir => {}
            Component::Normal(name) => at.push(name),
        }
        if !at.starts_with(root) {
            return true;
        }
    }
    false
}

fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

fn show(cleared: &Cleared, changes: &[Change], said: &Said) {
    let name = |path: &Path| match path.strip_prefix(&cleared.workspace) {
        Ok(rest) => format!("./{}", rest.display()),
        Err(_) => path.display().to_string(),
    };
    // What was thrown away first.
    let (away, kept): (Vec<_>, Vec<_>) = said.iter().partition(|(_, said)| said.is_err());
    for (number, said) in away.into_iter().chain(kept).take(MOST_NAMED) {
        let Some(change) = changes.get(*number) else { continue };
        let why = said.as_ref().err().map(|why| format!("  thrown away: {why}")).unwrap_or_default();
        eprintln!("  {:<8}{}{}", change.kind().word(), visible(&name(&change.path)), visible(&why));
    }
    if said.len() > MOST_NAMED {
        eprintln!("  and {} more", said.len().saturating_sub(MOST_NAMED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_out_or_not_by_its_text() {
        let out = |target: &str| leads_out(Path::new("/w/a/link"), Path::new(target), Path::new("/w"));
        for target in ["b", "../b", "../../w/../w/b", "/w/b"] {
            assert_eq!(out(target), target.starts_with("../../"), "{target}");
        }
        for target in ["/", "/etc/passwd", "../../etc", "/w/../etc", "/wx", "../../../w/b", "b/../c", "b/./../c"] {
            assert!(out(target), "{target}");
        }
    }
}
