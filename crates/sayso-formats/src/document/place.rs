//! Where a value stands in the text. Readers of JSON, YAML and TOML forget places, so the text is looked at again, and
//! only when something has to be shown.

use super::Step;

/// Line and column from 1; the beginning of the file where it cannot be found.
pub(super) fn of(text: &str, path: &[Step]) -> (u32, u32) {
    let offset = if text.trim_start().starts_with('{') { json(text, path) } else { by_lines(text, path) };
    let before = text.get(..offset.unwrap_or(0)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// The offset of the last step's key or item.
fn json(text: &str, path: &[Step]) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = blank(bytes, 0);
    let mut found = at;
    for step in path {
        (found, at) = match step {
            Step::Key(wanted) => member(text, at, wanted)?,
            Step::Index(wanted) => item(bytes, at, *wanted)?,
        };
    }
    Some(found)
}

/// Where a member's key and its value begin.
fn member(text: &str, object: usize, wanted: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = blank(bytes, object + 1);
    while bytes.get(at) == Some(&b'"') {
        let end = skip(bytes, at);
        let key: String = serde_json::from_str(text.get(at..end)?).ok()?;
        let value = blank(bytes, blank(bytes, end) + 1);
        if key == wanted {
            return Some((at, value));
        }
        at = blank(bytes, skip(bytes, value));
        at = blank(bytes, at + 1);
    }
    None
}

fn item(bytes: &[u8], list: usize, wanted: usize) -> Option<(usize, usize)> {
    let mut at = blank(bytes, list + 1);
    for _ in 0..wanted {
        at = blank(bytes, blank(bytes, skip(bytes, at)) + 1);
    }
    bytes.get(at).map(|_| (at, at))
}

fn blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Behind the value that begins here.
fn skip(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    while let Some(byte) = bytes.get(at) {
        match (quoted, byte) {
            (true, b'\\') => at += 1,
            (true, b'"') => {
                quoted = false;
                if depth == 0 {
                    return at + 1;
                }
            }
            (true, _) => {}
            (false, b'"') => quoted = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') if depth == 0 => return at,
            (false, b'}' | b']') => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            (false, b',') if depth == 0 => return at,
            (false, _) => {}
        }
        at += 1;
    }
    at
}

/// YAML and TOML: the lines that begin with the keys, each no deeper in the text than the first of its name.
fn by_lines(text: &str, path: &[Step]) -> Option<usize> {
    let mut from = 0;
    let mut found = None;
    for step in path {
        let Step::Key(key) = step else { continue };
        let mut best: Option<(usize, usize)> = None;
        let mut offset = from;
        for line in text.get(from..)?.split_inclusive('\n') {
            let content = line.trim_start().trim_start_matches("- ").trim_start_matches(['"', '\'']);
            let indent = line.len() - line.trim_start().len();
            let rest = content.strip_prefix(key.as_str()).map(|rest| rest.trim_start_matches(['"', '\'']).trim_start());
            let table = line.trim().trim_matches(['[', ']']).rsplit('.').next() == Some(key.as_str());
            let named = rest.is_some_and(|rest| rest.starts_with([':', '='])) || (line.starts_with('[') && table);
            if named && best.is_none_or(|(_, least)| indent < least) {
                best = Some((offset + indent, indent));
            }
            offset += line.len();
        }
        let (at, _) = best?;
        found = Some(at);
        from = at;
    }
    found
}
