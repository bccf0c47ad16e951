//! OpenClaw's policy engine plugin: seven steps in their order, and allow at the end.

mod import;
mod parameter;

use crate::Error;
use crate::document::{Node, Text};
use crate::regular::Expression;
use crate::tool_name::{is, means};
use sayso_policy::foreign::{Remark, Stages, Standing};
use sayso_policy::{Actor, Code, Facts, Operation, Scope, Source, State, ToolName, Verdict};
use std::time::Duration;

/// Tools that always pass, so that an agent can report and be repaired.
const ESSENTIAL: &[&str] = &["message", "gateway", "session_status", "sessions_list", "sessions_send", "tts"];
/// The tiers: tools that only read, those that write or reach out moderately, and powerful ones. A tool that neither the
/// file nor this table names is of the last.
const TIERS: &[(&str, &[&str])] = &[
    ("T0", T0),
    ("T1", &["write", "edit", "message", "browser", "cron", "web_fetch"]),
    ("T2", &["exec", "process", "gateway", "nodes", "canvas", "voice_call"]),
];
/// How long a denied call counts.
const COUNTED: Duration = Duration::from_secs(60 * 60);
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
    /// Tools that the file puts in a tier.
    tiers: Vec<(&'static str, String)>,
    deny: Vec<DenyPatterns>,
    allowlists: Vec<Allowlist>,
    /// Agent and profile.
    routing: Vec<(String, String)>,
    /// Agent, model, and the one in its place once too many calls were denied.
    models: Vec<(String, Option<String>, Option<String>)>,
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
        node.only(&["toolProfile", "model", "fallbackModel"])?;
        let text =
            |key: &str| node.get(key)?.map(|node| node.text()).transpose().map(|text| text.map(|text| text.value));
        engine.models.push((agent.to_owned(), text("model")?, text("fallbackModel")?));
        if let Some(profile) = node.get("toolProfile")? {
            let name = profile.text()?.value;
            // A profile that is not there would leave the agent with the default list, or with none.
            if !engine.allowlists.iter().any(|list| list.profile == name) {
                let known = engine.allowlists.iter().map(|list| list.profile.as_str());
                let near = sayso_policy::text::nearest(&name, known);
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(profile.wrong(format!("`allowlists` has no profile `{name}`{hint}")));
            }
            engine.routing.push((agent.to_owned(), name));
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
            tiers: Vec::new(),
            deny: Vec::new(),
            allowlists: Vec::new(),
            routing: Vec::new(),
            models: Vec::new(),
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
            self.tiers.extend(tools.into_iter().map(|tool| (tier, tool)));
        }
        Ok(())
    }

    /// A tool's tier: where the file says so twice, the riskier one.
    fn tier(&self, tool: &ToolName) -> &'static str {
        let stated = self.tiers.iter().filter(|(_, name)| is(tool, name)).map(|(tier, _)| *tier).max();
        let usual = || TIERS.iter().find(|(_, names)| names.iter().any(|name| is(tool, name))).map(|(tier, _)| *tier);
        stated.or_else(usual).unwrap_or("T2")
    }

    fn is_t0(&self, tool: &ToolName) -> bool {
        self.tier(tool) == "T0"
    }

    /// The tools that a name in an allowlist stands for: itself, or those of a tier.
    fn members(&self, name: &str) -> Option<Vec<String>> {
        let (tier, usual) = TIERS.iter().find(|(tier, _)| *tier == name.trim())?;
        let moved = |name: &str| self.tiers.iter().any(|(other, own)| own.eq_ignore_ascii_case(name) && other != tier);
        let usual = usual.iter().map(|name| (*name).to_owned());
        let own = self.tiers.iter().filter(|(of, _)| of == tier).map(|(_, name)| name.clone());
        Some(usual.chain(own).filter(|name| !moved(name)).collect())
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
        let tier = self.tier(tool);
        if list.tools.iter().any(|name| is(tool, name) || (name.trim() == tier && !tool.disguised)) {
            return None;
        }
        let text = format!("The allowlist `{}` does not include `{}` ({tier}).", list.profile, tool.canonical);
        let remark = Remark::new(Verdict::Deny, Code::ToolNotListed, text).at(Some(list.source.clone()));
        Some(remark.by_layer(format!("profile:{}", list.profile)))
    }

    fn has_limits(&self) -> bool {
        self.enabled && !self.dry_run
    }

    fn blocked_per(&self) -> Option<Duration> {
        self.has_limits().then_some(COUNTED)
    }

    fn most_blocked(&self) -> Option<u64> {
        self.has_limits().then_some(self.max_blocked)
    }

    fn route(&self, actor: &Actor) -> (Option<String>, Option<String>) {
        let agent = actor.agent.as_deref().unwrap_or_default().trim();
        let found = self.models.iter().find(|(name, ..)| name.trim().eq_ignore_ascii_case(agent));
        found.map(|(_, model, fallback)| (model.clone(), fallback.clone())).unwrap_or_default()
    }

    /// Step 6: too many denied calls in this session.
    fn blocked(&self, state: &State) -> Option<Remark> {
        let all = || state.usage.get(&Scope::Session).map_or(0, |usage| usage.blocked);
        let blocked = state.blocked.get(&(Scope::Session, COUNTED)).copied().unwrap_or_else(all);
        let text = format!("{blocked} calls of this session were denied; the limit is {}.", self.max_blocked);
        (blocked >= self.max_blocked).then(|| Remark::new(Verdict::Deny, Code::Limit, text))
    }

    /// Paths outside their folders, and step 7: allow.
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let text = format!("No step of the policy engine stops this {} tool.", self.tier(&operation.tool));
        let allow = Remark::new(Verdict::Allow, Code::ForeignDefault, text);
        vec![self.outside(operation, facts).unwrap_or(allow)]
    }
}
