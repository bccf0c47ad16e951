//! Single values out of JSON that the strict scanner has accepted, without looking at the rest.

use super::splice::unescaped;

/// What follows a key of an object: the value, and everything behind it. The scanner must have accepted the object.
pub(crate) fn value_at<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let mut rest = space(object).strip_prefix(b"{")?;
    loop {
        rest = space(rest);
        let (name, after) = string(rest)?;
        rest = space(space(after).strip_prefix(b":")?);
        let same = if name.contains(&b'\\') { unescaped(name) == key.as_bytes() } else { name == key.as_bytes() };
        if same {
            return Some(rest);
        }
        rest = space(behind_value(rest)?).strip_prefix(b",")?;
    }
}

/// A member that is text.
pub(crate) fn text_member(object: &[u8], key: &str) -> Option<String> {
    let (inside, _) = string(value_at(object, key)?)?;
    String::from_utf8(if inside.contains(&b'\\') { unescaped(inside) } else { inside.to_vec() }).ok()
}

/// A string's inside, and what follows it.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = text.strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', inside.get(at..)?)?;
        if inside.get(at) == Some(&b'"') {
            return Some((inside.get(..at)?, inside.get(at + 1..)?));
        }
        at += 2;
    }
}

fn behind_value(text: &[u8]) -> Option<&[u8]> {
    match text.first()? {
        b'"' => string(text).map(|(_, after)| after),
        b'{' | b'[' => behind_brackets(text),
        _ => {
            let end = text.iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t'))?;
            text.get(end..)
        }
    }
}

fn behind_brackets(text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        let at = rest.iter().position(|b| matches!(b, b'"' | b'{' | b'}' | b'[' | b']'))?;
        let from = rest.get(at..)?;
        match from.first()? {
            b'"' => {
                rest = string(from)?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            _ => depth -= 1,
        }
        rest = from.get(1..)?;
        if depth == 0 {
            return Some(rest);
        }
    }
}

fn space(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    text.get(count..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_behind_whatever_stands_before_it() {
        let object = br#" { "a" : [1,{"update":"no"},"]"], "b":"\"update\":1", "c":-1.5e3 ,"d":{},"\u0075pdate" : {"x":"y\n"} , "e":1}"#;
        assert!(value_at(object, "update").unwrap().starts_with(br#"{"x":"#));
        assert_eq!(text_member(value_at(object, "update").unwrap(), "x").as_deref(), Some("y\n"));
        assert!(value_at(object, "e").unwrap().starts_with(b"1"));
        assert_eq!(value_at(object, "none"), None);
        assert_eq!(value_at(b"{}", "a"), None);
        assert_eq!(text_member(object, "a"), None);
    }
}
