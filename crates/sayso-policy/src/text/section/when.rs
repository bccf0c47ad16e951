//! `when` of a rule.

use super::arguments::argument_patterns;
use super::lists::VERBS;
use super::who;
use crate::text::Who;
use crate::text::file::{Arg, Spanned, Text};
use crate::text::keys;
use crate::text::read::{DocValue, Reader};
use sayso_shell::Verb;
use std::ops::Range;

/// Conditions of a rule. Lists are any-of; an empty list is a condition that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The table as a whole.
    pub span: Range<usize>,
    /// Patterns of arguments.
    pub args: Vec<Arg>,
    /// Folders.
    pub within: Vec<Text>,
    /// Who asks.
    pub actors: Vec<Spanned<Who>>,
    /// Flags.
    pub flag: Vec<Text>,
    /// Variables.
    pub env: Vec<Text>,
    /// Operands.
    pub operand: Vec<Text>,
    /// Programs to the right.
    pub piped_to: Vec<Text>,
    /// Hosts that it connects to.
    pub host: Vec<Text>,
    /// Standard input only.
    pub stdin_only: Option<Spanned<bool>>,
    /// It removes nothing but build output.
    pub build_output: Option<Spanned<bool>>,
    /// What an earlier call did, by verb.
    pub after: Vec<(Spanned<Verb>, Vec<Text>)>,
    /// The session wrote a file that the program goes by.
    pub self_written: Option<Spanned<bool>>,
}

pub(super) fn read(reader: &mut Reader, value: &DocValue<'_>) -> Option<When> {
    let table = reader.table(value, "a table of conditions")?;
    if table.is_empty() {
        let message = "`when` has no conditions";
        reader.advise("blank", value.span(), message, "remove it, or add a condition");
    }
    let fields = reader.fields(table, value.span(), &keys::WHEN);
    let patterns = |reader: &mut Reader, key| fields.get(key).map(|value| reader.patterns(value)).unwrap_or_default();
    let within = patterns(reader, "within");
    let flag = patterns(reader, "flag");
    let env = patterns(reader, "env");
    let operand = patterns(reader, "operand");
    let piped_to = patterns(reader, "piped_to");
    let host = patterns(reader, "host");
    let actors = fields.get("for").map(|value| reader.texts(value)).unwrap_or_default();
    let actors = actors.iter().filter_map(|text| who::who(reader, text)).collect();
    let args = fields.get("arg").map(|value| argument_patterns(reader, value)).unwrap_or_default();
    let stdin_only = fields.get("stdin_only").and_then(|value| reader.flag(value));
    let build_output = fields.get("build_output").and_then(|value| reader.flag(value));
    let self_written = fields.get("self_written").and_then(|value| reader.flag(value));
    let after = fields.get("after").map(|value| after(reader, value)).unwrap_or_default();
    Some(When {
        span: value.span(),
        args,
        within,
        actors,
        flag,
        env,
        operand,
        piped_to,
        host,
        stdin_only,
        build_output,
        after,
        self_written,
    })
}

/// `when.after`: patterns by verb.
fn after(reader: &mut Reader, value: &DocValue<'_>) -> Vec<(Spanned<Verb>, Vec<Text>)> {
    let Some(table) = value.get_ref().as_table() else {
        let message = "`after` must be followed by a verb";
        reader.advise("wrong-type", value.span(), message, "for example: when = { after.read = \"@secrets\" }");
        return Vec::new();
    };
    if table.is_empty() {
        reader.advise("blank", value.span(), "`after` has no verb", "for example: after.read = \"@secrets\"");
    }
    let fields = reader.fields(table, value.span(), &keys::AFTER);
    let mut found = Vec::new();
    for (word, verb) in VERBS {
        if let Some((key, value)) = fields.entry(word) {
            found.push((Spanned::new(*verb, key.span()), reader.patterns(value)));
        }
    }
    found
}
