//! Stage 4: regular expressions on the parameters that matter for a tool, raw and normalised.

use super::opinions::Opinions;
use super::{FileInForce, Inputs, of_layer};
use crate::compile::Compiler;
use crate::normalise::guise::{analysed, guises};
use crate::pattern::{Purpose, ToolPattern, all_names, compile_regex};
use crate::word::{Code, Layer, Operation, Opinion, Request, Source, Stage, Tri, Verdict};
use regex::Regex;
use serde_json::Value;
use std::sync::OnceLock;

/// Regular expressions for a tool.
#[derive(Clone, Debug)]
pub(crate) struct ParamRule {
    pub tools: Vec<ToolPattern>,
    pub expressions: Vec<Expression>,
    /// The parameters looked at; empty: those that matter.
    pub params: Vec<String>,
}

/// One of them. What was read from an image is compiled when a call first needs it.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub verdict: Verdict,
    /// Without `re:`.
    pub written: String,
    pub source: Option<Source>,
    compiled: OnceLock<Option<Regex>>,
}

impl Expression {
    pub(crate) fn new(verdict: Verdict, regex: Regex, source: Option<Source>) -> Self {
        let written = regex.as_str().to_owned();
        Self { verdict, written, source, compiled: OnceLock::from(Some(regex)) }
    }

    pub(crate) fn later(verdict: Verdict, written: String, source: Option<Source>) -> Self {
        Self { verdict, written, source, compiled: OnceLock::new() }
    }

    /// INVARIANT: an expression that cannot be compiled, though it was once, counts as found: it can only restrict.
    fn is_found_in(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| compile_regex(&self.written).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Parameters that hold a command, which is looked at as a shell reads it too.
const COMMANDS: &[&str] = &["command", "cmd", "script"];

/// The parameters that matter for a tool. Content is left alone: a text about dangerous commands is no command.
fn relevant(tool: &str) -> &'static [&'static str] {
    match tool {
        "bash_execute" | "exec" | "process" | "bash" | "shell" => COMMANDS,
        "file_write" | "file_edit" | "file_delete" | "file_read" | "file_list" | "write" | "edit" | "read"
        | "delete" => &["file_path", "path", "filePath", "notebook_path", "paths"],
        "web_fetch" | "fetch" => &["url", "urls", "prompt"],
        _ => &[],
    }
}

/// Deepest nesting and largest text that is looked at; beyond it the answer is Ask.
const MAX_DEPTH: usize = 16;

/// `[patterns]` of a file.
pub(crate) fn section(compiler: &mut Compiler<'_>) -> Vec<ParamRule> {
    let mut rules = Vec::new();
    for entry in &compiler.file.patterns {
        let tools = compiler.tool_patterns(&entry.tool);
        let mut expressions = Vec::new();
        for (verdict, texts) in [(Verdict::Deny, &entry.deny), (Verdict::Ask, &entry.ask)] {
            for text in texts {
                let source = Some(compiler.file.source(&text.span));
                let written = text.value.strip_prefix("re:").unwrap_or(&text.value);
                match compile_regex(written) {
                    Ok(regex) => expressions.push(Expression::new(verdict, regex, source)),
                    Err(error) => compiler.complain(&text.span, &error),
                }
            }
        }
        let params = entry.params.iter().map(|param| param.value.clone()).collect();
        rules.push(ParamRule { tools, expressions, params });
    }
    rules
}

/// What the expressions of all files say of the call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    for FileInForce { file, .. } in &inputs.files {
        judge_file(&file.patterns, &file.layer, inputs.judging.operation, &mut said.call);
    }
}

fn judge_file(rules: &[ParamRule], file: &Layer, operation: &Operation, found: &mut Vec<Opinion>) {
    for rule in rules {
        let meant = rule.tools.iter().any(|tool| tool.matches(&operation.tool, Purpose::Restrict) == Tri::Yes);
        if !meant {
            continue;
        }
        let mut texts = Vec::new();
        let mut shell = true;
        match &operation.request {
            Request::Command(command) => texts.push(String::from_utf8_lossy(command).into_owned()),
            Request::Tool { arguments, .. } => {
                let own: Vec<&str> = rule.params.iter().map(String::as_str).collect();
                let names = if own.is_empty() {
                    all_names(&operation.tool)
                        .map(relevant)
                        .find(|names| !names.is_empty())
                        .unwrap_or_default()
                        .to_vec()
                } else {
                    own
                };
                collect(arguments, &names, names.is_empty(), 0, &mut texts);
                shell = names.is_empty() || names.iter().any(|name| COMMANDS.contains(name));
            }
        }
        let mut texts: Vec<String> = texts.iter().flat_map(|text| guises(text)).collect();
        if shell {
            texts.extend(analysed(operation));
        }
        for expression in &rule.expressions {
            if texts.iter().any(|candidate| expression.is_found_in(candidate)) {
                let text = format!("A parameter of `{}` matches `{}`.", operation.tool.canonical, expression.written);
                let mut opinion =
                    of_layer(Stage::Patterns, expression.verdict, Code::ParameterPattern, text, file.clone());
                opinion.reason.source.clone_from(&expression.source);
                found.push(opinion);
            }
        }
    }
}

fn collect(value: &Value, names: &[&str], inside: bool, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::String(text) => {
            if inside {
                found.push(text.clone());
            }
            // Arguments smuggled as JSON inside a string.
            let trimmed = text.trim_start();
            if (trimmed.starts_with('{') || trimmed.starts_with('['))
                && let Ok(nested) = serde_json::from_str::<Value>(text)
                && !nested.is_string()
            {
                collect(&nested, names, inside, depth + 1, found);
            }
        }
        Value::Array(items) => {
            if inside && items.iter().all(Value::is_string) && !items.is_empty() {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                found.push(words.join(" "));
            }
            items.iter().for_each(|item| collect(item, names, inside, depth + 1, found));
        }
        Value::Object(map) => {
            for (key, value) in map {
                collect(
                    value,
                    names,
                    inside || names.iter().any(|name| name.eq_ignore_ascii_case(key)),
                    depth + 1,
                    found,
                );
            }
        }
        _ => {}
    }
}
