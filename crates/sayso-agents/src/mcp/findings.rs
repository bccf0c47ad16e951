//! What the gateway knows of a call's tool and the policy cannot: whether the arguments fit its schema, and whether it is
//! the tool that was accepted. It is handed to the gate, where it speaks in the stage of tools; nothing is decided here.

use super::call::McpCall;
use super::guard::{Guard, lock};
use super::pins::Standing;
use super::schema::Checker;
use super::tools::Tool;
use crate::Error;
use sayso_policy::{ToolFinding, Verdict};

/// The arguments do not fit the tool's schema.
pub(super) const ARGUMENTS: &str = "mcp-arguments";
/// The server does not list the tool.
pub(super) const UNLISTED: &str = "mcp-unlisted-tool";
/// The tool's schema cannot be checked.
pub(super) const UNUSABLE: &str = "mcp-schema-unusable";

/// Arguments that do not fit.
pub(super) fn of_arguments(tool: &Tool, call: &McpCall) -> Option<ToolFinding> {
    let problems = tool.checker().problems(&call.arguments);
    let text = || format!("The arguments do not fit the tool's schema: {}.", problems.join("; "));
    (!problems.is_empty()).then(|| finding(Verdict::Deny, ARGUMENTS, text()))
}

impl Guard {
    /// All that is found of the tool of a call, by what is pinned now; `None`: the server was not heard to list it.
    pub(super) fn findings(&self, tool: Option<&Tool>, call: &McpCall) -> Result<Vec<ToolFinding>, Error> {
        let Some(tool) = tool else {
            // A list that was not seen to the end may still have it.
            let verdict = if lock(&self.tools).complete { Verdict::Deny } else { Verdict::Ask };
            return Ok(vec![finding(verdict, UNLISTED, "The server does not list this tool.".to_owned())]);
        };
        let mut found: Vec<ToolFinding> = of_arguments(tool, call).into_iter().collect();
        if let Checker::Unusable(why) = tool.checker() {
            found.push(finding(Verdict::Ask, UNUSABLE, format!("The tool's schema cannot be checked: {why}.")));
        }
        match self.pins.standing(&self.server, &self.reached, &tool.definition)? {
            Standing::Settled => self.settle(tool),
            Standing::Open { reasons, .. } => {
                let of_pin = |(code, text)| ToolFinding { verdict: Verdict::Ask, code: String::into(code), text };
                found.extend(reasons.into_iter().map(of_pin));
            }
        }
        Ok(found)
    }
}

fn finding(verdict: Verdict, code: &'static str, text: String) -> ToolFinding {
    ToolFinding { verdict, code: code.into(), text }
}
