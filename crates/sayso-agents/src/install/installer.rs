//! What an agent's folder says of putting Sayso in its way.

use super::command::Ours;
use super::part::Part;
use super::{Finding, Setting};
use serde_json::Value;
use std::panic::RefUnwindSafe;

/// How Sayso is put in an agent's way.
pub(crate) trait Installer: Sync + RefUnwindSafe {
    /// The files that an installation changes, in the order in which they are written. `trust`: those too that record its
    /// owner's trust.
    fn parts(&self, setting: &Setting, trust: bool) -> Result<Vec<Box<dyn Part>>, String>;

    /// Sayso in the text of the first of them.
    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours>;

    /// What in a text of these files switches Sayso off.
    fn switched_off(&self, _settings: &Value) -> Vec<String> {
        Vec::new()
    }

    /// What in other files of the agent's keeps a registration from being asked.
    fn switched_off_elsewhere(&self, _: &Setting) -> Vec<String> {
        Vec::new()
    }

    /// Hooks in the text of the first file that the agent does not run because its owner has not trusted them.
    fn untrusted(&self, _: &Setting, _text: &str) -> Vec<Finding> {
        Vec::new()
    }

    /// What its owner is asked where the agent runs no hook before it is trusted.
    fn trust_question(&self, _: &Setting) -> Option<&'static str> {
        None
    }

    /// What its owner should know after an installation.
    fn advice(&self, _: &Setting) -> Option<&'static str> {
        None
    }

    /// Whether a call runs when its hook is late: then the hook is ended from outside before that.
    fn runs_calls_of_late_hooks(&self) -> bool {
        false
    }
}
