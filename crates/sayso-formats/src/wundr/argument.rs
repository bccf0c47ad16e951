//! Rules on a tool's arguments: `tools.argumentRules`, by tool, the first that fails speaks.

use super::pattern::Pattern;
use crate::Error;
use crate::document::Node;
use crate::regular::Expression;
use sayso_policy::foreign::Remark;
use sayso_policy::{Code, Operation, Request, Source, Verdict};
use serde_json::{Value, json};

/// The rules of one tool.
#[derive(Debug)]
pub(super) struct ToolArguments {
    tool: Pattern,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// `options.path`: keys from the outside to the inside.
    argument: String,
    check: Check,
    reason: Option<String>,
    source: Source,
}

#[derive(Debug)]
enum Check {
    Required,
    Forbidden,
    Pattern(Expression),
    MaxLength(u64),
    OneOf(Vec<String>),
}

#[derive(Clone, Copy)]
enum Kind {
    Required,
    Forbidden,
    Pattern,
    MaxLength,
    OneOf,
}

const KINDS: &[(&str, Kind)] = &[
    ("required", Kind::Required),
    ("forbidden", Kind::Forbidden),
    ("pattern", Kind::Pattern),
    ("max-length", Kind::MaxLength),
    ("one-of", Kind::OneOf),
];

impl ToolArguments {
    pub(super) fn read(tools: &Node<'_>) -> Result<Vec<Self>, Error> {
        let Some(table) = tools.get("argumentRules")? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (tool, node) in table.entries()? {
            let rules = node.items()?.iter().map(Rule::read).collect::<Result<_, _>>()?;
            found.push(Self { tool: Pattern::new(tool), rules });
        }
        Ok(found)
    }

    pub(super) fn tool(&self) -> &str {
        &self.tool.text
    }

    /// What the first rule that fails says.
    pub(super) fn judge(&self, operation: &Operation) -> Option<Remark> {
        if !self.tool.restricts(&operation.tool) {
            return None;
        }
        let command;
        let arguments = match &operation.request {
            Request::Tool { arguments, .. } => arguments,
            Request::Command(text) => {
                command = json!({ "command": String::from_utf8_lossy(text) });
                &command
            }
        };
        let rule = self.rules.iter().find(|rule| !rule.check.holds(found(arguments, &rule.argument)))?;
        let text = rule.reason.clone().unwrap_or_else(|| rule.check.sentence(&rule.argument));
        Some(Remark::new(Verdict::Deny, Code::ParameterPattern, text).at(Some(rule.source.clone())))
    }
}

impl Rule {
    fn read(node: &Node<'_>) -> Result<Self, Error> {
        node.only(&["argument", "check", "pattern", "maxLength", "values", "reason"])?;
        let missing = |key: &str| node.wrong(format!("this rule needs `{key}`"));
        let argument = node.get("argument")?.ok_or_else(|| missing("argument"))?.text()?.value;
        let check = match node.word_at("check", KINDS)?.ok_or_else(|| missing("check"))? {
            Kind::Required => Check::Required,
            Kind::Forbidden => Check::Forbidden,
            Kind::Pattern => {
                let pattern = node.get("pattern")?.ok_or_else(|| missing("pattern"))?;
                Check::Pattern(Expression::exact_case(&pattern.text()?.value).map_err(|error| pattern.wrong(error))?)
            }
            Kind::MaxLength => Check::MaxLength(node.number_at("maxLength")?.ok_or_else(|| missing("maxLength"))?),
            Kind::OneOf => {
                let values = node.texts_at("values")?.ok_or_else(|| missing("values"))?;
                Check::OneOf(values.into_iter().map(|text| text.value).collect())
            }
        };
        let reason = node.get("reason")?.map(|node| node.text()).transpose()?.map(|text| text.value);
        Ok(Self { argument, check, reason, source: node.source() })
    }
}

impl Check {
    fn holds(&self, value: Option<&Value>) -> bool {
        let Some(value) = value.filter(|value| !value.is_null()) else { return !matches!(self, Self::Required) };
        match self {
            Self::Required => value.as_str() != Some(""),
            Self::Forbidden => false,
            Self::Pattern(expression) => in_words(value).is_some_and(|text| expression.surely_matches(&text)),
            Self::MaxLength(most) => in_words(value).is_some_and(|text| length(&text) <= *most),
            Self::OneOf(values) => in_words(value).is_some_and(|text| values.contains(&text)),
        }
    }

    fn sentence(&self, argument: &str) -> String {
        match self {
            Self::Required => format!("The argument `{argument}` is required."),
            Self::Forbidden => format!("The argument `{argument}` is forbidden."),
            Self::Pattern(expression) => format!("The argument `{argument}` does not match `{}`.", expression.text),
            Self::MaxLength(most) => format!("The argument `{argument}` is longer than {most} characters."),
            Self::OneOf(values) => format!("The argument `{argument}` is not one of {}.", values.join(", ")),
        }
    }
}

/// The argument at a path of keys and places.
fn found<'v>(arguments: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(arguments, |value, key| match value {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A value as text; what has no plain text satisfies no rule.
fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(items) => {
            let words: Option<Vec<String>> = items.iter().map(in_words).collect();
            words.map(|words| words.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// As JavaScript counts.
fn length(text: &str) -> u64 {
    u64::try_from(text.encode_utf16().count()).unwrap_or(u64::MAX)
}
