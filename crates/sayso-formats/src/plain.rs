//! Plain chains of commands: what systems that split texts can judge part by part.

use sayso_policy::shell::Dialect;
use sayso_policy::shell::syntax;
use sayso_policy::shell::syntax::tree::{CommandKind, List, Part, Pipeline, Simple, Word};

/// Why a command is more than simple commands joined by pipes and chains.
pub(crate) fn is_plain(text: &[u8]) -> Result<(), String> {
    let tree = syntax::parse(text, Dialect::Bash, syntax::Options::default())
        .map_err(|_| "The command cannot be parsed.".to_owned())?;
    // A chain that ends in its operator, or a text that ends in an escape, has a part that is not there.
    let end = text.trim_ascii_end();
    let escapes = end.iter().rev().take_while(|byte| **byte == b'\\').count();
    if end.ends_with(b";") || escapes % 2 == 1 {
        return Err("A part of the command is missing.".to_owned());
    }
    plain_list(&tree.body)
}

/// Pipelines and chains of simple commands; everything else is rejected.
fn plain_list(list: &List<'_>) -> Result<(), String> {
    for item in list.items.iter() {
        if item.background {
            return rejected("a command in the background");
        }
        plain_pipeline(&item.and_or.first)?;
        for (_, pipeline) in &item.and_or.rest {
            plain_pipeline(pipeline)?;
        }
    }
    Ok(())
}

fn plain_pipeline(pipeline: &Pipeline<'_>) -> Result<(), String> {
    if pipeline.negated || pipeline.timed || pipeline.commands.is_empty() {
        return rejected("`!` or `time`");
    }
    for command in pipeline.commands.iter() {
        match &command.kind {
            CommandKind::Simple(simple) => plain_simple(simple)?,
            _ => return rejected("a group, loop or function"),
        }
    }
    Ok(())
}

fn plain_simple(simple: &Simple<'_>) -> Result<(), String> {
    if !simple.redirects.is_empty() {
        return rejected("a redirect");
    }
    if !simple.assignments.is_empty() {
        return rejected("an assignment");
    }
    if simple.words.is_empty() {
        return rejected("an empty command");
    }
    simple.words.iter().try_for_each(plain_word)
}

fn plain_word(word: &Word<'_>) -> Result<(), String> {
    word.parts.iter().try_for_each(plain_part)
}

fn plain_part(part: &Part<'_>) -> Result<(), String> {
    match part {
        Part::Literal { .. } | Part::Quoted { .. } | Part::Variable { .. } => Ok(()),
        Part::DoubleQuoted { parts, .. } => parts.iter().try_for_each(plain_part),
        Part::Command(_) => rejected("a command substitution"),
        Part::Process(_) => rejected("a process substitution"),
        _ => rejected("an expansion"),
    }
}

fn rejected(what: &str) -> Result<(), String> {
    Err(format!("The command contains {what}, which the allowlist never covers."))
}
