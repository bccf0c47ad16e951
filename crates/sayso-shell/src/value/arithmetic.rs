//! Arithmetic: what it computes where that is certain, which variables it sets, and whether it may run commands.
//!
//! bash evaluates the value of a variable named in an expression as an expression again, and expands what stands in its
//! subscripts: `x='a[$(id)]'; echo $((x))` runs `id`.

/// What is to be known about an expression whose expansions are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey<'t> {
    /// Names that stand in it.
    pub(crate) names: Vec<&'t [u8]>,
    /// Names that it assigns to.
    pub(crate) assigned: Vec<&'t [u8]>,
    /// It holds text that evaluation would expand again.
    pub(crate) expands: bool,
}

/// Looks at an expression without computing it.
pub(crate) fn survey(text: &[u8]) -> Survey<'_> {
    let mut survey = Survey { expands: text.iter().any(|b| matches!(b, b'$' | b'`')), ..Survey::default() };
    let mut at = 0;
    // `++x` is known only when the name comes.
    let mut prefix = false;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            survey.names.push(name);
            if prefix || assigns(after) {
                survey.assigned.push(name);
            }
            prefix = false;
            at += end;
        } else if byte.is_ascii_digit() {
            // `0xff`, `16#ff`: letters in a number are no names.
            let rest = text.get(at..).unwrap_or_default();
            at += rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"#@_".contains(b))).unwrap_or(rest.len());
            prefix = false;
        } else {
            if matches!(text.get(at..at + 2), Some(b"++" | b"--")) {
                prefix = true;
                at += 1;
            } else if !byte.is_ascii_whitespace() {
                prefix = false;
            }
            at += 1;
        }
    }
    survey
}

/// Whether what follows a name assigns to it. A subscript in between counts as if it did.
fn assigns(after: &[u8]) -> bool {
    let start = after.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(after.len());
    match after.get(start..).unwrap_or_default() {
        [b'[', ..] => true,
        [b'=', b'=', ..] => false,
        [b'=', ..] | [b'+', b'+', ..] | [b'-', b'-', ..] => true,
        [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] => true,
        [b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=', ..] => true,
        _ => false,
    }
}

/// Computes an expression of numbers; `None` where anything else stands in it. `lookup` gives the number a variable
/// certainly holds.
pub(crate) fn evaluate(text: &[u8], lookup: &dyn Fn(&[u8]) -> Option<i64>) -> Option<i64> {
    let mut parser = Parser { text, at: 0, lookup, depth: 0 };
    parser.skip();
    if parser.at == text.len() {
        return Some(0);
    }
    let value = parser.binary(0)?;
    parser.skip();
    (parser.at == text.len()).then_some(value)
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    lookup: &'t dyn Fn(&[u8]) -> Option<i64>,
    depth: u8,
}

/// Operators by strength; longer spellings first.
const OPERATORS: &[(&[u8], u8)] = &[
    (b"**", 9),
    (b"<<", 6),
    (b">>", 6),
    (b"<=", 5),
    (b">=", 5),
    (b"==", 4),
    (b"!=", 4),
    (b"*", 8),
    (b"/", 8),
    (b"%", 8),
    (b"+", 7),
    (b"-", 7),
    (b"<", 5),
    (b">", 5),
];

impl Parser<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn binary(&mut self, least: u8) -> Option<i64> {
        self.depth += 1;
        if self.depth > 32 {
            return None;
        }
        let mut left = self.unary()?;
        loop {
            self.skip();
            let rest = self.text.get(self.at..)?;
            let Some((spelling, strength)) = OPERATORS.iter().find(|(spelling, _)| rest.starts_with(spelling)) else {
                break;
            };
            // Assignments are not computed here.
            if *strength < least || rest.get(spelling.len()) == Some(&b'=') {
                break;
            }
            self.at += spelling.len();
            let right = self.binary(strength + u8::from(*spelling != b"**"))?;
            left = apply(spelling, left, right)?;
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.skip();
        let byte = *self.text.get(self.at)?;
        match byte {
            b'-' | b'+' if self.text.get(self.at + 1) != Some(&byte) => {
                self.at += 1;
                self.depth += 1;
                if self.depth > 32 {
                    return None;
                }
                let value = self.unary()?;
                self.depth -= 1;
                if byte == b'-' { value.checked_neg() } else { Some(value) }
            }
            b'(' => {
                self.at += 1;
                let value = self.binary(0)?;
                self.skip();
                if self.text.get(self.at) != Some(&b')') {
                    return None;
                }
                self.at += 1;
                Some(value)
            }
            b'1'..=b'9' | b'0' => self.number(),
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = self.text.get(self.at..)?;
                let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(rest.len());
                let name = rest.get(..end)?;
                if assigns(rest.get(end..)?) {
                    return None;
                }
                self.at += end;
                (self.lookup)(name)
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<i64> {
        let rest = self.text.get(self.at..)?;
        let end = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let digits = std::str::from_utf8(rest.get(..end)?).ok()?;
        // Octal, hexadecimal and other bases are left alone.
        if digits.len() > 1 && digits.starts_with('0') || rest.get(end) == Some(&b'#') {
            return None;
        }
        self.at += end;
        digits.parse().ok()
    }
}

fn apply(operator: &[u8], left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        b"+" => left.checked_add(right)?,
        b"-" => left.checked_sub(right)?,
        b"*" => left.checked_mul(right)?,
        b"/" => left.checked_div(right)?,
        b"%" => left.checked_rem(right)?,
        b"**" => left.checked_pow(u32::try_from(right).ok()?)?,
        b"<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        b">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        b"<" => i64::from(left < right),
        b">" => i64::from(left > right),
        b"<=" => i64::from(left <= right),
        b">=" => i64::from(left >= right),
        b"==" => i64::from(left == right),
        b"!=" => i64::from(left != right),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_computed_as_in_bash() {
        let lookup = |name: &[u8]| (name == b"x").then_some(7);
        for (text, expected) in [
            ("", Some(0)),
            ("1 + 2*3", Some(7)),
            ("(1+2)*3", Some(9)),
            ("2**3**2", Some(512)),
            ("10 - 2 - 3", Some(5)),
            ("-x + 1", Some(-6)),
            ("7/2", Some(3)),
            ("1/0", None),
            ("x == 7", Some(1)),
            ("3 < 2", Some(0)),
            ("010", None),
            ("y", None),
            ("x=3", None),
            ("x++", None),
            ("a[1]", None),
            ("1 ? 2 : 3", None),
        ] {
            assert_eq!(evaluate(text.as_bytes(), &lookup), expected, "{text}");
        }
        assert_eq!(evaluate("(".repeat(5000).as_bytes(), &lookup), None);
        assert_eq!(evaluate("-".repeat(5000).as_bytes(), &lookup), None);
    }

    #[test]
    fn a_survey_finds_names_assignments_and_text_that_expands() {
        let found = survey(b"i=0, j++ + --k, n==2, m<=3, l<<=1, 0xff + 16#ab");
        let names = |list: &[&[u8]]| list.iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect::<Vec<_>>();
        assert_eq!(names(&found.names), ["i", "j", "k", "n", "m", "l"]);
        assert_eq!(names(&found.assigned), ["i", "j", "k", "l"]);
        assert!(!found.expands);
        assert!(survey(b"a[$(id)]").expands);
    }
}
