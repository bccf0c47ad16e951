//! The texts of every policy that judged something.

use crate::Error;
use crate::audit::{PolicyVersion, now_ms};
use rusqlite::{Connection, OptionalExtension, params};

/// Keeps the texts of a version. Tells whether they are new.
pub(super) fn keep(connection: &Connection, policy: &PolicyVersion) -> Result<bool, Error> {
    let sql = "INSERT OR IGNORE INTO policy_versions (version, first_ms, files) VALUES (?1, ?2, ?3)";
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let files = serde_json::to_string(&policy.files)?;
    Ok(connection.prepare_cached(sql)?.execute(params![policy.version, now, files])? > 0)
}

/// The texts of a version.
pub(super) fn find(connection: &Connection, version: &str) -> Result<Option<PolicyVersion>, Error> {
    let mut statement = connection.prepare_cached("SELECT files FROM policy_versions WHERE version = ?1")?;
    let files: Option<String> = statement.query_row([version], |row| row.get(0)).optional()?;
    files
        .map(|files| Ok(PolicyVersion { version: version.to_owned(), files: serde_json::from_str(&files)? }))
        .transpose()
}

/// Whether the texts of a version are kept.
pub(super) fn is_known(connection: &Connection, version: &str) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM policy_versions WHERE version = ?1")?;
    Ok(statement.query_row([version], |_| Ok(())).optional()?.is_some())
}

/// All versions, the oldest first.
pub(super) fn all(connection: &Connection) -> Result<Vec<(String, u64)>, Error> {
    let mut statement = connection.prepare_cached("SELECT version, first_ms FROM policy_versions ORDER BY 2, 1")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
    rows.map(|row| row.map(|(version, ms)| (version, u64::try_from(ms).unwrap_or_default())).map_err(Error::from))
        .collect()
}
