//! FerrumDeck's policy: three tiers by a tool's exact name, deny by default, budgets for each run, and the inspector's
//! domains.

use crate::Error;
use crate::document::{Node, Text};
use crate::import::{Draft, exactly, is_shared, one_line, origin, tool_pattern};
use crate::tool_name;
use sayso_policy::foreign::{Remark, Stages};
use sayso_policy::shell::{HostTarget, Target};
use sayso_policy::{Code, Facts, Operation, Scope, Source, State, Usage, Verdict};

/// A FerrumDeck policy.
#[derive(Debug)]
pub(crate) struct Ferrumdeck {
    /// `None`: a file of budgets alone, which says nothing of tools.
    tiers: Option<Tiers>,
    budget: Vec<(Counter, u64, Source)>,
    inspector: Option<Inspector>,
}

#[derive(Debug)]
struct Tiers {
    denied: Vec<Text>,
    approval: Vec<Text>,
    allowed: Vec<Text>,
    default: Verdict,
}

/// The domains that network tools may reach.
#[derive(Debug)]
struct Inspector {
    domains: Vec<String>,
    block_addresses: bool,
    source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counter {
    InputTokens,
    OutputTokens,
    TotalTokens,
    ToolCalls,
    WallSeconds,
    WallMillis,
    CostCents,
}

const BUDGET: &[(&str, Counter)] = &[
    ("max_input_tokens", Counter::InputTokens),
    ("max_output_tokens", Counter::OutputTokens),
    ("max_total_tokens", Counter::TotalTokens),
    ("max_tool_calls", Counter::ToolCalls),
    ("max_wall_time_secs", Counter::WallSeconds),
    ("max_wall_time_ms", Counter::WallMillis),
    ("max_cost_cents", Counter::CostCents),
];

const ACTIONS: &[(&str, Verdict)] = &[
    ("deny", Verdict::Deny),
    ("allow", Verdict::Allow),
    ("approval_required", Verdict::Ask),
    ("require_approval", Verdict::Ask),
];

pub(crate) fn lower(root: &Node<'_>) -> Result<Ferrumdeck, Error> {
    root.no_slips(&["tool_allowlist", "default_action", "budget", "inspector", "airlock"])?;
    misplaced(root)?;
    let mut budget = Vec::new();
    let node = root.get("budget")?;
    if let Some(node) = &node {
        node.only(&BUDGET.iter().map(|(key, _)| *key).collect::<Vec<_>>())?;
        for (key, counter) in BUDGET {
            if let Some(most) = node.number_at(key)? {
                let source = node.get(key)?.map_or_else(|| node.source(), |node| node.source());
                budget.push((*counter, most, source));
            }
        }
    }
    let default = root.word_at("default_action", ACTIONS)?;
    let lists = root.get("tool_allowlist")?;
    let tiers = if lists.is_none() && default.is_none() && node.is_some() {
        None
    } else {
        Some(Tiers::read(lists.as_ref(), default.unwrap_or(Verdict::Deny))?)
    };
    let inspector = match root.get("inspector")? {
        Some(node) => Some(node),
        None => root.get("airlock")?,
    };
    let inspector = inspector.map(|node| Inspector::read(&node)).transpose()?.flatten();
    Ok(Ferrumdeck { tiers, budget, inspector })
}

/// Budgets stand under `budget`. One that stands elsewhere would limit nothing, so the file is refused.
fn misplaced(root: &Node<'_>) -> Result<(), Error> {
    let slip = |key: &str| sayso_policy::text::nearest(key, BUDGET.iter().map(|(known, _)| *known));
    for (key, node) in root.entries()? {
        if let Some(known) = slip(key) {
            return Err(node.wrong(format!("budgets stand under `budget`: move this to `budget.{known}`")));
        }
        let tables = ["inspector", "airlock"].contains(&key) && node.value.is_object();
        for (inner, node) in if tables { node.entries()? } else { Vec::new() } {
            if let Some(known) = slip(inner) {
                return Err(node.wrong(format!("budgets stand under `budget`: move this to `budget.{known}`")));
            }
        }
    }
    Ok(())
}

impl Tiers {
    fn read(node: Option<&Node<'_>>, default: Verdict) -> Result<Self, Error> {
        if let Some(node) = node {
            node.only(&["allowed", "allowed_tools", "approval_required", "denied", "denied_tools"])?;
        }
        let list = |keys: &[&str]| -> Result<Vec<Text>, Error> {
            let mut found = Vec::new();
            for key in keys {
                found.extend(node.map(|node| node.texts_at(key)).transpose()?.flatten().unwrap_or_default());
            }
            Ok(found)
        };
        Ok(Self {
            denied: list(&["denied", "denied_tools"])?,
            approval: list(&["approval_required"])?,
            allowed: list(&["allowed", "allowed_tools"])?,
            default,
        })
    }

    fn judge(&self, operation: &Operation) -> Remark {
        let tool = &operation.tool;
        let raw = tool.raw.as_str();
        let name = if raw.is_empty() { tool.canonical.as_str() } else { raw };
        let exactly = |list: &[Text]| list.iter().find(|text| text.value == name && !tool.disguised).cloned();
        let tiers = [(&self.denied, Verdict::Deny), (&self.approval, Verdict::Ask), (&self.allowed, Verdict::Allow)];
        for (list, verdict) in tiers {
            if let Some(found) = exactly(list) {
                return said(verdict, name, Some(found.source));
            }
        }
        // Another spelling of a denied tool is no way around its tier.
        if let Some(found) = self.denied.iter().find(|text| tool_name::means(tool, &text.value)) {
            return said(Verdict::Deny, name, Some(found.source.clone()));
        }
        if self.default == Verdict::Allow
            && let Some(found) = self.approval.iter().find(|text| tool_name::means(tool, &text.value))
        {
            return said(Verdict::Ask, name, Some(found.source.clone()));
        }
        let text = format!("No tier names `{name}`, and the default action is {}.", self.default);
        Remark::new(self.default, Code::ForeignDefault, text)
    }
}

fn said(verdict: Verdict, name: &str, source: Option<Source>) -> Remark {
    let tier = match verdict {
        Verdict::Allow => "is allowed",
        Verdict::Ask => "requires approval",
        Verdict::Deny => "is denied",
    };
    Remark::new(verdict, Code::ForeignRule, format!("The tool `{name}` {tier}.")).at(source)
}

impl Inspector {
    /// `None`: it only watches.
    fn read(node: &Node<'_>) -> Result<Option<Self>, Error> {
        let inner = node.get("exfiltration")?.unwrap_or_else(|| node.clone());
        let shadow = node.word_at("mode", &[("enforce", false), ("shadow", true)])?.unwrap_or(false);
        let Some(domains) = inner.texts_at("allowed_domains")?.map(Some).unwrap_or(inner.texts_at("domains")?) else {
            return Ok(None);
        };
        if shadow || !inner.flag_at("enabled", true)? {
            return Ok(None);
        }
        Ok(Some(Self {
            domains: domains.iter().map(|text| text.value.trim().trim_end_matches('.').to_lowercase()).collect(),
            block_addresses: inner.flag_at("block_ip_addresses", true)?,
            source: inner.source(),
        }))
    }

    /// Every host that the call would reach, or may, must be one of the domains or below one.
    fn judge(&self, operation: &Operation) -> Option<Remark> {
        operation.effects.iter().find_map(|effect| {
            let Target::Host(target) = &effect.target else { return None };
            let host = match target {
                HostTarget::Exact { host, .. } => host.trim_end_matches('.').to_lowercase(),
                _ => String::from("an unknown host"),
            };
            let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
            let within = |domain: &String| {
                let domain = domain.strip_prefix("*.").unwrap_or(domain);
                host == domain || host.strip_suffix(domain).is_some_and(|before| before.ends_with('.'))
            };
            let refused = (address && self.block_addresses) || !self.domains.iter().any(within);
            let text = format!("The inspector does not allow calls to {host}.");
            refused.then(|| Remark::new(Verdict::Deny, Code::ForeignRule, text).at(Some(self.source.clone())))
        })
    }
}

impl Counter {
    /// What was used, in the unit of the limit's small unit, and its name.
    fn over(self, usage: &Usage, most: u64) -> Option<&'static str> {
        let total = usage.input_tokens.saturating_add(usage.output_tokens);
        let (name, used, most) = match self {
            Self::InputTokens => ("input tokens", usage.input_tokens, most),
            Self::OutputTokens => ("output tokens", usage.output_tokens, most),
            Self::TotalTokens => ("tokens", total, most),
            Self::ToolCalls => ("tool calls", usage.calls, most),
            Self::WallSeconds => ("wall time", usage.wall_ms, most.saturating_mul(1000)),
            Self::WallMillis => ("wall time", usage.wall_ms, most),
            Self::CostCents => ("cost", usage.cost_micros, most.saturating_mul(10_000)),
        };
        // At the limit is still within it.
        (used > most).then_some(name)
    }
}

impl Stages for Ferrumdeck {
    fn rules(&self, operation: &Operation, _: Facts<'_>) -> Vec<Remark> {
        let silent = || {
            Remark::new(Verdict::Allow, Code::ForeignDefault, "The file contains only budgets and no rules for tools.")
        };
        let tier = self.tiers.as_ref().map_or_else(silent, |tiers| tiers.judge(operation));
        let inspected = self.inspector.as_ref().and_then(|inspector| inspector.judge(operation));
        std::iter::once(tier).chain(inspected).collect()
    }

    fn has_limits(&self) -> bool {
        !self.budget.is_empty()
    }

    fn counts(&self) -> &'static [Scope] {
        &[Scope::Run, Scope::Session]
    }

    fn limits(&self, _: &Operation, state: &State) -> Vec<Remark> {
        let usage = [Scope::Run, Scope::Session].iter().find_map(|scope| state.usage.get(scope));
        let Some(usage) = usage else { return Vec::new() };
        self.budget
            .iter()
            .filter_map(|(counter, most, source)| {
                let name = counter.over(usage, *most)?;
                let text = format!("The budget for {name} in this run is used up.");
                Some(Remark::new(Verdict::Deny, Code::Limit, text).at(Some(source.clone())))
            })
            .collect()
    }
}

impl Ferrumdeck {
    /// The tiers as lists of exact names; what an allowed tool does is judged too, which the original does not.
    pub(crate) fn import(&self, draft: &mut Draft) {
        draft.essential(&[]);
        match &self.tiers {
            None => draft.everything("allow", "a file of budgets has no rules for tools"),
            Some(tiers) => tiers.import(draft),
        }
        if let Some(inspector) = &self.inspector {
            draft.lose("the inspector's domains: nothing may connect here; name hosts under `allow.connect`");
            draft.list("deny", "connect", "@anything", inspector.source.to_string());
        }
        if !self.budget.is_empty() {
            self.import_budget(draft);
        }
    }

    fn import_budget(&self, draft: &mut Draft) {
        draft.lose("budgets are reached here at the limit, in the original beyond it");
        let mut text = String::from("[limits.run] # budget");
        for (counter, most, source) in &self.budget {
            let line = match counter {
                Counter::InputTokens => format!("input_tokens = {most}"),
                Counter::OutputTokens => format!("output_tokens = {most}"),
                Counter::TotalTokens => format!("tokens = {most}"),
                Counter::ToolCalls => format!("calls = {most}"),
                Counter::WallSeconds => format!("wall = \"{most}s\""),
                Counter::WallMillis => format!("wall = \"{}s\"", most / 1000),
                Counter::CostCents => format!("cost = \"{}.{:02} USD\"", most / 100, most % 100),
            };
            text.push_str(&format!("\n{line} # {}", one_line(&source.to_string())));
        }
        draft.table(text);
    }
}

impl Tiers {
    fn import(&self, draft: &mut Draft) {
        let default = match self.default {
            Verdict::Allow => {
                draft.everything("allow", "default_action");
                "allow"
            }
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        draft.default_is(default, "default_action");
        draft.lose("a name in other capitals is the same tool here");
        draft.lose("what an allowed tool reads, writes and reaches is judged too: secrets and what lies outside are not carried");
        for (list, table) in [(&self.denied, "deny"), (&self.approval, "ask"), (&self.allowed, "allow")] {
            for text in list {
                if table == "allow" && draft.permitted(std::slice::from_ref(&text.value)).is_empty() {
                    continue;
                }
                // An ask would take the place of the default that denies the other names of this tool.
                let table = if table == "ask" && self.default == Verdict::Deny && is_shared(&text.value) {
                    draft.lose(format!("`{}` names more than one tool in Sayso, so it is denied here", text.value));
                    "deny"
                } else {
                    table
                };
                draft.list(table, "tool", &exactly(&text.value), origin(Some(&text.source)));
            }
        }
        // Another spelling of a tool is no way around its tier.
        let approval = self.approval.iter().filter(|_| self.default == Verdict::Allow).map(|text| ("ask", text));
        for (table, text) in self.denied.iter().map(|text| ("deny", text)).chain(approval) {
            draft.list(table, "tool", &tool_pattern(&text.value), origin(Some(&text.source)));
        }
    }
}
