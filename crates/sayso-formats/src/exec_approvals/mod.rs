//! Execution approvals of Wundr and OpenClaw: security and ask, an allowlist of programs, safe programs without path
//! operands, policies for tools, and a charter.

mod allowlist;
mod charter;
mod command;
mod config;
mod destructive;
mod file_tool;
mod import;
mod profile;
mod safe_bin;

use crate::Error;
use crate::document::Node;
use charter::Charter;
use config::{Agent, Ask, Exec, Security, ToolPolicy};
use sayso_policy::foreign::{Remark, Stages};
use sayso_policy::{Code, Facts, Operation, Request, Source, Verdict};
use serde_json::Value;

/// The configuration of a gate.
#[derive(Debug)]
pub(crate) struct ExecApprovals {
    exec: Exec,
    /// OpenClaw's own document has a section for each agent.
    agents: Vec<Agent>,
    tools: Vec<ToolPolicy>,
    charter: Charter,
}

pub(crate) fn lower(root: &Node<'_>) -> Result<ExecApprovals, Error> {
    root.no_slips(&["exec", "defaults", "agents", "toolPolicies", "charter", "version", "socket"])?;
    let (exec, agents) = config::read(root)?;
    let tools = config::tool_policies(root)?;
    let charter = root.get("charter")?.map(|node| Charter::read(&node)).transpose()?.unwrap_or_default();
    Ok(ExecApprovals { exec, agents, tools, charter })
}

impl Stages for ExecApprovals {
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let exec = config::for_agent(&self.exec, &self.agents, &operation.actor);
        vec![self.judge(&exec, operation, facts)]
    }
}

impl ExecApprovals {
    fn judge(&self, exec: &Exec, operation: &Operation, facts: Facts<'_>) -> Remark {
        let tool = &operation.tool;
        if exec.stated && exec.security == Security::Deny {
            return said(Verdict::Deny, "The security mode denies everything.");
        }
        let policy = config::policy_of(&self.tools, tool);
        if let Some(denied) = policy.as_ref().and_then(|policy| policy.denies_argument(operation)) {
            return said(Verdict::Deny, format!("The argument `{denied}` is denied for this tool."));
        }
        let charter = self.charter.judge(operation, facts);
        if charter == Some(charter::Says::Reject) {
            return said(Verdict::Deny, "The charter always rejects this.");
        }
        if command::is_one(operation) {
            if let Some(what) = destructive::found(operation) {
                return said(Verdict::Deny, format!("This would {what}, which is denied in every mode."));
            }
            return self.judge_command(exec, policy.as_ref(), charter, operation, facts);
        }
        let Some(policy) = policy else {
            return match charter {
                Some(charter::Says::Approve) => said(Verdict::Allow, "The charter approves this tool."),
                Some(charter::Says::Confirm) => said(Verdict::Ask, "The charter requires confirmation for this tool."),
                Some(charter::Says::Escalate) => self.charter.escalated(said(Verdict::Ask, "")),
                _ => said(
                    Verdict::Deny,
                    format!("No policy names the tool `{}`, and unknown tools are denied.", tool.canonical),
                ),
            };
        };
        let remark = judge_tool(&policy, charter, operation, facts);
        if remark.verdict == Verdict::Ask && charter == Some(charter::Says::Escalate) {
            return self.charter.escalated(remark);
        }
        remark
    }

    /// Security and ask of the session, tightened by those of the tool and by the charter.
    fn judge_command(
        &self,
        exec: &Exec,
        policy: Option<&ToolPolicy>,
        charter: Option<charter::Says>,
        operation: &Operation,
        facts: Facts<'_>,
    ) -> Remark {
        let mut security = exec.security;
        let mut ask = exec.ask;
        if let Some(policy) = policy.filter(|policy| policy.stated) {
            security = security.min(policy.security.unwrap_or(security));
            ask = ask.max(policy.ask.unwrap_or(ask));
        }
        match charter {
            Some(charter::Says::Approve) => return said(Verdict::Allow, "The charter approves this."),
            Some(charter::Says::Confirm | charter::Says::Escalate) if security != Security::Deny => ask = Ask::Always,
            _ => {}
        }
        let satisfied = || {
            let approved = |run| self.charter.approves(operation, run, facts);
            command::satisfies(exec, operation, facts, &approved)
        };
        let (verdict, text, source) = matrix(security, ask, satisfied);
        let mut remark = said(verdict, text).at(source);
        if verdict == Verdict::Ask {
            // Nobody to ask: the fallback limits further, it never adds to the active security.
            let fallback = security.min(exec.fallback);
            let (verdict, ..) = matrix(fallback, Ask::Off, satisfied);
            remark.unanswered = Some(verdict);
            if charter == Some(charter::Says::Escalate) {
                return self.charter.escalated(remark);
            }
        }
        remark
    }
}

/// Security times ask.
fn matrix(
    security: Security,
    ask: Ask,
    satisfied: impl Fn() -> Result<command::Covered, String>,
) -> (Verdict, String, Option<Source>) {
    match (security, ask) {
        (Security::Deny, _) => (Verdict::Deny, "The security mode denies every command.".to_owned(), None),
        (_, Ask::Always) => (Verdict::Ask, "Every command needs approval.".to_owned(), None),
        (Security::Full, _) => (Verdict::Allow, "The security mode allows every command.".to_owned(), None),
        (Security::Allowlist, ask) => match satisfied() {
            Ok(covered) => (Verdict::Allow, covered.text(), covered.source),
            Err(why) if ask == Ask::OnMiss => (Verdict::Ask, why, None),
            Err(why) => (Verdict::Deny, why, None),
        },
    }
}

/// A tool that is no command: by its paths and its policy.
fn judge_tool(policy: &ToolPolicy, charter: Option<charter::Says>, operation: &Operation, facts: Facts<'_>) -> Remark {
    let tool = &operation.tool.canonical;
    if let Some(why) = file_tool::refuses(policy, operation, facts) {
        return said(Verdict::Deny, why);
    }
    match charter {
        Some(charter::Says::Approve) => return said(Verdict::Allow, "The charter approves this tool."),
        Some(charter::Says::Confirm | charter::Says::Escalate) => {
            return said(Verdict::Ask, "The charter requires confirmation for this tool.");
        }
        _ => {}
    }
    let (security, ask) = (policy.security.unwrap_or(Security::Deny), policy.ask.unwrap_or(Ask::Always));
    match (security, ask) {
        (Security::Deny, _) => said(Verdict::Deny, format!("The tool `{tool}` is denied.")),
        (_, Ask::Always) => said(Verdict::Ask, format!("The tool `{tool}` always needs approval.")),
        (Security::Full, _) => said(Verdict::Allow, format!("The tool `{tool}` is allowed.")),
        (Security::Allowlist, ask) => match (file_tool::listed(policy, operation, facts), ask) {
            (true, _) => said(Verdict::Allow, "Every path is in a folder this tool may use."),
            (false, Ask::OnMiss) => said(Verdict::Ask, "A path is outside the folders this tool may use."),
            (false, _) => said(Verdict::Deny, "A path is outside the folders this tool may use."),
        },
    }
}

fn said(verdict: Verdict, text: impl Into<String>) -> Remark {
    Remark::new(verdict, Code::ForeignRule, text)
}

/// Every string among the arguments of a call.
fn strings(operation: &Operation) -> Vec<String> {
    fn collect(value: &Value, depth: usize, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) if depth < 32 => items.iter().for_each(|item| collect(item, depth + 1, found)),
            Value::Object(fields) if depth < 32 => fields.values().for_each(|value| collect(value, depth + 1, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    match &operation.request {
        Request::Tool { arguments, .. } => collect(arguments, 0, &mut found),
        Request::Command(command) => found.push(String::from_utf8_lossy(command).into_owned()),
    }
    found
}
