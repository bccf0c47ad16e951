//! Wundr's tool policies: layers of allow and deny lists, all of which must agree. Open by default.

mod argument;
mod category;
mod import;
mod layer;
mod pattern;
mod rate;

pub(crate) use pattern::wild;

use crate::Error;
use crate::document::Node;
use argument::ToolArguments;
use category::Category;
use layer::Layer;
use rate::Rate;
use sayso_policy::foreign::{Remark, Stages};
use sayso_policy::{Actor, Code, Facts, Operation, State, ToolName, Verdict};

/// What a subagent never has: its parent orchestrates, runs commands, deletes and passes memory on.
pub(crate) const SUBAGENT_DENY: &[&str] =
    &["session_list", "session_status", "session_spawn", "bash_execute", "file_delete", "memory_search", "memory_get"];

/// A Wundr configuration.
#[derive(Debug)]
pub(crate) struct Wundr {
    global: Layer,
    agents: Vec<(String, Layer)>,
    groups: Vec<(String, Group)>,
    subagents: Layer,
    arguments: Vec<ToolArguments>,
    rates: Vec<Rate>,
    categories: Vec<Category>,
}

/// Keys beside the lists in the global `tools`.
const BESIDE: &[&str] = &["subagents", "argumentRules", "rateLimits", "categories", "auditEnabled"];

/// A group: its own lists, and those of members, which replace them.
#[derive(Debug)]
struct Group {
    own: Vec<Layer>,
    members: Vec<(String, Layer)>,
}

pub(crate) fn lower(root: &Node<'_>) -> Result<Wundr, Error> {
    root.no_slips(&["tools", "agents", "groups"])?;
    let tools = root.get("tools")?;
    let global =
        tools.as_ref().map(|tools| Layer::read(tools, "global", "global", BESIDE)).transpose()?.unwrap_or_default();
    let configured = match &tools {
        Some(tools) => tools.get("subagents")?.map(|node| node.get("tools")).transpose()?.flatten(),
        None => None,
    };
    let mut subagents = configured
        .map(|tools| Layer::read(&tools, "subagent", "subagent", &[]))
        .transpose()?
        .unwrap_or_else(|| Layer::named("subagent"));
    subagents.deny.extend(SUBAGENT_DENY.iter().map(|name| pattern::Pattern::new(name)));
    let mut agents = Vec::new();
    for (name, agent) in entries(root, "agents")? {
        if let Some(tools) = agent.get("tools")? {
            let name = name.trim();
            let layer = Layer::read(&tools, &format!("agent {name}"), &format!("agent:{name}"), &[])?;
            agents.push((name.to_owned(), layer));
        }
    }
    let mut groups = Vec::new();
    for (name, group) in entries(root, "groups")? {
        groups.push((name.trim().to_owned(), Group::read(name, &group)?));
    }
    let rules = tools.as_ref().map(ToolArguments::read).transpose()?.unwrap_or_default();
    let rates = tools.as_ref().map(Rate::read).transpose()?.unwrap_or_default();
    let categories = tools.as_ref().map(Category::read).transpose()?.unwrap_or_default();
    Ok(Wundr { global, agents, groups, subagents, arguments: rules, rates, categories })
}

fn entries<'d>(root: &Node<'d>, key: &str) -> Result<Vec<(&'d str, Node<'d>)>, Error> {
    root.get(key)?.map(|node| node.entries()).transpose().map(Option::unwrap_or_default)
}

impl Group {
    /// The lists stand in the group itself or under `tools`.
    fn read(name: &str, node: &Node<'_>) -> Result<Self, Error> {
        let (title, who) = (format!("group {name}"), format!("team:{}", name.trim()));
        let mut own =
            vec![Layer::read(node, &title, &who, &["tools", "toolsByMember", "members", "name", "description"])?];
        if let Some(tools) = node.get("tools")? {
            own.push(Layer::read(&tools, &title, &who, &[])?);
        }
        let mut members = Vec::new();
        for (member, node) in entries(node, "toolsByMember")? {
            let key = member_key(member);
            let layer = Layer::read(&node, &format!("{title}, member {member}"), &format!("{who}/{key}"), &[])?;
            members.push((key, layer));
        }
        Ok(Self { own, members })
    }

    /// A member's layer replaces the group's; `*` is every member without one.
    fn in_force(&self, member: Option<&str>) -> Vec<&Layer> {
        let find = |wanted: &str| self.members.iter().find(|(name, _)| name == wanted).map(|(_, layer)| layer);
        let member = member.map(member_key).filter(|key| !key.is_empty());
        match member.and_then(|member| find(&member)).or_else(|| find("*")) {
            Some(layer) => vec![layer],
            None => self.own.iter().collect(),
        }
    }
}

fn member_key(member: &str) -> String {
    let member = member.trim();
    member.strip_prefix('@').unwrap_or(member).to_lowercase()
}

impl Wundr {
    /// Every layer that an actor's tools must pass, the outermost first.
    fn in_force<'a>(&'a self, actor: &Actor) -> Vec<&'a Layer> {
        let named = |name: &Option<String>, key: &str| {
            name.as_deref().is_some_and(|name| name.trim().eq_ignore_ascii_case(key))
        };
        let agent = self.agents.iter().find(|(name, _)| named(&actor.agent, name)).map(|(_, layer)| layer);
        let mut layers = Vec::new();
        for layer in std::iter::once(&self.global).chain(agent) {
            layers.push(layer);
            layers.extend(layer.for_provider(actor));
        }
        if let Some(team) = actor.team.as_deref().map(str::trim).filter(|team| !team.is_empty()) {
            let find = |wanted: &str| self.groups.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            let group = find(team).or_else(|| find("*"));
            layers.extend(group.map(|(_, group)| group.in_force(actor.member.as_deref())).unwrap_or_default());
        }
        layers.extend(actor.subagent.then_some(&self.subagents));
        layers
    }
}

impl Stages for Wundr {
    fn tools(&self, tool: &ToolName, actor: &Actor) -> Option<Remark> {
        let layers = self.in_force(actor).into_iter().find_map(|layer| layer.refuses(tool));
        layers.or_else(|| self.categories.iter().find_map(|category| category.refuses(tool)))
    }

    fn patterns(&self, operation: &Operation) -> Vec<Remark> {
        self.arguments.iter().filter_map(|rules| rules.judge(operation)).collect()
    }

    fn has_limits(&self) -> bool {
        !self.rates.is_empty()
    }

    fn looks_back_ms(&self) -> u64 {
        self.rates.iter().map(|rate| rate.window_ms).max().unwrap_or(0)
    }

    fn limits(&self, operation: &Operation, state: &State) -> Vec<Remark> {
        self.rates.iter().filter_map(|rate| rate.judge(operation, state)).collect()
    }

    fn rules(&self, operation: &Operation, _: Facts<'_>) -> Vec<Remark> {
        if let Some(remark) = self.categories.iter().find_map(|category| category.wants_approval(&operation.tool)) {
            return vec![remark];
        }
        vec![Remark::new(
            Verdict::Allow,
            Code::ForeignDefault,
            "No layer hides this tool, and Wundr allows by default.",
        )]
    }
}
