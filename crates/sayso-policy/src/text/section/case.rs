//! `[[test]]`.

use super::arguments::json;
use crate::text::file::{PolicyTest, TestRequest, Text};
use crate::text::keys;
use crate::text::read::{Fields, Reader};
use crate::word::{Actor, Answer};
use serde_json::Value;
use std::ops::Range;
use toml::de::DeTable;

const ANSWERS: &[(&str, Answer)] =
    &[("allow", Answer::Allow), ("ask", Answer::Ask), ("deny", Answer::Deny), ("dry-run", Answer::DryRun)];

/// One case.
pub(super) fn test(reader: &mut Reader, table: &DeTable<'_>, span: Range<usize>) -> Option<PolicyTest> {
    let fields = reader.fields(table, span.clone(), &keys::TEST);
    let text = |reader: &mut Reader, key| fields.get(key).and_then(|value| reader.text(value));
    let name = |reader: &mut Reader, key| text(reader, key).map(|text: Text| text.value);
    let request = request(reader, fields, &span);
    let expect = fields.get("expect").and_then(|value| reader.word(value, "unknown-verdict", ANSWERS));
    let code = text(reader, "code");
    let because = text(reader, "because");
    let cwd = text(reader, "cwd");
    let actor = Actor {
        agent: name(reader, "agent"),
        provider: name(reader, "provider"),
        team: name(reader, "team"),
        member: name(reader, "member"),
        tenant: name(reader, "tenant"),
        session: name(reader, "session"),
        subagent: fields.get("subagent").and_then(|value| reader.flag(value)).is_some_and(|flag| flag.value),
        ..Actor::default()
    };
    Some(PolicyTest { span, request: request?, expect: expect?, code, because, cwd, actor })
}

/// A command, or a tool with its arguments.
fn request(reader: &mut Reader, fields: Fields<'_, '_>, span: &Range<usize>) -> Option<TestRequest> {
    let command = fields.get("command").map(|value| reader.text(value));
    let tool = fields.get("tool").map(|value| reader.text(value));
    let arguments = fields.get("args").map(|value| {
        reader.table(value, "a table of arguments")?;
        json(reader, value)
    });
    match (command, tool) {
        (Some(command), None) => {
            if let Some((key, _)) = fields.entry("args") {
                reader.advise("no-tool", key.span(), "`args` goes with a `tool`, not with a command", "take them out");
            }
            command.map(TestRequest::Command)
        }
        (None, Some(name)) => {
            let arguments = arguments.unwrap_or_else(|| Some(Value::Object(serde_json::Map::new())));
            Some(TestRequest::Tool { name: name?, arguments: arguments? })
        }
        (Some(_), Some(_)) => {
            let key = fields.entry("tool").map_or_else(|| span.clone(), |(key, _)| key.span());
            reader.advise("two-requests", key, "a test has a `command` or a `tool`, not both", "write two tests");
            None
        }
        (None, None) => {
            let message = "a test needs a `command`, or a `tool` with `args`";
            reader.advise("missing-key", span.clone(), message, "for example: command = \"git status\"");
            None
        }
    }
}
