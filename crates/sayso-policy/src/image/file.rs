//! What an image holds of a file beside its rules.

use super::bytes::{Imaged, Reader, choice, fields};
use crate::hold::HoldSection;
use crate::index::Table;
use crate::pattern::{PathPattern, RunPattern, ToolPattern};
use crate::policy::{CompiledFile, CompiledPreset, Defaults};
use crate::risk::RiskSection;
use crate::role::Role;
use crate::rule::Pattern;
use crate::stage::limits::LimitRule;
use crate::stage::models::ModelRule;
use crate::stage::patterns::{Expression, ParamRule};
use crate::stage::plan::{PlanSection, RequiredPlan};
use crate::stage::tools::ToolLayer;
use crate::state::Scope;
use crate::text::{Cost, Limit, Mode, Rate, Spanned, Who};
use crate::word::{Approvers, Escalation, Layer, ProviderKey, Source, Stated, Verdict};
use sayso_shell::Verb;

/// A file without its tables.
pub(super) struct Rest {
    layer: Layer,
    counts_allow: bool,
    defaults: Defaults,
    mode: Mode,
    tools: Vec<ToolLayer>,
    patterns: Vec<ParamRule>,
    essential: Vec<ToolPattern>,
    limits: Vec<LimitRule>,
    unanswered: Option<Verdict>,
    models: Vec<ModelRule>,
    actor: Option<Stated>,
    trusts_roles: bool,
    roles: Vec<Role>,
    plan: PlanSection,
    risk: Option<RiskSection>,
    hold: Option<HoldSection>,
    self_written: bool,
}

pub(super) fn put(file: &CompiledFile, out: &mut Vec<u8>) {
    let CompiledFile {
        layer,
        own: _,
        presets: _,
        counts_allow,
        defaults,
        mode,
        tools,
        patterns,
        essential,
        limits,
        unanswered,
        models,
        actor,
        trusts_roles,
        roles,
        plan,
        risk,
        hold,
        after: _,
        self_written,
    } = file;
    layer.put(out);
    counts_allow.put(out);
    defaults.put(out);
    mode.put(out);
    tools.put(out);
    patterns.put(out);
    essential.put(out);
    limits.put(out);
    unanswered.put(out);
    models.put(out);
    actor.put(out);
    trusts_roles.put(out);
    roles.put(out);
    plan.put(out);
    risk.put(out);
    hold.put(out);
    self_written.put(out);
}

impl Rest {
    pub(super) fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            layer: Imaged::take(from)?,
            counts_allow: Imaged::take(from)?,
            defaults: Imaged::take(from)?,
            mode: Imaged::take(from)?,
            tools: Imaged::take(from)?,
            patterns: Imaged::take(from)?,
            essential: Imaged::take(from)?,
            limits: Imaged::take(from)?,
            unanswered: Imaged::take(from)?,
            models: Imaged::take(from)?,
            actor: Imaged::take(from)?,
            trusts_roles: Imaged::take(from)?,
            roles: Imaged::take(from)?,
            plan: Imaged::take(from)?,
            risk: Imaged::take(from)?,
            hold: Imaged::take(from)?,
            self_written: Imaged::take(from)?,
        })
    }

    pub(super) fn with(self, own: Table, presets: Vec<CompiledPreset>, after: Table) -> CompiledFile {
        let Self {
            layer,
            counts_allow,
            defaults,
            mode,
            tools,
            patterns,
            essential,
            limits,
            unanswered,
            models,
            actor,
            trusts_roles,
            roles,
            plan,
            risk,
            hold,
            self_written,
        } = self;
        CompiledFile {
            layer,
            own,
            presets,
            counts_allow,
            defaults,
            mode,
            tools,
            patterns,
            essential,
            limits,
            unanswered,
            models,
            actor,
            trusts_roles,
            roles,
            plan,
            risk,
            hold,
            after,
            self_written,
        }
    }
}

choice!(Verdict { 0 => Self::Allow, 1 => Self::Ask, 2 => Self::Deny });
choice!(Verb {
    0 => Self::Run, 1 => Self::Read, 2 => Self::Write, 3 => Self::Delete, 4 => Self::Connect, 5 => Self::Call,
});
choice!(Mode { 0 => Self::Enforce, 1 => Self::DryRun, 2 => Self::Shadow, 3 => Self::Halt, 4 => Self::Off });
choice!(Scope { 0 => Self::Session, 1 => Self::Run, 2 => Self::Agent, 3 => Self::Tenant, 4 => Self::Day });

fields!(Source { file, line, column });
fields!(ProviderKey { provider, model });
fields!(ToolLayer { who, only, hide, source });
fields!(LimitRule { limit, source, inclusive });
fields!(Cost { micros, currency });
fields!(Rate { count, per });
fields!(Approvers { name, file, members, need, expires_ms, escalate });
fields!(Escalation { wait_ms, to });
fields!(Stated { agent, team, member, tenant });
fields!(Role { who, defaults, hold });
fields!(ModelRule { who, only, model, fallback, source });
fields!(PlanSection { require, lasts_ms });
fields!(RequiredPlan { who, source });
fields!(RiskSection { ask_above, source });
fields!(ParamRule { tools, expressions, params });
fields!(Limit {
    scope,
    calls,
    tokens,
    input_tokens,
    output_tokens,
    cost,
    wall,
    blocked,
    blocked_per,
    deletes,
    bytes_written,
    hosts,
    repeats,
    rate,
    at_limit,
});

impl<T: Imaged> Imaged for Spanned<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.value.put(out);
        self.span.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::new(T::take(from)?, Imaged::take(from)?))
    }
}

impl Imaged for Layer {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::BuiltIn => out.push(0),
            Self::Managed => out.push(1),
            Self::User => out.push(2),
            Self::Project => out.push(3),
            Self::Given => out.push(4),
            Self::Preset(name) => {
                out.push(5);
                name.put(out);
            }
            Self::Tools(name) => {
                out.push(6);
                name.put(out);
            }
            Self::Grant => out.push(7),
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::BuiltIn,
            1 => Self::Managed,
            2 => Self::User,
            3 => Self::Project,
            4 => Self::Given,
            5 => Self::Preset(Imaged::take(from)?),
            6 => Self::Tools(Imaged::take(from)?),
            7 => Self::Grant,
            _ => return None,
        })
    }
}

impl Imaged for Who {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Provider(key) => {
                out.push(0);
                key.put(out);
            }
            Self::Agent(agent) => {
                out.push(1);
                agent.put(out);
            }
            Self::Team { team, member } => {
                out.push(2);
                team.put(out);
                member.put(out);
            }
            Self::Tenant(tenant) => {
                out.push(3);
                tenant.put(out);
            }
            Self::Subagent => out.push(4),
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Provider(Imaged::take(from)?),
            1 => Self::Agent(Imaged::take(from)?),
            2 => Self::Team { team: Imaged::take(from)?, member: Imaged::take(from)? },
            3 => Self::Tenant(Imaged::take(from)?),
            4 => Self::Subagent,
            _ => return None,
        })
    }
}

impl Imaged for Expression {
    fn put(&self, out: &mut Vec<u8>) {
        self.verdict.put(out);
        self.written.put(out);
        self.source.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::later(Imaged::take(from)?, Imaged::take(from)?, Imaged::take(from)?))
    }
}

impl Imaged for Defaults {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|verdict| verdict.put(out));
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let mut defaults = Self::default();
        for slot in &mut defaults.0 {
            *slot = Imaged::take(from)?;
        }
        Some(defaults)
    }
}

impl Imaged for Pattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Run(pattern) => {
                out.push(0);
                pattern.put(out);
            }
            Self::Path(pattern) => {
                out.push(1);
                pattern.put(out);
            }
            Self::Host(pattern) => {
                out.push(2);
                pattern.put(out);
            }
            Self::Tool(pattern) => {
                out.push(3);
                pattern.put(out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Run(RunPattern::take(from)?),
            1 => Self::Path(PathPattern::take(from)?),
            2 => Self::Host(Imaged::take(from)?),
            3 => Self::Tool(ToolPattern::take(from)?),
            _ => return None,
        })
    }
}
