//! One call, counted once, though an agent tells of it at more than one event.
//!
//! Claude Code asks before a tool and again where a person would be asked; Cursor before a tool and again before a
//! command. Each time the call is judged, and what it takes from a limit is reserved. So the first event leaves a mark
//! with what was reserved, and the later one of the same call gives that back before it reserves anew.
//!
//! INVARIANT: a mark gives back once, only a first event leaves one, and only a later one uses it. So however an agent
//! mixes its events and whatever ids it gives them, its calls count at least as often as first events told of them;
//! what cannot be matched counts twice.

use crate::Agent;
use crate::event::{Call, Event, Occasion};
use crate::mark;
use sayso_gate::{Error, Gate, Outcome, Places, Which};
use sayso_policy::normalise::pattern_name;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// The mark of one call, as later events of it can know it: they may have no id, and fewer arguments.
pub(crate) struct Counted {
    path: PathBuf,
    is_later: bool,
}

impl Counted {
    pub(crate) fn of(agent: Agent, event: &Event, call: &Call, is_later: bool, places: &Places) -> Result<Self, Error> {
        let what = match call.input.get("command") {
            Some(Value::String(command)) => command.clone(),
            _ => call.input.to_string(),
        };
        let parts = [
            "counted".to_owned(),
            agent.name().to_owned(),
            event.session.clone().unwrap_or_default(),
            event.subagents.join("\0"),
            pattern_name(&call.tool),
            what,
        ];
        Ok(Self {
            path: places.own_folder(mark::FOLDER)?.join(mark::name(&parts)),
            is_later: is_later || matches!(event.occasion, Occasion::Permission(_)),
        })
    }

    /// Gives back what an earlier event of this call has reserved.
    pub(crate) fn give_back(&self, gate: &Gate) -> Result<(), Error> {
        if !self.is_later || !mark::is_fresh(&self.path) {
            return Ok(());
        }
        let Ok(record) = std::fs::read_to_string(&self.path) else { return Ok(()) };
        // Whoever removes the mark has used it: of two that try, one fails.
        if std::fs::remove_file(&self.path).is_ok() {
            gate.settle(&Which::Record(record), &Outcome { not_run: true, ..Outcome::default() })?;
        }
        Ok(())
    }

    /// Leaves the mark of a first event that let the call through: what it reserved goes by its record's id.
    pub(crate) fn leave(&self, record: &str) {
        if self.is_later {
            return;
        }
        let _ = std::fs::remove_file(&self.path);
        if let Some(mut mark) = mark::make(&self.path) {
            // Without it the call counts twice.
            let _ = mark.write_all(record.as_bytes());
        }
    }
}
