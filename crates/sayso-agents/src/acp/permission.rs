//! Permission requests: answered by the policy, or shown to the person at the editor.

use super::call::{self, UNNAMED, Understood};
use super::judge::{AcpAnswer, AcpCall, First, Leave, Who, seems};
use super::later::HeldRequest;
use super::options::{self, Choice};
use super::pending::{Pending, PermissionAsked};
use super::proxy::{Proxy, Routed, Side, Unfit, text};
use crate::pipe::{Message, replaced, result_line};
use sayso_gate::Prompt;
use sayso_policy::{Request, Verdict};
use serde_json::{Value, json};

/// The event's name in the record.
const EVENT: &str = "session/request_permission";
/// Tools that are themselves a question to a person: a yes of the policy would answer in that person's place.
const QUESTIONS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];
/// The tool that leaves answers to the agent's own memory.
const ALLOW_ALWAYS: &str = "acp:allow_always";

impl Proxy {
    pub(super) fn permission(&self, message: &Message<'_>) -> Result<Routed, Unfit> {
        let params = Self::params(message)?;
        let session = text(&params, "sessionId")?;
        let told = params.get("toolCall").filter(|call| call.is_object());
        let told = told.ok_or_else(|| Unfit::params("Its `toolCall` is not an object."))?;
        let call_id = text(told, "toolCallId")?;
        let choices = params.get("options").and_then(options::read);
        let choices = choices.ok_or_else(|| Unfit::params("Its `options` are ambiguous."))?;

        let understood = {
            let mut state = self.state();
            let agent = state.agent;
            let session = state.sessions.at(session);
            let folder = session.folder.clone();
            let known = session.call(call_id);
            known.learn(told);
            known.asked = true;
            call::understood(known, call_id, agent, folder.as_deref())
        };
        let who = self.who(Some(session));
        let question = is_question(&understood.call);
        let (asked, asking) = (HeldRequest::of(message)?, who.clone());
        let (session, call_id) = (session.to_owned(), call_id.to_owned());
        let then = move |proxy: &Self, asked: &HeldRequest, mut said: AcpAnswer| match (
            said.leave(),
            options::of_kind(&choices, "allow_once"),
        ) {
            (Leave::Given(permit), Some(option)) if !question => {
                proxy.let_through(&asking, said.record.clone());
                Ok(permit.spend(|| Routed::say(Side::Agent, result_line(&asked.id, &selected(option)))))
            }
            (Leave::Given(permit), _) => {
                proxy.ask_client(asked, (&params, &choices), (&said, permit.once_asked()), &asking)
            }
            (Leave::Asked(prompt), _) => proxy.ask_client(asked, (&params, &choices), (&said, prompt), &asking),
            (Leave::None, _) => {
                proxy.state().sessions.at(&session).call(&call_id).refused = true;
                Ok(Routed::say(Side::Agent, result_line(&asked.id, &rejected(&choices, &said))))
            }
        };
        self.decided(understood, &who, EVENT, asked, true, Box::new(then))
    }

    /// Judges a call. One that is not known in full is denied if what is known is, and else never more than asked
    /// about, unless a rule names it.
    pub(super) fn decide(&self, understood: Understood, who: &Who, event: &str) -> First {
        let Understood { call, doubtful, readings } = understood;
        let gate = match self.judge.gate(&call, who, event) {
            Ok(gate) => gate,
            Err(said) => return First::Answered(said),
        };
        if !doubtful {
            return First::of(&gate, self.judge.begin(&gate, call, who, event));
        }
        for reading in std::iter::once(&call).chain(&readings) {
            let judgement = self.judge.begin(&gate, reading.clone(), who, event);
            if seems(judgement.alone()) == Verdict::Deny {
                return First::of(&gate, judgement);
            }
        }
        First::of(&gate, self.judge.begin(&gate, without_name(call), who, event))
    }

    /// Passes the request to the person at the editor, with the answers that count once.
    fn ask_client(
        &self,
        asked: &HeldRequest,
        (params, choices): (&Value, &[Choice]),
        (said, prompt): (&AcpAnswer, Prompt),
        who: &Who,
    ) -> Result<Routed, Unfit> {
        let offered = self.offered(choices, who);
        if offered.is_empty() {
            return Ok(Routed::say(Side::Agent, result_line(&asked.id, &cancelled(said))));
        }
        let pending = Pending::Permission(Box::new(PermissionAsked {
            session: who.session.clone().unwrap_or_default(),
            allowing: offered.iter().filter(|c| options::allows(&c.kind)).map(|c| c.id.clone()).collect(),
            record: said.record.clone(),
            offered: offered.iter().map(|choice| choice.id.clone()).collect(),
            writes: writes(params),
            prompt,
        }));
        if !self.state().waiting.add(Side::Client, asked.key.clone(), pending) {
            return Err(Unfit::params("Another request with this id is pending, or too many are."));
        }
        let line = shown(&asked.line, params, choices, &offered, said);
        line.map(Routed::instead).ok_or_else(|| Unfit::params("It cannot be passed on."))
    }

    /// Remembers the call that was let through last.
    pub(super) fn let_through(&self, who: &Who, record: Option<String>) {
        if let (Some(session), Some(_)) = (&who.session, &record) {
            self.state().sessions.at(session).last_record = record;
        }
    }

    /// The options that a person may choose from. The agent itself would remember an "always": then it asks no more,
    /// and nothing is judged.
    fn offered(&self, choices: &[Choice], who: &Who) -> Vec<Choice> {
        if choices.iter().all(|choice| options::counts_once(&choice.kind)) {
            return choices.to_vec();
        }
        let always = self.judge.rehearse(AcpCall::tool(ALLOW_ALWAYS, json!({}), None), who) == Verdict::Allow;
        choices.iter().filter(|choice| always || options::counts_once(&choice.kind)).cloned().collect()
    }

    /// The person at the editor has answered.
    pub(super) fn permission_answered(&self, message: &Message<'_>, asked: PermissionAsked) -> Routed {
        let PermissionAsked { session, offered, allowing, record, writes, prompt } = asked;
        let who = self.who(Some(&session));
        if message.error.is_some() {
            self.judge.not_run(&who, record.as_deref());
            return Routed::pass();
        }
        let result: Value = message.result.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        let outcome = result.get("outcome").unwrap_or(&Value::Null);
        let chosen = outcome.get("optionId").and_then(Value::as_str);
        match (outcome.get("outcome").and_then(Value::as_str), chosen) {
            (Some("cancelled"), None) => {
                self.judge.not_run(&who, record.as_deref());
                Routed::pass()
            }
            (Some("selected"), Some(option)) if offered.iter().any(|known| known == option) => {
                if !allowing.iter().any(|known| known == option) {
                    self.judge.not_run(&who, record.as_deref());
                    return Routed::pass();
                }
                self.let_through(&who, record);
                let mut state = self.state();
                let session = state.sessions.at(&session);
                writes.into_iter().for_each(|(path, content)| session.agree(&path, content));
                prompt.yes().spend(Routed::pass)
            }
            // An answer that was not offered is no yes.
            _ => match message.id {
                Some(id) => {
                    self.judge.not_run(&who, record.as_deref());
                    Routed::instead(result_line(id, &json!({"outcome": {"outcome": "cancelled"}})))
                }
                None => Routed::nothing(),
            },
        }
    }
}

fn is_question(call: &AcpCall) -> bool {
    matches!(&call.request, Request::Tool { name, .. } if QUESTIONS.contains(&name.as_str()))
}

fn without_name(call: AcpCall) -> AcpCall {
    let request = match call.request {
        Request::Tool { name, arguments, .. } if name != UNNAMED => Request::Tool {
            name: UNNAMED.to_owned(),
            arguments: json!({"tool": name, "shown": arguments}),
            server: None,
        },
        other => other,
    };
    AcpCall { request, ..call }
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// ACP has no room for a reason in an answer; `_meta` tells it to whoever looks there.
fn rejected(choices: &[Choice], said: &AcpAnswer) -> Value {
    match options::of_kind(choices, "reject_once") {
        Some(option) => with_why(selected(option), said),
        None => cancelled(said),
    }
}

fn cancelled(said: &AcpAnswer) -> Value {
    with_why(json!({"outcome": {"outcome": "cancelled"}}), said)
}

fn with_why(mut result: Value, said: &AcpAnswer) -> Value {
    if let Some(fields) = result.as_object_mut() {
        fields.insert("_meta".to_owned(), json!({"sayso": {"answer": said.answer.as_str(), "why": said.why()}}));
    }
    result
}

/// The request as the person sees it: with why Sayso asks, and without the options that are not offered.
fn shown(line: &[u8], params: &Value, choices: &[Choice], offered: &[Choice], said: &AcpAnswer) -> Option<Vec<u8>> {
    let mut out = line.to_vec();
    if offered.len() != choices.len() {
        let all = params.get("options")?.as_array()?;
        let kept: Vec<&Value> = all
            .iter()
            .filter(|option| {
                offered.iter().any(|choice| option.get("optionId").and_then(Value::as_str) == Some(&choice.id))
            })
            .collect();
        out = replaced(&out, &["params", "options"], &serde_json::to_vec(&kept).ok()?)?;
    }
    let mut content = params.pointer("/toolCall/content").and_then(Value::as_array).cloned().unwrap_or_default();
    content.push(json!({"type": "content", "content": {"type": "text", "text": said.why()}}));
    out = replaced(&out, &["params", "toolCall", "content"], &serde_json::to_vec(&content).ok()?)?;
    out.push(b'\n');
    Some(out)
}

/// The writes that a request shows, whole.
fn writes(params: &Value) -> Vec<(String, Option<String>)> {
    let content = params.pointer("/toolCall/content").and_then(Value::as_array).into_iter().flatten();
    let diffs = content.filter(|one| one.get("type").and_then(Value::as_str) == Some("diff"));
    let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    diffs.filter_map(|one| Some((text(one, "path")?, Some(text(one, "newText")?)))).take(64).collect()
}
