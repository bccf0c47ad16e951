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
    /// Who may answer too once it has waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate: Option<Escalation>,
}

/// A higher tier that may answer too after a time. Nobody loses the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Escalation {
    /// How long the tier below has it to itself, in milliseconds.
    pub wait_ms: u64,
    /// The higher tier.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub to: Box<Approvers>,
}

/// As many tiers as a question climbs; a policy's circle is refused, and this ends one that a store holds.
const MOST_TIERS: usize = 8;

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

    /// The tiers, the lowest first, each with how long the question must have waited for it.
    fn tiers(&self) -> impl Iterator<Item = (u64, &Self)> {
        fn next<'a>((waited, tier): &(u64, &'a Approvers)) -> Option<(u64, &'a Approvers)> {
            let up = tier.escalate.as_ref()?;
            Some((waited.saturating_add(up.wait_ms), up.to.as_ref()))
        }
        std::iter::successors(Some((0, self)), next).take(MOST_TIERS)
    }

    /// The same with those of the higher tiers who may answer by now: after so much time, or at least this many tiers up
    /// because somebody said so. `None`: nobody else may.
    #[must_use]
    pub fn escalated(&self, waited_ms: u64, at_least: usize) -> Option<(Self, String)> {
        let reached = |(at, (due, _)): &(usize, (u64, &Self))| *at <= at_least || *due <= waited_ms;
        let reached = self.tiers().enumerate().skip(1).take_while(reached);
        let mut all = self.clone();
        all.escalate = None;
        let mut last = None;
        for (_, (_, tier)) in reached {
            let new = tier.members.iter().filter(|member| !self.members.contains(member)).cloned();
            all.members.extend(new);
            last = Some(tier.name.clone());
        }
        Some((all, last?))
    }

    /// Whether these people together are enough of them. Each counts once, however often they said it. Those of higher
    /// tiers count: they can have answered only once the question had reached them.
    #[must_use]
    pub fn satisfied_by(&self, people: &[Person]) -> bool {
        let theirs = |person: &&Person| self.tiers().any(|(_, tier)| tier.include(person));
        let mut names: Vec<&str> = people.iter().filter(theirs).map(|p| p.name.as_str()).collect();
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
            escalate: None,
        };
        let (ann, bob) = (Person::named("ann"), Person { groups: vec!["sso:leads".into()], ..Person::named("bob") });
        assert!(leads.include(&ann) && leads.include(&bob) && !leads.include(&Person::named("bob")));
        assert!(!leads.satisfied_by(&[ann.clone(), ann.clone()]));
        assert!(!leads.satisfied_by(&[ann.clone(), Person::named("eve")]));
        assert!(leads.satisfied_by(&[ann, bob]));
    }

    #[test]
    fn a_higher_tier_may_answer_after_its_time_and_the_lower_one_still() {
        let one = |name: &str, member: &str, escalate| Approvers {
            name: name.into(),
            file: "p.toml".into(),
            members: vec![member.into()],
            need: 1,
            expires_ms: None,
            escalate,
        };
        let head = one("head", "hal", None);
        let managers = one("managers", "mia", Some(Escalation { wait_ms: 100, to: Box::new(head) }));
        let leads = one("leads", "ann", Some(Escalation { wait_ms: 50, to: Box::new(managers) }));
        assert_eq!(leads.escalated(49, 0), None);
        let names =
            |waited, least| leads.escalated(waited, least).map(|(all, to)| (all.members.join(" "), to)).unwrap();
        assert_eq!(names(50, 0), ("ann mia".into(), "managers".into()));
        assert_eq!(names(0, 1), ("ann mia".into(), "managers".into()));
        assert_eq!(names(150, 0), ("ann mia hal".into(), "head".into()));
        assert!(!leads.include(&Person::named("mia")));
        assert!(leads.satisfied_by(&[Person::named("mia")]) && !leads.satisfied_by(&[Person::named("eve")]));
    }
}
