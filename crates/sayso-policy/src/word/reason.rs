//! Why: a stable code, a sentence, the layer that spoke and the place of its rule.

use super::Code;
use serde::Serialize;
use std::borrow::Cow;

/// Where an opinion comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Sayso itself.
    BuiltIn,
    /// The managed file.
    Managed,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// A file named on the command line, or a foreign format.
    Given,
    /// A preset, and the file that extends it.
    Preset(Cow<'static, str>),
    /// A layer of `[tools]`: `provider:openai`, `agent:coder`, `team:a/alice`, `subagent`.
    Tools(String),
    /// A person's remembered answer.
    Grant,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Managed => f.write_str("managed"),
            Self::User => f.write_str("user"),
            Self::Project => f.write_str("project"),
            Self::Given => f.write_str("given"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Tools(name) => write!(f, "tools {name}"),
            Self::Grant => f.write_str("grant"),
        }
    }
}

/// Place of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// File as shown to people.
    pub file: std::sync::Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The code of a reason: Sayso's own, or a rule's.
///
/// It stays a value until it is printed, so that a rule whose owner called it `unanswered` is never taken for the code
/// of that name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReasonCode {
    /// One of the table that `sayso explain` prints.
    BuiltIn(Code),
    /// The `id` of a rule, or a name made from its pattern.
    Rule(Cow<'static, str>),
}

impl ReasonCode {
    /// The text, for output.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::BuiltIn(code) => code.as_str(),
            Self::Rule(id) => id,
        }
    }

    /// Sayso's own code, if it is one.
    #[must_use]
    pub fn built_in(&self) -> Option<Code> {
        match self {
            Self::BuiltIn(code) => Some(*code),
            Self::Rule(_) => None,
        }
    }
}

impl From<Code> for ReasonCode {
    fn from(code: Code) -> Self {
        Self::BuiltIn(code)
    }
}

impl PartialEq<Code> for ReasonCode {
    fn eq(&self, other: &Code) -> bool {
        self.built_in() == Some(*other)
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reason {
    /// Stable, kebab-case; a rule's own `id`, or one of Sayso's own (`sayso explain` lists them).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub code: ReasonCode,
    /// A sentence.
    pub text: String,
    /// Who said it: `built-in`, `managed`, `user`, `project`, `given`, `grant`, or a preset or layer of tools by its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub layer: Layer,
    /// File, line and column of the rule, if a rule spoke.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required))]
    pub source: Option<Source>,
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Reason", 4)?;
        out.serialize_field("code", self.code.as_str())?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("layer", &self.layer.to_string())?;
        out.serialize_field("source", &self.source.as_ref().map(ToString::to_string))?;
        out.end()
    }
}
