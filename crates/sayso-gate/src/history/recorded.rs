//! Calls made again from their records.

use super::{Outcome, PastCall};
use crate::audit::Record;
use sayso_policy::{CanHold, EarlierCall, Holding, Known, Past, Request, ToolCall, Workspace};
use sayso_shell::Environment;
use std::path::PathBuf;

impl PastCall {
    /// The call of a record. What was redacted or cut stays so: the record's digest tells whether it is the same call.
    #[must_use]
    pub fn recorded(record: &Record) -> Self {
        Self {
            call: call(record),
            brought: Brought::of(record),
            can_hold: match record.hold {
                Some(Holding::Required(_)) => CanHold::Whole,
                _ => CanHold::No,
            },
            past: past(record),
            time_ms: Some(record.time_ms),
            outcome: Outcome::Unknown,
            waited_ms: None,
        }
    }

    /// Whether a record holds everything that its call was made of.
    #[must_use]
    pub fn is_whole(record: &Record) -> bool {
        why_less(record).is_none()
    }
}

/// What a call brought along from where it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    given: Vec<(String, String)>,
    claimed_homes: Vec<PathBuf>,
    /// It was a caller's word: only calls that came over HTTP are recorded with variables.
    is_claim: bool,
}

impl Brought {
    /// Variables alone.
    pub(crate) fn given(given: Vec<(String, String)>) -> Self {
        Self { given, ..Self::default() }
    }

    fn of(record: &Record) -> Self {
        let all = record.env.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten();
        let one = |(name, value): (&String, &serde_json::Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let claimed_homes = record.claimed_homes.iter().map(PathBuf::from).collect();
        Self { given: all.filter_map(one).collect(), claimed_homes, is_claim: true }
    }

    /// The environment of today with what the call brought.
    pub(crate) fn beside<'a>(&'a self, today: &'a dyn Environment) -> Then<'a> {
        Then { brought: self, today }
    }
}

/// The environment of today with what a call brought.
pub(crate) struct Then<'a> {
    brought: &'a Brought,
    today: &'a dyn Environment,
}

impl Environment for Then<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let given = self.brought.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        given.or_else(|| self.today.get(name))
    }

    fn given(&self) -> &[(String, String)] {
        &self.brought.given
    }

    fn claimed_homes(&self) -> &[PathBuf] {
        &self.brought.claimed_homes
    }

    fn known(&self, name: &str) -> Option<String> {
        if self.brought.is_claim { self.today.get(name) } else { None }
    }

    fn shells(&self) -> sayso_shell::dialect::Shells {
        self.today.shells()
    }

    fn programs(&self) -> &sayso_shell::program::Catalogue {
        self.today.programs()
    }
}

/// What was known of earlier calls when it was judged.
fn past(record: &Record) -> Past {
    if record.past.is_empty() {
        return Past::default();
    }
    let mut known = Known { rehearsed: true, ..Known::default() };
    for earlier in &record.past {
        let call = EarlierCall { id: earlier.id.clone(), time_ms: earlier.time_ms, command: earlier.command.clone() };
        if let Some(key) = &earlier.after {
            known.after.insert(key.clone(), (!earlier.maybe, call.clone()));
        }
        if let Some(path) = &earlier.wrote {
            known.written.insert(PathBuf::from(path), call);
        }
    }
    Past::when_asked(move || known.clone())
}

fn call(record: &Record) -> ToolCall {
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    let home = path(&record.home);
    let claimed: Vec<PathBuf> = record.claimed_homes.iter().map(PathBuf::from).collect();
    let request = match (&record.called_as.name, &record.command) {
        (Some(name), _) => Request::Tool {
            name: name.clone(),
            arguments: record.arguments.clone().unwrap_or_default(),
            server: record.called_as.server.clone(),
        },
        (None, command) => Request::Command(command.clone().unwrap_or_default().into_bytes()),
    };
    ToolCall {
        request,
        actor: record.actor.clone(),
        cwd: path(&record.cwd),
        workspace: path(&record.workspace).map_or_else(Workspace::unknown, |root| {
            let workspace = Workspace::beside(root, home.iter().chain(&claimed).map(PathBuf::as_path));
            // Over HTTP it is the caller's word.
            if record.way_in == "http" { workspace.claimed() } else { workspace }
        }),
        home,
        reported_kind: record.called_as.kind.clone(),
    }
}

/// Why a record holds less than its call; `None`: as far as can be seen it holds all.
pub(crate) fn why_less(record: &Record) -> Option<&'static str> {
    let holds = |what: &str| {
        let arguments = record.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
        let env = record.env.as_ref().map(ToString::to_string).unwrap_or_default();
        record.command.as_deref().unwrap_or_default().contains(what) || arguments.contains(what) || env.contains(what)
    };
    if holds("[redacted]") {
        Some("secrets were redacted before it was stored")
    } else if holds(" more bytes)") || holds("[too deep]") {
        Some("it was too long to store in full")
    } else {
        None
    }
}
