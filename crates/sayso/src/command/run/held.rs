//! Runs a command under its hold: one of its own, or that of its session.

use super::cleared::Cleared;
use super::inner;
use rustix::process::{Resource, Rlimit};
use sayso_gate::hold::session::{self, Whose};
use sayso_hold::session::Session;
use sayso_hold::{Ended, Launch, Status};
use sayso_policy::shell::bounds::{Bounds, Leave};
use std::process::ExitCode;

/// After how many seconds without a run a session's hold ends.
const IDLE: u32 = 30 * 60;

/// Runs it, and waits for its end.
pub(super) fn run(cleared: &Cleared, mut bounds: Bounds) -> Result<Ended, sayso_hold::Error> {
    let mut launch = Launch::here(cleared.words.clone(), inner::stage()?)?;
    launch.folder.clone_from(&cleared.folder);
    let socket = match (&cleared.actor.session, bounds.leave) {
        (Some(session), Leave::Session) => {
            let whose = Whose { agent: cleared.actor.agent.as_deref(), session };
            // Without a place for its socket there is no session's hold; nothing is less held.
            session::socket(&cleared.places, whose, &format!("{bounds:?}")).ok().flatten()
        }
        _ => None,
    };
    let ended = match socket.clone() {
        Some(socket) => {
            let session = Session { socket, supervisor: inner::supervisor()?, idle: IDLE };
            sayso_hold::session::run_in(&session, &bounds, &launch)
        }
        None => {
            bounds.leave = Leave::End;
            sayso_hold::run(&bounds, &launch)
        }
    };
    // Whether it ran or not: what is there under guarded names that was not there before is moved aside.
    let still_running = ended.as_ref().is_ok_and(|ended| ended.left_running);
    let moved = sayso_gate::hold::settle(&cleared.places, socket.as_deref().filter(|_| still_running));
    ended.map(|mut ended| {
        moved.into_iter().for_each(|it| ended.held_back.add_moved(it.path, it.aside));
        ended
    })
}

/// Ends as the program did: with its code, or by the same signal, which shells and agents look at.
pub(super) fn end_like(status: Status) -> ExitCode {
    if let Status::Signal(signal) = status {
        // It is not this program that crashed.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(Resource::Core, none);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    ExitCode::from(status.exit_code())
}
