//! The end of a call: whether it ran held.

use super::rewrite::original;
use super::{call_key, rewrite::Parted};
use crate::HookSetting;
use crate::dialect::Dialect;
use crate::event::{After, Event};
use sayso_gate::hold::permit::{HoldPermits, Redemption};
use sayso_gate::hold::session;
use std::time::Duration;

/// How long a program that was put into the background may take to come for its permit, beside what the permits wait.
const TO_START: Duration = Duration::from_secs(1);

/// Whether the call whose end is told had a permit for which nobody came: then it ran without its hold, and the agent
/// holds nothing until it is seen to again.
pub(crate) fn ended(dialect: &dyn Dialect, event: &Event, after: &After, setting: &HookSetting) -> bool {
    let (agent, places) = (dialect.agent(), &setting.places);
    // Nothing was ever let through that had to be held.
    if !places.state.join("hold/permits").is_dir() {
        return false;
    }
    let Some(key) = key(event, after, setting) else { return false };
    if after.background {
        std::thread::sleep(TO_START);
    }
    let outcome = HoldPermits::at(places).outcome(Some(agent.name()), event.session.as_deref(), &key);
    if outcome != Some(Redemption::NotRedeemed) || after.interrupted {
        return false;
    }
    super::proven::end(agent, places);
    true
}

/// What the call was known by when it began.
fn key(event: &Event, after: &After, setting: &HookSetting) -> Option<String> {
    if after.id.as_deref().is_some_and(|id| !id.is_empty()) {
        return Some(call_key(after.id.as_deref(), ""));
    }
    // Agents tell the text that ran, or the one that the model wrote.
    let command = after.command.as_deref()?;
    let inside = match (original(command), event.cwd.as_deref()) {
        (Some(inside), _) => inside,
        (None, Some(cwd)) => Parted::of(command, cwd, &setting.places.home).inside.to_owned(),
        (None, None) => command.to_owned(),
    };
    Some(call_key(None, &inside))
}

/// The session is over: so is its hold, with everything that still runs in it.
pub(crate) fn session_ended(dialect: &dyn Dialect, event: &Event, setting: &HookSetting) {
    let Some(id) = event.session.as_deref().filter(|_| event.subagents.is_empty()) else { return };
    session::end(&setting.places, session::Whose { agent: Some(dialect.agent().name()), session: id });
}
