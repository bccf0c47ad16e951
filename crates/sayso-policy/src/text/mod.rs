//! The text of a policy file: parsing, diagnosis, schema.
//!
//! [`parse`] turns text into a [`File`]: typed, of valid shape, with a span on everything that can still be complained
//! about when it is compiled. What a pattern means is not known here; which keys there are is, in one table
//! (`keys`), from which the parser, the JSON Schema and the reference are all fed.

#[cfg(test)]
mod cases;
mod codes;
mod cover;
mod diagnose;
#[cfg(test)]
mod docs;
mod file;
#[cfg(test)]
mod fuzz;
mod keys;
mod lines;
mod lint;
mod lint_roles;
mod lint_tools;
mod nearest;
mod read;
mod reference;
mod schema;
mod section;
#[cfg(test)]
mod tests;
mod units;

pub use crate::compile::slug;
pub use codes::{PROBLEM_CODES, problem_info};
pub use diagnose::render;
#[cfg(test)]
pub(crate) use diagnose::render_all;
pub use file::{
    ActorText, Approval, Arg, Caches, Defaults, Example, ExampleValue, File, HoldText, LayerText, Limit, Listed, Mode,
    ModelsText, ParamPatterns, PerActor, PlanText, PolicyTest, Profile, RoleText, RuleText, SetText, Spanned,
    TestRequest, Text, Tools, Who, parse,
};
pub use lines::{Lines, locate};
pub use lint::lint;
pub use lint_roles::{StatedRoles, lint_roles};
pub use nearest::nearest;
pub(crate) use read::MAX_PROBLEMS;
pub use reference::reference;
pub use schema::schema;
pub use section::When;
pub use units::{Cost, Rate};

use crate::word::Source;

/// No policy file is longer than this. Ten thousand rules with ids, reasons and examples fit; a hostile project file
/// cannot make the gate busy for long.
pub const MAX_BYTES: usize = 4 << 20;

/// Something wrong with a policy file, or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do instead, where that can be guessed.
    pub suggestion: Option<String>,
    /// Where.
    pub source: Source,
    /// Bytes of the file that are meant.
    pub span: std::ops::Range<usize>,
    /// A warning does not refuse the file.
    pub warning: bool,
}
