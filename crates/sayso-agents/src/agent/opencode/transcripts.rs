//! `~/.local/share/opencode/opencode.db`: a database of OpenCode's, opened for reading alone. Seen with 1.18.33. Before
//! it there was a file for each part of a message: `storage/part/MESSAGE/PART.json`, and `storage/session/PROJECT/SESSION.json`.

use crate::reconcile::transcript::{files, text, whole};
use crate::reconcile::{MOST_CALLS, Read, TranscriptCall, as_values};
use rusqlite::{Connection, OpenFlags};
use sayso_gate::history::Outcome;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest part of a message that is read.
const LARGEST_PART: i64 = 16 * 1024 * 1024;

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let path = folder.join("opencode.db");
    let mut known = HashSet::new();
    of_files(&folder.join("storage"), since_ms, &mut known, read);
    // A link could lead to anything.
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return;
    }
    read.transcripts += 1;
    read.files.push(path.clone());
    if let Err(error) = calls(&path, since_ms, &mut known, read) {
        read.unreadable += 1;
        read.skipped.push(format!("{}: {error}", path.display()));
    }
}

/// Calls by their session and their id there.
type KnownCalls = HashSet<(Option<String>, String)>;
/// The folder of each session, and whether another one started it.
type Sessions = HashMap<String, (Option<PathBuf>, bool)>;

/// The files of older versions.
fn of_files(storage: &Path, since_ms: u64, known: &mut KnownCalls, read: &mut Read) {
    let is_json = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let parts = files(&storage.join("part"), is_json, read);
    if parts.is_empty() {
        return;
    }
    let mut sessions = Sessions::new();
    // A session's own file says where it was; it holds no call.
    let mut aside = Read::default();
    for path in files(&storage.join("session"), is_json, &mut aside) {
        let Some(session) = whole(&path, &mut aside) else { continue };
        let Some(id) = text(&session, "id") else { continue };
        let folder = text(&session, "directory").map(PathBuf::from);
        sessions.insert(id, (folder, session.get("parentID").is_some_and(Value::is_string)));
    }
    for path in parts.iter().rev() {
        let Some(part) = whole(path, read) else { continue };
        if part.get("type").and_then(Value::as_str) == Some("tool")
            && let Some(session) = text(&part, "sessionID")
        {
            let time = part.pointer("/state/time/start").and_then(Value::as_u64);
            take(&part, session, time, path, &sessions, since_ms, known, read);
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "what a part is read with")]
fn take(
    part: &Value,
    session: String,
    time_ms: Option<u64>,
    path: &Path,
    sessions: &Sessions,
    since_ms: u64,
    known: &mut KnownCalls,
    read: &mut Read,
) {
    let outcome = outcome(part.get("state").unwrap_or(&Value::Null));
    let of = sessions.get(&session);
    let (cwd, subagent) = (of.and_then(|of| of.0.clone()), of.is_some_and(|of| of.1));
    let session = Some(session);
    let ended = part.pointer("/state/time/end").and_then(Value::as_u64);
    read.ended(&session, text(part, "callID"), outcome, ended);
    let call = TranscriptCall {
        agent: super::ROW.name,
        session,
        id: text(part, "callID"),
        tool: text(part, "tool").unwrap_or_default(),
        arguments: as_values(part.pointer("/state/input").unwrap_or(&Value::Null)),
        time_ms,
        transcript: path.to_owned(),
        cwd,
        subagent,
        outcome: Outcome::Unknown,
        waited_ms: None,
    };
    read.add(call, known, since_ms);
}

fn calls(path: &Path, since_ms: u64, known: &mut KnownCalls, read: &mut Read) -> rusqlite::Result<()> {
    let database =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    database.busy_timeout(Duration::from_secs(2))?;
    // The schema is OpenCode's: nothing in it may run.
    database.pragma_update(None, "trusted_schema", false)?;
    let sessions = sessions(&database);
    let mut parts = database.prepare(
        "SELECT session_id, time_created, CASE WHEN length(data) <= ?1 THEN data END FROM part
         WHERE time_created >= ?2 AND data LIKE '%\"type\":\"tool\"%' ORDER BY time_created LIMIT ?3",
    )?;
    let since = i64::try_from(since_ms).unwrap_or(i64::MAX);
    let most = i64::try_from(MOST_CALLS + 1).unwrap_or(i64::MAX);
    let mut rows = parts.query((LARGEST_PART, since, most))?;
    let mut odd = 0_usize;
    while let Some(row) = rows.next()? {
        let (session, time): (String, i64) = (row.get(0)?, row.get(1)?);
        let data: Option<String> = row.get(2)?;
        let Some(part) = data.and_then(|data| serde_json::from_str::<Value>(&data).ok()) else {
            odd += 1;
            continue;
        };
        if part.get("type").and_then(Value::as_str) != Some("tool") {
            continue;
        }
        take(&part, session, u64::try_from(time).ok(), path, &sessions, since_ms, known, read);
    }
    if odd > 0 {
        read.unreadable += odd;
        read.skipped.push(format!("{}: {odd} parts could not be read.", path.display()));
    }
    Ok(())
}

fn outcome(state: &Value) -> Outcome {
    let error = state.get("error").and_then(Value::as_str).unwrap_or_default();
    match state.get("status").and_then(Value::as_str) {
        Some("completed") => Outcome::Ran,
        Some("error") if error.starts_with("The user rejected permission") => Outcome::Refused,
        Some("error") => Outcome::Failed,
        _ => Outcome::Unknown,
    }
}

/// The folder of each session, and whether another one started it, where this version has a table of them.
fn sessions(database: &Connection) -> Sessions {
    let rows = |database: &Connection| -> rusqlite::Result<HashMap<_, _>> {
        let mut sessions = database.prepare("SELECT id, directory, parent_id FROM session LIMIT ?1")?;
        let most = i64::try_from(MOST_CALLS).unwrap_or(i64::MAX);
        let each = sessions.query_map([most], |row| {
            let (id, folder, parent): (String, Option<String>, Option<String>) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((id, (folder.map(PathBuf::from), parent.is_some())))
        })?;
        each.collect()
    };
    rows(database).unwrap_or_default()
}
