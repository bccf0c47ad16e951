//! Warnings about roles that nobody states.
//!
//! What an agent reports of itself never satisfies an allow and routes nothing. Where a file counts on a role all the same,
//! its owner should know that nothing on this machine states it.

use super::file::{File, Spanned, Who};
use super::{MAX_PROBLEMS, Problem};
use crate::word::Verdict;

/// Who is stated on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedRoles {
    /// Kinds of agents: products that are registered, those of `--as`, names of tokens.
    pub agents: Vec<String>,
    /// Teams, as `a` or `a/alice`.
    pub teams: Vec<String>,
    /// Tenants.
    pub tenants: Vec<String>,
}

impl StatedRoles {
    fn names(&self, who: &Who) -> bool {
        let has = |names: &[String], name: &str| names.iter().any(|known| known.trim().eq_ignore_ascii_case(name));
        match who {
            Who::Agent(agent) => has(&self.agents, agent),
            Who::Team { team, member: None } => self
                .teams
                .iter()
                .any(|known| known.split('/').next().is_some_and(|known| known.eq_ignore_ascii_case(team))),
            Who::Team { team, member: Some(member) } => {
                has(&self.teams, &format!("{team}/{}", member.trim_start_matches('@')))
            }
            Who::Tenant(tenant) => has(&self.tenants, tenant),
            // A model is only ever reported; that a call is a subagent's, the way in sees.
            Who::Provider(_) => false,
            Who::Subagent => true,
        }
    }

    /// What `[actor]` of a file states.
    pub fn add(&mut self, file: &File) {
        let Some(actor) = &file.actor else { return };
        if let Some(team) = &actor.team {
            self.teams.push(match &actor.member {
                Some(member) => format!("{}/{}", team.value, member.value.trim_start_matches('@')),
                None => team.value.clone(),
            });
        }
        self.tenants.extend(actor.tenant.as_ref().map(|tenant| tenant.value.clone()));
    }
}

/// Allows and routes for somebody whom nothing states.
#[must_use]
pub fn lint_roles(file: &File, stated: &StatedRoles) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut warn = |who: &Spanned<Who>, what: &str| {
        let message = format!("nothing on this machine states `{}`, so {what}", who.value);
        let mut warning = file.problem("role-not-stated", &who.span, message);
        warning.warning = true;
        warning.suggestion = Some(match &who.value {
            Who::Provider(_) => "write trust_roles = true to believe the model that agents report".to_owned(),
            Who::Agent(_) => {
                format!("register it with `sayso install AGENT --as {}`, or write trust_roles = true", who.value)
            }
            _ => format!("state it in [actor], or with `sayso install AGENT --as {}`", who.value),
        });
        warnings.push(warning);
    };
    for rule in file.rules.iter().filter(|rule| rule.verdict.value == Verdict::Allow) {
        let Some(when) = rule.when.as_ref().filter(|when| !when.actors.is_empty()) else { continue };
        if when.actors.iter().all(|who| !stated.names(&who.value)) {
            when.actors.iter().take(1).for_each(|who| warn(who, "this allow never applies"));
        }
    }
    for models in file.models.iter().filter(|models| models.model.is_some() || models.fallback.is_some()) {
        let Some(who) = models.who.as_ref().filter(|who| !stated.names(&who.value)) else { continue };
        // `sayso route --agent NAME` states whom it asks for; a tenant or a team it takes from what is stated.
        if !matches!(who.value, Who::Agent(_)) {
            warn(who, "nobody is routed by this");
        }
    }
    warnings.truncate(MAX_PROBLEMS);
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    #[test]
    fn an_allow_for_a_role_that_nobody_states_is_pointed_at() {
        let text = "[actor]\nteam = \"a\"\nmember = \"alice\"\n\
                    [[rule]]\nallow = { run = \"ls\" }\nwhen = { for = \"agent:explore\" }\n\
                    [[rule]]\nallow = { run = \"ls\" }\nwhen = { for = [\"agent:explore\", \"agent:coder\"] }\n\
                    [[rule]]\nallow = { run = \"cat\" }\nwhen = { for = \"team:a/alice\" }\n\
                    [[rule]]\nallow = { run = \"cat\" }\nwhen = { for = \"provider:openai\" }\n\
                    [[rule]]\ndeny = { run = \"rm\" }\nwhen = { for = \"agent:explore\" }\n\
                    [models.for.\"team:b\"]\nuse = \"a/b\"\n[models.for.\"agent:x\"]\nuse = \"a/b\"\n";
        let file = parse("p.toml", text).unwrap();
        let mut stated = StatedRoles { agents: vec!["coder".into(), "codex".into()], ..StatedRoles::default() };
        stated.add(&file);
        let found: Vec<_> = lint_roles(&file, &stated).iter().map(|it| (it.source.line, it.code)).collect();
        assert_eq!(found, [(6, "role-not-stated"), (15, "role-not-stated"), (19, "role-not-stated")]);
    }
}
