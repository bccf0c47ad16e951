//! What a file says: `exec`, `toolPolicies`, and OpenClaw's `defaults` and `agents`.

use super::allowlist::Entry;
use super::profile::Custom;
use super::{command, strings};
use crate::Error;
use crate::document::Node;
use crate::glob::Glob;
use sayso_policy::shell::Word;
use sayso_policy::{Actor, Operation, ToolName};

/// What may run at all, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Security {
    Deny,
    Allowlist,
    Full,
}

/// When a person is asked, the most often last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ask {
    Off,
    OnMiss,
    Always,
}

const SECURITY: &[(&str, Security)] =
    &[("deny", Security::Deny), ("allowlist", Security::Allowlist), ("full", Security::Full)];
const ASK: &[(&str, Ask)] = &[("off", Ask::Off), ("on-miss", Ask::OnMiss), ("always", Ask::Always)];
/// One word for both, as the table of defaults has it.
const BOTH: &[(&str, (Security, Ask))] = &[
    ("allow", (Security::Full, Ask::Off)),
    ("prompt", (Security::Allowlist, Ask::Always)),
    ("allowlist", (Security::Allowlist, Ask::Off)),
    ("deny", (Security::Deny, Ask::Off)),
];

/// Programs that are safe where a file does not say which.
const SAFE_BINS: &[&str] = &["jq", "grep", "head", "sort", "wc", "cut", "uniq", "tail", "tr"];

/// How commands are judged.
#[derive(Clone, Debug)]
pub(super) struct Exec {
    pub security: Security,
    /// The file itself says so.
    pub stated: bool,
    pub ask: Ask,
    pub fallback: Security,
    pub allowlist: Vec<Entry>,
    pub safe_bins: Vec<String>,
    pub profiles: Vec<Custom>,
    /// Programs of skills are allowed. Only the gateway knows which those are, so nothing is allowed by it here.
    pub skills: bool,
}

/// What OpenClaw's document says of one agent.
#[derive(Debug)]
pub(super) struct Agent {
    name: String,
    own: Partial,
}

#[derive(Debug, Default)]
struct Partial {
    security: Option<Security>,
    ask: Option<Ask>,
    fallback: Option<Security>,
    allowlist: Vec<Entry>,
    skills: Option<bool>,
}

/// A policy for a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolPolicy {
    pub tool: String,
    pub security: Option<Security>,
    pub ask: Option<Ask>,
    /// Globs of paths that it may use.
    pub paths: Vec<String>,
    /// Arguments that it may not be given.
    pub denied: Vec<String>,
    /// The file itself states security or ask.
    pub stated: bool,
}

const EXEC_KEYS: &[&str] =
    &["security", "ask", "askFallback", "allowlist", "safeBins", "safeBinProfiles", "autoAllowSkills", "host", "node"];

pub(super) fn read(root: &Node<'_>) -> Result<(Exec, Vec<Agent>), Error> {
    let node = match root.get("exec")? {
        Some(node) => Some(node),
        None => root.get("defaults")?,
    };
    let mut exec = Exec {
        security: Security::Deny,
        stated: false,
        ask: Ask::OnMiss,
        fallback: Security::Deny,
        allowlist: Vec::new(),
        safe_bins: SAFE_BINS.iter().map(|name| (*name).to_owned()).collect(),
        profiles: Vec::new(),
        skills: false,
    };
    if let Some(node) = &node {
        node.only(EXEC_KEYS)?;
        let own = Partial::read(node)?;
        exec.stated = own.security.is_some();
        exec.take(&own);
        exec.allowlist = own.allowlist;
        if let Some(names) = node.texts_at("safeBins")? {
            exec.safe_bins = names.iter().map(|text| text.value.trim().to_lowercase()).collect();
        }
        if let Some(profiles) = node.get("safeBinProfiles")? {
            for (name, profile) in profiles.entries()? {
                exec.profiles.push(Custom::read(name, &profile)?);
            }
        }
    }
    let mut agents = Vec::new();
    if let Some(sections) = root.get("agents")? {
        for (name, node) in sections.entries()? {
            node.only(EXEC_KEYS)?;
            agents.push(Agent { name: name.to_owned(), own: Partial::read(&node)? });
        }
    }
    Ok((exec, agents))
}

impl Partial {
    fn read(node: &Node<'_>) -> Result<Self, Error> {
        let mut allowlist = Vec::new();
        for entry in node.get("allowlist")?.map(|node| node.items()).transpose()?.unwrap_or_default() {
            allowlist.extend(Entry::read(&entry)?);
        }
        Ok(Self {
            security: node.word_at("security", SECURITY)?,
            ask: node.word_at("ask", ASK)?,
            fallback: node.word_at("askFallback", SECURITY)?,
            allowlist,
            skills: node.get("autoAllowSkills")?.map(|_| node.flag_at("autoAllowSkills", false)).transpose()?,
        })
    }
}

impl Exec {
    fn take(&mut self, own: &Partial) {
        self.security = own.security.unwrap_or(self.security);
        self.ask = own.ask.unwrap_or(self.ask);
        self.fallback = own.fallback.unwrap_or(self.fallback);
        self.skills = own.skills.unwrap_or(self.skills);
    }
}

/// An agent's own section over the one called `*` over the defaults; allowlists add up. No agent is `main`.
pub(super) fn for_agent(exec: &Exec, agents: &[Agent], actor: &Actor) -> Exec {
    let name = actor.agent.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("main");
    let mut exec = exec.clone();
    for wanted in ["*", name] {
        let found = agents.iter().filter(|agent| agent.name == wanted || (wanted == "main" && agent.name == "default"));
        for Agent { own, .. } in found {
            exec.stated |= own.security.is_some();
            exec.take(own);
            exec.allowlist.extend(own.allowlist.iter().cloned());
        }
    }
    exec
}

/// The table of defaults.
fn defaults() -> Vec<ToolPolicy> {
    let one = |tool: &str, security, ask| ToolPolicy {
        tool: tool.to_owned(),
        security: Some(security),
        ask: Some(ask),
        paths: Vec::new(),
        denied: Vec::new(),
        stated: false,
    };
    vec![
        one("file_read", Security::Allowlist, Ask::Off),
        one("file_write", Security::Allowlist, Ask::Always),
        one("file_delete", Security::Allowlist, Ask::Always),
        one("bash_execute", Security::Allowlist, Ask::OnMiss),
        one("web_fetch", Security::Full, Ask::Off),
        one("file_list", Security::Full, Ask::Off),
    ]
}

/// The defaults, and over them what the file says: a table by name, or a list with `toolName`.
pub(super) fn tool_policies(root: &Node<'_>) -> Result<Vec<ToolPolicy>, Error> {
    let mut policies = defaults();
    let Some(node) = root.get("toolPolicies")? else { return Ok(policies) };
    let mut stated = Vec::new();
    if node.value.is_array() {
        for item in node.items()? {
            let name = item.get("toolName")?.ok_or_else(|| item.wrong("a tool policy needs `toolName`"))?;
            stated.push((name.text()?.value, item));
        }
    } else {
        stated.extend(node.entries()?.into_iter().map(|(name, node)| (name.to_owned(), node)));
    }
    for (name, node) in stated {
        let canonical = sayso_policy::normalise::pattern_name(&name);
        let at = policies.iter().position(|policy| policy.tool == canonical);
        let known = at.and_then(|at| policies.get(at)).cloned();
        let policy = ToolPolicy::read(&canonical, &node, known)?;
        match at.and_then(|at| policies.get_mut(at)) {
            Some(slot) => *slot = policy,
            None => policies.push(policy),
        }
    }
    Ok(policies)
}

impl ToolPolicy {
    fn read(tool: &str, node: &Node<'_>, default: Option<Self>) -> Result<Self, Error> {
        let list = |key: &str| -> Result<Vec<String>, Error> {
            Ok(node.texts_at(key)?.unwrap_or_default().into_iter().map(|text| text.value).collect())
        };
        if node.value.is_string() {
            let text = node.text()?.value;
            let both = BOTH.iter().find(|(word, _)| *word == text).map(|(_, both)| *both);
            let (security, ask) = both.ok_or_else(|| node.wrong("a policy is allow, prompt, allowlist or deny"))?;
            let (security, ask) = (Some(security), Some(ask));
            return Ok(Self {
                tool: tool.to_owned(),
                security,
                ask,
                paths: Vec::new(),
                denied: Vec::new(),
                stated: true,
            });
        }
        node.only(&["toolName", "security", "ask", "pathRestrictions", "argRestrictions", "argDenyPatterns"])?;
        let security = node.word_at("security", SECURITY)?;
        let ask = node.word_at("ask", ASK)?;
        // A tool that nobody knows is denied unless its policy says otherwise.
        let default = default.map_or((Some(Security::Deny), Some(Ask::Always)), |known| (known.security, known.ask));
        let mut denied = list("argRestrictions")?;
        denied.extend(list("argDenyPatterns")?);
        Ok(Self {
            tool: tool.to_owned(),
            security: security.or(default.0),
            // Who states security alone and allows everything means to be asked about nothing.
            ask: ask.or(if security.is_some() && default.0 == Some(Security::Deny) {
                Some(Ask::OnMiss)
            } else {
                default.1
            }),
            paths: list("pathRestrictions")?,
            denied,
            stated: security.is_some() || ask.is_some(),
        })
    }

    /// An argument that this tool may not be given.
    pub(super) fn denies_argument(&self, operation: &Operation) -> Option<&str> {
        // A word whose value is not known may be the one that is denied.
        let runs = operation.analysis.iter().flat_map(|analysis| &analysis.runs);
        if command::is_one(operation) && runs.flat_map(|run| &run.argv).any(|word| word.exact_str().is_none()) {
            return self.denied.first().map(String::as_str);
        }
        let words = argument_words(operation);
        let hit = |pattern: &&String| {
            let glob = Glob::new(pattern);
            words.iter().any(|word| glob.matches(word))
        };
        self.denied.iter().find(hit).map(String::as_str)
    }
}

/// What an argument pattern is compared with: every word and option of a command, else every string. Text inside a
/// word is text.
fn argument_words(operation: &Operation) -> Vec<String> {
    let Some(analysis) = operation.analysis.as_ref().filter(|_| command::is_one(operation)) else {
        return strings(operation);
    };
    let mut words = Vec::new();
    for run in &analysis.runs {
        words.extend(run.argv.iter().skip(1).filter_map(Word::exact_str).map(str::to_owned));
        words.extend(run.options.iter().map(|option| option.name.clone()));
        let exact: Vec<&str> = run.argv.iter().skip(1).filter_map(Word::exact_str).collect();
        words.push(exact.join(" "));
    }
    words
}

/// The policy that names a tool, by its canonical name or a wider one that means it.
pub(super) fn policy_of(policies: &[ToolPolicy], tool: &ToolName) -> Option<ToolPolicy> {
    let find = |name: &str| policies.iter().find(|policy| policy.tool == name);
    let names = std::iter::once(&tool.canonical).chain(&tool.names);
    names.filter(|_| !tool.disguised).find_map(|name| find(name)).cloned()
}
