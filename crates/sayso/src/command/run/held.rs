//! Runs a command under its hold: one of its own, or that of its session.

use super::cleared::Cleared;
use super::inner;
use super::live::Wisher;
use rustix::process::{Resource, Rlimit};
use sayso_gate::approval::Lasts;
use sayso_gate::hold::session::{self, Whose};
use sayso_hold::session::Session;
use sayso_hold::{Ended, Launch, Status};
use sayso_policy::shell::bounds::{Bounds, Leave};
use std::process::ExitCode;
use std::sync::Arc;

/// After how many seconds without a run a session's hold ends.
const IDLE: u32 = 30 * 60;

/// A run that has ended.
pub(super) struct Held {
    pub(super) ended: Ended,
    /// Questions that wait for people, about what was held back.
    pub(super) asked: Vec<String>,
}

/// Runs it, and waits for its end.
pub(super) fn run(cleared: &Cleared, mut bounds: Bounds) -> Result<Held, sayso_hold::Error> {
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
    let asker = Wisher::of(cleared, Lasts::Run).asker().map(Arc::new);
    let attended = asker.as_ref().is_some_and(|asker| asker.is_attended());
    if let Some(asker) = asker.as_ref().filter(|asker| attended || asker.has_answers()) {
        launch.ask = Some(asker.ask());
        launch.report_writes = true;
    }
    let asks = launch.ask.is_some();
    let ended = match socket.clone() {
        Some(socket) => {
            let supervisor = inner::supervisor(&Wisher::of(cleared, Lasts::Session), asks)?;
            let session = Session { socket, supervisor, idle: IDLE };
            sayso_hold::session::run_in(&session, &bounds, &launch)
        }
        None => {
            bounds.leave = Leave::End;
            sayso_hold::run(&bounds, &launch)
        }
    };
    if let Some(asker) = asker.as_ref().filter(|_| asks) {
        asker.give_up();
    }
    // Whether it ran or not: what is there under guarded names that was not there before is moved aside.
    let still_running = ended.as_ref().is_ok_and(|ended| ended.left_running);
    let moved = sayso_gate::hold::settle(&cleared.places, socket.as_deref().filter(|_| still_running));
    let mut ended = ended?;
    moved.into_iter().for_each(|it| ended.held_back.add_moved(it.path, it.aside));
    let asked = asker.filter(|_| !attended).map(|_| Wisher::of(cleared, Lasts::Next));
    let asked = asked.and_then(Wisher::asker).map(|asker| asker.afterwards(&ended)).unwrap_or_default();
    Ok(Held { ended, asked })
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
