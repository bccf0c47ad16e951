//! Who answers an Ask.

use serde::{Deserialize, Serialize};

/// The people whom an Ask is addressed to: an `[approvals.NAME]` of the file whose rule asks.
//
// INVARIANT: made from the rule's own file. Another file that uses the same name, such as a project's that nobody
// trusts, does not change who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Approvers {
    /// The name that `approver` uses.
    pub name: String,
    /// The file that names them, as shown to people.
    pub file: String,
    /// People, or groups as `sso:NAME`.
    pub members: Vec<String>,
    /// How many of them must say yes.
    pub need: u32,
    /// How long a question to them waits, in milliseconds; `None`: as long as questions usually do.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub expires_ms: Option<u64>,
}

/// Who gives an answer. The name and the groups are vouched for by whoever lets them answer, never by the answer itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Person {
    /// The name.
    pub name: String,
    /// Groups they belong to, as `sso:NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// No person: a rule or service that its owner trusts to answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub automated: bool,
}

impl Person {
    /// A person of this name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl std::fmt::Display for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if self.automated { f.write_str(" (automated)") } else { Ok(()) }
    }
}

impl Approvers {
    /// Whether somebody is one of them.
    #[must_use]
    pub fn include(&self, person: &Person) -> bool {
        self.members.iter().any(|member| *member == person.name || person.groups.contains(member))
    }

    /// Whether these people together are enough of them. Each counts once, however often they said it.
    #[must_use]
    pub fn satisfied_by(&self, people: &[Person]) -> bool {
        let mut names: Vec<&str> = people.iter().filter(|p| self.include(p)).map(|p| p.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len() >= usize::try_from(self.need.max(1)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_needed_means_two_different_members() {
        let leads = Approvers {
            name: "leads".into(),
            file: "p.toml".into(),
            members: vec!["ann".into(), "sso:leads".into()],
            need: 2,
            expires_ms: None,
        };
        let (ann, bob) = (Person::named("ann"), Person { groups: vec!["sso:leads".into()], ..Person::named("bob") });
        assert!(leads.include(&ann) && leads.include(&bob) && !leads.include(&Person::named("bob")));
        assert!(!leads.satisfied_by(&[ann.clone(), ann.clone()]));
        assert!(!leads.satisfied_by(&[ann.clone(), Person::named("eve")]));
        assert!(leads.satisfied_by(&[ann, bob]));
    }
}
