//! One call, one record, though two hooks are told of it.
//!
//! Copilot and Cursor also run the hooks of Claude Code's settings, and Cursor has been seen to run one hook twice for
//! one call. Both processes judge; what they must not do is record one call as two. So whoever records a call leaves a
//! mark with the call's id and a digest of its content and of what was said, and whoever finds that mark leaves the
//! record to the other.
//!
//! INVARIANT: a mark never changes what is said of a call. It holds the answer too, so that a second judgement that
//! comes out otherwise is recorded; and it only counts once the record is written, so that nothing runs unrecorded. A
//! call without an id of its own is always recorded.

use crate::event::{Event, HookCall};
use crate::mark;
use sayso_gate::audit::Spool;
use sayso_gate::{Error, Places, Record, Recorder};
use sayso_policy::PolicyText;
use sayso_policy::normalise::pattern_name;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the second waits for the first to have written its record.
const PATIENCE: Duration = Duration::from_millis(60);

/// A spool that takes the record of one call once.
pub(crate) struct Once {
    spool: Spool,
    folder: PathBuf,
    /// What the call is, without what was said of it.
    call: Vec<String>,
}

impl Once {
    /// The spool for this call: as it is, if the call has no id by which two hooks could mean the same one.
    pub(crate) fn recorder(
        spool: Spool,
        places: &Places,
        event: &Event,
        call: &HookCall,
    ) -> Result<Box<dyn Recorder + Send + Sync>, Error> {
        let Some(id) = call.id.as_deref().filter(|id| !id.is_empty()) else { return Ok(Box::new(spool)) };
        let call = vec![
            "told".to_owned(),
            id.to_owned(),
            event.session.clone().unwrap_or_default(),
            event.subagents.join("\0"),
            pattern_name(&call.tool),
            call.server.clone().unwrap_or_default(),
            call.input.to_string(),
            event.cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default(),
        ];
        Ok(Box::new(Self { spool, folder: places.own_folder(mark::FOLDER)?, call }))
    }

    fn mark(&self, record: &Record) -> PathBuf {
        let said = [record.verdict.as_str(), record.answer.as_str(), &record.policy].map(ToOwned::to_owned);
        self.folder.join(mark::name(&[self.call.as_slice(), &said].concat()))
    }
}

impl Recorder for Once {
    fn record(&self, record: &Record) -> Result<(), Error> {
        let path = self.mark(record);
        // A folder that cannot be written to costs a record twice, never none.
        let Some(mut mark) = mark::make(&path) else {
            if is_recorded(&path) {
                return Ok(());
            }
            // Old, or its maker did not come to its end: this call is recorded whatever the mark says.
            let _ = std::fs::remove_file(&path);
            return self.spool.record(record);
        };
        let recorded = self.spool.record(record);
        if recorded.is_err() || mark.write_all(b"1").is_err() {
            let _ = std::fs::remove_file(&path);
        }
        recorded
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        self.spool.keep_policy(version, files)
    }
}

/// Whether whoever made the mark has written the record, a moment ago.
fn is_recorded(path: &Path) -> bool {
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match mark::length(path) {
            None => return false,
            Some(0) if waited >= PATIENCE => return false,
            Some(0) => std::thread::sleep(step),
            Some(_) => return true,
        }
        waited += step;
    }
}
