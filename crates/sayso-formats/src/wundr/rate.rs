//! How often a tool may be called in a stretch of time: `tools.rateLimits`.

use super::pattern::Pattern;
use crate::Error;
use crate::document::Node;
use sayso_policy::foreign::Remark;
use sayso_policy::{Code, Operation, Source, State, Verdict};

/// The limit of one tool.
#[derive(Debug)]
pub(super) struct Rate {
    tool: Pattern,
    pub(super) most: u64,
    pub(super) window_ms: u64,
    source: Source,
}

impl Rate {
    pub(super) fn read(tools: &Node<'_>) -> Result<Vec<Self>, Error> {
        let Some(table) = tools.get("rateLimits")? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (tool, node) in table.entries()? {
            node.only(&["maxInvocations", "windowMs"])?;
            let number =
                |key: &str| node.number_at(key)?.ok_or_else(|| node.wrong(format!("a rate limit needs `{key}`")));
            found.push(Self {
                tool: Pattern::new(tool),
                most: number("maxInvocations")?,
                window_ms: number("windowMs")?,
                source: node.source(),
            });
        }
        Ok(found)
    }

    pub(super) fn tool(&self) -> &str {
        &self.tool.text
    }

    /// Calls within the window count; one that is exactly as old as the window does not.
    pub(super) fn judge(&self, operation: &Operation, state: &State) -> Option<Remark> {
        if !self.tool.restricts(&operation.tool) {
            return None;
        }
        let calls = state.recent.iter().filter(|call| {
            let inside = call.at_ms.saturating_add(self.window_ms) > state.now_ms;
            inside && self.tool.names.iter().any(|pattern| super::pattern::wild(pattern, &call.tool))
        });
        let used = u64::try_from(calls.count()).unwrap_or(u64::MAX);
        let text =
            format!("`{}` was called {used} times in {} ms, which is its limit.", self.tool.text, self.window_ms);
        (used >= self.most).then(|| Remark::new(Verdict::Deny, Code::Limit, text).at(Some(self.source.clone())))
    }
}
