//! Kinds of tools: `tools.categories` may want one approved, or take tools of it away.

use super::pattern::Pattern;
use crate::Error;
use crate::document::Node;
use sayso_policy::foreign::Remark;
use sayso_policy::{Code, Source, ToolName, Verdict};

/// The tools of each category.
const MEMBERS: &[(&str, &[&str])] = &[
    (
        "read-only",
        &[
            "file_read",
            "file_list",
            "memory_search",
            "memory_get",
            "codebase_analysis",
            "drift_detection",
            "dependency_analyze",
        ],
    ),
    (
        "write",
        &[
            "file_write",
            "file_edit",
            "file_delete",
            "pattern_standardize",
            "governance_report",
            "git_helpers",
            "git_worktree",
            "test_baseline",
        ],
    ),
    ("execute", &["bash_execute"]),
    ("network", &["web_fetch", "web_search"]),
    ("session", &["session_spawn", "session_list", "session_status", "session_send", "session_history"]),
    ("admin", &[]),
];

const RISKS: &[(&str, ())] = &[("none", ()), ("low", ()), ("medium", ()), ("high", ()), ("critical", ())];

/// What a file says of one category.
#[derive(Debug)]
pub(super) struct Category {
    name: String,
    pub(super) members: &'static [&'static str],
    pub(super) approval: bool,
    deny: Vec<Pattern>,
    source: Source,
}

impl Category {
    pub(super) fn read(tools: &Node<'_>) -> Result<Vec<Self>, Error> {
        let Some(table) = tools.get("categories")? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (name, node) in table.entries()? {
            node.only(&["riskLevel", "requiresApproval", "deny"])?;
            node.word_at("riskLevel", RISKS)?;
            let Some((_, members)) = MEMBERS.iter().find(|(known, _)| *known == name) else {
                let known = MEMBERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                return Err(node.wrong(format!("there is no category `{name}`; there are {known}")));
            };
            let deny = node.get("deny")?.map(|node| Pattern::list(&node)).transpose()?.unwrap_or_default();
            let approval = node.flag_at("requiresApproval", false)?;
            found.push(Self { name: name.to_owned(), members, approval, deny, source: node.source() });
        }
        Ok(found)
    }

    fn holds(&self, tool: &ToolName) -> bool {
        self.members.iter().any(|member| Pattern::new(member).restricts(tool))
    }

    /// The members that its own list takes away.
    pub(super) fn denied(&self) -> impl Iterator<Item = &'static str> {
        let matches = |member: &str| {
            self.deny.iter().any(|pattern| pattern.names.iter().any(|name| super::pattern::wild(name, member)))
        };
        self.members.iter().copied().filter(move |member| matches(member))
    }

    pub(super) fn refuses(&self, tool: &ToolName) -> Option<Remark> {
        let denied = self.holds(tool) && self.deny.iter().any(|pattern| pattern.restricts(tool));
        let text = format!("The category `{}` denies `{}`.", self.name, tool.canonical);
        denied.then(|| Remark::new(Verdict::Deny, Code::ToolHidden, text).at(Some(self.source.clone())))
    }

    pub(super) fn wants_approval(&self, tool: &ToolName) -> Option<Remark> {
        let text = format!("Tools of the category `{}` require approval.", self.name);
        (self.approval && self.holds(tool))
            .then(|| Remark::new(Verdict::Ask, Code::ForeignRule, text).at(Some(self.source.clone())))
    }
}
