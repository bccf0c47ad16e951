//! The reference of all keys, in Markdown, made from the table of keys.

use super::keys::{self, Shape, Table};
use std::fmt::Write as _;

/// Every table and its keys.
#[must_use]
pub fn reference() -> String {
    let mut out = String::new();
    for (table, heading) in [
        (&keys::FILE, "At the top of the file"),
        (&keys::DEFAULTS, "`default`, as a table"),
        (&keys::LISTS, "`[allow]`, `[ask]`, `[deny]`"),
        (&keys::RULE, "`[[rule]]`"),
        (&keys::WHEN, "`when` of a rule"),
        (&keys::AFTER, "`when.after` of a rule"),
        (&keys::TOOLS, "`[tools]`"),
        (&keys::LAYER, "`[tools.for.WHO]`"),
        (&keys::PATTERNS, "`[patterns]`, a tool's value as a table"),
        (&keys::LIMITS, "`[limits]`"),
        (&keys::LIMIT, "`[limits.SCOPE]`"),
        (&keys::APPROVAL, "`[approvals.NAME]`"),
        (&keys::ESCALATE, "`escalate` of an approver"),
        (&keys::ACTOR, "`[actor]`"),
        (&keys::ROLE, "`[for.WHO]`"),
        (&keys::MODELS, "`[models]`"),
        (&keys::MODEL_LAYER, "`[models.for.WHO]`"),
        (&keys::HOLD, "`[hold]`"),
        (&keys::PLAN, "`[plan]`"),
        (&keys::RISK, "`[risk]`"),
        (&keys::MODE, "`[mode]`"),
        (&keys::TEST, "`[[test]]`"),
    ] {
        // Writing to a String cannot fail.
        let _ = write!(out, "### {heading}\n\n| key | value | meaning |\n|---|---|---|\n");
        rows(&mut out, table);
        out.push('\n');
    }
    out
}

fn rows(out: &mut String, table: &Table) {
    for key in table.keys {
        let must = if table.required.contains(&key.name) { " (required)" } else { "" };
        let _ = writeln!(out, "| `{}` | {}{must} | {} |", key.name, holds(&key.shape), key.about.replace('|', "\\|"));
    }
}

fn holds(shape: &Shape) -> String {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Text => "a string".to_owned(),
        Shape::Texts => "a string or a list".to_owned(),
        Shape::Word(words) => quoted(words),
        Shape::Words(words) => format!("a list of {}", quoted(words)),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Count => "a whole number".to_owned(),
        Shape::Duration => "a duration: `\"90s\"`, `\"1h30m\"`".to_owned(),
        Shape::Cost => "an amount and a currency".to_owned(),
        Shape::Bytes => "a size or a whole number".to_owned(),
        Shape::Rate => "a count per duration".to_owned(),
        Shape::Table(_) => "a table".to_owned(),
        Shape::Tables(_) => "tables".to_owned(),
        Shape::Named(_) => "a table with names you choose".to_owned(),
        Shape::Either(shapes) => shapes.iter().map(holds).collect::<Vec<_>>().join(", or "),
        Shape::Arguments => "a table of arguments".to_owned(),
        Shape::ArgumentPatterns => "patterns by path".to_owned(),
        Shape::Examples => "strings and tables of arguments".to_owned(),
    }
}
