//! Who asks.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Who asks for a call. Every part may be unknown; layers that name an unknown part do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Actor {
    /// The kind of agent (`claude-code`, `coder`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The product that is registered, where the owner states another kind of agent (`--as`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The model's provider, or `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The team it works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The member of that team on whose behalf it acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The run within the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Who asked, as far as the way in knows it: `token alice`, `owner`, `user 1000`, `anybody`. Absent where the way in
    /// itself names the agent, as a hook does. A session belongs to whoever asked in it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
    /// What the agent itself says of its kind and its model. It adds to what is stated, and only tightens: asks, denies and
    /// tool layers look at it, an allow never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<Box<Reported>>,
    /// What the owner states of calls that come in on this machine (`[actor]`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<Stated>>,
    /// It was started by another agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// That agent, whose layers are the ceiling for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub parent: Option<Box<Actor>>,
}

/// What an agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Reported {
    /// Its kinds: its own, and the type of a subagent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Its model, as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The team, where the owner states another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The member of that team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The tenant, where the owner states another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Reported {
    /// Nothing is reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Who asks, as the owner states it: where a way in is registered (`agent:coder,team:a/alice,tenant:t1`), or in `[actor]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Stated {
    /// The kind of agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The member of that team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Stated {
    /// Fills in what is stated. The product that is registered stays known beside it.
    #[must_use]
    pub fn of(&self, mut actor: Actor) -> Actor {
        if let Some(agent) = &self.agent {
            let product = actor.agent.replace(agent.clone());
            actor.product = product.filter(|product| product != agent).or(actor.product);
        }
        actor.team = self.team.clone().or(actor.team);
        actor.member = self.member.clone().or(actor.member);
        actor.tenant = self.tenant.clone().or(actor.tenant);
        actor
    }
}

impl std::str::FromStr for Stated {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut stated = Self::default();
        for part in text.split(',').map(str::trim) {
            let (key, name) = part.split_once(':').unwrap_or((part, ""));
            let (name, key) = (name.trim(), key.trim());
            let plain = |name: &str| !name.is_empty() && !name.chars().any(|c| c.is_control() || c.is_whitespace());
            let set = |slot: &mut Option<String>, name: &str| match slot.replace(name.to_owned()) {
                None if plain(name) => Ok(()),
                None => Err(format!("`{part}` names nobody")),
                Some(_) => Err(format!("`{key}` is given twice")),
            };
            match key {
                "agent" => set(&mut stated.agent, name)?,
                "tenant" => set(&mut stated.tenant, name)?,
                "team" => match name.split_once('/') {
                    Some((team, member)) => {
                        set(&mut stated.team, team)?;
                        set(&mut stated.member, member)?;
                    }
                    None => set(&mut stated.team, name)?,
                },
                _ => return Err(format!("`{part}` is not agent:NAME, team:NAME, team:NAME/MEMBER or tenant:NAME")),
            }
        }
        Ok(stated)
    }
}

/// Fills in a name that the owner states. What was said before is kept as a report where the owner's word overrules it.
fn overrule(
    own: &mut Option<String>,
    stated: Option<&String>,
    overrules: bool,
    reported: &mut Option<Box<Reported>>,
    of: fn(&mut Reported) -> &mut Option<String>,
) {
    let Some(stated) = stated else { return };
    match own.as_deref() {
        None => *own = Some(stated.clone()),
        Some(other) if overrules && !other.trim().eq_ignore_ascii_case(stated) => {
            let other = own.replace(stated.clone());
            let slot = of(reported.get_or_insert_default());
            *slot = slot.take().or(other);
        }
        Some(_) => {}
    }
}

/// A provider, split into its two parts, trimmed and lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProviderKey {
    /// `openai`.
    pub provider: String,
    /// `gpt-4`, where it was given.
    pub model: Option<String>,
}

impl Actor {
    /// How [`Actor::asker`] begins where somebody proved who they are.
    const PROVEN: [&'static str; 2] = ["token ", "owner"];

    /// Whether its names are no more than what the caller says: it came without a token.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.asker.as_deref().is_some_and(|asker| !Self::PROVEN.iter().any(|proven| asker.starts_with(proven)))
    }

    /// Whether anything is known of who it is, beside its session and how it came in.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let bare = Self { session: None, run: None, asker: None, ..self.clone() };
        bare != Self::default()
    }

    /// In words: `agent coder · team a/alice · reports agent explore`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let name = |key: &str, name: &Option<String>| name.as_ref().map(|name| format!("{key} {name}"));
        let team = self.team.as_ref().map(|team| match &self.member {
            Some(member) => format!("team {team}/{member}"),
            None => format!("team {team}"),
        });
        let own = [name("agent", &self.agent), name("product", &self.product), name("provider", &self.provider), team];
        let more = [name("tenant", &self.tenant), self.subagent.then(|| "subagent".to_owned())];
        let reported = self.reported.iter().flat_map(|reported| {
            let agents = reported.agents.iter().map(|agent| format!("reports agent {agent}"));
            let rest = [("provider", &reported.provider), ("team", &reported.team), ("tenant", &reported.tenant)];
            let rest = rest.into_iter().filter_map(|(key, name)| Some(format!("reports {key} {}", name.as_ref()?)));
            agents.chain(rest).collect::<Vec<_>>()
        });
        own.into_iter().chain(more).flatten().chain(reported).collect::<Vec<_>>().join(" · ")
    }

    /// The same actor as it reports itself, once for each kind that it names; nothing where it reports nothing.
    #[must_use]
    pub fn as_reported(&self) -> Vec<Self> {
        let Some(reported) = &self.reported else { return Vec::new() };
        let own = self.with_reports(reported);
        let named = reported.agents.iter().map(|agent| Self { agent: Some(agent.clone()), ..own.clone() });
        let more = reported.provider.is_some() || reported.team.is_some() || reported.member.is_some();
        let alone = (more || reported.tenant.is_some()).then(|| own.clone());
        alone.into_iter().chain(named).collect()
    }

    /// This actor and all above it, itself first. Ways in bound how long a chain they take.
    pub fn and_above(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |actor| actor.parent.as_deref())
    }

    /// The same actor, where its reports count as if they were stated: its own kind first, then those that it reports.
    #[must_use]
    pub fn believed(&self) -> Vec<Self> {
        let own = self.reported.as_ref().map_or_else(|| self.clone(), |reported| self.with_reports(reported));
        let reported = self.reported.iter().flat_map(|reported| &reported.agents);
        let named = reported.chain(&self.product).map(|agent| Self { agent: Some(agent.clone()), ..own.clone() });
        std::iter::once(own.clone()).chain(named).collect()
    }

    fn with_reports(&self, reported: &Reported) -> Self {
        let or = |reported: &Option<String>, own: &Option<String>| reported.clone().or_else(|| own.clone());
        let member = if reported.team.is_some() { reported.member.clone() } else { or(&reported.member, &self.member) };
        Self {
            provider: or(&reported.provider, &self.provider),
            team: or(&reported.team, &self.team),
            tenant: or(&reported.tenant, &self.tenant),
            member,
            reported: None,
            ..self.clone()
        }
    }

    /// What of it is stated: by the owner, by a registration or by whoever proved who they are. Without a token only what
    /// the owner states of calls on this machine.
    ///
    /// INVARIANT: allows, and what stands in place of something stricter, look at this alone.
    #[must_use]
    pub fn stated(&self) -> Cow<'_, Self> {
        if !self.is_claimed() {
            return Cow::Borrowed(self);
        }
        let owner = self.owner.as_deref().cloned().unwrap_or_default();
        Cow::Owned(Self {
            agent: owner.agent,
            provider: None,
            team: owner.team,
            member: owner.member,
            tenant: owner.tenant,
            reported: None,
            ..self.clone()
        })
    }

    /// The same as the product that is registered, where another kind of agent is stated.
    #[must_use]
    pub fn as_product(&self) -> Option<Self> {
        let product = self.product.clone().filter(|_| !self.is_claimed())?;
        Some(Self { agent: Some(product), product: None, reported: None, ..self.clone() })
    }

    /// Every actor that a restriction may mean: as it is stated, as it is named, and as it reports itself.
    #[must_use]
    pub fn every_aspect(&self) -> Vec<Self> {
        let mut all = vec![self.stated().into_owned()];
        all.extend(self.as_product());
        if self.is_claimed() {
            all.push(Self { reported: None, ..self.clone() });
        }
        all.extend(self.as_reported());
        all
    }

    /// The same actor with what its owner states of calls on this machine: it fills in what nobody else states. Where
    /// `pinned`, nothing else counts but as a report.
    #[must_use]
    pub(crate) fn owned(mut self, owner: &Stated, pinned: bool) -> Self {
        let overrules = pinned || self.is_claimed();
        if let Some(team) = &owner.team {
            let same = self.team.as_deref().is_some_and(|own| own.trim().eq_ignore_ascii_case(team));
            match self.team.clone() {
                Some(other) if !same => {
                    if overrules {
                        let member = self.member.take();
                        let reported = self.reported.get_or_insert_default();
                        reported.team.get_or_insert(other);
                        reported.member = reported.member.take().or(member);
                        self.team = Some(team.clone());
                        self.member.clone_from(&owner.member);
                    }
                }
                own => {
                    self.team = own.or_else(|| Some(team.clone()));
                    overrule(&mut self.member, owner.member.as_ref(), overrules, &mut self.reported, |it| {
                        &mut it.member
                    });
                }
            }
        }
        overrule(&mut self.tenant, owner.tenant.as_ref(), overrules, &mut self.reported, |it| &mut it.tenant);
        self.owner.get_or_insert_with(|| Box::new(owner.clone()));
        self
    }

    /// The provider in normal form.
    #[must_use]
    pub fn provider_key(&self) -> Option<ProviderKey> {
        ProviderKey::parse(self.provider.as_deref()?)
    }
}

impl ProviderKey {
    /// `OpenAI / gpt-4` becomes `openai` and `gpt-4`; blank is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (provider, model) = match text.split_once('/') {
            Some((provider, model)) => (provider.trim(), Some(model.trim())),
            None => (text.as_str(), None),
        };
        if provider.is_empty() {
            return None;
        }
        Some(Self { provider: provider.to_owned(), model: model.filter(|m| !m.is_empty()).map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_trimmed_lowered_and_split_once() {
        let key = ProviderKey::parse(" OpenAI /GPT-4/turbo ").unwrap();
        assert_eq!(key.provider, "openai");
        assert_eq!(key.model.as_deref(), Some("gpt-4/turbo"));
        assert_eq!(ProviderKey::parse("  "), None);
    }

    #[test]
    fn what_is_stated_is_read_and_nonsense_is_refused() {
        let stated: Stated = "agent:coder,team:a/alice,tenant:t1".parse().unwrap();
        let actor = stated.of(Actor { agent: Some("codex".into()), ..Actor::default() });
        assert_eq!((actor.agent.as_deref(), actor.team.as_deref()), (Some("coder"), Some("a")));
        assert_eq!((actor.member.as_deref(), actor.tenant.as_deref()), (Some("alice"), Some("t1")));
        assert_eq!(actor.as_product().unwrap().agent.as_deref(), Some("codex"));
        for wrong in ["", "coder", "agent:", "agent:a,agent:b", "role:x", "team:/alice", "agent:a b"] {
            assert!(wrong.parse::<Stated>().is_err(), "{wrong}");
        }
    }
}
