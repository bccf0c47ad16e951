//! What the gateway knows of a call's tool and the policy cannot: whether the arguments fit its schema, and whether it is
//! the tool that was accepted. It is handed to the gate, where it speaks in the stage of tools; nothing is decided here.

use super::call::McpCall;
use super::guard::{Guard, lock};
use super::pins::Standing;
use super::schema::Checker;
use super::tools::Tool;
use crate::Error;
use sayso_policy::{Code, ToolFinding, Verdict};

/// Arguments that do not fit.
pub(super) fn of_arguments(tool: &Tool, call: &McpCall) -> Option<ToolFinding> {
    let problems = tool.checker().problems(&call.arguments);
    let text = || format!("The arguments do not fit the tool's schema: {}.", problems.join("; "));
    (!problems.is_empty()).then(|| finding(Verdict::Deny, Code::McpArguments, text()))
}

impl Guard {
    /// All that is found of the tool of a call, by what is pinned now; `None`: the server was not heard to list it.
    pub(super) fn findings(&self, tool: Option<&Tool>, call: &McpCall) -> Result<Vec<ToolFinding>, Error> {
        let Some(tool) = tool else {
            // A list that was not seen to the end may still have it.
            let verdict = if lock(&self.tools).complete { Verdict::Deny } else { Verdict::Ask };
            return Ok(vec![finding(verdict, Code::McpUnlistedTool, "The server does not list this tool.".to_owned())]);
        };
        let mut found: Vec<ToolFinding> = of_arguments(tool, call).into_iter().collect();
        if let Checker::Unusable(why) = tool.checker() {
            found.push(finding(
                Verdict::Ask,
                Code::McpSchemaUnusable,
                format!("The tool's schema cannot be checked: {why}."),
            ));
        }
        match self.pins.standing(&self.server, &self.reached, &tool.definition)? {
            Standing::Settled => self.settle(tool),
            Standing::Open { reasons, .. } => {
                // Kept with the pin as text; what this version does not know is about the tool's definition.
                let code = |code: &str| Code::parse(code).unwrap_or(Code::McpChangedTool);
                let of_pin = |(kept, text): (String, String)| finding(Verdict::Ask, code(&kept), text);
                found.extend(reasons.into_iter().map(of_pin));
            }
        }
        Ok(found)
    }
}

fn finding(verdict: Verdict, code: Code, text: String) -> ToolFinding {
    ToolFinding { verdict, code: code.into(), text }
}
