//! What was held back: one line for whoever started the command, and the record.

use super::cleared::{Cleared, WAY_IN};
use sayso_gate::audit::{Happening, Held, HeldBackRecord, Spool, What};
use sayso_hold::{Ended, HeldBack, Level, Record};
use sayso_policy::explain::visible;
use sayso_policy::hold::is_registry;
use std::path::Path;

/// How many things the line names, and how much of each.
const MOST: usize = 8;
const LONGEST: usize = 120;

/// Tells how a run was held. The text comes from the run: it is made visible, and bounded.
pub(super) fn tell(cleared: &Cleared, ended: &Ended, more: Option<&str>, asked: &[String]) {
    let line = line(&ended.held_back, &cleared.workspace);
    if let Some(line) = &line {
        eprintln!("sayso: held back: {line}{}", advice(&ended.held_back));
    }
    if !asked.is_empty() {
        eprintln!("sayso: waiting for approval as {}; run it again once that is given", asked.join(" and "));
    }
    let level = match ended.level {
        Level::Whole => "whole",
        Level::Files => "files",
    };
    let mut happening = Happening::new(What::HeldRun, WAY_IN, cleared.actor.clone());
    happening.call_id.clone_from(&cleared.call_id);
    happening.workspace = Some(cleared.workspace.display().to_string());
    let mut text = format!("held {level}");
    for part in more.map(str::to_owned).into_iter().chain(line.map(|line| format!("held back: {line}"))) {
        text.push_str(&format!("; {part}"));
    }
    happening.text = Some(text);
    happening.held = Some(Held {
        record: Some(cleared.record.clone()),
        level: Some(level.to_owned()),
        code: Some(ended.status.exit_code()),
        back: ended.held_back.iter().map(|(what, count)| kept(what, count)).collect(),
        more: ended.held_back.more(),
    });
    if let Err(error) = Spool::open(&cleared.places).and_then(|spool| spool.note(&happening)) {
        eprintln!("sayso: the run could not be recorded: {}", visible(&error.to_string()));
    }
}

/// What to do about the refusal that builds meet most.
fn advice(back: &Record) -> &'static str {
    let registry = |what: &HeldBack| matches!(what, HeldBack::Connect { host, .. } if is_registry(host));
    match back.iter().any(|(what, _)| registry(what)) {
        true => "; to let held runs download packages, put `connect = [\"@registries\"]` under `[hold]` in the policy",
        false => "",
    }
}

/// A kind of effect in a record, and in a sentence.
type Verb = (&'static str, &'static str);
const READ: Verb = ("read", "reading");
const WRITE: Verb = ("write", "writing");
const CONNECT: Verb = ("connect", "connecting to");
const SOCKET: Verb = ("socket", "connecting to");

fn parts(what: &HeldBack, path: impl Fn(&Path) -> String) -> (Verb, String) {
    match what {
        HeldBack::Read(it) => (READ, path(it)),
        HeldBack::Write { path: it, aside: None } => (WRITE, path(it)),
        HeldBack::Write { path: it, aside: Some(aside) } => (WRITE, format!("{} (moved to {})", path(it), path(aside))),
        HeldBack::WriteOutside(it) => (WRITE, path(it)),
        HeldBack::Socket(it) => (SOCKET, path(it)),
        HeldBack::Connect { host, port: Some(port) } => (CONNECT, format!("{host}:{port}")),
        HeldBack::Connect { host, port: None } => (CONNECT, host.clone()),
        _ => (("other", "something else"), String::new()),
    }
}

fn kept(what: &HeldBack, count: u64) -> HeldBackRecord {
    let ((verb, _), target) = parts(what, |path| path.display().to_string());
    HeldBackRecord { verb: verb.to_owned(), target: visible(&target).into_owned(), count }
}

/// `reading ./.env, connecting to evil.example:443 (3 times), and 2 more`
pub(crate) fn line(back: &Record, workspace: &Path) -> Option<String> {
    if back.is_empty() {
        return None;
    }
    let path = |path: &Path| match path.strip_prefix(workspace) {
        Ok(rest) => format!("./{}", rest.display()),
        Err(_) => path.display().to_string(),
    };
    let mut told = Vec::new();
    for (what, count) in back.iter().take(MOST) {
        let ((_, verb), target) = parts(what, path);
        let target = sayso_gate::audit::redact_text(&target);
        let mut shown: String = visible(&target).chars().take(LONGEST).collect();
        if shown.len() < visible(&target).len() {
            shown.push('…');
        }
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        told.push(format!("{verb} {shown}{times}"));
    }
    let named = u64::try_from(told.len()).unwrap_or(u64::MAX);
    let all = u64::try_from(back.iter().count()).unwrap_or(u64::MAX).saturating_add(back.more());
    match all.saturating_sub(named) {
        0 => {}
        more => told.push(format!("and {more} more")),
    }
    Some(told.join(", "))
}
