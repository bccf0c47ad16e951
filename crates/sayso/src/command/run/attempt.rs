//! `sayso run --try`: runs a command over a copy of what it may write, and makes the changes that the policy allows.
//!
//! Each change is an effect like any other: it is judged as if a tool wrote or deleted that file, by the same policy. What is
//! allowed is made, what asks goes to people in one question that shows the contents, and everything else is thrown away.

use super::cleared::Cleared;
use super::live::{Asker, Wisher};
use super::{NOT_ALLOWED, Stop, held, inner, told};
use sayso_gate::Asking;
use sayso_gate::approval::Lasts;
use sayso_hold::attempt::{self, Change, ChangeKind, Diff, Node};
use sayso_hold::{Ended, HeldBack, Launch};
use sayso_policy::explain::visible;
use sayso_policy::shell::bounds::Bounds;
use sayso_policy::{Answer, Decision};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::process::ExitCode;

/// How many changes people are asked about, and how much text they are shown: of one, and of all.
const MOST_ASKED: usize = 100;
const DIFF_SHOWN: usize = 48 * 1024;
const DIFFS_SHOWN: usize = 256 * 1024;
/// How many changes are named on standard error.
const MOST_NAMED: usize = 50;

/// Runs a command, and makes what is allowed of its changes.
pub(super) fn run(cleared: Cleared, bounds: &Bounds) -> Result<ExitCode, Stop> {
    let store = cleared.places.own_folder("hold/try")?;
    let mut launch = Launch::here(cleared.words.clone(), inner::stage()?)?;
    launch.folder.clone_from(&cleared.folder);
    let (cleared, tried) = cleared.spend(|_| attempt::run(bounds, &launch, &store));
    // Nothing has changed yet; what is made of it below is judged.
    let _ = sayso_gate::hold::settle(&cleared.places, None);
    let tried = tried?;
    let mut said = judge(&cleared, &tried.ended, &tried.changes)?;
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

/// Judges each change alone. What the policy asks about is put to people as one question, with everything that they need to
/// see; they say yes to all of it, to some or to none.
fn judge(cleared: &Cleared, ended: &Ended, changes: &[Change]) -> Result<Said, Stop> {
    let asker = Wisher::of(cleared, Lasts::Changes).asker();
    let asker = asker.ok_or_else(|| Stop::not_allowed("Sayso's own folder cannot be used"))?;
    let mut said = Said::new();
    let mut asked = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        match one(&asker, change) {
            Ok(Some(())) => drop(said.insert(number, Ok(()))),
            Ok(None) if asked.len() < MOST_ASKED => asked.push((number, change)),
            Ok(None) => drop(said.insert(number, Err("it needs approval, and too many do".to_owned()))),
            Err(why) => drop(said.insert(number, Err(why))),
        }
    }
    if !asked.is_empty() {
        let answers = put(&asker, ended, &asked);
        said.extend(asked.iter().map(|(number, _)| *number).zip(answers));
    }
    Ok(said)
}

/// Whether a change is made; `None`: people are to be asked.
fn one(asker: &Asker, change: &Change) -> Result<Option<()>, String> {
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
    let call = call(change).ok_or("its name is not UTF-8")?;
    let judgement = asker.judge(call.clone(), Asking::Nobody);
    match judgement.alone().answer {
        // The bounds know a way to something guarded that the judgement does not.
        Answer::Allow if change.guarded => Err("it leads to a guarded name".to_owned()),
        Answer::Allow => Ok(Some(())),
        Answer::Deny => Err(first(judgement.alone())),
        _ => Ok(asker.is_remembered(call).then_some(())),
    }
}

fn first(decision: &Decision) -> String {
    decision.reasons.first().map(|reason| format!("{} [{}]", reason.text, reason.code)).unwrap_or_default()
}

/// Asks about these changes, and waits where somebody is there.
fn put(asker: &Asker, ended: &Ended, asked: &[(usize, &Change)]) -> Vec<Result<(), String>> {
    let mut room = DIFFS_SHOWN;
    let shown: Vec<Value> = asked.iter().filter_map(|(_, change)| show_change(change, &mut room)).collect();
    let all = |why: String| asked.iter().map(|_| Err(why.clone())).collect();
    if shown.len() != asked.len() {
        return all("its name is not UTF-8".to_owned());
    }
    let hosts = hosts(ended);
    let arguments =
        if hosts.is_empty() { json!({"changes": shown}) } else { json!({"changes": shown, "hosts": hosts}) };
    let judgement = asker.judge(("held_changes", arguments), asker.patient());
    if judgement.alone().answer != Answer::Ask {
        return all(first(judgement.alone()));
    }
    let draft = judgement.settle();
    let question = draft.question().map(str::to_owned);
    let judged = draft.record();
    let Some(permit) = judged.permit else { return all(first(&judged.decision)) };
    permit.spend(|| {
        let meant = |part: usize| match &question {
            Some(question) => asker.means(question, part),
            // Remembered answers let it pass, which are to all of it.
            None => judged.decision.granted().next().is_some(),
        };
        let one = |part| if meant(part) { Ok(()) } else { Err("it was not approved".to_owned()) };
        (0..asked.len()).map(one).collect()
    })
}

/// The hosts that the run tried to reach.
fn hosts(ended: &Ended) -> Vec<String> {
    let refused = ended.held_back.iter().filter_map(|(what, _)| match what {
        HeldBack::Connect { host, port: Some(port) } => Some(format!("{host}:{port}, held back")),
        HeldBack::Connect { host, port: None } => Some(format!("{host}, held back")),
        _ => None,
    });
    let reached = ended.held_back.reached().map(|(host, port, _)| format!("{host}:{port}, reached"));
    refused.chain(reached).take(MOST_NAMED).collect()
}

/// A change as people are shown it: what, where, how large, and the difference of texts.
fn show_change(change: &Change, room: &mut usize) -> Option<Value> {
    let path = change.path.to_str()?;
    let mut shown = json!({"change": change.kind().word(), "path": path});
    let members = shown.as_object_mut()?;
    if let Some(from) = &change.from {
        members.insert("from".to_owned(), from.to_str()?.into());
    }
    let (is, mode, bytes) = match change.after.as_ref().or(change.before.as_ref())? {
        Node::File { bytes, mode } => ("file", Some(*mode), Some(*bytes)),
        Node::Folder { mode } => ("folder", Some(*mode), None),
        Node::Link { target } => {
            members.insert("target".to_owned(), target.to_str()?.into());
            ("link", None, None)
        }
        Node::Special { what } => (*what, None, None),
    };
    members.insert("is".to_owned(), is.into());
    if let Some(bytes) = bytes {
        members.insert("bytes".to_owned(), bytes.into());
    }
    if let Some(mode) = mode.filter(|_| change.after.is_some()) {
        members.insert("mode".to_owned(), format!("{:o}", mode & 0o777).into());
    }
    // A yes is one to these contents, also where they cannot be shown.
    if let Some(hash) = change.contents_hash() {
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        members.insert("hash".to_owned(), hex.into());
    }
    match &change.diff {
        Diff::None => {}
        Diff::Binary => drop(members.insert("contents".to_owned(), "binary".into())),
        Diff::Large => drop(members.insert("contents".to_owned(), "large".into())),
        Diff::Text { before, after } => {
            let diff = sayso_gate::unified("file", before.as_deref(), after.as_deref());
            // The names of both sides stand above it.
            let diff = diff.split_inclusive('\n').skip(2).collect::<String>();
            if diff.len() <= DIFF_SHOWN.min(*room) {
                *room = room.saturating_sub(diff.len());
                members.insert("diff".to_owned(), diff.into());
            } else {
                members.insert("contents".to_owned(), "large".into());
            }
        }
    }
    Some(shown)
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
