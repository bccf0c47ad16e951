//! From a way in to the gate: a call as the gate wants it, and what is recorded beside judgements.

use sayso_gate::audit::{Happening, Spool, What};
use sayso_gate::{Asking, Circumstances, Places, Record, Recorder as _};
use sayso_policy::{Actor, Reason, Request, ToolCall, Workspace};
use std::path::PathBuf;

/// One way in.
pub(crate) struct Entrance<'a> {
    places: &'a Places,
    /// Its name in the record: `hook claude-code`, `mcp github`.
    way_in: String,
}

impl<'a> Entrance<'a> {
    pub(crate) fn new(places: &'a Places, way_in: impl Into<String>) -> Self {
        Self { places, way_in: way_in.into() }
    }

    /// A call of an agent of this user, about this folder.
    pub(crate) fn call(
        &self,
        request: Request,
        actor: Actor,
        cwd: Option<PathBuf>,
        workspace: Option<PathBuf>,
    ) -> ToolCall {
        let home = self.places.home.clone();
        let workspace = workspace.map_or_else(Workspace::unknown, |root| Workspace::new(root, Some(&home)));
        ToolCall { request, actor, cwd, workspace, home: Some(home), reported_kind: None }
    }

    /// How a call came in here.
    pub(crate) fn circumstances(&self, event: &str, call_id: Option<String>, asking: Asking) -> Circumstances {
        Circumstances { event: Some(event.to_owned()), call_id, ..Circumstances::of(self.way_in.clone(), asking) }
    }

    /// Records a call that is denied before it is judged, where that can be recorded: it makes it no stricter.
    pub(crate) fn refuse(&self, event: &str, call_id: Option<String>, actor: Actor, tool: &str, reason: &Reason) {
        let circumstances = self.circumstances(event, call_id, Asking::Nobody);
        let record = Record::refused(&circumstances, actor, tool, reason);
        let _ = Spool::open(self.places).and_then(|spool| spool.record(&record));
    }

    /// Takes down what is no decision. Nothing is allowed by a note: one that is lost is a gap in the record, and no reason
    /// to stop an agent.
    pub(crate) fn note(&self, what: What, actor: Actor, event: &str, more: impl FnOnce(&mut Happening)) {
        let mut happening = Happening::new(what, self.way_in.clone(), actor);
        happening.event = Some(event.to_owned());
        more(&mut happening);
        let _ = Spool::open(self.places).and_then(|spool| spool.note(&happening));
    }
}
