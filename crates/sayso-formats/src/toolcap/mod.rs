//! Toolcap's rulesets: ordered rules over parsed commands, of which the first that matches speaks. What no rule speaks
//! of is Unknown, a question for a person.

use crate::Error;
use crate::document::Node;
use sayso_policy::foreign::{Remark, Stages};
use sayso_policy::matchers::{Compilation, ReadOnlyGit, SafeNpm};
use sayso_policy::{Code, Facts, Kind, Matcher, Operation, Outcome, Rule, Ruleset, Source, Verdict};

mod import;

pub(crate) use import::import;

/// Deepest nesting of matchers.
const MAX_DEPTH: usize = 32;

/// A ruleset, and where each rule stands.
#[derive(Debug)]
pub(crate) struct Toolcap {
    ruleset: Ruleset,
    sources: Vec<Source>,
}

const KINDS: &[(&str, Kind)] = &[
    ("read", Kind::Read),
    ("edit", Kind::Edit),
    ("delete", Kind::Delete),
    ("move", Kind::Move),
    ("search", Kind::Search),
    ("execute", Kind::Execute),
    ("fetch", Kind::Fetch),
    ("think", Kind::Think),
    ("switch_mode", Kind::SwitchMode),
    ("other", Kind::Other),
];

const OUTCOMES: &[(&str, Outcome)] = &[
    ("allow", Outcome::Allow),
    ("deny", Outcome::Deny),
    ("unknown", Outcome::Unknown),
    ("ask", Outcome::Unknown),
    ("Allow", Outcome::Allow),
    ("Deny", Outcome::Deny),
    ("Unknown", Outcome::Unknown),
];

pub(crate) fn lower(root: &Node<'_>) -> Result<Toolcap, Error> {
    root.only(&["rules", "version", "name", "description"])?;
    let mut rules = Vec::new();
    let mut sources = Vec::new();
    for node in root.get("rules")?.map(|node| node.items()).transpose()?.unwrap_or_default() {
        node.only(&["match", "outcome", "name", "description", "reason"])?;
        let Some(matcher) = node.get("match")? else { return Err(node.wrong("a rule needs `match`")) };
        let Some(outcome) = node.word_at("outcome", OUTCOMES)? else {
            return Err(node.wrong("a rule needs `outcome`: allow or deny"));
        };
        rules.push(Rule::new(read_matcher(&matcher, 0)?, outcome));
        sources.push(node.source());
    }
    Ok(Toolcap { ruleset: Ruleset::new(rules), sources })
}

/// The keys of a matcher all narrow it.
fn read_matcher(node: &Node<'_>, depth: usize) -> Result<Matcher, Error> {
    if depth > MAX_DEPTH {
        return Err(node.wrong("matchers are nested too deeply"));
    }
    node.only(&[
        "command",
        "subcommand",
        "subcommands",
        "flag",
        "flags",
        "within_directory",
        "any_execute",
        "piped_to_shell",
        "kind",
        "path",
        "domain",
        "tool",
        "group",
        "and",
        "or",
        "not",
    ])?;
    let mut all = Vec::new();
    let command = node.get("command")?.map(|command| command.text()).transpose()?;
    let mut subcommands = node.texts_at("subcommands")?.unwrap_or_default();
    subcommands.extend(node.texts_at("subcommand")?.unwrap_or_default());
    let mut flags = node.texts_at("flags")?.unwrap_or_default();
    flags.extend(node.texts_at("flag")?.unwrap_or_default());
    if command.is_some() || !subcommands.is_empty() || !flags.is_empty() {
        let mut matcher = Matcher::command(command.as_ref().map_or("*", |text| text.value.as_str()));
        if !subcommands.is_empty() {
            matcher = matcher.with_subcommands(subcommands.iter().map(|text| text.value.as_str()));
        }
        for flag in &flags {
            matcher = matcher.with_flag(&flag.value);
        }
        all.push(matcher);
    }
    if node.flag_at("any_execute", false)? {
        all.push(Matcher::any_execute());
    }
    if let Some(kind) = node.get("kind")? {
        let word = kind.text()?.value.to_lowercase();
        let known = KINDS.iter().find(|(name, _)| *name == word || name.replace('_', "") == word);
        let (_, known) = known.ok_or_else(|| kind.wrong(format!("there is no kind `{word}`")))?;
        all.push(Matcher::kind(*known));
    }
    for (key, make) in
        [("path", Matcher::path as fn(&str) -> Matcher), ("domain", Matcher::fetch), ("tool", Matcher::tool)]
    {
        if let Some(texts) = node.texts_at(key)? {
            all.push(Matcher::or(texts.iter().map(|text| make(&text.value)).collect()));
        }
    }
    if let Some(group) = node.get("group")? {
        all.push(match group.text()?.value.as_str() {
            "Compilation" | "compilation" => Compilation::matcher(),
            "ReadOnlyGit" | "read_only_git" | "read-only-git" => ReadOnlyGit::matcher(),
            "SafeNpm" | "safe_npm" | "safe-npm" => SafeNpm::matcher(),
            other => {
                return Err(
                    group.wrong(format!("there is no group `{other}`; there are Compilation, ReadOnlyGit, SafeNpm"))
                );
            }
        });
    }
    for (key, combine) in [("and", Matcher::and as fn(Vec<Matcher>) -> Matcher), ("or", Matcher::or)] {
        if let Some(inner) = node.get(key)? {
            let inner: Vec<Matcher> =
                inner.items()?.iter().map(|node| read_matcher(node, depth + 1)).collect::<Result<_, _>>()?;
            if inner.is_empty() {
                return Err(node.wrong(format!("`{key}` needs at least one matcher")));
            }
            all.push(combine(inner));
        }
    }
    if let Some(inner) = node.get("not")? {
        all.push(Matcher::not(read_matcher(&inner, depth + 1)?));
    }
    let mut directories = node.texts_at("within_directory")?.unwrap_or_default();
    let piped = node.flag_at("piped_to_shell", false)?;
    if all.is_empty() && (piped || directories.is_empty()) {
        let missing = if piped { Some(Matcher::any_execute()) } else { None };
        all.push(missing.ok_or_else(|| node.wrong("a matcher needs at least one key that holds"))?);
    }
    if let Some(directory) = directories.pop() {
        let within = directories.iter().map(|text| Matcher::within_directory(&text.value));
        all.push(Matcher::or(within.chain([Matcher::within_directory(&directory.value)]).collect()));
    }
    let matcher = match all.len() {
        1 => all.pop().unwrap_or_else(|| Matcher::or(Vec::new())),
        _ => Matcher::and(all),
    };
    Ok(if piped { matcher.piped_to_shell() } else { matcher })
}

impl Stages for Toolcap {
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let outcome = self.ruleset.evaluate_with(operation, facts);
        let spoke = self.ruleset.spoke(operation, facts);
        let source = |outcome| {
            let rule = spoke.iter().find(|(said, _)| *said == outcome).and_then(|(_, rule)| *rule);
            rule.and_then(|rule| self.sources.get(rule)).cloned()
        };
        let (verdict, code, text) = match outcome {
            Outcome::Allow => (Verdict::Allow, Code::ForeignRule, "A rule allows every part of this."),
            Outcome::Deny => (Verdict::Deny, Code::ForeignRule, "A rule denies a part of this."),
            Outcome::Unknown => (Verdict::Ask, Code::ForeignDefault, "No rule certainly covers a part of this."),
        };
        vec![Remark::new(verdict, code, text).at(source(outcome))]
    }
}
