//! OpenClaw's policy engine plugin: seven steps in their order, and allow at the end.

mod import;
mod parameter;

use crate::Error;
use crate::document::{Node, Text};
use crate::regular::Expression;
use crate::tool_name::{is, means};
use sayso_policy::foreign::{Remark, Stages, Standing};
use sayso_policy::{Actor, Code, Facts, Operation, Scope, Source, State, ToolName, Verdict};

/// Tools that always pass, so that an agent can report and be repaired.
const ESSENTIAL: &[&str] = &["message", "gateway", "session_status", "sessions_list", "sessions_send", "tts"];
/// Tools that only read.
const T0: &[&str] = &["read", "memory_search", "memory_get", "session_status"];

/// The plugin's configuration.
#[derive(Debug)]
pub(crate) struct PolicyEngine {
    enabled: bool,
    dry_run: bool,
    dry_run_t0: bool,
    dry_run_essential: Vec<String>,
    max_blocked: u64,
    /// Tools that the file puts in T0, and those that it puts elsewhere.
    t0: Vec<String>,
    not_t0: Vec<String>,
    deny: Vec<DenyPatterns>,
    allowlists: Vec<Allowlist>,
    /// Agent and profile.
    routing: Vec<(String, String)>,
    folders: Vec<Folders>,
}

#[derive(Debug)]
struct DenyPatterns {
    tool: String,
    expressions: Vec<(Expression, Source)>,
}

#[derive(Debug)]
struct Allowlist {
    profile: String,
    tools: Vec<String>,
    source: Source,
}

/// Folders that a tool's paths must stay in.
#[derive(Debug)]
struct Folders {
    tool: String,
    within: Vec<Text>,
}

pub(crate) fn lower(root: &Node<'_>) -> Result<PolicyEngine, Error> {
    let plugin = plugin(root)?;
    let switched_off = plugin.as_ref().is_some_and(|plugin| plugin.flag_at("enabled", true).is_ok_and(|on| !on));
    let config = match &plugin {
        Some(plugin) => plugin.get("config")?,
        None => Some(root.clone()),
    };
    let Some(config) = config else {
        return Ok(PolicyEngine { enabled: !switched_off, ..PolicyEngine::empty() });
    };
    config.only(&[
        "enabled",
        "dryRun",
        "dryRunAllowT0",
        "dryRunEssentialTools",
        "maxBlockedRetries",
        "riskTiers",
        "denyPatterns",
        "allowlists",
        "routing",
        "pathAllowlists",
    ])?;
    let mut engine = PolicyEngine {
        enabled: config.flag_at("enabled", true)? && !switched_off,
        dry_run: config.flag_at("dryRun", false)?,
        dry_run_t0: config.flag_at("dryRunAllowT0", true)?,
        max_blocked: config.number_at("maxBlockedRetries")?.filter(|most| *most > 0).unwrap_or(3),
        ..PolicyEngine::empty()
    };
    engine.dry_run_essential = values(config.texts_at("dryRunEssentialTools")?);
    engine.read_tiers(&config)?;
    for (tool, node) in entries(&config, "denyPatterns")? {
        let mut expressions = Vec::new();
        for node in node.items()? {
            let text = node.text()?;
            let expression = Expression::new(&text.value).map_err(|error| node.wrong(error))?;
            expressions.push((expression, text.source));
        }
        engine.deny.push(DenyPatterns { tool: tool.to_owned(), expressions });
    }
    for (profile, node) in entries(&config, "allowlists")? {
        let tools = values(Some(node.texts()?));
        engine.allowlists.push(Allowlist { profile: profile.to_owned(), tools, source: node.source() });
    }
    for (agent, node) in entries(&config, "routing")? {
        if let Some(profile) = node.get("toolProfile")? {
            engine.routing.push((agent.to_owned(), profile.text()?.value));
        }
    }
    for (tool, node) in entries(&config, "pathAllowlists")? {
        engine.folders.push(Folders { tool: tool.to_owned(), within: node.texts()? });
    }
    Ok(engine)
}

/// The plugin's entry in a whole OpenClaw configuration.
fn plugin<'d>(root: &Node<'d>) -> Result<Option<Node<'d>>, Error> {
    let Some(plugins) = root.get("plugins")? else { return Ok(None) };
    let Some(entries) = plugins.get("entries")? else { return Ok(None) };
    match entries.get("policy-engine")? {
        Some(plugin) => Ok(Some(plugin)),
        None => Err(entries.wrong("the plugin `policy-engine` has no entry here")),
    }
}

fn entries<'d>(node: &Node<'d>, key: &str) -> Result<Vec<(&'d str, Node<'d>)>, Error> {
    node.get(key)?.map(|node| node.entries()).transpose().map(Option::unwrap_or_default)
}

fn values(texts: Option<Vec<Text>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().map(|text| text.value).collect()
}

impl PolicyEngine {
    fn empty() -> Self {
        Self {
            enabled: true,
            dry_run: false,
            dry_run_t0: true,
            dry_run_essential: Vec::new(),
            max_blocked: 3,
            t0: Vec::new(),
            not_t0: Vec::new(),
            deny: Vec::new(),
            allowlists: Vec::new(),
            routing: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// `{T0: [tools]}`, or `{tool: "T0"}`. A tool that the file does not name keeps its tier.
    fn read_tiers(&mut self, config: &Node<'_>) -> Result<(), Error> {
        for (key, node) in entries(config, "riskTiers")? {
            let tier = ["T0", "T1", "T2"].into_iter().find(|tier| *tier == key);
            let (tier, tools) = match tier {
                Some(tier) => (tier, values(Some(node.texts()?))),
                None => {
                    let text = node.text()?.value;
                    let tier = ["T0", "T1", "T2"].into_iter().find(|tier| *tier == text);
                    (tier.ok_or_else(|| node.wrong("a tier is T0, T1 or T2"))?, vec![key.to_owned()])
                }
            };
            if tier == "T0" { self.t0.extend(tools) } else { self.not_t0.extend(tools) }
        }
        Ok(())
    }

    fn is_t0(&self, tool: &ToolName) -> bool {
        let named = |names: &[String]| names.iter().any(|name| is(tool, name));
        !named(&self.not_t0) && (named(&self.t0) || T0.iter().any(|name| is(tool, name)))
    }

    fn is_essential(tool: &ToolName) -> bool {
        ESSENTIAL.iter().any(|name| is(tool, name))
    }

    /// The allowlist of an agent's profile, or else the one called `default`.
    fn allowlist(&self, actor: &Actor) -> Option<&Allowlist> {
        let find = |profile: &str| self.allowlists.iter().find(|list| list.profile == profile);
        let routed = actor.agent.as_deref().and_then(|agent| {
            let agent = agent.trim();
            self.routing.iter().find(|(name, _)| name.trim().eq_ignore_ascii_case(agent)).map(|(_, profile)| profile)
        });
        // An empty list lists nothing, and restricts nothing.
        routed.and_then(|profile| find(profile)).or_else(|| find("default")).filter(|list| !list.tools.is_empty())
    }

    fn outside(&self, operation: &Operation, facts: Facts<'_>) -> Option<Remark> {
        let tool = &operation.tool;
        self.folders.iter().filter(|folders| means(tool, &folders.tool) && !folders.within.is_empty()).find_map(
            |folders| {
                let within: Vec<&str> = folders.within.iter().map(|text| text.value.as_str()).collect();
                let path = parameter::outside(operation, &folders.tool, &within, facts)?;
                let text = format!("`{path}` is outside the folders that `{}` may use.", folders.tool);
                Some(
                    Remark::new(Verdict::Deny, Code::ForeignRule, text)
                        .at(folders.within.first().map(|text| text.source.clone())),
                )
            },
        )
    }
}

impl Stages for PolicyEngine {
    /// Steps 1 and 2: the kill switch, and rehearsal before deny patterns are looked at.
    fn mode(&self, operation: &Operation) -> Standing {
        let tool = &operation.tool;
        if !self.enabled {
            return Standing::Passed;
        }
        if !self.dry_run {
            return Standing::Enforced;
        }
        let exempt = Self::is_essential(tool)
            || self.dry_run_essential.iter().any(|name| is(tool, name))
            || (self.dry_run_t0 && self.is_t0(tool));
        if exempt { Standing::Passed } else { Standing::Rehearsed }
    }

    /// Step 3: deny patterns, on the parameters that matter.
    fn patterns(&self, operation: &Operation) -> Vec<Remark> {
        let mut found = Vec::new();
        for rule in self.deny.iter().filter(|rule| means(&operation.tool, &rule.tool)) {
            let texts = parameter::texts(operation, &rule.tool);
            for (expression, source) in &rule.expressions {
                if texts.iter().any(|text| expression.may_match(text)) {
                    let text = format!("A parameter of `{}` matches `{}`.", rule.tool, expression.text);
                    found.push(Remark::new(Verdict::Deny, Code::ParameterPattern, text).at(Some(source.clone())));
                }
            }
        }
        found
    }

    /// Step 4: essential and T0 tools pass steps 5 and 6.
    fn essential(&self, tool: &ToolName) -> bool {
        Self::is_essential(tool) || self.is_t0(tool)
    }

    /// Step 5: the allowlist.
    fn tools(&self, tool: &ToolName, actor: &Actor) -> Option<Remark> {
        let list = self.allowlist(actor)?;
        if list.tools.iter().any(|name| is(tool, name)) {
            return None;
        }
        let text = format!("The allowlist `{}` does not include `{}`.", list.profile, tool.canonical);
        Some(Remark::new(Verdict::Deny, Code::ToolNotListed, text).at(Some(list.source.clone())))
    }

    fn has_limits(&self) -> bool {
        self.enabled && !self.dry_run
    }

    /// Step 6: too many denied calls in this session.
    fn blocked(&self, state: &State) -> Option<Remark> {
        let blocked = state.usage.get(&Scope::Session).map_or(0, |usage| usage.blocked);
        let text = format!("{blocked} calls of this session were denied; the limit is {}.", self.max_blocked);
        (blocked >= self.max_blocked).then(|| Remark::new(Verdict::Deny, Code::Limit, text))
    }

    /// Paths outside their folders, and step 7: allow.
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let allow = Remark::new(Verdict::Allow, Code::ForeignDefault, "No step of the policy engine stops this.");
        vec![self.outside(operation, facts).unwrap_or(allow)]
    }
}
