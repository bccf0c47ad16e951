//! Why: a stable code, a sentence, the layer that spoke and the place of its rule.

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

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Stable, kebab-case; a rule's own `id`, or one of [`REASON_CODES`].
    pub code: Cow<'static, str>,
    /// A sentence.
    pub text: String,
    /// Who said it.
    pub layer: Layer,
    /// Where the rule stands, if a rule spoke.
    pub source: Option<Source>,
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Reason", 4)?;
        out.serialize_field("code", &self.code)?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("layer", &self.layer.to_string())?;
        out.serialize_field("source", &self.source.as_ref().map(ToString::to_string))?;
        out.end()
    }
}

/// A reason code of Sayso's own, for `sayso explain CODE` and the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: &'static str,
    /// What it means, in a sentence.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// Looks a code up.
#[must_use]
pub fn code_info(code: &str) -> Option<&'static CodeInfo> {
    REASON_CODES.iter().find(|info| info.code == code)
}

/// Every code that Sayso itself can give. Unique by a test; the reference in the docs is made from this table.
pub const REASON_CODES: &[CodeInfo] = &[
    CodeInfo { code: "allowed", title: "A rule allows this.", advice: "Nothing to do." },
    CodeInfo {
        code: "carried",
        title: "An allow of the program or tool covers this plain effect of its operands.",
        advice: "Write a rule of the effect's own verb if you want another answer for it.",
    },
    CodeInfo {
        code: "asked",
        title: "A rule says that a person decides.",
        advice: "Answer the prompt, or move the pattern to [allow] if you are always going to say yes.",
    },
    CodeInfo {
        code: "denied",
        title: "A rule denies this.",
        advice: "The place of the rule is given; change it there if it is yours to change.",
    },
    CodeInfo {
        code: "default",
        title: "No rule spoke of this effect, so `default` did.",
        advice: "Add a rule for it, or change `default`.",
    },
];
