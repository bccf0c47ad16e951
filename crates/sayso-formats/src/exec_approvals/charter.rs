//! The charter's lists. An entry names a tool, or a command as people write it (`git push`).

use crate::Error;
use crate::document::Node;
use crate::glob::Glob;
use sayso_policy::foreign::{CommandPattern, MatchInput, Remark};
use sayso_policy::shell::RunId;
use sayso_policy::{Approvers, Facts, Operation, ToolName, Tri};
use std::sync::Arc;

/// Lists of a charter.
#[derive(Debug, Default)]
pub(super) struct Charter {
    approve: Vec<Entry>,
    confirm: Vec<Entry>,
    escalate: Vec<Entry>,
    reject: Vec<Entry>,
    /// The higher tier: people, or groups as `sso:NAME`. `None`: whoever may answer at all.
    higher: Option<Arc<Approvers>>,
}

/// What the charter says of a call as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Approve,
    /// Confirmed by a person.
    Confirm,
    /// Confirmed by the higher tier.
    Escalate,
    Reject,
}

#[derive(Debug)]
struct Entry {
    text: String,
    name: String,
    tool: Glob,
    /// Its text as a pattern of the policy language, and that pattern.
    command: Option<(String, CommandPattern)>,
    /// Its text as a glob over the words of a command: for what is no pattern.
    words: Glob,
}

impl Charter {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, Error> {
        node.only(&[
            "autoApprove",
            "requireConfirmation",
            "alwaysReject",
            "escalate",
            "escalateTo",
            "safetyHeuristics",
        ])?;
        if let Some(inner) = node.get("safetyHeuristics")? {
            return Self::read(&inner);
        }
        let list = |key: &str| -> Result<Vec<Entry>, Error> {
            Ok(node.texts_at(key)?.unwrap_or_default().iter().map(|text| Entry::new(&text.value)).collect())
        };
        let higher = node.get("escalateTo")?.map(|node| higher(&node)).transpose()?;
        Ok(Self {
            approve: list("autoApprove")?,
            confirm: list("requireConfirmation")?,
            escalate: list("escalate")?,
            reject: list("alwaysReject")?,
            higher,
        })
    }

    /// What it rejects and wants confirmed, as written, and as a pattern of the policy language where it is one.
    pub(super) fn restrictions(&self) -> impl Iterator<Item = (&'static str, &str, Option<&str>)> {
        let reject = self.reject.iter().map(|entry| ("deny", entry));
        let confirm = self.confirm.iter().chain(&self.escalate).map(|entry| ("ask", entry));
        reject
            .chain(confirm)
            .map(|(table, entry)| (table, entry.text.as_str(), entry.command.as_ref().map(|(text, _)| text.as_str())))
    }

    /// Of a command, an approval of one of its programs is for the allowlist: see [`Charter::approves`].
    pub(super) fn judge(&self, operation: &Operation, facts: Facts<'_>) -> Option<Says> {
        let hit = |entries: &[Entry]| {
            let one = |entry: &Entry| Tri::from(entry.restricts(&operation.tool)).or(entry.may_run(operation, facts));
            entries.iter().map(one).max().unwrap_or(Tri::No)
        };
        let rejected = hit(&self.reject);
        if rejected == Tri::Yes {
            Some(Says::Reject)
        } else if hit(&self.escalate) != Tri::No {
            Some(Says::Escalate)
        } else if rejected.or(hit(&self.confirm)) != Tri::No {
            Some(Says::Confirm)
        } else {
            self.approve.iter().any(|entry| entry.permits(&operation.tool)).then_some(Says::Approve)
        }
    }

    /// An Ask that is for the higher tier.
    pub(super) fn escalated(&self, mut remark: Remark) -> Remark {
        "The charter escalates this to a higher tier.".clone_into(&mut remark.text);
        remark.approver.clone_from(&self.higher);
        remark
    }

    /// Whether a program of a command is approved.
    pub(super) fn approves(&self, operation: &Operation, run: RunId, facts: Facts<'_>) -> bool {
        let asked = MatchInput::about(operation, facts);
        self.approve.iter().filter_map(|entry| entry.command.as_ref()).any(|(_, command)| command.permits(&asked, run))
    }
}

fn higher(node: &Node<'_>) -> Result<Arc<Approvers>, Error> {
    let members: Vec<String> = node.texts()?.into_iter().map(|text| text.value).collect();
    if members.is_empty() {
        return Err(node.wrong("name at least one person, or a group as sso:NAME"));
    }
    let file = node.source().file.to_string();
    Ok(Arc::new(Approvers { name: "escalateTo".into(), file, members, need: 1, expires_ms: None, escalate: None }))
}

impl Entry {
    fn new(text: &str) -> Self {
        let text = text.trim();
        let name = sayso_policy::normalise::pattern_name(text);
        // `rm -rf *` means any operand, and so does `rm -rf`.
        let command = text.trim_end_matches([' ', '*']);
        let command = CommandPattern::parse(command).map(|pattern| (command.to_owned(), pattern));
        let words = Glob::new(&text.replace('*', "**"));
        Self { text: text.to_owned(), tool: Glob::new(&name), name, command, words }
    }

    fn permits(&self, tool: &ToolName) -> bool {
        !self.name.is_empty() && tool.allows(|name| self.tool.matches(name))
    }

    fn restricts(&self, tool: &ToolName) -> bool {
        !self.name.is_empty() && tool.restricts(|name| self.tool.matches(name))
    }

    /// By what a program is given, or by its words, or by the text as a whole where a pipe is named.
    fn may_run(&self, operation: &Operation, facts: Facts<'_>) -> Tri {
        let Some(analysis) = operation.analysis.as_ref().filter(|_| !self.text.is_empty()) else { return Tri::No };
        let asked = MatchInput::about(operation, facts);
        let text = operation.command.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let mut found = Tri::from(self.words.matches(text.trim()));
        for (at, run) in (0_u32..).zip(&analysis.runs) {
            if let Some((_, command)) = &self.command {
                found = found.or(command.restricts(&asked, RunId(at)));
            }
            let words: Vec<&str> = run.argv.iter().map(|word| word.exact_str().unwrap_or("?")).collect();
            found = found.or(self.words.matches(&words.join(" ")).into());
        }
        found
    }
}
