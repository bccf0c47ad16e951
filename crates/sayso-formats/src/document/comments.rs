//! JSON with comments and commas at the end, as editors write it.

/// The same text as plain JSON: what is no JSON becomes blanks, so that every place stays where it is.
pub(super) fn without(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                at = string(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => {
                bytes.iter().skip(at).position(|byte| *byte == b'\n').map_or(bytes.len(), |line| at + line)
            }
            (b'/', Some(b'*')) => {
                text.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(bytes.len(), |end| at + 4 + end)
            }
            (b',', _) if closes(bytes, at + 1) => at + 1,
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in out.iter_mut().take(end).skip(at).filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// One past the closing quote.
fn string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether the next thing that is no comment closes a list or table.
fn closes(bytes: &[u8], from: usize) -> bool {
    let mut at = from;
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(byte), _) if byte.is_ascii_whitespace() => at += 1,
            (Some(b'/'), Some(b'/')) => {
                while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
            }
            (Some(b'/'), Some(b'*')) => {
                at += 2;
                while at < bytes.len() && bytes.get(at..at + 2) != Some(b"*/") {
                    at += 1;
                }
                at += 2;
            }
            (Some(b']' | b'}'), _) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_go_and_strings_stay() {
        for (text, expected) in [
            ("{\"a\": 1, // x\n}", "{\"a\": 1      \n}"),
            ("{\"a\": \"//\\\"/*\", }", "{\"a\": \"//\\\"/*\"  }"),
            ("[1, /* , */ 2,]", "[1,         2 ]"),
            ("/* é */{}", "        {}"),
            ("{ /*", "{   "),
        ] {
            assert_eq!(without(text).trim_end(), expected.trim_end(), "{text}");
        }
    }
}
