//! `sayso policy show --agent NAME`: the layers in force for an actor.

use crate::failure::Failure;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_policy::explain::{LayerInForce, layers, visible};
use sayso_policy::{Actor, Policy, PolicyText};
use std::io::Write;

/// Whose layers.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Of {
    /// The layers for this agent, such as claude-code or coder
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The layers for this provider, or PROVIDER/MODEL
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The layers for this team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// The layers for this member of the team
    #[arg(long, value_name = "NAME", requires = "team")]
    member: Option<String>,
    /// The layers for this tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// The layers for an agent that another agent started
    #[arg(long)]
    subagent: bool,
}

impl Of {
    /// Somebody is named.
    pub(super) fn is_anybody(&self) -> bool {
        let names = [&self.agent, &self.provider, &self.team, &self.member, &self.tenant];
        self.subagent || names.iter().any(|name| name.is_some())
    }

    fn actor(&self) -> Actor {
        Actor {
            agent: self.agent.clone(),
            provider: self.provider.clone(),
            team: self.team.clone(),
            member: self.member.clone(),
            tenant: self.tenant.clone(),
            subagent: self.subagent,
            ..Actor::default()
        }
    }
}

/// Prints them.
pub(super) fn show(
    out: &mut impl Write,
    (policy, texts): (&Policy, &[PolicyText]),
    of: &Of,
    json: bool,
) -> Result<(), Failure> {
    let actor = policy.owned(of.actor(), true);
    let found = layers(policy, texts, &actor);
    if json {
        let shown = serde_json::json!({ "version": policy.version(), "actor": actor, "layers": found });
        writeln!(out, "{shown}")?;
        return Ok(());
    }
    writeln!(out, "policy {} · {}\n", policy.version(), visible(&actor.in_words()))?;
    if found.is_empty() {
        writeln!(out, "  No file says anything of this actor.")?;
        return Ok(());
    }
    let mut table = Table::new(["layer", "for", "says", "where", ""]);
    for layer in &found {
        table.row(row(layer));
    }
    write!(out, "{}", table.draw(Paint::for_stdout()))?;
    Ok(())
}

fn row(layer: &LayerInForce) -> [String; 5] {
    let note = match (&layer.replaced_by, layer.trusted) {
        (Some(by), _) => format!("replaced by {}", visible(by)),
        (None, false) => "not trusted: its allows don't apply".to_owned(),
        (None, true) => String::new(),
    };
    [
        format!("{} {}", layer.layer, layer.kind),
        layer.who.as_deref().map(visible).unwrap_or_default().into_owned(),
        visible(&layer.says).into_owned(),
        visible(&layer.source).into_owned(),
        note,
    ]
}
