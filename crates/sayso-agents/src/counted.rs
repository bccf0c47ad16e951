//! One call, counted once, though an agent tells of it at more than one event.
//!
//! Claude Code asks before a tool and again where a person would be asked; Cursor before a tool and again before a
//! command; Copilot before a write and again for its permission. Each time the call is judged, and what it takes from a
//! limit is reserved. So the first event leaves a mark with what was reserved and said, and the later one of the same
//! call gives that back before it reserves anew. Where a dialect says so, it is not recorded a second time either, if the
//! same is said of it.
//!
//! INVARIANT: a mark is used once, only a first event leaves one, and only a later one uses it. So however an agent
//! mixes its events and whatever ids it gives them, its calls count, and are recorded, at least as often as first events
//! told of them; what cannot be matched counts twice. Every event is judged.

use crate::dialect::Dialect;
use crate::event::{Event, HookCall, Occasion};
use crate::judge::Taker;
use crate::mark;
use sayso_gate::{Error, Gate, Outcome, Places, Record, Recorder, Which};
use sayso_policy::PolicyText;
use sayso_policy::normalise::pattern_name;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// The mark of one call, as later events of it can know it: they may have no id, and fewer arguments.
pub(crate) struct Counted {
    path: PathBuf,
    is_later: bool,
}

/// What a first event left.
pub(crate) struct Earlier {
    record: String,
    said: String,
}

impl Counted {
    pub(crate) fn of(dialect: &dyn Dialect, event: &Event, call: &HookCall, places: &Places) -> Result<Self, Error> {
        let (tool, what) = match (dialect.same_call(call), call.input.get("command")) {
            (Some(same), _) => (String::new(), same),
            (None, Some(Value::String(command))) => (pattern_name(&call.tool), command.clone()),
            (None, _) => (pattern_name(&call.tool), call.input.to_string()),
        };
        let parts = [
            "counted".to_owned(),
            dialect.agent().name().to_owned(),
            event.session.clone().unwrap_or_default(),
            event.subagents.join("\0"),
            tool,
            what,
        ];
        Ok(Self {
            path: places.own_folder(mark::FOLDER)?.join(mark::name(&parts)),
            is_later: dialect.comes_later(event) || matches!(event.occasion, Occasion::Permission(_)),
        })
    }

    /// What the first event of this call left. Whoever takes it has used it: of two that try, one fails.
    pub(crate) fn earlier(&self) -> Option<Earlier> {
        if !self.is_later || !mark::is_fresh(&self.path) {
            return None;
        }
        let text = std::fs::read_to_string(&self.path).ok()?;
        std::fs::remove_file(&self.path).ok()?;
        let (record, said) = text.split_once('\n')?;
        Some(Earlier { record: record.to_owned(), said: said.to_owned() })
    }

    /// Leaves the mark of a first event that let the call through: what it reserved goes by its record's id.
    pub(crate) fn leave(&self, record: &Record) {
        if self.is_later {
            return;
        }
        let _ = std::fs::remove_file(&self.path);
        if let Some(mut mark) = mark::make(&self.path) {
            // Without it the call counts twice.
            let _ = mark.write_all(format!("{}\n{}", record.id, said(record)).as_bytes());
        }
    }
}

impl Earlier {
    /// Gives back what that event has reserved.
    pub(crate) fn give_back(&self, gate: &Gate) -> Result<(), Error> {
        let outcome = Outcome { not_run: true, ..Outcome::default() };
        gate.settle(&Which::Record(self.record.clone()), &outcome).map(|_| ())
    }

    /// A recorder that leaves out what says the same as that event's record.
    pub(crate) fn unless_the_same(&self, recorder: Taker) -> Taker {
        Box::new(UnlessTheSame { recorder, said: self.said.clone() })
    }
}

/// INVARIANT: the record of the first event is written: it leaves its mark after that.
struct UnlessTheSame {
    recorder: Taker,
    said: String,
}

impl Recorder for UnlessTheSame {
    fn record(&self, record: &Record) -> Result<(), Error> {
        if said(record) == self.said { Ok(()) } else { self.recorder.record(record) }
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        self.recorder.keep_policy(version, files)
    }
}

/// What was said of a call, by which policy.
fn said(record: &Record) -> String {
    format!("{}\n{}\n{}", record.verdict.as_str(), record.answer.as_str(), record.policy)
}
