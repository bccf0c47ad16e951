//! What this program does when it was started by itself: the stage inside a hold, the supervisor of a session.

use super::live::Wisher;
use sayso_hold::{Asking, Stage};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

const STAGE: &str = "hold-stage";
const SUPERVISOR: &str = "hold-supervisor";
/// Used by hooks, which have no other way to end a session's hold (`sayso_gate::hold::session::end`).
const END: &str = sayso_gate::hold::session::END;
const WRITES: &str = "writes";
const NOTHING: &str = "hold-nothing";

/// The code to exit with, if this process was started as a part of a hold. A tool call that says these words gets nothing by
/// it: each part does what any program of this user could do.
pub(crate) fn part() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    match words.next()?.to_str()? {
        STAGE => Some(sayso_hold::stage()),
        SUPERVISOR => Some(sayso_hold::session::supervisor_asking(asking(words))),
        NOTHING => Some(ExitCode::SUCCESS),
        END => {
            for socket in words {
                let _ = sayso_hold::session::end(Path::new(&socket));
            }
            Some(ExitCode::SUCCESS)
        }
        _ => None,
    }
}

/// How the stage is started.
pub(crate) fn stage() -> std::io::Result<Stage> {
    this(STAGE)
}

/// How the supervisor of a session is started, which asks on somebody's behalf; about writes only if that is said.
pub(super) fn supervisor(wisher: &Wisher, writes: bool) -> std::io::Result<Stage> {
    let mut stage = this(SUPERVISOR)?;
    // Names that are no text cannot be handed over: then nobody is asked, and nothing is less held.
    if let Ok(wisher) = serde_json::to_string(wisher) {
        stage.arguments.extend([wisher, if writes { WRITES.to_owned() } else { String::new() }].map(OsString::from));
    }
    Ok(stage)
}

/// Who is asked about what the runs of a session want.
fn asking(mut words: impl Iterator<Item = OsString>) -> Option<Asking> {
    let wisher: Wisher = serde_json::from_str(words.next()?.to_str()?).ok()?;
    let writes = words.next().is_some_and(|word| word == WRITES);
    let asker = Arc::new(wisher.asker()?);
    let attended = Arc::clone(&asker);
    Some(Asking {
        ask: asker.ask(),
        attended: Arc::new(move || attended.is_attended() || attended.has_answers()),
        writes,
    })
}

/// A program that does nothing, to be held.
pub(crate) fn nothing() -> std::io::Result<Vec<std::ffi::OsString>> {
    Ok(vec![std::env::current_exe()?.into(), NOTHING.into()])
}

fn this(word: &str) -> std::io::Result<Stage> {
    Ok(Stage { program: std::env::current_exe()?, arguments: vec![word.into()] })
}
