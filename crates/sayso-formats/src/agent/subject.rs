//! The parts of a call that rules of agents speak of one by one.

use super::{AgentRules, Defaults, Redirects};
use sayso_policy::foreign::{MatchInput, PlacePattern};
use sayso_policy::shell::{HostTarget, RunId, Target, Verb};
use sayso_policy::{Operation, Request, Verdict};
use serde_json::{Value, json};

/// One part of a call.
#[derive(Debug)]
pub(super) enum Subject {
    /// One program of a command.
    Command {
        run: RunId,
        needs_yes: bool,
        /// Without assignments before it.
        bare: bool,
    },
    /// A command that cannot be read, or that does more than can be seen.
    Unreadable,
    /// A path that is read, or changed.
    Path {
        effect: usize,
        writes: bool,
        inside: bool,
        needs_yes: bool,
        certain: bool,
    },
    Host {
        target: HostTarget,
        needs_yes: bool,
        certain: bool,
    },
    /// The tool itself.
    Tool {
        needs_yes: bool,
    },
    /// A redirect, about which a person is always asked.
    Redirect,
}

impl Subject {
    pub(super) fn needs_yes(&self) -> bool {
        match self {
            Self::Command { needs_yes, .. }
            | Self::Path { needs_yes, .. }
            | Self::Host { needs_yes, .. }
            | Self::Tool { needs_yes } => *needs_yes,
            Self::Unreadable => true,
            Self::Redirect => false,
        }
    }

    /// False where it only may be done.
    pub(super) fn is_certain(&self) -> bool {
        !matches!(self, Self::Path { certain: false, .. } | Self::Host { certain: false, .. })
    }

    /// Why a person is asked, whatever the rules say.
    pub(super) fn asks(&self) -> Option<&'static str> {
        matches!(self, Self::Redirect).then_some("A command that writes to a file needs approval.")
    }

    pub(super) fn default(&self, defaults: &Defaults) -> Verdict {
        match self {
            Self::Command { .. } | Self::Unreadable | Self::Redirect => defaults.command,
            Self::Path { writes: false, inside, .. } => {
                if *inside {
                    defaults.read_inside
                } else {
                    defaults.read_outside
                }
            }
            Self::Path { writes: true, inside, .. } => {
                if *inside {
                    defaults.write_inside
                } else {
                    defaults.write_outside
                }
            }
            Self::Host { .. } => defaults.connect,
            Self::Tool { .. } => defaults.tool,
        }
    }

    pub(super) fn in_words(&self, operation: &Operation) -> String {
        match self {
            Self::Command { run, .. } => {
                let found = operation.analysis.as_ref().and_then(|analysis| analysis.run(*run));
                let name = found.and_then(|run| run.program.base.clone());
                name.map_or_else(|| "an unknown program".to_owned(), |name| format!("`{name}` as it is used here"))
            }
            Self::Unreadable => "a command that cannot be parsed".to_owned(),
            Self::Redirect => "a redirect".to_owned(),
            Self::Path { writes: false, .. } => "a path it reads".to_owned(),
            Self::Path { writes: true, .. } => "a path it changes".to_owned(),
            Self::Host { .. } => "a host".to_owned(),
            Self::Tool { .. } => format!("the tool `{}`", operation.tool.canonical),
        }
    }
}

/// The parts of a call.
pub(super) fn of(rules: &AgentRules, asked: &MatchInput<'_>) -> Vec<Subject> {
    let operation = asked.operation();
    let inside = PlacePattern::parse("./**");
    let command = operation.analysis.is_some() && operation.command.is_some();
    let mut found = if command { commands(rules, operation) } else { Vec::new() };
    for (at, effect) in operation.effects.iter().enumerate() {
        let own = if command { effect.run.is_none() && rules.redirects == Redirects::AsFiles } else { effect.certain };
        match &effect.target {
            Target::Path(_) => {
                let writes = effect.verb != Verb::Read;
                if command && writes && effect.run.is_none() && rules.redirects == Redirects::Ask {
                    found.push(Subject::Redirect);
                }
                found.push(Subject::Path {
                    effect: at,
                    writes,
                    inside: inside.as_ref().is_some_and(|inside| inside.permits(asked, at)),
                    needs_yes: own,
                    certain: effect.certain,
                });
            }
            Target::Host(target) => found.push(Subject::Host {
                target: target.clone(),
                needs_yes: own && !command,
                certain: effect.certain,
            }),
            _ => {}
        }
    }
    let judged = command || found.iter().any(Subject::needs_yes);
    found.push(Subject::Tool { needs_yes: !judged });
    found
}

fn commands(rules: &AgentRules, operation: &Operation) -> Vec<Subject> {
    let Some(analysis) = &operation.analysis else { return Vec::new() };
    let wrapper = |id: RunId| analysis.effects.iter().any(|effect| effect.target == Target::Wrapper(id));
    let mut found = Vec::new();
    // What may be no command at all is none to an agent, whose own files know no maybe.
    for (at, run) in (0_u32..).zip(&analysis.runs).filter(|(_, run)| !run.guessed) {
        let name = run.program.base.as_deref().unwrap_or_default();
        let transparent = wrapper(RunId(at)) && rules.transparent.contains(&name);
        found.push(Subject::Command {
            run: RunId(at),
            needs_yes: !transparent && !run.guessed,
            bare: run.env.is_empty(),
        });
    }
    let unseen = analysis.effects.iter().any(|effect| effect.target == Target::Anything && effect.run.is_none());
    if found.is_empty() || unseen {
        found.push(Subject::Unreadable);
    }
    found
}

/// The arguments as an object.
pub(super) fn arguments(operation: &Operation) -> Value {
    match &operation.request {
        Request::Tool { arguments, .. } => arguments.clone(),
        Request::Command(command) => json!({ "command": String::from_utf8_lossy(command) }),
    }
}

/// The texts of these arguments; of all if none is named.
pub(super) fn values(operation: &Operation, names: &[&str]) -> Vec<String> {
    let Value::Object(fields) = arguments(operation) else { return Vec::new() };
    let wanted = fields.iter().filter(|(name, _)| names.is_empty() || names.contains(&name.as_str()));
    let mut found = Vec::new();
    for (_, value) in wanted {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => found.extend(items.iter().filter_map(Value::as_str).map(str::to_owned)),
            other => found.push(other.to_string()),
        }
    }
    found
}
