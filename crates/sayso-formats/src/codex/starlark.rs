//! The part of Starlark that rule files are made of: calls with named arguments that are texts and lists.
//!
//! A rule file may compute its rules; what is computed is refused, because a rule that is not seen might restrict.

/// A call at the top of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Vec<(String, Value)>,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    /// `None`, `True`, `False`.
    Word(String),
}

/// Something wrong, and its line.
pub(super) type Wrong = (u32, String);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Sign(char),
}

/// Deepest nesting of lists.
const MAX_DEPTH: usize = 16;

pub(super) fn read(text: &str) -> Result<Vec<Call>, Wrong> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let mut calls = Vec::new();
    while reader.peek().is_some() {
        if !reader.takes(';') {
            calls.push(reader.call()?);
        }
    }
    Ok(calls)
}

struct Reader<'t> {
    tokens: &'t [(Token, u32)],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or_else(|| self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn takes(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, sign: char) -> Result<(), Wrong> {
        let line = self.line();
        if self.takes(sign) { Ok(()) } else { Err((line, format!("expected `{sign}`"))) }
    }

    fn name(&mut self) -> Result<String, Wrong> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err((
                self.line(),
                "expected a call such as prefix_rule(...); computed rules are not supported".to_owned(),
            )),
        }
    }

    fn call(&mut self) -> Result<Call, Wrong> {
        let line = self.line();
        let name = self.name()?;
        if self.peek() != Some(&Token::Sign('(')) {
            return Err((line, format!("`{name}` is not a call; computed rules are not supported")));
        }
        self.needs('(')?;
        let mut arguments = Vec::new();
        while !self.takes(')') {
            let key = self.name()?;
            self.needs('=')?;
            arguments.push((key, self.value(0)?));
            if !self.takes(',') {
                self.needs(')')?;
                break;
            }
        }
        Ok(Call { name, arguments, line })
    }

    fn value(&mut self, depth: usize) -> Result<Value, Wrong> {
        let line = self.line();
        if depth > MAX_DEPTH {
            return Err((line, "lists are nested too deeply".to_owned()));
        }
        match self.peek().cloned() {
            Some(Token::Text(mut text)) => {
                self.at += 1;
                // Texts side by side, or added, are one.
                loop {
                    let added = self.takes('+');
                    match self.peek().cloned() {
                        Some(Token::Text(more)) => text.push_str(&more),
                        _ if added => return Err((line, "only strings can be concatenated".to_owned())),
                        _ => break,
                    }
                    self.at += 1;
                }
                Ok(Value::Text(text))
            }
            Some(Token::Name(word)) if matches!(word.as_str(), "None" | "True" | "False") => {
                self.at += 1;
                Ok(Value::Word(word))
            }
            Some(Token::Sign('[')) => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.takes(']') {
                    items.push(self.value(depth + 1)?);
                    if !self.takes(',') {
                        self.needs(']')?;
                        break;
                    }
                }
                Ok(Value::List(items))
            }
            _ => Err((line, "expected a string or a list; computed values are not supported".to_owned())),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, u32)>, Wrong> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        let next = chars.get(at + 1).copied();
        match c {
            '\n' => {
                line += 1;
                at += 1;
            }
            c if c.is_whitespace() => at += 1,
            '#' => {
                while chars.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            '"' | '\'' => {
                let (value, end) = string(&chars, at, false).ok_or((line, "unterminated string".to_owned()))?;
                found.push((Token::Text(value), line));
                line += newlines(&chars, at, end);
                at = end;
            }
            'r' if matches!(next, Some('"' | '\'')) => {
                let (value, end) = string(&chars, at + 1, true).ok_or((line, "unterminated string".to_owned()))?;
                found.push((Token::Text(value), line));
                line += newlines(&chars, at, end);
                at = end;
            }
            'f' | 'b' if matches!(next, Some('"' | '\'')) => {
                return Err((line, "computed strings are not supported".to_owned()));
            }
            c if c.is_alphabetic() || c == '_' => {
                let name: String = chars.iter().skip(at).take_while(|c| c.is_alphanumeric() || **c == '_').collect();
                at += name.chars().count();
                found.push((Token::Name(name), line));
            }
            c => {
                found.push((Token::Sign(c), line));
                at += 1;
            }
        }
    }
    Ok(found)
}

fn newlines(chars: &[char], from: usize, to: usize) -> u32 {
    let count = chars.iter().take(to).skip(from).filter(|c| **c == '\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The value of a quoted text and where it ends.
fn string(chars: &[char], from: usize, raw: bool) -> Option<(String, usize)> {
    let quote = chars.get(from).copied()?;
    let three = chars.get(from + 1) == Some(&quote) && chars.get(from + 2) == Some(&quote);
    let mut at = from + if three { 3 } else { 1 };
    let mut value = String::new();
    loop {
        let c = chars.get(at).copied()?;
        if c == quote && (!three || (chars.get(at + 1) == Some(&quote) && chars.get(at + 2) == Some(&quote))) {
            return Some((value, at + if three { 3 } else { 1 }));
        }
        if c == '\n' && !three {
            return None;
        }
        if c == '\\' && !raw {
            at += 1;
            match chars.get(at).copied()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '\n' => {}
                c @ ('\\' | '"' | '\'') => value.push(c),
                // Numbers of characters are not read: the text would be another one.
                _ => return None,
            }
        } else {
            value.push(c);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_texts_and_lists_are_read_and_nothing_else() {
        let calls =
            read("# x\nprefix_rule(\n  pattern = ['git', [\"push\", r'a\\b']],\n  decision = 'for' + 'bidden',\n)\n")
                .unwrap();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].line, 2);
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            calls[0].arguments[0].1,
            Value::List(vec![text("git"), Value::List(vec![text("push"), text("a\\b")])])
        );
        assert_eq!(calls[0].arguments[1].1, text("forbidden"));
        for (bad, line) in [
            ("x = 1", 1),
            ("\ndef f():\n  pass", 2),
            ("prefix_rule(pattern = PATTERN)", 1),
            ("prefix_rule(pattern = f'{x}')", 1),
            ("prefix_rule(pattern = ['a'\n\n", 1),
            ("for t in ['a']: prefix_rule(pattern = [t])", 1),
            ("prefix_rule(pattern = 'a\nb')", 1),
        ] {
            assert_eq!(read(bad).unwrap_err().0, line, "{bad}");
        }
        assert!(read(&format!("f(a = {}", "[".repeat(10_000))).is_err());
    }
}
