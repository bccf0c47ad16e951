//! From an agent's event to its answer. Every dialect goes this way; the policy is loaded and the record opened in one
//! place, here.

use crate::counted::Counted;
use crate::dialect::{Dialect, Person};
use crate::entrance::Entrance;
use crate::event::{After, Event, HookCall, Occasion};
use crate::hold::{self, Taken, Way};
use crate::hook_answer::HookAnswer;
use crate::once::Once;
use crate::{Agent, HookOutput, HookSetting, json};
use sayso_gate::audit::{Happening, Spool, What};
use sayso_gate::{
    Asking, FactsOf, Gate, InForce, Judged, Live, Memory, Otherwise, Outcome, ProcessEnvironment, Recorder, Reporter,
    Which, reason,
};
use sayso_policy::shell::dialect::InShell;
use sayso_policy::{Answer, CanHold, Holding, Reason, Request};
use std::path::Path;
use std::time::{Duration, Instant};

/// Kept free at the end of a wait for a person, so that the answer still reaches the agent.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);

/// Answers one event.
pub(crate) fn answer(dialect: &dyn Dialect, input: &[u8], setting: &HookSetting) -> HookOutput {
    let event = match json::object(input).and_then(|object| dialect.read(&object)) {
        Ok(event) => Event { stated: setting.stated.clone(), ..event },
        Err(why) => return unreadable(dialect, &why, setting),
    };
    match &event.occasion {
        Occasion::BeforeTool(call) | Occasion::Permission(call) => {
            let (word, why) = match call {
                _ if setting.unheard => return unheard(dialect, &event, call, setting),
                Ok(call) => judge(dialect, &event, call, setting).word(),
                Err(why) => malformed(dialect, &event, why, setting).word(),
            };
            dialect.say(&event, word, &why)
        }
        Occasion::SessionStart => {
            // If it cannot be remembered, neither can a decision be recorded: the first call says so.
            note(dialect, &event, What::SessionStarted, setting, |_| {});
            dialect.nothing(&event)
        }
        Occasion::SessionEnd => {
            hold::session_ended(dialect, &event, setting);
            note(dialect, &event, What::SessionEnded, setting, |_| {});
            dialect.nothing(&event)
        }
        Occasion::SubagentStart(kind) => {
            note(dialect, &event, What::SubagentStarted, setting, |it| it.text.clone_from(kind));
            dialect.nothing(&event)
        }
        Occasion::AfterTool(after) => {
            settle(dialect, &event, after, setting);
            if hold::ended(dialect, &event, after, setting) {
                note(dialect, &event, What::Unheld, setting, |it| {
                    it.tool.clone_from(&after.tool);
                    it.call_id.clone_from(&after.id);
                    it.text.clone_from(&after.command);
                });
            }
            note(dialect, &event, What::CallEnded, setting, |it| {
                it.tool.clone_from(&after.tool);
                it.call_id.clone_from(&after.id);
                it.text.clone_from(&after.error);
                it.ended = Some(after.ended);
            });
            dialect.nothing(&event)
        }
        Occasion::ConfigChange(what) => {
            note(dialect, &event, What::SettingsChanged, setting, |it| it.text = Some(what.clone()));
            dialect.settings_changed(&event, what)
        }
        Occasion::Other => dialect.nothing(&event),
        Occasion::Unknown => {
            let why = format!("This Sayso does not support the event {}, which is about a tool", event.name);
            let (_, why) = malformed(dialect, &event, &why, setting).word();
            HookOutput::blocked(&why)
        }
    }
}

/// Whatever the answer, the agent cannot hear it, so the exit code alone says it: the call does not run.
fn unheard(dialect: &dyn Dialect, event: &Event, call: &Result<HookCall, String>, setting: &HookSetting) -> HookOutput {
    let why = "Sayso cannot answer: the standard output of its hook is closed or leads nowhere.".to_owned();
    let tool = call.as_ref().map_or("unknown", |call| &call.tool);
    let (_, why) = refuse(dialect, event, tool, reason::built_in(reason::INTERNAL_ERROR, why), setting).word();
    HookOutput::blocked(&why)
}

fn judge(dialect: &dyn Dialect, event: &Event, call: &HookCall, setting: &HookSetting) -> HookAnswer {
    match judge_once(dialect, event, call, setting, true) {
        Ok(Some(answer)) => answer,
        // It cannot be held after all: what it is without that.
        Ok(None) => match judge_once(dialect, event, call, setting, false) {
            Ok(Some(answer)) => answer,
            Ok(None) => unjudged(dialect, event, call, "it cannot be held", setting),
            Err(error) => unjudged(dialect, event, call, &error.to_string(), setting),
        },
        Err(error) => unjudged(dialect, event, call, &error.to_string(), setting),
    }
}

/// Judges a call, and spends its permit on a hold where the decision says so. `None`: the decision counts only under a
/// hold that cannot be made.
fn judge_once(
    dialect: &dyn Dialect,
    event: &Event,
    call: &HookCall,
    setting: &HookSetting,
    may_hold: bool,
) -> Result<Option<HookAnswer>, sayso_gate::Error> {
    let agent = dialect.agent();
    let workspace = event.workspace(agent, setting)?;
    let mut policy = policy(setting, workspace.as_deref())?;
    let canary = may_hold.then(|| Way::of_canary(dialect, event, call, setting, workspace.as_deref())).flatten();
    let in_force = policy.current();
    let version = in_force.policy.version().to_owned();
    let holds = may_hold && in_force.policy.has_hold();
    if setting.ends_with_answer() {
        // To take a policy apart rule by rule costs as much as to look rules up.
        std::mem::forget(in_force);
    }
    if let Some(own) = canary.as_ref().and_then(Way::policy) {
        policy = Live::of(&setting.places, Some(&own), workspace.as_deref())?;
    }
    let (judged, way) = {
        let counts = dialect.one_record() || policy.current().policy.has_limits();
        let counted = counts.then(|| Counted::of(dialect, event, call, &setting.places)).transpose()?;
        let earlier = counted.as_ref().and_then(Counted::earlier);
        let taker = recorder(setting, event, call)?;
        let taker = match &earlier {
            Some(earlier) if dialect.one_record() => earlier.unless_the_same(taker),
            _ => taker,
        };
        let gate = gate(agent, setting, policy, taker);
        earlier.as_ref().map_or(Ok(()), |earlier| earlier.give_back(&gate))?;
        let (name, arguments, server) = (call.tool.clone(), call.input.clone(), call.server.clone());
        let request = Request::Tool { name, arguments, server };
        let entrance = entrance(dialect, setting);
        let tool_call = entrance.call(request, event.actor(agent), event.cwd.clone(), workspace.clone());
        let asking = asking(dialect.person(event), setting);
        let mut circumstances = entrance.circumstances(&event.name, call.id.clone(), asking);
        circumstances.can_hold = canary.as_ref().map_or(CanHold::No, Way::can_hold);
        let mut judgement = gate.judge(tool_call, circumstances, FactsOf::Gate);
        // Whether the agent can hold takes files and processes to find out: only where it counts.
        let way = canary.unwrap_or_else(|| match holds && judgement.depends_on_hold() {
            true => Way::of(dialect, event, call, setting, workspace.as_deref()),
            false => Way::none(),
        });
        judgement = judgement.can_hold(way.can_hold());
        let judged = judgement.settle().record();
        if let (Some(counted), true) = (counted, judged.decision.answer != Answer::Deny) {
            counted.leave(&judged.record);
        }
        (judged, way)
    };
    Ok(said(dialect, event, call, setting, way, judged, version))
}

/// What is said of a call, held where the decision says so; `None` if that cannot be.
fn said(
    dialect: &dyn Dialect,
    event: &Event,
    call: &HookCall,
    setting: &HookSetting,
    way: Way,
    mut judged: Judged,
    version: String,
) -> Option<HookAnswer> {
    let holding = judged.decision.hold;
    let Some(permit) = judged.permit.take() else {
        let advice = match holding {
            Some(Holding::WouldAllow(_)) => hold::advice(call),
            _ => None,
        };
        return Some(HookAnswer::from(judged).advised(advice));
    };
    let record = judged.record.id.clone();
    match way.take(permit, holding, setting, (version, record)) {
        Taken::Plain(permit) => judged.permit = Some(permit),
        Taken::NotHeld(permit) => {
            judged.permit = Some(permit);
            note(dialect, event, What::NotHeld, setting, |it| {
                it.tool = Some(call.tool.clone());
                it.call_id.clone_from(&call.id);
                it.held =
                    Some(sayso_gate::audit::Held { record: Some(judged.record.id.clone()), ..Default::default() });
            });
        }
        Taken::Under(input) => return Some(HookAnswer::from(judged).held(input)),
        Taken::NotIssued => return None,
    }
    Some(HookAnswer::from(judged))
}

/// Sayso cannot judge: the call does not run.
fn unjudged(dialect: &dyn Dialect, event: &Event, call: &HookCall, why: &str, setting: &HookSetting) -> HookAnswer {
    let why = format!("Sayso cannot judge this call: {why}.");
    refuse(dialect, event, &call.tool, reason::built_in(reason::INTERNAL_ERROR, why), setting)
}

/// The policy in force: the only place where a hook loads it.
fn policy(setting: &HookSetting, workspace: Option<&Path>) -> Result<Live, sayso_gate::Error> {
    let places = &setting.places;
    match &setting.given {
        Some(files) => Live::of(places, Some(files), workspace),
        None => Ok(Live::loaded(InForce::load_compiled(places, workspace)?, places, workspace)),
    }
}

/// A gate by that policy, for commands that the agent's shells read.
fn gate(agent: Agent, setting: &HookSetting, policy: Live, recorder: Taker) -> Gate {
    // Never from the call, and not from the environment, which an agent may have changed.
    let shells = setting.shells.unwrap_or_else(|| agent.row().shell.by_login());
    let env = InShell { env: ProcessEnvironment, shells };
    let gate = Gate::over(policy, recorder).with_environment(Box::new(env));
    gate.with_memory(Memory::of(&setting.places))
}

/// Whoever takes the record of a call.
pub(crate) type Taker = Box<dyn Recorder + Send + Sync>;

fn recorder(setting: &HookSetting, event: &Event, call: &HookCall) -> Result<Taker, sayso_gate::Error> {
    let spool = Spool::open(&setting.places)?;
    if setting.told_twice { Once::recorder(spool, &setting.places, event, call) } else { Ok(Box::new(spool)) }
}

/// Who can be asked: the queue holds a call only where the hook was registered with time for that.
fn asking(person: Person, setting: &HookSetting) -> Asking {
    let person = match person {
        Person::InQueueOrSeated(seat) if setting.seated.unwrap_or_else(|| seat.is_taken()) => Person::InQueueOrAtPrompt,
        Person::InQueueOrSeated(_) => Person::InQueue,
        person => person,
    };
    let now = Instant::now();
    let until = setting.wait.and_then(|wait| now.checked_add(wait.checked_sub(ROOM_TO_ANSWER)?));
    match (person, until) {
        (Person::AtPrompt, _) => Asking::OwnPrompt,
        (Person::InQueueOrAtPrompt, None) => Asking::OwnPrompt,
        (Person::InQueue | Person::InQueueOrSeated(_), None) => Asking::Nobody,
        (Person::InQueueOrAtPrompt, Some(until)) => {
            setting.not_before(until);
            Asking::Queue { until, otherwise: Otherwise::OwnPrompt }
        }
        (Person::InQueue | Person::InQueueOrSeated(_), Some(until)) => {
            setting.not_before(until);
            Asking::Queue { until, otherwise: Otherwise::Nobody }
        }
    }
}

fn entrance<'a>(dialect: &dyn Dialect, setting: &'a HookSetting) -> Entrance<'a> {
    Entrance::new(&setting.places, way_in(dialect))
}

fn way_in(dialect: &dyn Dialect) -> String {
    format!("hook {}", dialect.agent())
}

/// What a call used is counted, what was reserved for it and not used is given back.
fn settle(dialect: &dyn Dialect, event: &Event, after: &After, setting: &HookSetting) {
    let Some(call_id) = after.id.clone() else { return };
    let settled = event.workspace(dialect.agent(), setting).and_then(|workspace| {
        let spool = Box::new(Spool::open(&setting.places)?);
        let gate = gate(dialect.agent(), setting, policy(setting, workspace.as_deref())?, spool);
        let actor = event.actor(dialect.agent());
        if !after.interrupted {
            gate.ran(&actor, workspace.as_deref(), &call_id)?;
        }
        let by = Reporter::of(&gate.owned(actor), &way_in(dialect));
        let which = Which::Call { by, session: event.session.clone(), call_id };
        let (input_tokens, output_tokens) = (after.ended.input_tokens, after.ended.output_tokens);
        gate.settle(&which, &Outcome { input_tokens, output_tokens, ..Outcome::default() })
    });
    // If it fails, the budget stays smaller than it could be until the reservation expires: nothing is less safe.
    let _ = settled;
}

/// What was sent cannot even be told to be an event.
fn unreadable(dialect: &dyn Dialect, why: &str, setting: &HookSetting) -> HookOutput {
    let event = Event::new("unreadable".to_owned(), Occasion::Unknown);
    let (_, why) = malformed(dialect, &event, why, setting).word();
    HookOutput::blocked(&why)
}

fn malformed(dialect: &dyn Dialect, event: &Event, why: &str, setting: &HookSetting) -> HookAnswer {
    refuse(dialect, event, "unknown", reason::built_in(reason::CALL_MALFORMED, format!("{why}.")), setting)
}

/// Sayso cannot judge: the call does not run. Recorded where that can be.
fn refuse(dialect: &dyn Dialect, event: &Event, tool: &str, reason: Reason, setting: &HookSetting) -> HookAnswer {
    entrance(dialect, setting).refuse(&event.name, None, event.actor(dialect.agent()), tool, &reason);
    HookAnswer::refused(reason)
}

/// Takes down what happened, and fixes the session's workspace if this is its first word.
fn note(dialect: &dyn Dialect, event: &Event, what: What, setting: &HookSetting, more: impl FnOnce(&mut Happening)) {
    let agent = dialect.agent();
    let workspace = event.workspace(agent, setting).ok().flatten();
    entrance(dialect, setting).note(what, event.actor(agent), &event.name, |happening| {
        happening.workspace = workspace.map(|path| path.display().to_string());
        more(happening);
    });
}
