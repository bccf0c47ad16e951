//! What this program does when it was started by itself: the stage inside a hold, the supervisor of a session.

use sayso_hold::Stage;
use std::path::Path;
use std::process::ExitCode;

const STAGE: &str = "hold-stage";
const SUPERVISOR: &str = "hold-supervisor";
/// Used by hooks, which have no other way to end a session's hold (`sayso_gate::hold::session::end`).
const END: &str = sayso_gate::hold::session::END;
const NOTHING: &str = "hold-nothing";

/// The code to exit with, if this process was started as a part of a hold. A tool call that says these words gets nothing by
/// it: each part does what any program of this user could do.
pub(crate) fn part() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    match words.next()?.to_str()? {
        STAGE => Some(sayso_hold::stage()),
        SUPERVISOR => Some(sayso_hold::session::supervisor()),
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

/// How the supervisor of a session is started.
pub(super) fn supervisor() -> std::io::Result<Stage> {
    this(SUPERVISOR)
}

/// A program that does nothing, to be held.
pub(crate) fn nothing() -> std::io::Result<Vec<std::ffi::OsString>> {
    Ok(vec![std::env::current_exe()?.into(), NOTHING.into()])
}

fn this(word: &str) -> std::io::Result<Stage> {
    Ok(Stage { program: std::env::current_exe()?, arguments: vec![word.into()] })
}
