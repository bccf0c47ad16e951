//! Stage 5: an agent can always report. For essential tools the opinions of closed tool lists and of the blocked counter
//! are dropped, and dry-run does not hold them; never those of a rule.
//!
//! It speaks by silence: [`super::FileInForce::essential`] says for each file whether it calls the tool essential, and
//! mode, tools and limits leave out of that file what does not reach such a tool.

use crate::compile::{Compiler, built_in_tools};
use crate::pattern::{Purpose, ToolPattern};
use crate::policy::CompiledFile;
use crate::word::{Layer, ToolName, Tri};

/// `@essential`, with which an agent can always report, and `@T0` where the file itself says what that is: tools that
/// read are not exempt from a closed list unless its owner wrote so. A project's file has no say in this.
pub(crate) fn section(compiler: &mut Compiler<'_>, layer: &Layer) -> Vec<ToolPattern> {
    if *layer == Layer::Project {
        return Vec::new();
    }
    let mut found = Vec::new();
    for name in ["essential", "T0"] {
        match compiler.file.sets.iter().find(|set| set.name.value == name) {
            Some(set) => found.extend(set.members.iter().flat_map(|member| compiler.tool_patterns(member))),
            None if name == "essential" => found.extend(built_in_tools(name)),
            None => {}
        }
    }
    found
}

/// Whether a file calls this tool essential.
pub(crate) fn is(file: &CompiledFile, tool: &ToolName) -> bool {
    file.essential.iter().any(|pattern| pattern.matches(tool, Purpose::Permit) == Tri::Yes)
}
