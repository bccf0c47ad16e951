//! One decision, as it is kept.

use crate::Circumstances;
use crate::audit::redact::{self, Room};
use crate::plan::PlanUse;
use sayso_policy::{
    Actor, Answer, Decision, EffectOpinions, Holding, Operation, Opinion, Reason, Reported, Request, Risk, Stage,
    Stated, ToolCall, Verdict, explain,
};
use sayso_shell::Verb;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How much of one string of a call is kept.
const TEXT_KEPT: usize = 4096;
/// How much of all arguments together is kept.
const ARGUMENTS_KEPT: usize = 64 * 1024;
/// The same of a question: whoever answers must be able to see what the answer is about.
const TEXT_ASKED: usize = 128 * 1024;
const ARGUMENTS_ASKED: usize = 512 * 1024;
/// How many members of one array or object of arguments are kept.
const MEMBERS_KEPT: usize = 64;
const MEMBERS_ASKED: usize = 4096;
/// How many effects are kept.
const EFFECTS_KEPT: usize = 64;
/// How many opinions on one effect are kept.
const OPINIONS_KEPT: usize = 16;

/// A process at the other end of a socket, as the system names it. It says who asked; it authorises nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Peer {
    /// The user it runs as.
    pub uid: u32,
    /// The process, when it connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The program it runs, if that may be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
}

/// An earlier call of the session that a rule asked about, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct PastRecord {
    /// The earlier call, by the id of its record.
    pub id: String,
    /// When it was, in milliseconds since 1970.
    pub time_ms: u64,
    /// What it was; secrets taken out.
    pub command: String,
    /// The condition on earlier calls that it fulfils.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Only perhaps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maybe: bool,
    /// The file that it wrote, and that a program of this call goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrote: Option<String>,
}

/// One decision, as it is kept. Fields that a later version adds are tolerated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Record {
    /// Unique; begins with the time, so that ids sort.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Which way in: `hook claude-code`, `http`.
    pub way_in: String,
    /// The process that asked, where the system names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// The way in's own word for what happened: `PreToolUse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The caller's own id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Who asked.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub actor: Actor,
    /// The tool, canonical.
    pub tool: String,
    /// The command, if the call is or holds one; secrets taken out, long ones cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments; secrets taken out, long ones cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// What the session had done before that rules asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<PastRecord>,
    /// The step of an approved plan that it was, and the saved answer that it used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanUse>,
    /// How much could go wrong, where that was worked out: for a call that asks or is denied, and for all where a file asks by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The home folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Folders that the caller says are its home, where the owner's machine has another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed_homes: Vec<String>,
    /// The variables that the call brings, where they are not what they are there anyway; secrets taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Value>,
    /// How the caller named the tool.
    #[serde(default, skip_serializing_if = "CalledAs::is_empty")]
    pub called_as: CalledAs,
    /// What the policy said.
    pub verdict: Verdict,
    /// What the caller was told.
    pub answer: Answer,
    /// What the policy would have said where a mode lets calls pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would: Option<Verdict>,
    /// What was said of holding the run: `required-whole`, `wanted-whole`, `would-allow-whole`, or the same with `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub hold: Option<Holding>,
    /// Why, the decisive reason first.
    pub reasons: Vec<ReasonRecord>,
    /// What the call would do.
    pub effects: Vec<EffectRecord>,
    /// Effects beyond those listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_effects: usize,
    /// What stages said of the call as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<OpinionRecord>,
    /// Which policy.
    pub policy: String,
    /// The operation's digest, if there is an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How long the decision took, in microseconds.
    pub micros: u64,
    /// It came from the spool without the mark that Sayso's own processes leave there: any program of the user may have
    /// written it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// A reason, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReasonRecord {
    /// The code.
    pub code: String,
    /// The sentence.
    pub text: String,
    /// Who said it.
    pub layer: String,
    /// Where the rule stands.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub source: Option<String>,
}

/// An effect, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EffectRecord {
    /// What is done.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub verb: Verb,
    /// To what, for people.
    pub target: String,
    /// What the policy said of it.
    pub verdict: Verdict,
    /// What each stage said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<OpinionRecord>,
}

/// What one stage said, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpinionRecord {
    /// Which stage.
    pub stage: Stage,
    /// What it said.
    pub verdict: Verdict,
    /// Only perhaps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maybe: bool,
    /// Why, as a code.
    pub code: String,
}

/// How the caller named the tool, and what it said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct CalledAs {
    /// The name as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The MCP server, where the way in knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The kind that the agent reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl CalledAs {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<&Opinion> for OpinionRecord {
    fn from(opinion: &Opinion) -> Self {
        let code = redact::cut(opinion.reason.code.as_str(), 128);
        Self { stage: opinion.stage, verdict: opinion.verdict, maybe: opinion.maybe, code }
    }
}

impl Record {
    /// A call that could not even be judged, and does not run.
    #[must_use]
    pub fn refused(circumstances: &Circumstances, actor: Actor, tool: &str, reason: &Reason) -> Self {
        let decision = Decision {
            verdict: Verdict::Deny,
            answer: Answer::Deny,
            would: None,
            unanswered: None,
            hold: None,
            reasons: vec![reason.clone()],
            effects: Vec::new(),
            policy_version: String::new(),
            deeds: None,
            risk: None,
        };
        let tool = redact::cut(tool, 256);
        let seen = Seen {
            actor,
            tool,
            command: None,
            arguments: None,
            cwd: None,
            workspace: None,
            home: None,
            claimed_homes: Vec::new(),
            env: None,
            called_as: CalledAs::default(),
            room: Room::new(TEXT_KEPT, MEMBERS_KEPT),
        };
        seen.record(fresh_id(), None, &decision, circumstances, None, Duration::ZERO)
    }
}

impl ReasonRecord {
    fn of(reason: &Reason, room: &Room) -> Self {
        Self {
            code: reason.code.to_string(),
            text: room.without_taken(kept(&reason.text)),
            layer: reason.layer.to_string(),
            source: reason.source.as_ref().map(ToString::to_string),
        }
    }
}

/// What the record needs to know of a call even if normalising it fails.
pub(crate) struct Seen {
    actor: Actor,
    tool: String,
    command: Option<String>,
    arguments: Option<Value>,
    cwd: Option<String>,
    workspace: Option<String>,
    home: Option<String>,
    claimed_homes: Vec<String>,
    env: Option<Value>,
    called_as: CalledAs,
    room: Room,
}

impl Seen {
    /// As much of a call as a record keeps.
    pub(crate) fn of(call: &ToolCall) -> Self {
        Self::with(call, Room::new(TEXT_KEPT, MEMBERS_KEPT), ARGUMENTS_KEPT)
    }

    /// As much of a call as a person can look at who is asked about it.
    pub(crate) fn asked(call: &ToolCall) -> Self {
        Self::with(call, Room::new(TEXT_ASKED, MEMBERS_ASKED), ARGUMENTS_ASKED)
    }

    /// Whether that is less than all of the call.
    pub(crate) fn left_out(&self) -> bool {
        self.room.left_out()
    }

    fn with(call: &ToolCall, room: Room, most: usize) -> Self {
        let (tool, command, arguments) = match &call.request {
            Request::Command(bytes) => {
                ("bash_execute".to_owned(), Some(room.text(&String::from_utf8_lossy(bytes))), None)
            }
            Request::Tool { name, arguments, .. } => {
                let command = arguments.get("command").and_then(Value::as_str).map(|text| room.text_again(text));
                (redact::cut(name, 256), command, Some(arguments_kept(arguments, &room, most)))
            }
        };
        let kind = call.reported_kind.as_deref().map(|kind| redact::cut(kind, 128));
        let called_as = match &call.request {
            Request::Command(_) => CalledAs { kind, ..CalledAs::default() },
            Request::Tool { name, server, .. } => {
                let server = server.as_deref().map(|server| redact::cut(server, 256));
                CalledAs { name: Some(redact::cut(name, 256)), server, kind }
            }
        };
        Self {
            actor: actor_kept(&call.actor, 0),
            tool,
            command,
            arguments,
            cwd: call.cwd.as_deref().map(path_kept),
            workspace: call.workspace.root().map(path_kept),
            home: call.home.as_deref().map(path_kept),
            claimed_homes: Vec::new(),
            env: None,
            called_as,
            room,
        }
    }

    /// With the variables and homes that the operation brings.
    pub(crate) fn bringing(mut self, operation: &Operation) -> Self {
        self.claimed_homes = operation.claimed_homes.iter().map(|home| path_kept(home)).collect();
        if !operation.env.is_empty() {
            let all = operation.env.iter().map(|(name, value)| (name.clone(), Value::String(value.clone())));
            self.env = Some(arguments_kept(&Value::Object(all.collect()), &self.room, ARGUMENTS_KEPT));
        }
        self
    }

    pub(crate) fn record(
        self,
        id: String,
        operation: Option<&Operation>,
        decision: &Decision,
        circumstances: &Circumstances,
        digest: Option<String>,
        took: Duration,
    ) -> Record {
        let time_ms = now_ms();
        let canonical = operation.map(|o| o.tool.canonical.clone()).filter(|name| !name.is_empty());
        let command = self.command.or_else(|| operation.and_then(|operation| command(operation, &self.room)));
        // Behind the command, the arguments and the variables: what was taken out of those is taken out of these too.
        let (effects, more_effects) = operation.map(|o| effects(o, decision, &self.room)).unwrap_or_default();
        let reasons = decision.reasons.iter().take(EFFECTS_KEPT).map(|reason| ReasonRecord::of(reason, &self.room));
        let reasons = reasons.collect();
        Record {
            id,
            time_ms,
            way_in: circumstances.way_in.clone(),
            peer: circumstances.peer.clone(),
            event: circumstances.event.clone(),
            call_id: circumstances.call_id.as_deref().map(|id| redact::cut(id, 128)),
            actor: self.actor,
            tool: canonical.unwrap_or(self.tool),
            command,
            arguments: self.arguments,
            past: Vec::new(),
            plan: None,
            risk: decision.risk.clone(),
            cwd: self.cwd,
            workspace: self.workspace,
            home: self.home,
            claimed_homes: self.claimed_homes,
            env: self.env,
            called_as: self.called_as,
            verdict: decision.verdict,
            answer: decision.answer,
            would: decision.would,
            hold: decision.hold,
            reasons,
            effects,
            more_effects,
            opinions: opinions(decision.effects.iter().find(|o| o.effect.is_none())),
            policy: decision.policy_version.clone(),
            digest,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            unverified: false,
        }
    }
}

fn effects(operation: &Operation, decision: &Decision, room: &Room) -> (Vec<EffectRecord>, usize) {
    let kept = operation.effects.iter().enumerate().take(EFFECTS_KEPT).map(|(index, effect)| {
        let said = decision.effects.iter().find(|o| o.effect == Some(index));
        EffectRecord {
            verb: effect.verb,
            target: room.without_taken(kept(&explain::effect::target(operation, effect))),
            verdict: said.map_or(decision.verdict, |o| o.verdict),
            opinions: opinions(said),
        }
    });
    (kept.collect(), operation.effects.len().saturating_sub(EFFECTS_KEPT))
}

fn opinions(said: Option<&EffectOpinions>) -> Vec<OpinionRecord> {
    let all = said.map(|said| said.opinions.as_slice()).unwrap_or_default();
    all.iter().take(OPINIONS_KEPT).map(OpinionRecord::from).collect()
}

/// The command that a tool's arguments hold under whatever name.
fn command(operation: &Operation, room: &Room) -> Option<String> {
    let text = explain::effect::command_text(operation)?;
    Some(room.text(&String::from_utf8_lossy(text))).filter(|text| !text.is_empty())
}

fn path_kept(path: &std::path::Path) -> String {
    redact::cut(&path.display().to_string(), TEXT_KEPT)
}

/// Who asked, in names of a length that names have, and with parents as far up as parents go.
fn actor_kept(actor: &Actor, depth: usize) -> Actor {
    let cut = |name: &Option<String>| name.as_deref().map(|name| redact::cut(name, 256));
    Actor {
        agent: cut(&actor.agent),
        product: cut(&actor.product),
        provider: cut(&actor.provider),
        team: cut(&actor.team),
        member: cut(&actor.member),
        tenant: cut(&actor.tenant),
        session: cut(&actor.session),
        run: cut(&actor.run),
        // How it came in stands beside it.
        asker: None,
        reported: actor.reported.as_ref().map(|reported| {
            let agents = reported.agents.iter().take(8).map(|name| redact::cut(name, 256)).collect();
            Box::new(Reported {
                agents,
                provider: cut(&reported.provider),
                team: cut(&reported.team),
                member: cut(&reported.member),
                tenant: cut(&reported.tenant),
            })
        }),
        owner: actor.owner.as_ref().map(|owner| {
            Box::new(Stated {
                agent: cut(&owner.agent),
                team: cut(&owner.team),
                member: cut(&owner.member),
                tenant: cut(&owner.tenant),
            })
        }),
        subagent: actor.subagent,
        parent: actor.parent.as_ref().filter(|_| depth < 8).map(|parent| Box::new(actor_kept(parent, depth + 1))),
    }
}

/// At most `most` bytes of arguments; of those that have more, the beginning of their text.
fn arguments_kept(arguments: &Value, room: &Room, most: usize) -> Value {
    let kept = room.arguments(arguments);
    let text = kept.to_string();
    if text.len() <= most { kept } else { Value::String(room.cut(&text)) }
}

pub(super) fn kept(text: &str) -> String {
    Room::new(TEXT_KEPT, MEMBERS_KEPT).text(text)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// An id that nobody else has.
pub(crate) fn fresh_id() -> String {
    fresh_id_at(now_ms())
}

pub(crate) fn fresh_id_at(time_ms: u64) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    // The standard library seeds this from the system's randomness, once for each thread of each process.
    let random = std::hash::RandomState::new().hash_one((count, std::process::id(), time_ms));
    format!("{time_ms:012x}-{random:016x}")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The command, the arguments and the variables of a call.
type Texts = (Option<String>, Option<Value>, Option<Value>);

/// What was kept of a call for a question, as short as in a record; `None` where it is that short.
pub(crate) fn shortened(command: Option<&str>, arguments: Option<&Value>, env: Option<&Value>) -> Option<Texts> {
    let room = Room::new(TEXT_KEPT, MEMBERS_KEPT);
    let kept = |value: &Value| arguments_kept(value, &room, ARGUMENTS_KEPT);
    let short = (command.map(|command| room.cut(command)), arguments.map(kept), env.map(kept));
    room.left_out().then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_sort_by_time() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| fresh_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(fresh_id_at(1) < fresh_id_at(2));
    }

    #[test]
    fn a_key_at_the_cut_is_still_taken_out() {
        let text = format!("{} ghp_{}", "x".repeat(TEXT_KEPT - 10), "a".repeat(36));
        assert!(!kept(&text).contains("ghp_a"), "{}", kept(&text));
    }
}
