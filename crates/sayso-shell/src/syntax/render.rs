//! The tree for people: indented, a node a line, each with the bytes it stands for.

use super::tree::{
    Arithmetic, Array, AssignmentValue, Command, CommandKind, Compound, CompoundKind, Condition, Connector, Descriptor,
    List, Operation, Parameter, Part, Pipeline, Quote, Redirect, RedirectOperator, RedirectTarget, Simple, Span,
    Subscript, Tree, Word,
};
use std::fmt::Write;

impl Tree<'_> {
    /// An indented picture of the tree, a node a line, with spans. Text of the command is escaped: control characters
    /// in it are an attack on whoever reads this.
    #[must_use]
    pub fn render(&self) -> String {
        let mut picture = Picture { tree: self, out: String::new(), depth: 0 };
        picture.list("commands", &self.body);
        picture.out
    }
}

struct Picture<'t, 'a> {
    tree: &'t Tree<'a>,
    out: String,
    depth: usize,
}

impl<'a> Picture<'_, 'a> {
    fn line(&mut self, span: Option<Span>, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        if let Some(span) = span {
            // Writing to a string cannot fail.
            let _ = write!(self.out, "  [{}..{}]", span.start, span.end);
        }
        self.out.push('\n');
    }

    fn node(&mut self, span: Option<Span>, text: &str, inside: impl FnOnce(&mut Self)) {
        self.line(span, text);
        self.depth += 1;
        inside(self);
        self.depth -= 1;
    }

    fn list(&mut self, title: &str, list: &List<'a>) {
        self.node(None, title, |p| {
            for item in &list.items {
                let rest = &item.and_or.rest;
                match (rest.is_empty(), item.background) {
                    (true, false) => p.pipeline(&item.and_or.first),
                    (_, background) => {
                        let title = if background { "in the background" } else { "and-or" };
                        p.node(None, title, |p| {
                            p.pipeline(&item.and_or.first);
                            for (connector, pipeline) in rest {
                                p.line(None, if *connector == Connector::And { "&&" } else { "||" });
                                p.pipeline(pipeline);
                            }
                        });
                    }
                }
            }
        });
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'a>) {
        let mut title = String::new();
        for (is, word) in [(pipeline.negated, "not "), (pipeline.timed, "timed ")] {
            if is {
                title.push_str(word);
            }
        }
        if let ([command], true) = (&*pipeline.commands, title.is_empty()) {
            return self.command(command);
        }
        title.push_str("pipeline");
        self.node(Some(pipeline.span), &title, |p| pipeline.commands.iter().for_each(|command| p.command(command)));
    }

    fn command(&mut self, command: &Command<'a>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.node(Some(command.span), "command", |p| p.simple(simple)),
            CommandKind::Compound(compound) => self.compound(command.span, compound),
            CommandKind::Function(function) => self.node(Some(command.span), "function", |p| {
                p.word("name", &function.name);
                p.compound(command.span, &function.body);
            }),
            CommandKind::Coproc(coproc) => self.node(Some(command.span), "coprocess", |p| {
                if let Some(name) = &coproc.name {
                    p.word("name", name);
                }
                p.command(&coproc.command);
            }),
        }
    }

    fn simple(&mut self, simple: &Simple<'a>) {
        for assignment in &simple.assignments {
            let operator = if assignment.append { "+=" } else { "=" };
            let title = format!("assign {}{operator}", shown(&assignment.name));
            self.node(Some(assignment.span), &title, |p| {
                p.subscript(assignment.subscript.as_ref());
                match &assignment.value {
                    AssignmentValue::Scalar(word) => p.word("value", word),
                    AssignmentValue::Array(array) => p.array(array),
                }
            });
        }
        simple.words.iter().for_each(|word| self.word("word", word));
        self.redirects(&simple.redirects);
    }

    fn redirects(&mut self, redirects: &[Redirect<'a>]) {
        for redirect in redirects {
            let descriptor = match &redirect.descriptor {
                Descriptor::Default => String::new(),
                Descriptor::Number(number) => number.to_string(),
                Descriptor::Variable(name) => format!("{{{}}}", shown(name)),
            };
            let title = format!("redirect {descriptor}{}", sign(redirect.operator));
            self.node(Some(redirect.span), &title, |p| match &redirect.target {
                RedirectTarget::Word(word) => p.word("target", word),
                RedirectTarget::HereDocument(id) => match p.tree.here_document(*id) {
                    Some(document) => {
                        let quoted = if document.quoted { ", quoted" } else { "" };
                        let open = if document.terminated { "" } else { ", not ended" };
                        let title = format!("text up to {}{quoted}{open}", shown(&document.delimiter));
                        p.word(&title, &document.body);
                    }
                    None => p.line(None, "no text"),
                },
            });
        }
    }

    fn compound(&mut self, span: Span, compound: &Compound<'a>) {
        let title = match &compound.kind {
            CompoundKind::Group(_) => "group",
            CompoundKind::Subshell(_) => "subshell",
            CompoundKind::If { .. } => "if",
            CompoundKind::While { until: false, .. } => "while",
            CompoundKind::While { until: true, .. } => "until",
            CompoundKind::For { select: false, .. } | CompoundKind::ForArithmetic { .. } => "for",
            CompoundKind::For { select: true, .. } => "select",
            CompoundKind::Case { .. } => "case",
            CompoundKind::Arithmetic(_) => "arithmetic command",
            CompoundKind::Condition(_) => "condition",
        };
        self.node(Some(span), title, |p| {
            p.compound_inside(&compound.kind);
            p.redirects(&compound.redirects);
        });
    }

    fn compound_inside(&mut self, kind: &CompoundKind<'a>) {
        match kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => self.list("commands", list),
            CompoundKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list("if", condition);
                    self.list("then", body);
                }
                if let Some(otherwise) = otherwise {
                    self.list("else", otherwise);
                }
            }
            CompoundKind::While { condition, body, .. } => {
                self.list("condition", condition);
                self.list("do", body);
            }
            CompoundKind::For { name, words, body, .. } => {
                self.word("name", name);
                words.iter().flatten().for_each(|word| self.word("in", word));
                self.list("do", body);
            }
            CompoundKind::ForArithmetic { header, body } => {
                self.arithmetic("header", header);
                self.list("do", body);
            }
            CompoundKind::Case { word, arms } => {
                self.word("word", word);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| self.word("pattern", pattern));
                    self.list("then", &arm.body);
                }
            }
            CompoundKind::Arithmetic(arithmetic) => self.arithmetic("expression", arithmetic),
            CompoundKind::Condition(condition) => self.condition(condition),
        }
    }

    fn condition(&mut self, condition: &Condition<'a>) {
        match condition {
            Condition::Or(all) => self.node(None, "any", |p| all.iter().for_each(|one| p.condition(one))),
            Condition::And(all) => self.node(None, "all", |p| all.iter().for_each(|one| p.condition(one))),
            Condition::Not(one) => self.node(None, "not", |p| p.condition(one)),
            Condition::Word(word) => self.word("not empty", word),
            Condition::Unary { operator, operand } => self.word(&shown(operator), operand),
            Condition::Binary { operator, left, right } => {
                self.word("left", left);
                self.word(&shown(operator), right);
            }
        }
    }

    fn word(&mut self, title: &str, word: &Word<'a>) {
        match &*word.parts {
            [Part::Literal { text, .. } | Part::Quoted { text, .. }] => {
                self.line(Some(word.span), &format!("{title} {}", shown(text)));
            }
            parts => self.node(Some(word.span), title, |p| p.parts(parts)),
        }
    }

    fn arithmetic(&mut self, title: &str, arithmetic: &Arithmetic<'a>) {
        self.node(Some(arithmetic.span), title, |p| p.parts(&arithmetic.parts));
    }

    fn subscript(&mut self, subscript: Option<&Subscript<'a>>) {
        if let Some(subscript) = subscript {
            self.arithmetic("subscript", subscript);
        }
    }

    fn array(&mut self, array: &Array<'a>) {
        self.node(Some(array.span), "array", |p| {
            for element in &array.elements {
                p.subscript(element.subscript.as_ref());
                p.word("element", &element.value);
            }
        });
    }

    fn parts(&mut self, parts: &[Part<'a>]) {
        for part in parts {
            let span = Some(part.span());
            match part {
                Part::Literal { text, .. } => self.line(span, &format!("text {}", shown(text))),
                Part::Quoted { text, quote, .. } => {
                    let how = match quote {
                        Quote::Backslash => "escaped",
                        Quote::Single => "single-quoted",
                        Quote::AnsiC => "$'..'-quoted",
                        Quote::Double => "quoted",
                    };
                    self.line(span, &format!("{how} {}", shown(text)));
                }
                Part::DoubleQuoted { parts, .. } => self.node(span, "double quotes", |p| p.parts(parts)),
                Part::Variable { name, .. } => self.line(span, &format!("variable {}", shown(name))),
                Part::Parameter(parameter) => self.parameter(parameter),
                Part::Command(command) => {
                    let title = if command.backtick { "output of backticks" } else { "output of" };
                    self.node(span, title, |p| p.list("commands", &command.body));
                }
                Part::Process(process) => {
                    let title = if process.output { "pipe into" } else { "pipe from" };
                    self.node(span, title, |p| p.list("commands", &process.body));
                }
                Part::Arithmetic(arithmetic) => self.arithmetic("arithmetic", arithmetic),
                Part::Array(array) => self.array(array),
                Part::ExtendedGlob(glob) => {
                    let title = format!("extended glob {}", char::from(glob.operator));
                    self.node(span, &title, |p| glob.alternatives.iter().for_each(|word| p.word("or", word)));
                }
                Part::Opaque { why, .. } => self.line(span, &format!("opaque: {}", why.sentence())),
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter<'a>) {
        let indirect = if parameter.indirect { "indirect " } else { "" };
        let title = format!("{indirect}parameter {}", shown(&parameter.name));
        self.node(Some(parameter.span), &title, |p| {
            p.subscript(parameter.subscript.as_ref());
            match &parameter.operation {
                Operation::Value => {}
                Operation::Length => p.line(None, "length"),
                Operation::Names => p.line(None, "names that begin so"),
                Operation::Fallback { kind, word, .. } => p.word(&format!("fallback {kind:?}"), word),
                Operation::Trim { suffix, pattern, .. } => {
                    p.word(if *suffix { "trim end" } else { "trim beginning" }, pattern);
                }
                Operation::Replace { pattern, replacement, .. } => {
                    p.word("replace", pattern);
                    if let Some(replacement) = replacement {
                        p.word("by", replacement);
                    }
                }
                Operation::Substring { offset, length } => {
                    p.arithmetic("offset", offset);
                    if let Some(length) = length {
                        p.arithmetic("length", length);
                    }
                }
                Operation::Case { operator, pattern, .. } => {
                    p.word(&format!("change case {}", char::from(*operator)), pattern);
                }
                Operation::Transform(letter) => p.line(None, &format!("transform @{}", shown(&[*letter]))),
            }
        });
    }
}

/// Text of the command in quotes, with all that is not printable escaped.
fn shown(text: &[u8]) -> String {
    let mut out = String::from("'");
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            if char == '"' { out.push(char) } else { out.extend(char.escape_debug()) }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('\'');
    out
}

const fn sign(operator: RedirectOperator) -> &'static str {
    match operator {
        RedirectOperator::Read => "<",
        RedirectOperator::Write => ">",
        RedirectOperator::Append => ">>",
        RedirectOperator::Clobber => ">|",
        RedirectOperator::ReadWrite => "<>",
        RedirectOperator::CopyInput => "<&",
        RedirectOperator::CopyOutput => ">&",
        RedirectOperator::WriteBoth => "&>",
        RedirectOperator::AppendBoth => "&>>",
        RedirectOperator::HereString => "<<<",
        RedirectOperator::HereDocument => "<<",
    }
}

#[cfg(test)]
mod tests {
    use crate::Dialect;
    use crate::syntax::{Options, parse};

    fn rendered(text: &str) -> String {
        parse(text.as_bytes(), Dialect::Bash, Options::default()).unwrap().render()
    }

    #[test]
    fn a_pipeline_is_drawn_with_its_words_and_spans() {
        let expected = [
            "commands",
            "  pipeline  [0..20]",
            "    command  [0..10]",
            "      word 'cat'  [0..3]",
            "      word  [4..6]",
            "        variable 'x'  [4..6]",
            "      redirect 2>  [7..10]",
            "        target 'y'  [9..10]",
            "    command  [13..20]",
            "      word 'sort'  [13..17]",
            "      word '-u'  [18..20]",
            "",
        ];
        assert_eq!(rendered("cat $x 2>y | sort -u"), expected.join("\n"));
    }

    #[test]
    fn control_characters_of_the_command_do_not_reach_the_reader() {
        let picture = rendered("echo '\u{1b}[2J' \u{202e}");
        assert!(!picture.contains(['\u{1b}', '\u{202e}']), "{picture}");
    }

    #[test]
    fn what_stands_in_a_here_document_is_drawn_under_its_redirect() {
        let picture = rendered("cat <<E\n$(x)\nE\n");
        assert!(picture.contains("text up to 'E'"), "{picture}");
        assert!(picture.contains("word 'x'  [10..11]"), "{picture}");
    }
}
