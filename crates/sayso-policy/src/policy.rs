//! A policy: files in force, compiled.

use crate::word::{Decision, Facts, Layer, Operation};
use crate::{State, text::Problem};

/// The text of one policy file, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// Which layer it is. [`Layer::Managed`], [`Layer::User`], [`Layer::Project`] or [`Layer::Given`].
    pub layer: Layer,
    /// Its name as shown to people.
    pub name: String,
    /// Its content.
    pub text: String,
    /// False for a project file that its owner has not trusted: only its Ask and Deny count.
    pub trusted: bool,
}

impl PolicyText {
    /// A file that does nothing but extend a preset, as `--policy preset:NAME` means.
    #[must_use]
    pub fn preset(name: &str) -> Self {
        Self {
            layer: Layer::Given,
            name: format!("preset:{name}"),
            text: format!("extends = [{name:?}]\n"),
            trusted: true,
        }
    }
}

/// Files in force, compiled. After this nothing can fail on configuration.
#[derive(Debug)]
pub struct Policy {
    pub(crate) version: String,
}

impl Policy {
    /// Compiles files. Any problem refuses the whole: all problems are returned.
    ///
    /// # Errors
    /// Everything that is wrong with the files, each with its place.
    pub fn compile(files: &[PolicyText]) -> Result<Self, Vec<Problem>> {
        let _ = files;
        Ok(Self { version: String::new() })
    }

    /// Identifies the content of all files in force.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Judges an operation.
    pub fn evaluate(&self, operation: &Operation, state: &State, facts: Facts<'_>) -> Decision {
        let _ = (operation, state, facts);
        Decision {
            verdict: crate::Verdict::Deny,
            answer: crate::Answer::Deny,
            reasons: Vec::new(),
            effects: Vec::new(),
            policy_version: self.version.clone(),
        }
    }
}
