//! A syntax tree reduced to the simple commands in it, for comparison with what bash's own parser finds.

use sayso_shell::syntax::tree::*;

/// Stands for a word with an expansion in it.
pub(crate) const DYNAMIC: &str = "$DYN";

/// The simple commands of a tree, and whether a part of it was not understood.
#[derive(Default)]
pub(crate) struct Reduced {
    pub(crate) commands: Vec<Vec<String>>,
    pub(crate) opaque: bool,
}

pub(crate) fn reduce(tree: &Tree<'_>) -> Reduced {
    let mut walk = Walk { tree, found: Reduced::default() };
    walk.list(&tree.body);
    walk.found
}

struct Walk<'t, 'a> {
    tree: &'t Tree<'a>,
    found: Reduced,
}

impl<'a> Walk<'_, 'a> {
    fn list(&mut self, list: &List<'a>) {
        for item in &list.items {
            self.pipeline(&item.and_or.first);
            for (_, pipeline) in &item.and_or.rest {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'a>) {
        for command in &pipeline.commands {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command<'a>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Compound(compound) => self.compound(compound),
            CommandKind::Function(function) => {
                self.word(&function.name);
                self.compound(&function.body);
            }
            CommandKind::Coproc(coproc) => self.command(&coproc.command),
        }
    }

    fn simple(&mut self, simple: &Simple<'a>) {
        for assignment in &simple.assignments {
            self.subscript(assignment.subscript.as_ref());
            match &assignment.value {
                AssignmentValue::Scalar(word) => self.word(word),
                AssignmentValue::Array(array) => self.array(array),
            }
        }
        simple.words.iter().for_each(|word| self.word(word));
        self.redirects(&simple.redirects);
        if !simple.words.is_empty() {
            let words: Vec<String> = simple.words.iter().map(text).collect();
            // The corpus gives only the name of `[`.
            self.found.commands.push(if words[0] == "[" { vec!["[".into()] } else { words });
        }
    }

    fn redirects(&mut self, redirects: &[Redirect<'a>]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Word(word) => self.word(word),
                RedirectTarget::HereDocument(id) => {
                    let document = self.tree.here_document(*id).unwrap();
                    self.word(&document.body);
                }
            }
        }
    }

    fn compound(&mut self, compound: &Compound<'a>) {
        match &compound.kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => self.list(list),
            CompoundKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            CompoundKind::While { condition, body, .. } => {
                self.list(condition);
                self.list(body);
            }
            CompoundKind::For { name, words, body, .. } => {
                self.word(name);
                words.iter().flatten().for_each(|word| self.word(word));
                self.list(body);
            }
            CompoundKind::ForArithmetic { header, body } => {
                self.parts(&header.parts);
                self.list(body);
            }
            CompoundKind::Case { word, arms } => {
                self.word(word);
                for arm in arms {
                    arm.patterns.iter().for_each(|word| self.word(word));
                    self.list(&arm.body);
                }
            }
            CompoundKind::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
            CompoundKind::Condition(condition) => self.condition(condition),
        }
        self.redirects(&compound.redirects);
    }

    fn condition(&mut self, condition: &Condition<'a>) {
        match condition {
            Condition::Or(all) | Condition::And(all) => all.iter().for_each(|one| self.condition(one)),
            Condition::Not(one) => self.condition(one),
            Condition::Word(word) | Condition::Unary { operand: word, .. } => self.word(word),
            Condition::Binary { left, right, .. } => {
                self.word(left);
                self.word(right);
            }
        }
    }

    fn word(&mut self, word: &Word<'a>) {
        self.parts(&word.parts);
    }

    fn array(&mut self, array: &Array<'a>) {
        for element in &array.elements {
            self.subscript(element.subscript.as_ref());
            self.word(&element.value);
        }
    }

    fn subscript(&mut self, subscript: Option<&Subscript<'a>>) {
        if let Some(subscript) = subscript {
            self.parts(&subscript.parts);
        }
    }

    fn parts(&mut self, parts: &[Part<'a>]) {
        for part in parts {
            match part {
                Part::Literal { .. } | Part::Quoted { .. } | Part::Variable { .. } => {}
                Part::DoubleQuoted { parts, .. } => self.parts(parts),
                Part::Parameter(parameter) => self.parameter(parameter),
                Part::Command(command) => self.list(&command.body),
                Part::Process(process) => self.list(&process.body),
                Part::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
                Part::Array(array) => self.array(array),
                Part::ExtendedGlob(glob) => glob.alternatives.iter().for_each(|word| self.word(word)),
                Part::Opaque { .. } => self.found.opaque = true,
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter<'a>) {
        self.subscript(parameter.subscript.as_ref());
        match &parameter.operation {
            Operation::Value | Operation::Length | Operation::Names | Operation::Transform(_) => {}
            Operation::Fallback { word, .. } => self.word(word),
            Operation::Trim { pattern, .. } | Operation::Case { pattern, .. } => self.word(pattern),
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                replacement.iter().for_each(|word| self.word(word));
            }
            Operation::Substring { offset, length } => {
                self.parts(&offset.parts);
                length.iter().for_each(|length| self.parts(&length.parts));
            }
        }
    }
}

/// The word with its quotes removed, or [`DYNAMIC`].
fn text(word: &Word<'_>) -> String {
    let mut bytes = Vec::new();
    for part in &word.parts {
        match part {
            Part::Literal { text, .. } => bytes.extend(text.iter().map(|b| (*b, false))),
            Part::Quoted { text, .. } => bytes.extend(text.iter().map(|b| (*b, true))),
            Part::ExtendedGlob(_) | Part::Opaque { .. } => return DYNAMIC.into(),
            _ => return DYNAMIC.into(),
        }
    }
    if has_braces(&bytes) {
        return DYNAMIC.into();
    }
    let bytes: Vec<u8> = bytes.into_iter().map(|(b, _)| b).collect();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // What looks like an array assignment is one to `declare`, even in quotes: the corpus calls it dynamic everywhere.
    if text.split_once("=(").is_some_and(|(left, _)| is_assignable(left)) { DYNAMIC.into() } else { text }
}

/// `name`, `name+`, `name[..]`.
fn is_assignable(left: &str) -> bool {
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = left.strip_suffix(']').and_then(|left| left.split_once('[')).map_or(left, |(name, _)| name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Whether brace expansion would change the word.
fn has_braces(bytes: &[(u8, bool)]) -> bool {
    bytes.iter().enumerate().any(|(at, byte)| *byte == (b'{', false) && opens_braces(&bytes[at + 1..]))
}

fn opens_braces(rest: &[(u8, bool)]) -> bool {
    let mut depth = 0;
    let mut comma = false;
    for (at, (byte, quoted)) in rest.iter().enumerate() {
        match (byte, quoted) {
            (b'{', false) => depth += 1,
            (b',', false) if depth == 0 => comma = true,
            (b'}', false) if depth == 0 => return comma || is_sequence(&rest[..at]),
            (b'}', false) => depth -= 1,
            _ => {}
        }
    }
    false
}

/// `1..3`, `a..f`, `1..9..2`.
fn is_sequence(inside: &[(u8, bool)]) -> bool {
    if inside.iter().any(|(_, quoted)| *quoted) {
        return false;
    }
    let text: String = inside.iter().map(|(b, _)| char::from(*b)).collect();
    let ends: Vec<&str> = text.split("..").collect();
    let number = |text: &str| text.parse::<i64>().is_ok();
    let letter = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    match ends[..] {
        [a, b] => (number(a) && number(b)) || (letter(a) && letter(b)),
        [a, b, step] => number(step) && ((number(a) && number(b)) || (letter(a) && letter(b))),
        _ => false,
    }
}
