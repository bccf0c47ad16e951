//! The seven steps as modes, patterns, tool lists and limits.

use super::{ESSENTIAL, PolicyEngine, parameter};
use crate::import::{Draft, exactly, is_plain, one_line, quoted, tool_pattern};

impl PolicyEngine {
    pub(crate) fn import(&self, draft: &mut Draft) {
        draft.everything("allow", "step 7: allow");
        if !self.enabled {
            draft.table("[mode] # enabled = false\nrun = \"off\"".to_owned());
            return;
        }
        let mut exempt: Vec<String> = ESSENTIAL.iter().map(|name| (*name).to_owned()).collect();
        if self.dry_run {
            draft.table("[mode] # dryRun\nrun = \"dry-run\"".to_owned());
            exempt.extend(self.dry_run_essential.iter().cloned());
        }
        if !self.dry_run || self.dry_run_t0 {
            exempt.extend(self.members("T0").unwrap_or_default());
        }
        draft.essential(&exempt);
        if self.dry_run {
            // Dry-run answers before patterns are looked at, and its exempt tools pass all of them.
            return;
        }
        self.import_patterns(draft);
        self.import_lists(draft);
        for folders in self.folders.iter().filter(|folders| !folders.within.is_empty()) {
            draft.lose(format!("the folders that `{}` must stay in: the tool is denied here", folders.tool));
            draft.list("deny", "tool", &tool_pattern(&folders.tool), "pathAllowlists");
        }
        draft.table(format!("[limits.session] # maxBlockedRetries\nblocked = {}", self.max_blocked));
    }

    fn import_patterns(&self, draft: &mut Draft) {
        let mut text = String::new();
        let mut tools = std::collections::BTreeSet::new();
        for rule in &self.deny {
            let mut expressions = Vec::new();
            for (expression, _) in &rule.expressions {
                match expression.plain() {
                    Some(plain) => expressions.push(quoted(&plain)),
                    None => {
                        draft.lose(format!(
                            "the expression `{}` looks around: the tool `{}` is denied here",
                            expression.text, rule.tool
                        ));
                        draft.list("deny", "tool", &tool_pattern(&rule.tool), "denyPatterns");
                    }
                }
            }
            if expressions.is_empty() {
                continue;
            }
            if !is_plain(&rule.tool.to_lowercase()) || !tools.insert(rule.tool.trim().to_lowercase()) {
                draft.lose(format!("the patterns of `{}` cannot be expressed; the tool is denied here", rule.tool));
                draft.list("deny", "tool", &tool_pattern(&rule.tool), "denyPatterns");
                continue;
            }
            let params = parameter::names(&rule.tool)
                .map(|names| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "));
            let params = params.map(|params| format!(", params = [{params}]")).unwrap_or_default();
            let list = expressions.join(", ");
            text.push_str(&format!(
                "\n{} = {{ deny = [{list}]{params} }} # denyPatterns.{}",
                quoted(&rule.tool.to_lowercase()),
                one_line(&rule.tool)
            ));
        }
        if !text.is_empty() {
            draft.lose("deny patterns of `write` and `exec` reach tools that do the same under another name");
            draft.table(format!("[patterns]{text}"));
        }
    }

    fn import_lists(&self, draft: &mut Draft) {
        let find =
            |profile: &str| self.allowlists.iter().find(|list| list.profile == profile && !list.tools.is_empty());
        let default = find("default");
        if let Some(default) = default {
            let listed = self.expanded(draft, &default.tools);
            let tools = names(draft, &listed);
            draft.table(format!("[tools] # allowlists.default\n{tools}"));
        }
        for (agent, profile) in &self.routing {
            if default.is_some() && self.allowlists.iter().any(|list| list.profile == *profile) {
                draft.lose(format!("the profile of agent `{agent}` replaces the default list; here both must agree"));
            }
            let Some(routed) = find(profile) else { continue };
            let listed = self.expanded(draft, &routed.tools);
            let tools = names(draft, &listed);
            match draft.layer_for("agent", agent) {
                Some(header) => draft.table(format!("{header} # routing.{}\n{tools}", one_line(agent))),
                None => {
                    draft.lose(format!("the profile of agent `{agent}`: every tool is denied here"));
                    draft.list("deny", "tool", "@anything", "routing");
                }
            }
        }
    }
}

impl PolicyEngine {
    /// A list with the tools of the tiers that it names.
    fn expanded(&self, draft: &mut Draft, tools: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for name in tools {
            match self.members(name) {
                Some(members) => {
                    if name.trim() == "T2" {
                        draft.lose("tools that no tier names are T2 in the original, and not permitted here");
                    }
                    found.extend(members);
                }
                None => found.push(name.clone()),
            }
        }
        found
    }
}

/// A closed list; one that holds nothing takes everything away.
fn names(draft: &mut Draft, tools: &[String]) -> String {
    let tools = draft.permitted(tools);
    if tools.is_empty() {
        return "hide = [\"@anything\"]".to_owned();
    }
    format!("only = [{}]", tools.iter().map(|tool| quoted(&exactly(tool))).collect::<Vec<_>>().join(", "))
}
