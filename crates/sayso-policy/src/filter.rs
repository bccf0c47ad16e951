//! Which tools an agent gets to see: what is hidden, or denied whatever its arguments are, is not listed either.

use crate::normalise::tool_name;
use crate::policy::Policy;
use crate::word::{Actor, Layer, Reason, ToolName};

/// A tool that is not there for an actor, and the layer that takes it away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{}` is not available: {} ({layer})", tool.canonical, reason.text)]
pub struct ToolDenied {
    /// The tool.
    pub tool: ToolName,
    /// The layer that takes it away.
    pub layer: Layer,
    /// Why, with the place of the layer.
    pub reason: Reason,
}

/// Something on a list of tools.
pub trait Listed {
    /// The tool's name, as an agent would call it.
    fn name(&self) -> &str;

    /// The MCP server whose tool it is, where that is certain.
    fn server(&self) -> Option<&str> {
        None
    }
}

impl Listed for &str {
    fn name(&self) -> &str {
        self
    }
}

impl Listed for String {
    fn name(&self) -> &str {
        self
    }
}

/// A server and its tool.
impl Listed for (&str, &str) {
    fn name(&self) -> &str {
        self.1
    }

    fn server(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// The tools of a list that are there for an actor, in their order.
///
/// ```
/// use sayso_policy::{Actor, Layer, Policy, PolicyText, filter_tools};
///
/// let text = "[tools]\nhide = [\"file_delete\", \"mcp:github/*\"]\n";
/// let file = PolicyText { layer: Layer::User, name: "policy.toml".into(), text: text.into(), trusted: true };
/// let policy = Policy::compile(&[file]).unwrap();
/// let seen = filter_tools(&policy, &Actor::default(), ["Read", "delete_file", "mcp__github__get_issue"]);
/// assert_eq!(seen, ["Read"]);
/// ```
pub fn filter_tools<T: Listed>(policy: &Policy, actor: &Actor, tools: impl IntoIterator<Item = T>) -> Vec<T> {
    tools.into_iter().filter(|tool| available(policy, actor, tool).is_ok()).collect()
}

/// The normal form of a tool's name, if the tool is there for an actor.
///
/// # Errors
/// The layer that takes it away.
pub fn available(policy: &Policy, actor: &Actor, tool: &impl Listed) -> Result<ToolName, Box<ToolDenied>> {
    let name = tool_name(tool.name(), tool.server());
    match policy.hides(&name, actor).or_else(|| policy.denies_every_call(tool.name(), tool.server(), actor)) {
        None => Ok(name),
        Some(reason) => Err(Box::new(ToolDenied { tool: name, layer: reason.layer.clone(), reason })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyText;

    fn policy(text: &str) -> Policy {
        let file = PolicyText { layer: Layer::User, name: "policy.toml".into(), text: text.into(), trusted: true };
        Policy::compile(&[file]).unwrap()
    }

    fn seen(policy: &Policy, actor: &Actor) -> String {
        filter_tools(policy, actor, ["Bash", "Read", "Edit", "WebFetch", "mcp__a__b", "b\u{430}sh"]).join(" ")
    }

    #[test]
    fn a_list_shows_what_no_layer_hides() {
        let anybody = Actor::default();
        for (text, expected) in [
            ("", "Bash Read Edit WebFetch mcp__a__b b\u{430}sh"),
            ("[tools]\nhide = [\"bash\"]\n", "Read Edit WebFetch mcp__a__b"),
            ("[tools]\nhide = [\"file_write\"]\n", "Bash Read WebFetch mcp__a__b b\u{430}sh"),
            ("[tools]\nonly = [\"*\"]\n", "Bash Read Edit WebFetch mcp__a__b"),
            ("[tools]\nprofile = \"coding\"\n", "Bash Read Edit"),
            ("[tools]\nprofile = \"coding\"\nalso = [\"mcp:a/*\"]\n", "Bash Read Edit mcp__a__b"),
        ] {
            assert_eq!(seen(&policy(text), &anybody), expected, "{text}");
        }
    }

    #[test]
    fn an_ambiguous_name_is_listed_only_if_all_its_readings_are() {
        for (only, listed) in
            [("\"mcp:a/*\"", false), ("\"mcp:a/*\", \"mcp:a_b/c\"", true), ("\"mcp_a_b_c\"", true), ("\"mcp:*\"", true)]
        {
            let policy = policy(&format!("[tools]\nonly = [{only}]\n"));
            assert_eq!(available(&policy, &Actor::default(), &"mcp_a_b_c").is_ok(), listed, "{only}");
        }
        let policy = policy("[tools]\nhide = [\"mcp:a_b/*\"]\n");
        assert!(available(&policy, &Actor::default(), &"mcp_a_b_c").is_err());
    }

    #[test]
    fn what_a_rule_denies_whatever_its_arguments_are_is_not_listed() {
        let coder = Actor { agent: Some("coder".to_owned()), ..Actor::default() };
        let rule = |rest: &str| format!("[[rule]]\nid = \"r\"\ndeny = {{ tool = \"mcp:a/b\" }}\n{rest}");
        for (text, listed) in [
            ("[deny]\ntool = [\"mcp:a/b\"]\n".to_owned(), false),
            ("[deny]\ntool = [\"mcp:a/*\", \"!mcp:a/b\"]\n".to_owned(), true),
            ("[ask]\ntool = [\"mcp:a/b\"]\n".to_owned(), true),
            (rule(""), false),
            (rule("when = { for = \"agent:coder\" }\n"), false),
            (rule("when = { for = \"agent:other\" }\n"), true),
            (rule("when = { arg.repo = \"prod-*\" }\n"), true),
            (rule("when = { arg.repo = [\"*\", \"!prod-*\"] }\n"), true),
            ("[mode]\nrun = \"shadow\"\n[deny]\ntool = [\"mcp:a/b\"]\n".to_owned(), true),
        ] {
            assert_eq!(available(&policy(&text), &coder, &("a", "b")).is_ok(), listed, "{text}");
        }
    }

    #[test]
    fn a_denial_names_its_layer() {
        let policy = policy("[tools.for.\"agent:coder\"]\nhide = [\"@web\"]\n");
        let coder = Actor { agent: Some("coder".to_owned()), ..Actor::default() };
        let denied = available(&policy, &coder, &"fetch").unwrap_err();
        assert_eq!(denied.layer, Layer::Tools("agent:coder".to_owned()));
        assert_eq!(denied.tool.canonical, "web_fetch");
        assert!(denied.to_string().contains("agent:coder"));
        assert!(available(&policy, &Actor::default(), &"fetch").is_ok());
        assert!(available(&policy, &coder, &("x", "fetch")).is_ok());
    }
}
