//! Security and ask as lists. The allowlist covers plain chains alone, which the language cannot say, so commands that
//! it would let pass are asked about or denied, and the entries stand as comments.

use super::charter::Charter;
use super::config::{Ask, Security};
use super::{ExecApprovals, config};
use crate::import::{Draft, is_plain, one_line, quoted, tool_pattern};
use sayso_policy::Actor;

impl ExecApprovals {
    pub(crate) fn import(&self, draft: &mut Draft) {
        let exec = config::for_agent(&self.exec, &self.agents, &Actor::default());
        draft.essential(&[]);
        draft.default_is("deny", "unknown tools are denied");
        draft.lose(
            "sections for agents, the charter and the policies of tools: tools other than commands are denied here",
        );
        draft.lose("askFallback: with nobody to ask, the call is denied here");
        draft.list(
            "deny",
            "run",
            "{shutdown,reboot,halt,poweroff,mkfs*,init,telinit,chown,chmod,dd}",
            "denied in every mode",
        );
        draft.lose("mkfs, dd, chmod, chown and init are denied however they are used");
        if exec.skills {
            draft
                .lose("autoAllowSkills: which programs skills bring is known to the gateway alone, so none is allowed");
        }
        self.charter.import(draft);
        if self.tools.iter().any(|policy| policy.stated || !policy.denied.is_empty()) {
            draft.lose("a tool's own policy: every command is denied here");
            draft.everything("deny", "toolPolicies");
        }
        match (exec.security, exec.ask) {
            (Security::Deny, _) => draft.everything("deny", "security = deny"),
            (Security::Full, Ask::Off | Ask::OnMiss) => {
                // Not by their own verbs: those would be for every tool.
                draft.list("allow", "run", "@anything", "security = full");
                draft.list("allow", "tool", "bash_execute", "security = full");
                draft.lose("what a command changes outside the workspace, and what is guarded, is denied here");
            }
            (_, ask) => {
                let table = if ask == Ask::Off { "deny" } else { "ask" };
                draft.list(table, "run", "@anything", "allowlist");
                draft.lose(
                    "the allowlist covers plain chains of commands alone: its commands are asked about or denied here",
                );
                for entry in &exec.allowlist {
                    let used = entry.last_used().map(|used| format!(" # last used {used}")).unwrap_or_default();
                    draft.table(one_line(&format!("# allow.run = [{}]{used}", quoted(entry.pattern()))));
                }
            }
        }
    }
}

impl Charter {
    /// What it rejects and wants confirmed. What it approves is left to the rest.
    fn import(&self, draft: &mut Draft) {
        for (table, text, command) in self.restrictions() {
            if !text.contains(char::is_whitespace) {
                draft.list(table, "tool", &tool_pattern(text), "charter");
            }
            let plain = |text: &&str| text.split_whitespace().all(|word| is_plain(word.trim_start_matches('-')));
            match command.filter(plain) {
                Some(command) => draft.list(table, "run", command, "charter"),
                None => {
                    draft.lose(format!("the charter's `{text}` cannot be expressed; here it applies to every command"));
                    draft.list(table, "run", "@anything", "charter");
                }
            }
        }
    }
}
