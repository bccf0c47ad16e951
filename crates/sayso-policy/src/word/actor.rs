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
    /// It was started by another agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// That agent, whose layers are the ceiling for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub parent: Option<Box<Actor>>,
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
}
