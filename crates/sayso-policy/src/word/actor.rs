//! Who asks.

use serde::{Deserialize, Serialize};

/// Who asks for a call. Every part may be unknown; layers that name an unknown part do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Actor {
    /// The kind of agent (`claude-code`, `coder`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
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
    /// Its kinds: the product, and the type of a subagent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Its model, as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl Reported {
    /// Nothing is reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.provider.is_none()
    }
}

/// Who asks, as the owner states it where a way in is registered: `agent:coder,team:a/alice,tenant:t1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// The kind of agent.
    pub agent: Option<String>,
    /// The team.
    pub team: Option<String>,
    /// The member of that team.
    pub member: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
}

impl Stated {
    /// Fills in what is stated. The product that an agent is otherwise known by still counts against it.
    #[must_use]
    pub fn of(&self, mut actor: Actor) -> Actor {
        if let Some(agent) = &self.agent {
            let product = actor.agent.replace(agent.clone());
            let reported = actor.reported.get_or_insert_default();
            reported.agents.extend(product.filter(|product| product != agent));
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

    /// The same actor as it reports itself, once for each kind that it names; nothing where it reports nothing.
    #[must_use]
    pub fn as_reported(&self) -> Vec<Self> {
        let Some(reported) = &self.reported else { return Vec::new() };
        let bare = Self { reported: None, ..self.clone() };
        let provider = reported.provider.clone().or_else(|| self.provider.clone());
        let own = Self { provider, ..bare };
        let named = reported.agents.iter().map(|agent| Self { agent: Some(agent.clone()), ..own.clone() });
        let alone = reported.provider.is_some().then(|| own.clone());
        alone.into_iter().chain(named).collect()
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
        assert!(actor.as_reported().iter().any(|one| one.agent.as_deref() == Some("codex")));
        for wrong in ["", "coder", "agent:", "agent:a,agent:b", "role:x", "team:/alice", "agent:a b"] {
            assert!(wrong.parse::<Stated>().is_err(), "{wrong}");
        }
    }
}
