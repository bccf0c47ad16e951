//! The strict scanner: one pass over a line, no tree, no recursion.
//!
//! It accepts exactly the JSON of RFC 8259 in UTF-8, with limits, and refuses what readers disagree about: a key that
//! stands twice in one object at any depth, and a carriage return that some readers take for the end of a line. What we
//! judge must be what the other side acts on: of `{"method":"ping","method":"tools/call"}` one reader takes the first and
//! another the last.
//!
//! How it works. [`Level`]s are a stack of the arrays and objects that are open, instead of recursion; [`Key`]s are a
//! second stack, of the keys seen in all objects that are open. A level knows where its own keys begin there. When an
//! object ends, its keys are compared (pair by pair where there are few, sorted where there are many), then dropped, so
//! that the work is bounded by the line's length and no object pays for another. Keys are ranges of the line: most are
//! compared as bytes, and only one that has an escape is read (`"m\u0065thod"` is `method`). The outermost object's
//! members are kept: they are all that a proxy looks at, and [`super::splice`] changes them in place.
//!
//! INVARIANT: nothing is copied out of the line, and nothing is added to it: what passes is what came.

use super::splice::unescaped;
use std::ops::Range;

/// How deep arrays and objects may nest. What is built from a line recurses; this keeps it far from the stack's end.
const DEEPEST: usize = 120;
/// Objects with at most this many members are compared pair by pair.
const FEW: usize = 12;

/// Why a line is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not UTF-8.
    Encoding,
    /// Not JSON.
    Syntax,
    /// A key stands twice.
    Duplicate,
    /// Nested too deep.
    Depth,
    /// A carriage return in the middle of a line.
    CarriageReturn,
    /// An array of messages.
    Batch,
    /// Neither an object nor an array.
    NoObject,
}

impl Fault {
    /// For the side that sent it.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Encoding => "The message is not UTF-8.",
            Self::Syntax => "The message is not JSON.",
            Self::Duplicate => "An object in the message has a duplicate key.",
            Self::Depth => "The message is nested too deeply.",
            Self::CarriageReturn => "The message contains a carriage return.",
            Self::Batch => "Batches of messages are not accepted.",
            Self::NoObject => "The message is not an object.",
        }
    }

    /// JSON-RPC's number for it.
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Encoding | Self::Syntax | Self::CarriageReturn => -32700,
            Self::Duplicate | Self::Depth | Self::Batch | Self::NoObject => -32600,
        }
    }
}

/// A member of the outermost object: where its key (without quotes) and its value stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) key: Range<usize>,
    pub(crate) escaped: bool,
    pub(crate) value: Range<usize>,
}

/// Memory that is used again for the next line.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// The outermost object's members.
    pub(crate) members: Vec<Member>,
    keys: Vec<Key>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Key {
    at: Range<usize>,
    escaped: bool,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    object: bool,
    first_key: usize,
}

/// Scans a whole line, without its end. The members of the outermost object are in `work` afterwards.
pub(crate) fn scan(line: &[u8], work: &mut Work) -> Result<(), Fault> {
    work.members.clear();
    work.keys.clear();
    work.levels.clear();
    if std::str::from_utf8(line).is_err() {
        return Err(Fault::Encoding);
    }
    // Nearly no line has one, and then no string needs to be searched for them.
    let controls = line.iter().any(|byte| *byte < 0x20);
    if controls && line.contains(&b'\r') {
        return Err(Fault::CarriageReturn);
    }
    let mut scanner = Scanner { line, at: 0, controls };
    scanner.space();
    match scanner.peek() {
        Some(b'{') => scanner.run(work),
        Some(b'[') => Err(Fault::Batch),
        Some(_) if scanner.run(work).is_ok() => Err(Fault::NoObject),
        _ => Err(Fault::Syntax),
    }
}

struct Scanner<'a> {
    line: &'a [u8],
    at: usize,
    controls: bool,
}

impl Scanner<'_> {
    fn run(&mut self, work: &mut Work) -> Result<(), Fault> {
        loop {
            self.space();
            let start = self.at;
            let opened = self.value(work)?;
            if work.levels.len() == if opened { 2 } else { 1 } {
                self.begin_member_value(work, start);
            }
            if opened && self.open(work)? {
                continue;
            }
            if self.unwind(work)? {
                return Ok(());
            }
        }
    }

    /// The value of the outermost object's last key begins here.
    fn begin_member_value(&self, work: &mut Work, start: usize) {
        let outermost = work.levels.first().is_some_and(|level| level.object);
        if let Some(member) = work.members.last_mut().filter(|_| outermost) {
            member.value = start..start;
        }
    }

    /// Takes a scalar whole, or opens a container: `true`.
    fn value(&mut self, work: &mut Work) -> Result<bool, Fault> {
        match self.peek() {
            Some(byte @ (b'{' | b'[')) => {
                if work.levels.len() >= DEEPEST {
                    return Err(Fault::Depth);
                }
                work.levels.push(Level { object: byte == b'{', first_key: work.keys.len() });
                self.at += 1;
                return Ok(true);
            }
            Some(b'"') => {
                self.string()?;
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            _ => return Err(Fault::Syntax),
        }
        Ok(false)
    }

    /// Behind an opening bracket: `true` if a value must follow.
    fn open(&mut self, work: &mut Work) -> Result<bool, Fault> {
        self.space();
        let object = work.levels.last().is_some_and(|level| level.object);
        match (object, self.peek()) {
            (true, Some(b'}')) | (false, Some(b']')) => Ok(false),
            (true, _) => {
                self.key(work)?;
                Ok(true)
            }
            (false, _) => Ok(true),
        }
    }

    /// A value has ended: closes what ends with it. `true` at the end of the line.
    fn unwind(&mut self, work: &mut Work) -> Result<bool, Fault> {
        loop {
            if work.levels.len() == 1 {
                self.end_member_value(work);
            }
            self.space();
            let Some(level) = work.levels.last().copied() else {
                return if self.at == self.line.len() { Ok(true) } else { Err(Fault::Syntax) };
            };
            match (level.object, self.peek()) {
                (true, Some(b',')) => {
                    self.at += 1;
                    self.space();
                    self.key(work)?;
                    return Ok(false);
                }
                (false, Some(b',')) => {
                    self.at += 1;
                    return Ok(false);
                }
                (true, Some(b'}')) | (false, Some(b']')) => {
                    self.at += 1;
                    self.close(work, level)?;
                }
                _ => return Err(Fault::Syntax),
            }
        }
    }

    /// INVARIANT: called where a value has just ended and nothing was skipped behind it.
    fn end_member_value(&self, work: &mut Work) {
        let outermost = work.levels.first().is_some_and(|level| level.object);
        if let Some(member) = work.members.last_mut().filter(|_| outermost)
            && member.value.end == member.value.start
        {
            member.value.end = self.at;
        }
    }

    fn close(&self, work: &mut Work, level: Level) -> Result<(), Fault> {
        work.levels.pop();
        if level.object {
            let keys = work.keys.get_mut(level.first_key..).unwrap_or_default();
            if self.twice(keys) {
                return Err(Fault::Duplicate);
            }
            work.keys.truncate(level.first_key);
        }
        Ok(())
    }

    fn key(&mut self, work: &mut Work) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(Fault::Syntax);
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        let at = start..self.at - 1;
        if work.levels.len() == 1 {
            work.members.push(Member { key: at.clone(), escaped, value: 0..0 });
        }
        work.keys.push(Key { at, escaped });
        self.space();
        if self.peek() != Some(b':') {
            return Err(Fault::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether two of these keys are the same text, however it is escaped.
    fn twice(&self, keys: &mut [Key]) -> bool {
        let text = |key: &Key| self.line.get(key.at.clone()).unwrap_or_default();
        if keys.iter().any(|key| key.escaped) {
            let mut texts: Vec<Vec<u8>> = keys.iter().map(|key| unescaped(text(key))).collect();
            texts.sort_unstable();
            return texts.windows(2).any(|pair| matches!(pair, [one, two] if one == two));
        }
        if keys.len() <= FEW {
            return keys.iter().enumerate().any(|(at, key)| keys.iter().skip(at + 1).any(|o| text(o) == text(key)));
        }
        keys.sort_unstable_by(|one, two| text(one).cmp(text(two)));
        keys.windows(2).any(|pair| matches!(pair, [one, two] if text(one) == text(two)))
    }

    /// A string; whether it has escapes.
    fn string(&mut self) -> Result<bool, Fault> {
        self.at += 1;
        let mut escaped = false;
        loop {
            let rest = self.line.get(self.at..).unwrap_or_default();
            let run = memchr::memchr2(b'"', b'\\', rest).ok_or(Fault::Syntax)?;
            if self.controls && rest.iter().take(run).any(|byte| *byte < 0x20) {
                return Err(Fault::Syntax);
            }
            self.at += run + 1;
            if rest.get(run) == Some(&b'"') {
                return Ok(escaped);
            }
            escaped = true;
            match self.peek() {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                Some(b'u') => {
                    let digits = self.line.get(self.at + 1..self.at + 5).ok_or(Fault::Syntax)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Fault::Syntax);
                    }
                    self.at += 5;
                }
                _ => return Err(Fault::Syntax),
            }
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Fault::Syntax),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(Fault::Syntax) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if self.line.get(self.at..).unwrap_or_default().starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(Fault::Syntax)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn scanned(line: &str) -> Result<Vec<(String, String)>, Fault> {
        let mut work = Work::default();
        scan(line.as_bytes(), &mut work)?;
        let text = |range: &Range<usize>| line.get(range.clone()).unwrap().to_owned();
        Ok(work.members.iter().map(|member| (text(&member.key), text(&member.value))).collect())
    }

    #[test]
    fn the_members_of_the_outermost_object_are_found() {
        let found = scanned(r#" { "a" : 1 , "b":{"a":[{},[] ,{"x":"}"}]},"c":"\"", "d" :null } "#).unwrap();
        let expected = [("a", "1"), ("b", r#"{"a":[{},[] ,{"x":"}"}]}"#), ("c", r#""\"""#), ("d", "null")];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(scanned("{}").unwrap(), []);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for (line, fault) in [
            (r#"{"a":1,"a":2}"#, Fault::Duplicate),
            (r#"{"a":1,"\u0061":2}"#, Fault::Duplicate),
            (r#"{"x":[{"y":{"a/":1,"a\/":2}}]}"#, Fault::Duplicate),
            (r#"{"😀":1,"\ud83d\ude00":2}"#, Fault::Duplicate),
            (r#"{"\ud800":1,"\uD800":2}"#, Fault::Duplicate),
            (r#"[{"method":"x"}]"#, Fault::Batch),
            ("[]", Fault::Batch),
            ("1", Fault::NoObject),
            ("\"x\"", Fault::NoObject),
            ("", Fault::Syntax),
            ("{", Fault::Syntax),
            (r#"{"a":1}{"b":2}"#, Fault::Syntax),
            (r#"{"a":1,}"#, Fault::Syntax),
            (r#"{"a":01}"#, Fault::Syntax),
            (r#"{"a":+1}"#, Fault::Syntax),
            (r#"{"a":1.}"#, Fault::Syntax),
            (r#"{"a":NaN}"#, Fault::Syntax),
            (r#"{a:1}"#, Fault::Syntax),
            (r#"{'a':1}"#, Fault::Syntax),
            (r#"{"a":"\x"}"#, Fault::Syntax),
            (r#"{"a":"\u12"}"#, Fault::Syntax),
            ("{\"a\":\"\t\"}", Fault::Syntax),
            ("{\"a\":\"\0\"}", Fault::Syntax),
            ("{\"a\":\u{2028}1}", Fault::Syntax),
            ("\u{feff}{}", Fault::Syntax),
            (r#"{"a":1} // x"#, Fault::Syntax),
            ("{\"a\":[\r{\"method\":\"x\"}\r]}", Fault::CarriageReturn),
            (r#"{"a":[1,]}"#, Fault::Syntax),
            (r#"{"a":]}"#, Fault::Syntax),
            (r#"{"a":[}]"#, Fault::Syntax),
            (r#"{"a" 1}"#, Fault::Syntax),
            (r#"{"a":1 "b":2}"#, Fault::Syntax),
        ] {
            assert_eq!(scanned(line), Err(fault), "{line}");
        }
        assert_eq!(scan(b"{\"a\":\"\xff\"}", &mut Work::default()), Err(Fault::Encoding));
        let many: String = (0..100).map(|n| format!("\"k{}\":1,", n % 99)).collect();
        assert_eq!(scanned(&format!("{{{}\"z\":1}}", many)), Err(Fault::Duplicate));
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert_eq!(scanned(&deep(DEEPEST)), Err(Fault::Depth));
        assert!(scanned(&deep(DEEPEST - 1)).is_ok());
        assert!(serde_json::from_str::<Value>(&deep(DEEPEST - 1)).is_ok());
    }

    /// Text that is often nearly JSON.
    fn nearly_json() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("{".to_owned()),
            Just("}".to_owned()),
            Just("[".to_owned()),
            Just("]".to_owned()),
            Just(",".to_owned()),
            Just(":".to_owned()),
            Just("\"a\"".to_owned()),
            Just("\"b\":".to_owned()),
            Just("\"\\u0061\":".to_owned()),
            Just("\"".to_owned()),
            Just("\\".to_owned()),
            Just("1".to_owned()),
            Just("-0.5e3".to_owned()),
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just(" ".to_owned()),
            Just("\t".to_owned()),
            "\\PC{0,3}",
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::hash_map("\\PC{0,3}", inner, 0..20).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_accepts_no_object_that_serde_json_refuses(line in nearly_json()) {
            // serde_json lets duplicates pass and refuses lone surrogates; both are looked at elsewhere.
            if scanned(&format!("{{\"x\":{line}}}")).is_ok() && !line.contains("\\u") {
                prop_assert!(serde_json::from_str::<Value>(&format!("{{\"x\":{line}}}")).is_ok(), "{}", line);
            }
        }

        #[test]
        fn it_accepts_every_object_and_finds_its_members(value in any_json(), spaced in any::<bool>()) {
            let object = serde_json::json!({"first": value, "second": 2});
            let line = if spaced { serde_json::to_string_pretty(&object).unwrap().replace('\n', " ") } else { object.to_string() };
            let found = scanned(&line).unwrap();
            prop_assert_eq!(&found[0].0, "first");
            prop_assert_eq!(serde_json::from_str::<Value>(&found[0].1).unwrap(), object["first"].clone());
            prop_assert_eq!(&found[1].1, "2");
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = scan(&bytes, &mut Work::default());
        }
    }
}
