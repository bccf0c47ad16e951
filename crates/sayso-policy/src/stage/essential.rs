//! Stage 5: an agent can always report. For essential tools the opinions of closed tool lists and of the blocked counter
//! are dropped, and dry-run does not hold them; never those of a rule.

use super::limits::LimitOpinion;
use super::tools::ToolOpinion;
use crate::pattern::Purpose;
use crate::policy::CompiledFile;
use crate::word::{Opinion, ToolName, Tri};

/// Whether a file calls this tool essential.
pub(crate) fn is(file: &CompiledFile, tool: &ToolName) -> bool {
    file.essential.iter().any(|pattern| pattern.matches(tool, Purpose::Permit) == Tri::Yes)
}

/// What counts of what tool layers say.
pub(crate) fn hears_tools(found: Option<ToolOpinion>, essential: bool) -> Option<Opinion> {
    found.filter(|found| !(found.closed_list && essential)).map(|found| found.opinion)
}

/// What counts of what limits say.
pub(crate) fn hears_limits(found: Vec<LimitOpinion>, essential: bool) -> impl Iterator<Item = Opinion> {
    found.into_iter().filter(move |found| !(found.blocked && essential)).map(|found| found.opinion)
}
