//! Defaults by the kind of agent: `[for.WHO]`, and from which sides a call is judged because of it.
//!
//! A file has its own presets, and others for some actors in their place. Which of them speak depends on who asks: by what
//! is stated, one group; by what an agent reports of itself, another group beside that one. Then the call is judged once
//! with each group of a file beside each group of the others, and the stricter answer counts for every effect.
//!
//! INVARIANT: what is reported adds a side, and takes none away, unless the file believes it (`trust_roles`).

use crate::condition::is_actor;
use crate::hold::HoldSection;
use crate::index::Table;
use crate::policy::{CompiledFile, CompiledPreset, Defaults, Policy};
use crate::text::Who;
use crate::word::{Actor, Answer, Decision, EffectOpinions, Holding, Verdict};
use sayso_shell::bounds::Need;

/// Defaults for some actors.
#[derive(Debug)]
pub(crate) struct Role {
    pub who: Who,
    pub defaults: Defaults,
    /// `[hold]` of the file, with what these presets say for the rest.
    pub hold: Option<HoldSection>,
}

/// A call is judged from this many sides; one that has more is denied.
pub(crate) const MOST_SIDES: usize = 64;

/// A group of presets of one file: 0 is its own `extends`, then those of its roles in their order.
pub(crate) type Group = u32;

/// Which group of each file speaks. Of a file that is not named, its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side(Vec<Group>);

impl Side {
    /// The group of a file, by its number.
    pub(crate) fn group(&self, file: usize) -> Group {
        self.0.get(file).copied().unwrap_or_default()
    }
}

impl CompiledFile {
    /// The presets of a group.
    pub(crate) fn presets_of(&self, group: Group) -> impl Iterator<Item = &CompiledPreset> {
        self.presets.iter().filter(move |preset| preset.group == group)
    }

    pub(crate) fn defaults_of(&self, group: Group) -> &Defaults {
        self.role(group).map_or(&self.defaults, |role| &role.defaults)
    }

    pub(crate) fn hold_of(&self, group: Group) -> Option<&HoldSection> {
        self.role(group).map_or(self.hold.as_ref(), |role| role.hold.as_ref())
    }

    /// Every `[hold]`, of all groups.
    pub(crate) fn holds(&self) -> impl Iterator<Item = &HoldSection> {
        self.hold.iter().chain(self.roles.iter().filter_map(|role| role.hold.as_ref()))
    }

    fn role(&self, group: Group) -> Option<&Role> {
        usize::try_from(group).ok()?.checked_sub(1).and_then(|at| self.roles.get(at))
    }

    /// The groups that speak for an actor and for those above it.
    fn groups(&self, actor: &Actor) -> Vec<Group> {
        if self.roles.is_empty() {
            return vec![0];
        }
        let meant = |actor: &Actor| {
            let roles = (1..).zip(&self.roles).filter(|(_, role)| is_actor(&role.who, actor));
            roles.map(|(group, _)| group).collect::<Vec<Group>>()
        };
        let mut found = Vec::new();
        let mut add = |groups: Vec<Group>, or_own: bool| {
            let own = groups.is_empty() && or_own;
            for group in groups.into_iter().chain(own.then_some(0)) {
                if !found.contains(&group) {
                    found.push(group);
                }
            }
        };
        for current in actor.and_above() {
            if self.trusts_roles {
                let mut groups: Vec<Group> = current.believed().iter().flat_map(meant).collect();
                groups.dedup();
                add(groups, true);
            } else {
                let of_product = current.as_product().map(|product| meant(&product)).unwrap_or_default();
                add(meant(&current.stated()).into_iter().chain(of_product).collect(), true);
                current.every_aspect().iter().for_each(|aspect| add(meant(aspect), false));
            }
        }
        found
    }
}

/// The tables of a file, and those of its presets that speak from these sides: for what is allowed from all of them, for
/// what is asked about or denied from any.
pub(crate) fn tables<'a>(
    policy: &'a Policy,
    file: &'a CompiledFile,
    sides: &'a [Side],
    from_all: bool,
) -> impl Iterator<Item = &'a Table> {
    let at = policy.files.iter().position(|one| std::ptr::eq(one, file));
    let groups: Vec<Group> = sides.iter().map(|side| at.map_or(0, |at| side.group(at))).collect();
    let speaks = move |preset: &&CompiledPreset| {
        let is = |group: &Group| *group == preset.group;
        if from_all { groups.iter().all(is) } else { groups.iter().any(is) }
    };
    std::iter::once(&file.own).chain(file.presets.iter().filter(speaks).map(|preset| &preset.table))
}

impl Policy {
    /// The `[hold]` of these files from these sides.
    pub(crate) fn holds_of<'a>(&'a self, files: &[&'a CompiledFile], sides: &[Side]) -> Vec<&'a HoldSection> {
        let mut found: Vec<&HoldSection> = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            if !files.iter().any(|one| std::ptr::eq(*one, file)) {
                continue;
            }
            for hold in sides.iter().filter_map(|side| file.hold_of(side.group(at))) {
                if !found.iter().any(|one| std::ptr::eq(*one, hold)) {
                    found.push(hold);
                }
            }
        }
        found
    }

    /// From which sides a call of this actor is judged: at least one.
    pub(crate) fn sides(&self, actor: &Actor) -> Vec<Side> {
        let mut sides = self.more_sides(actor);
        if sides.is_empty() {
            sides.push(Side::default());
        }
        sides
    }

    /// The same; none where no file has roles, which is one side.
    pub(crate) fn more_sides(&self, actor: &Actor) -> Vec<Side> {
        if self.files.iter().all(|file| file.roles.is_empty()) {
            return Vec::new();
        }
        // INVARIANT: every group of a file meets every group of the others. If one more group took the place of another in
        // a pair, what an agent reports of itself could take a side away.
        let mut sides = vec![Side::default()];
        for file in &self.files {
            let groups = file.groups(actor);
            let with = |side: &Side| {
                let longer = |group: &Group| Side(side.0.iter().chain([group]).copied().collect());
                groups.iter().map(longer).collect::<Vec<Side>>()
            };
            sides = sides.iter().flat_map(with).take(MOST_SIDES + 1).collect();
        }
        sides
    }

    /// What the owner states of calls that come in on this machine, added to an actor. A rehearsal may ask about anybody.
    #[must_use]
    pub fn owned(&self, actor: Actor, rehearsal: bool) -> Actor {
        self.files.iter().fold(actor, |actor, file| match &file.actor {
            Some(owner) => actor.owned(owner, !rehearsal && file.layer == crate::word::Layer::Managed),
            None => actor,
        })
    }
}

/// Two decisions about one operation, from two sides: the stricter counts, effect by effect.
pub(crate) fn stricter(mut one: Decision, other: Decision) -> Decision {
    let verdict = one.verdict.max(other.verdict);
    let hold = both(&one, &other, verdict);
    let mut more = Vec::new();
    for said in other.effects {
        let about_call = said.effect.is_none();
        let same =
            |own: &&mut EffectOpinions| own.effect == said.effect && (!about_call || own.opinions == said.opinions);
        match one.effects.iter_mut().find(same) {
            Some(own) if said.verdict > own.verdict => *own = said,
            // INVARIANT: what either side asks stays, with whom it asks: an answer to one is none to the other.
            Some(own) if said.verdict == own.verdict => {
                let new: Vec<_> = said.opinions.into_iter().filter(|opinion| !own.opinions.contains(opinion)).collect();
                own.opinions.extend(new);
            }
            Some(_) => {}
            None if about_call && said.verdict == Verdict::Allow => {}
            None => more.push(said),
        }
    }
    more.append(&mut one.effects);
    let answer = match (one.answer, other.answer) {
        (Answer::DryRun, _) | (_, Answer::DryRun) => Answer::DryRun,
        _ => verdict.into(),
    };
    Decision {
        verdict,
        answer,
        would: None,
        unanswered: one.unanswered.max(other.unanswered),
        hold,
        reasons: crate::stage::ask::reasons(&more, verdict),
        effects: more,
        policy_version: one.policy_version,
        deeds: None,
        risk: None,
    }
}

/// What is said of holding: an Allow that counts only under a hold for one side does so for both, and an Ask is one that a
/// hold would answer only if it is for every side that asks.
fn both(one: &Decision, other: &Decision, verdict: Verdict) -> Option<Holding> {
    let need = [one.hold, other.hold].into_iter().flatten().map(needed).max()?;
    let lifted = |side: &Decision| {
        side.verdict == Verdict::Allow || matches!(side.hold, Some(Holding::WouldAllow(_) | Holding::Required(_)))
    };
    match verdict {
        Verdict::Deny => None,
        Verdict::Ask if lifted(one) && lifted(other) => Some(Holding::WouldAllow(need)),
        Verdict::Allow if [one, other].iter().any(|side| matches!(side.hold, Some(Holding::Required(_)))) => {
            Some(Holding::Required(need))
        }
        _ => Some(Holding::Wanted(need)),
    }
}

fn needed(hold: Holding) -> Need {
    match hold {
        Holding::Required(need) | Holding::Wanted(need) | Holding::WouldAllow(need) => need,
    }
}
