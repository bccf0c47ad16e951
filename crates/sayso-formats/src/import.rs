//! A foreign file as a policy of Sayso's own, with the origin of each rule, and a list of what the language cannot say.
//!
//! INVARIANT: what cannot be said is left stricter, never looser.

use crate::{Error, Format, Lowered, lowered};
use sayso_policy::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A policy made from a foreign file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The format it came from.
    pub format: Format,
    /// A policy file of Sayso's own.
    pub policy: String,
    /// What the language cannot say, and what stands instead.
    pub losses: Vec<String>,
}

/// Imports a file. Without a format it is the one whose keys the file has.
///
/// # Errors
/// The file cannot be read, or holds what its format does not have.
pub fn import(format: Option<Format>, name: &str, text: &str) -> Result<Imported, Error> {
    let (format, file) = lowered(format, name, text)?;
    let mut draft = Draft::default();
    match file {
        Lowered::Wundr(file) => file.import(&mut draft),
        Lowered::ExecApprovals(file) => file.import(&mut draft),
        Lowered::Ferrumdeck(file) => file.import(&mut draft),
        Lowered::PolicyEngine(file) => file.import(&mut draft),
        Lowered::Toolcap(_, document) => crate::toolcap::import(&document.root(), &mut draft)?,
        Lowered::Agent(rules) => rules.import(&mut draft),
    }
    Ok(Imported { format, policy: draft.render(format, name), losses: draft.losses })
}

/// A policy while it is written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Keys before the first table.
    head: Vec<String>,
    /// `[allow] tool` and the like, each pattern with its origin.
    lists: BTreeMap<(&'static str, &'static str), Vec<(String, String)>>,
    /// Whole tables.
    tables: Vec<String>,
    /// Whom there is a layer for already.
    actors: BTreeSet<String>,
    pub(crate) losses: Vec<String>,
}

/// The verbs, and that which stands for whatever there is.
const VERBS: [&str; 6] = ["run", "read", "write", "delete", "connect", "tool"];

impl Draft {
    pub(crate) fn default_is(&mut self, verdict: &str, origin: &str) {
        self.head.push(format!("default = {} # {origin}", quoted(verdict)));
    }

    /// What is said where nothing speaks, by verb.
    pub(crate) fn defaults(&mut self, by_verb: &[String], origin: &str) {
        self.head.push(format!("default = {{ {} }} # {}", by_verb.join(", "), one_line(origin)));
    }

    /// Puts everything there is in one list.
    pub(crate) fn everything(&mut self, table: &'static str, origin: &str) {
        for verb in VERBS {
            self.list(table, verb, "@anything", origin);
        }
    }

    pub(crate) fn is_empty(&self, table: &'static str, verb: &'static str) -> bool {
        self.lists.get(&(table, verb)).is_none_or(Vec::is_empty)
    }

    pub(crate) fn list(&mut self, table: &'static str, verb: &'static str, pattern: &str, origin: impl Into<String>) {
        let list = self.lists.entry((table, verb)).or_default();
        if !list.iter().any(|(known, _)| known == pattern) {
            list.push((pattern.to_owned(), origin.into()));
        }
    }

    /// A whole table, as text without its blank line.
    pub(crate) fn table(&mut self, text: String) {
        self.tables.push(text);
    }

    /// The header of a layer for an actor; `None` if no layer can be for it, or one is already.
    pub(crate) fn layer_for(&mut self, kind: &str, name: &str) -> Option<String> {
        let name = name.trim();
        let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-. @/".contains(c));
        let who = if kind == name { kind.to_owned() } else { format!("{kind}:{name}") };
        let new = plain && self.actors.insert(who.to_lowercase());
        new.then(|| format!("[tools.for.{}]", quoted(&who)))
    }

    pub(crate) fn lose(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.losses.contains(&what) {
            self.losses.push(what);
        }
    }

    /// No tool is exempt from closed lists but those that the original exempts.
    pub(crate) fn essential(&mut self, tools: &[String]) {
        let nobody = ["sayso-import-none".to_owned()];
        let tools = self.permitted(tools);
        let tools = if tools.is_empty() { nobody.to_vec() } else { tools };
        let tools: Vec<String> = tools.iter().map(|tool| quoted(&exactly(tool))).collect();
        self.table(format!("[set] # tools that closed lists do not affect\nessential = [{}]", tools.join(", ")));
    }

    /// The names of a list that permits, without those that Sayso uses for several tools: they would permit all of them.
    pub(crate) fn permitted(&mut self, tools: &[String]) -> Vec<String> {
        let (shared, own): (Vec<String>, Vec<String>) = tools.iter().cloned().partition(|tool| is_shared(tool));
        for tool in shared {
            self.lose(format!("`{tool}` names more, or another tool, in Sayso, so it is not permitted here"));
        }
        own
    }

    fn render(&self, format: Format, name: &str) -> String {
        let mut out = format!("# Imported from {} ({}).\n", one_line(name), format.name());
        out.push_str("# Sayso's own protections stay in force.\n");
        for loss in &self.losses {
            let _ = writeln!(out, "# Not the same: {}", one_line(loss));
        }
        for line in &self.head {
            let _ = writeln!(out, "{line}");
        }
        let mut open = "";
        for ((table, verb), patterns) in &self.lists {
            if open != *table {
                let _ = write!(out, "\n[{table}]\n");
                open = table;
            }
            let _ = writeln!(out, "{verb} = [");
            for (pattern, origin) in patterns {
                let _ = writeln!(out, "    {}, # {}", quoted(pattern), one_line(origin));
            }
            out.push_str("]\n");
        }
        for table in &self.tables {
            let _ = write!(out, "\n{table}\n");
        }
        out
    }
}

/// A string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A pattern that matches this very name and no alias of it.
pub(crate) fn exactly(name: &str) -> String {
    let mut out = String::from("re:^");
    for c in name.trim().to_lowercase().chars() {
        if c.is_ascii_punctuation() && c != '_' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('$');
    out
}

/// A name or a pattern with `*`, where nothing else in it means anything.
pub(crate) fn tool_pattern(text: &str) -> String {
    let text = text.trim().to_lowercase();
    if is_plain(&text) { text } else { exactly(&text).replace("\\*", ".*") }
}

/// Whether no character of a pattern means anything to the policy language but `*`.
pub(crate) fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '*');
    begins && !text.starts_with("re:") && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/*".contains(&b))
}

/// Whether other names are aliases of this one, or it is an MCP tool's, which Sayso writes in its own way.
pub(crate) fn is_shared(tool: &str) -> bool {
    let tool = tool.trim().to_lowercase();
    let aliases =
        ["bash", "exec", "read", "write", "edit", "delete", "list", "fetch", "websearch", "ls", "grep", "glob"];
    let written = sayso_policy::normalise::pattern_names(&tool).iter().any(|name| name.starts_with("mcp:"));
    written
        || aliases.iter().any(|alias| *alias != tool && sayso_policy::normalise::pattern_names(alias).contains(&tool))
}

/// The place of a rule, as a comment.
pub(crate) fn origin(source: Option<&Source>) -> String {
    source.map_or_else(|| "a default of the format".to_owned(), ToString::to_string)
}

/// Comments end with their line, so nothing in them may begin another.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
