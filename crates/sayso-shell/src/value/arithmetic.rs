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

/// Whether a piece of an expression assigns to something.
pub(crate) fn assigns_anything(text: &[u8]) -> bool {
    text.windows(2).any(|pair| matches!(pair, b"++" | b"--"))
        || text.iter().enumerate().any(|(at, byte)| {
            let before = at.checked_sub(1).and_then(|at| text.get(at));
            *byte == b'=' && text.get(at + 1) != Some(&b'=') && !before.is_some_and(|b| b"=!".contains(b))
        })
}

/// Whether an expression certainly is one that bash computes without an error, given which names certainly hold plain
/// numbers. What is not read here may be an error: then whatever it would have assigned is not, and the line is left.
pub(crate) fn is_sound(text: &[u8], is_number: &dyn Fn(&[u8]) -> bool) -> bool {
    let mut rest = text;
    let mut open = 0usize;
    // Where an operand is wanted. What it is, and whether an assignment may follow, is known behind it.
    let mut wants = true;
    let mut may_be_assigned = false;
    let mut begins = true;
    // `++` or `--`, which want a name.
    let mut wants_name = false;
    while let Some((&byte, tail)) = rest.split_first() {
        if byte.is_ascii_whitespace() {
            rest = tail;
            continue;
        }
        if wants {
            let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            match byte {
                b'0'..=b'9' if !wants_name && (token == b"0" || byte != b'0') => {
                    if end > 18 || !token.iter().all(u8::is_ascii_digit) || after.first() == Some(&b'#') {
                        return false;
                    }
                    (wants, may_be_assigned) = (false, false);
                    rest = after;
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    // What it held before does not matter where it is only given something.
                    let set = after.iter().position(|b| !b.is_ascii_whitespace()).and_then(|at| after.get(at..));
                    let set =
                        begins && !wants_name && matches!(set, Some([b'=', next @ ..]) if next.first() != Some(&b'='));
                    if !set && !is_number(token) {
                        return false;
                    }
                    (wants, may_be_assigned) = (false, begins && !wants_name);
                    wants_name = false;
                    rest = after;
                }
                _ if wants_name => return false,
                b'+' | b'-' if tail.first() == Some(&byte) => {
                    wants_name = true;
                    rest = tail.get(1..).unwrap_or_default();
                }
                b'+' | b'-' | b'!' | b'~' => {
                    begins = false;
                    rest = tail;
                }
                b'(' => {
                    open += 1;
                    begins = true;
                    rest = tail;
                }
                _ => return false,
            }
            continue;
        }
        let assigns = |rest: &[u8]| rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=');
        match (byte, tail.first()) {
            (b')', _) if open > 0 => {
                open -= 1;
                may_be_assigned = false;
                rest = tail;
                continue;
            }
            // Behind a name, and in front of no other.
            (b'+' | b'-', Some(&next)) if next == byte => {
                let more = tail.get(1..).unwrap_or_default();
                let next = more.iter().find(|b| !b.is_ascii_whitespace());
                if !may_be_assigned || next.is_some_and(|b| b.is_ascii_alphanumeric() || b"_(!~".contains(b)) {
                    return false;
                }
                may_be_assigned = false;
                rest = more;
                continue;
            }
            (b'=', _) if assigns(rest) && may_be_assigned => rest = tail,
            (b'+' | b'-' | b'*' | b'&' | b'|' | b'^', _) if assigns(tail) && may_be_assigned => {
                rest = tail.get(1..).unwrap_or_default();
            }
            (b'<' | b'>', Some(b'=')) | (b'=' | b'!', Some(b'=')) => rest = tail.get(1..).unwrap_or_default(),
            (b'&', Some(b'&')) | (b'|', Some(b'|')) | (b'<', Some(b'<')) | (b'>', Some(b'>')) => {
                rest = tail.get(1..).unwrap_or_default();
                if assigns(rest) {
                    return false;
                }
            }
            (b'*', Some(b'*')) => return false,
            (b'+' | b'-' | b'*' | b'&' | b'|' | b'^' | b'<' | b'>', _) if !assigns(tail) => rest = tail,
            (b'/' | b'%', _) if !assigns(tail) => {
                // Not by zero.
                let divisor = tail.iter().position(|b| !b.is_ascii_whitespace());
                if !divisor.and_then(|at| tail.get(at)).is_some_and(|b| matches!(b, b'1'..=b'9')) {
                    return false;
                }
                rest = tail;
            }
            (b',', _) => {
                (wants, begins) = (true, true);
                rest = tail;
                continue;
            }
            _ => return false,
        }
        // `x = y = 1`, but not `x + y = 1`.
        begins = matches!(byte, b'=') && may_be_assigned;
        wants = true;
    }
    !wants && !wants_name && open == 0
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
    fn what_may_be_an_error_is_not_sound() {
        let number = |name: &[u8]| name != b"s";
        for text in [
            "1",
            "x",
            "x + 1",
            "x=1",
            "x = y = 2",
            "(x+y)*2",
            "x++",
            "++x",
            "x-- - 1",
            "-x",
            "!x",
            "x/2",
            "x % 10",
            "x<2&&y>=3",
            "x+=1",
            "x, y = 2",
            "0",
            "1 << 3",
            "x == 1",
            "x=(y=2)",
            "x - -1",
            "x++ + +y",
            "s = 1",
            "s=x=2, s=3",
        ] {
            assert!(is_sound(text.as_bytes(), &number), "{text}");
        }
        for text in [
            "",
            "5 5",
            "08",
            "1+",
            "3x",
            "1=2",
            "x+1=2",
            "(",
            "(1",
            "1)",
            "x/y",
            "x/0",
            "2**-1",
            "2**x",
            "s",
            "x=s",
            "s==1",
            "s+=1",
            "s=s",
            "16#zz",
            "x ? 1 : 2",
            "++1",
            "1++",
            "x y",
            "x++y",
            "x++ ++y",
            "x;y",
            "a[1]",
            "99999999999999999999",
            "-x=2",
            "x/=0",
            "x<<=1",
            "++x=2",
            "$",
            "(x)=1",
        ] {
            assert!(!is_sound(text.as_bytes(), &number), "{text}");
        }
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
