//! Reading files that may be huge or hostile.

use super::Read;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most files of one agent; the newest are taken.
const MOST_FILES: usize = 5_000;
/// The longest line: a file that an agent wrote may be inside one.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// The most that is read of one file.
const LARGEST_FILE: u64 = 512 * 1024 * 1024;
/// How deep folders are looked into.
const DEEPEST: usize = 6;

/// Files below a folder whose path is wanted, the newest first. Links are not followed.
pub(crate) fn files(folder: &Path, wanted: impl Fn(&Path) -> bool, read: &mut Read) -> Vec<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    let mut looked_at = 0_usize;
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > 20 * MOST_FILES {
                read.skipped.push(format!("{} has too many files to look at.", folder.display()));
                open.clear();
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEEPEST {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() && wanted(&entry.path()) {
                let time = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                found.push((time, entry.path()));
            }
        }
    }
    found.sort();
    found.reverse();
    if found.len() > MOST_FILES {
        read.skipped.push(format!("Only the newest {MOST_FILES} of {} transcripts are looked at.", found.len()));
        found.truncate(MOST_FILES);
    }
    read.transcripts += found.len();
    let found: Vec<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
    read.files.extend(found.iter().cloned());
    found
}

/// Each line that is JSON and mentions one of these words; what cannot be read is skipped and said.
pub(crate) fn lines(path: &Path, words: &[&str], read: &mut Read, mut each: impl FnMut(&mut Read, Value)) {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) => {
            read.unreadable += 1;
            read.skipped.push(format!("{}: {error}", path.display()));
            return;
        }
    };
    let mut reader = BufReader::new(file.take(LARGEST_FILE));
    let mut total = 0_u64;
    let mut odd = 0_usize;
    let mut line = Vec::new();
    loop {
        line.clear();
        let Ok(length) = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) else { break };
        if length == 0 {
            break;
        }
        total += length as u64;
        if length as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
            odd += 1;
            // The rest of the line is no line.
            total += skip_line(&mut reader);
            continue;
        }
        if !words.iter().any(|word| contains(&line, word.as_bytes())) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(value) => each(read, value),
            // The last line may be in the making.
            Err(_) if line.last() == Some(&b'\n') => odd += 1,
            Err(_) => {}
        }
    }
    if total >= LARGEST_FILE {
        read.skipped.push(format!("{}: only the first {} MiB are read.", path.display(), LARGEST_FILE >> 20));
    }
    if odd > 0 {
        read.unreadable += odd;
        read.skipped.push(format!("{}: {odd} lines cannot be read.", path.display()));
    }
}

fn skip_line(reader: &mut impl std::io::BufRead) -> u64 {
    let mut skipped = 0_u64;
    loop {
        let (length, ended) = match reader.fill_buf() {
            Ok([]) | Err(_) => return skipped,
            Ok(buffer) => match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), false),
            },
        };
        reader.consume(length);
        skipped += length as u64;
        if ended {
            return skipped;
        }
    }
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(line, word).is_some()
}

/// A whole file that is one value.
pub(crate) fn whole(path: &Path, read: &mut Read) -> Option<Value> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    let taken = file.take(LONGEST_LINE + 1).read_to_end(&mut bytes);
    if taken.is_err() || bytes.len() as u64 > LONGEST_LINE {
        read.unreadable += 1;
        read.skipped.push(format!("{}: too large to be read.", path.display()));
        return None;
    }
    match serde_json::from_slice(&bytes) {
        Ok(value) => Some(value),
        Err(_) => {
            read.unreadable += 1;
            read.skipped.push(format!("{}: cannot be read.", path.display()));
            None
        }
    }
}

/// A member that is text.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(ToOwned::to_owned)
}

/// `2026-11-15T12:02:36.528Z` in milliseconds since 1970.
pub(crate) fn time_ms(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let milli = number(20..23).unwrap_or(0);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970 by the civil calendar, the year taken to begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    u64::try_from(seconds * 1000 + milli).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read() {
        assert_eq!(time_ms("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(time_ms("2026-11-15T12:02:36.528Z"), Some(1_794_744_156_528));
        assert_eq!(time_ms("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        for odd in ["", "yesterday", "2026-99-15T12:02:36Z", "é026-11-15T12:02:36Z", "9999999999999999999"] {
            assert_eq!(time_ms(odd), None, "{odd}");
        }
    }

    #[test]
    fn lines_that_are_too_long_or_damaged_are_skipped_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let long = format!("{{\"tool\": \"{}\"}}\n", "x".repeat(usize::try_from(LONGEST_LINE).unwrap()));
        let text = format!(
            "{{\"tool\": 1}}\n{long}{{\"tool\": broken\n{{\"other\": 2}}\n{{\"tool\": 3}}\n{{\"tool\": 4, \"unf"
        );
        std::fs::write(&path, text).unwrap();
        let mut seen = Vec::new();
        let mut read = Read::default();
        lines(&path, &["tool"], &mut read, |_, value| seen.push(value));
        assert_eq!(seen, [serde_json::json!({"tool": 1}), serde_json::json!({"tool": 3})]);
        assert_eq!(read.skipped.len(), 1);
        assert!(read.skipped[0].contains("2 lines"), "{:?}", read.skipped);
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("real")).unwrap();
        std::fs::write(dir.path().join("real/a.jsonl"), "").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("real/loop")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("real/b.jsonl")).unwrap();
        let mut read = Read::default();
        let found = files(dir.path(), |path| path.extension().is_some_and(|e| e == "jsonl"), &mut read);
        assert_eq!(found, [dir.path().join("real/a.jsonl")]);
    }
}
