//! The charter's lists. An entry names a tool, or a command as people write it (`git push`).

use crate::Error;
use crate::document::Node;
use crate::glob::Glob;
use sayso_policy::foreign::CommandPattern;
use sayso_policy::shell::RunId;
use sayso_policy::{Facts, Operation, ToolName, Tri};

/// Lists of a charter.
#[derive(Debug, Default)]
pub(super) struct Charter {
    approve: Vec<Entry>,
    confirm: Vec<Entry>,
    reject: Vec<Entry>,
}

/// What the charter says of a call as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Approve,
    /// Confirmed by a person, or by a higher tier.
    Confirm,
    Reject,
}

#[derive(Debug)]
struct Entry {
    text: String,
    name: String,
    tool: Glob,
    command: Option<CommandPattern>,
}

impl Charter {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, Error> {
        node.only(&["autoApprove", "requireConfirmation", "alwaysReject", "escalate", "safetyHeuristics"])?;
        if let Some(inner) = node.get("safetyHeuristics")? {
            return Self::read(&inner);
        }
        let list = |key: &str| -> Result<Vec<Entry>, Error> {
            Ok(node.texts_at(key)?.unwrap_or_default().iter().map(|text| Entry::new(&text.value)).collect())
        };
        let mut confirm = list("requireConfirmation")?;
        confirm.extend(list("escalate")?);
        Ok(Self { approve: list("autoApprove")?, confirm, reject: list("alwaysReject")? })
    }

    /// What it rejects and wants confirmed, as written, and whether that is a command too.
    pub(super) fn restrictions(&self) -> impl Iterator<Item = (&'static str, &str, bool)> {
        let reject = self.reject.iter().map(|entry| ("deny", entry));
        let confirm = self.confirm.iter().map(|entry| ("ask", entry));
        reject.chain(confirm).map(|(table, entry)| (table, entry.text.as_str(), entry.command.is_some()))
    }

    /// Of a command, an approval of one of its programs is for the allowlist: see [`Charter::approves`].
    pub(super) fn judge(&self, operation: &Operation, facts: Facts<'_>) -> Option<Says> {
        let hit = |entries: &[Entry]| {
            entries.iter().any(|entry| entry.restricts(&operation.tool) || entry.may_run(operation, facts))
        };
        if hit(&self.reject) {
            Some(Says::Reject)
        } else if hit(&self.confirm) {
            Some(Says::Confirm)
        } else {
            self.approve.iter().any(|entry| entry.permits(&operation.tool)).then_some(Says::Approve)
        }
    }

    /// Whether a program of a command is approved.
    pub(super) fn approves(&self, operation: &Operation, run: RunId, facts: Facts<'_>) -> bool {
        self.approve
            .iter()
            .filter_map(|entry| entry.command.as_ref())
            .any(|command| command.permits(operation, run, facts))
    }
}

impl Entry {
    fn new(text: &str) -> Self {
        let text = text.trim();
        let name = sayso_policy::normalise::pattern_name(text);
        Self { text: text.to_owned(), tool: Glob::new(&name), name, command: CommandPattern::parse(text) }
    }

    fn permits(&self, tool: &ToolName) -> bool {
        !self.name.is_empty() && tool.allows(|name| self.tool.matches(name))
    }

    fn restricts(&self, tool: &ToolName) -> bool {
        !self.name.is_empty() && tool.restricts(|name| self.tool.matches(name))
    }

    fn may_run(&self, operation: &Operation, facts: Facts<'_>) -> bool {
        let (Some(command), Some(analysis)) = (&self.command, &operation.analysis) else { return false };
        (0_u32..).zip(&analysis.runs).any(|(at, _)| command.restricts(operation, RunId(at), facts) == Tri::Yes)
    }
}
