//! Goes through a tree that was read as bash reads it, and finds the first thing that another shell reads otherwise.
//!
//! What only bash and its like know at all, the parser notes as it reads; here stands what every shell accepts, and takes
//! for something else.

use super::{Dialect, builtin, variable, zsh};
use crate::effect::Span;
use crate::syntax::tree::{
    AndOr, Arithmetic, Array, Assignment, AssignmentValue, CaseEnd, Command, CommandKind, Compound, CompoundKind,
    Condition, Descriptor, Few, List, Operation, Parameter, Part, Pipeline, Quote, Redirect, RedirectOperator,
    RedirectTarget, Simple, Tree, Word,
};

/// Something that another shell reads otherwise than bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub span: Span,
    /// What, in a sentence.
    pub text: &'static str,
}

const NOT_POSIX: &str = "Shells that may be `sh` read this otherwise than bash.";

/// The first difference. `unknown` is what the parser found that POSIX does not know.
pub(crate) fn difference(
    tree: &Tree<'_>,
    source: &[u8],
    dialect: Dialect,
    unknown: Option<Span>,
) -> Option<Difference> {
    if dialect == Dialect::Bash {
        return None;
    }
    let plain = dialect.may_be_plain();
    let first = unknown.filter(|_| plain).map(|span| Difference { span, text: NOT_POSIX });
    let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
    let last = Span { start: end.saturating_sub(1), end };
    let first = first.or_else(|| {
        let text = "Shells differ in what a backslash at the very end means.";
        source.ends_with(b"\\").then_some(Difference { span: last, text })
    });
    let mut reader = Reader { source, plain, zsh: dialect.may_be_zsh(), first };
    reader.list(&tree.body);
    for document in &tree.here_documents {
        reader.parts(&document.body.parts);
    }
    reader.first
}

struct Reader<'r> {
    source: &'r [u8],
    plain: bool,
    zsh: bool,
    first: Option<Difference>,
}

impl Reader<'_> {
    fn note(&mut self, span: Span, text: &'static str) {
        if self.first.is_none() {
            self.first = Some(Difference { span, text });
        }
    }

    fn text(&self, span: Span) -> &[u8] {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn list(&mut self, list: &List<'_>) {
        for item in &list.items {
            let AndOr { first, rest } = &item.and_or;
            self.pipeline(first);
            rest.iter().for_each(|(_, pipeline)| self.pipeline(pipeline));
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'_>) {
        if pipeline.timed && self.plain {
            self.note(pipeline.span, "Not every `sh` knows `time`; it may be a program, for which `cd` does nothing.");
        }
        let first = pipeline.commands.first().map_or(pipeline.span.end, |command| command.span.start);
        let prefix = Span { start: pipeline.span.start, end: first };
        if pipeline.timed && self.zsh && self.text(prefix).contains(&b'-') {
            self.note(pipeline.span, "To zsh `-p` behind `time` is a program.");
        }
        if pipeline.timed && pipeline.negated && self.zsh {
            self.note(pipeline.span, "To zsh `time` beside `!` may be a program.");
        }
        for command in &pipeline.commands {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command<'_>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Compound(compound) => self.compound(compound),
            CommandKind::Function(function) => {
                let name = function.name.plain().unwrap_or_default();
                if self.zsh && variable::is_hook(name) {
                    self.note(function.name.span, "zsh calls a function of this name by itself.");
                }
                if self.plain && builtin::is_special(name) {
                    self.note(function.name.span, "No function takes the place of this builtin in every `sh`.");
                }
                if self.zsh && function.name.plain().is_none_or(|name| name.iter().any(|b| b"{}()=".contains(b))) {
                    self.note(function.name.span, "zsh takes this name for something else.");
                }
                self.compound(&function.body);
            }
            CommandKind::Coproc(coproc) => {
                self.note(command.span, "Shells differ in what `coproc` does.");
                self.command(&coproc.command);
            }
        }
    }

    fn simple(&mut self, simple: &Simple<'_>) {
        // Where no command is, bash assigns first, others open files first.
        let opens = |redirect: &Redirect<'_>| match &redirect.target {
            RedirectTarget::Word(word) => word.plain().is_none(),
            RedirectTarget::HereDocument(_) => false,
        };
        if !simple.assignments.is_empty()
            && simple.words.iter().all(|word| word.plain().is_none())
            && let Some(redirect) = simple.redirects.iter().find(|redirect| opens(redirect))
        {
            self.note(redirect.span, "Shells differ in whether they assign or open files first.");
        }
        for assignment in &simple.assignments {
            self.assignment(assignment);
        }
        let declares = simple.words.first().and_then(Word::plain).is_some_and(|name| {
            matches!(name, b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"integer" | b"float")
        });
        for (at, word) in simple.words.iter().enumerate() {
            if self.zsh && at > 0 && matches!(word.plain(), Some(b"{" | b"}")) {
                self.note(word.span, "To zsh a brace that stands alone is never a word.");
            }
            if self.zsh && at == 0 && begins_with(word, b'{') {
                self.note(word.span, "To zsh a brace at the begin of a command opens a group.");
            }
            if self.zsh && at == 0 && zsh::assigns_positional(word) {
                self.note(word.span, "zsh assigns to `$1` and its like.");
            }
            if self.zsh && !simple.redirects.is_empty() && names_descriptor(word) {
                self.note(word.span, "zsh takes `{name}` before a redirect for a part of it.");
            }
            self.assignment_like(word, declares);
            self.expanded(word);
        }
        let first = simple.words.first().map_or(u32::MAX, |word| word.span.start);
        let leads = |redirect: &&Redirect<'_>| {
            matches!(redirect.descriptor, Descriptor::Variable(_)) && redirect.span.start < first
        };
        if self.zsh
            && let Some(redirect) = simple.redirects.iter().find(leads)
        {
            self.note(redirect.span, "To zsh a brace at the begin of a command opens a group.");
        }
        self.redirects(&simple.redirects);
    }

    fn assignment(&mut self, assignment: &Assignment<'_>) {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(subscript);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                if self.zsh && zsh::names_command_in_value(word) {
                    self.note(word.span, zsh::NAMES_COMMAND);
                }
                self.parts(&word.parts);
            }
            AssignmentValue::Array(array) => self.array(array),
        }
    }

    /// An argument `name=value`. bash expands a `~` behind the `=`; others do so for declarations, or never.
    fn assignment_like(&mut self, word: &Word<'_>, declares: bool) {
        let Some(Part::Literal { text, .. }) = word.parts.first() else { return };
        let Some(at) = text.iter().position(|b| *b == b'=') else { return };
        let (name, value) = text.split_at(at);
        let is_name = !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
        if !is_name {
            return;
        }
        let tilde = value.windows(2).any(|pair| matches!(pair, b"=~" | b":~"));
        if tilde && (self.plain || !declares) {
            self.note(word.span, "Only bash expands `~` in this place.");
        }
        if declares && self.zsh && (value.starts_with(b"==") || value.windows(2).any(|pair| pair == b":=")) {
            self.note(word.span, zsh::NAMES_COMMAND);
        }
    }

    /// A word that is expanded to file names, where no command stands before it.
    fn argument(&mut self, word: &Word<'_>) {
        self.assignment_like(word, false);
        self.expanded(word);
    }

    fn expanded(&mut self, word: &Word<'_>) {
        if self.zsh && zsh::names_command(word) {
            self.note(word.span, zsh::NAMES_COMMAND);
        }
        if self.zsh && closes_brace(word) {
            self.note(word.span, "To zsh a brace that closes nothing in its word closes a group.");
        }
        if self.zsh && counts_to_value(word) {
            self.note(word.span, "zsh puts values into `{1..$n}` before it counts.");
        }
        if self.zsh && counts_from_nothing(word) {
            self.note(word.span, "To zsh `{..3}` is no text.");
        }
        if self.plain && has_braces(word) {
            self.note(word.span, "Not every `sh` expands braces.");
        }
        let bracket =
            |part: &Part<'_>| matches!(part, Part::Literal { text, .. } if text.windows(2).any(|p| p == b"[^"));
        if self.plain && word.parts.iter().any(bracket) {
            self.note(word.span, "Not every `sh` reads `[^...]` as a pattern.");
        }
        self.parts(&word.parts);
    }

    fn array(&mut self, array: &Array<'_>) {
        for element in &array.elements {
            if let Some(subscript) = &element.subscript {
                self.subscript(subscript);
            }
            self.argument(&element.value);
        }
    }

    fn redirects(&mut self, redirects: &[Redirect<'_>]) {
        for redirect in redirects {
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &Redirect<'_>) {
        if matches!(redirect.descriptor, Descriptor::Number(number) if number > 9) {
            self.note(redirect.span, "Not every shell reads more than one digit before a redirect.");
        }
        let RedirectTarget::Word(word) = &redirect.target else { return };
        let first = match word.parts.first() {
            Some(Part::Literal { text, .. }) => &**text,
            _ => b"",
        };
        let copies = matches!(redirect.operator, RedirectOperator::CopyInput | RedirectOperator::CopyOutput);
        let next = self.source.get(word.span.end as usize);
        if copies && first == b"-" && next.is_some_and(|b| !b.is_ascii_whitespace() && !b"();&|<>".contains(b)) {
            self.note(redirect.span, "Not every shell ends the word behind `>&-`.");
        }
        if self.zsh && first.iter().any(|b| b"*?[".contains(b)) {
            self.note(redirect.span, "zsh opens every file that a pattern behind a redirect finds.");
        }
        if self.zsh && first.starts_with(b"!") {
            self.note(redirect.span, "To zsh `>!` is an operator.");
        }
        let range = |text: &[u8]| text.contains(&b'-') && text.iter().all(|b| b.is_ascii_digit() || *b == b'-');
        if self.zsh
            && redirect.operator == RedirectOperator::Read
            && range(first)
            && self.source.get(word.span.end as usize) == Some(&b'>')
        {
            self.note(redirect.span, "To zsh `<1-9>` is a pattern.");
        }
        if self.plain {
            let number = first.iter().all(|b| b.is_ascii_digit() || *b == b'-') && !first.is_empty();
            if copies && !number {
                self.note(redirect.span, NOT_POSIX);
            }
            if first.iter().any(|b| b"*?[".contains(b)) {
                self.note(redirect.span, "Not every `sh` expands patterns behind a redirect.");
            }
        }
        self.argument(word);
    }

    fn compound(&mut self, compound: &Compound<'_>) {
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
                self.parts(&name.parts);
                words.iter().flatten().for_each(|word| self.argument(word));
                self.list(body);
            }
            CompoundKind::ForArithmetic { header, body } => {
                self.arithmetic(header);
                self.list(body);
            }
            CompoundKind::Case { word, arms } => {
                self.parts(&word.parts);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| self.parts(&pattern.parts));
                    if self.zsh && arm.end == CaseEnd::Continue {
                        self.note(word.span, "zsh does not know `;;&`.");
                    }
                    self.list(&arm.body);
                }
            }
            CompoundKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            CompoundKind::Condition(condition) => self.condition(condition),
        }
        self.redirects(&compound.redirects);
    }

    fn condition(&mut self, condition: &Condition<'_>) {
        match condition {
            Condition::Or(all) | Condition::And(all) => all.iter().for_each(|one| self.condition(one)),
            Condition::Not(one) => self.condition(one),
            Condition::Word(word) => self.parts(&word.parts),
            Condition::Unary { operand, .. } => self.parts(&operand.parts),
            Condition::Binary { left, right, .. } => {
                self.parts(&left.parts);
                self.parts(&right.parts);
            }
        }
    }

    fn parts(&mut self, parts: &[Part<'_>]) {
        for (at, part) in parts.iter().enumerate() {
            if self.zsh
                && let Some(text) = zsh::begins_expansion(part, parts.get(at + 1))
            {
                self.note(part.span(), text);
            }
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Literal { .. } => {}
            Part::Quoted { quote: Quote::AnsiC, span, .. } => {
                if self.zsh && zsh::has_odd_escape(self.text(*span)) {
                    self.note(*span, "zsh reads an escape in `$'..'` otherwise.");
                }
            }
            Part::Quoted { span, .. } => self.localized(*span),
            Part::DoubleQuoted { parts, span } => {
                self.localized(*span);
                self.parts(parts);
            }
            Part::Variable { span, .. } => {
                // A name that is broken over two lines.
                if self.zsh && self.text(*span).contains(&b'\\') {
                    self.note(*span, "Shells differ in how they read a name that is broken over two lines.");
                }
            }
            Part::Parameter(parameter) => self.parameter(parameter),
            Part::Command(command) => {
                if self.zsh && self.text(command.span).starts_with(b"$((") {
                    self.note(command.span, "Whether this is arithmetic depends on the shell.");
                }
                self.list(&command.body);
            }
            Part::Process(process) => self.list(&process.body),
            Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            Part::Array(array) => self.array(array),
            Part::ExtendedGlob(glob) => {
                if self.zsh {
                    self.note(glob.span, "zsh reads parentheses in a pattern otherwise.");
                }
                glob.alternatives.iter().for_each(|word| self.parts(&word.parts));
            }
            Part::Opaque { .. } => {}
        }
    }

    /// `$"..."` is a dollar and a string to all but bash and ksh.
    fn localized(&mut self, span: Span) {
        if self.zsh && self.text(span).starts_with(b"$") {
            self.note(span, "Only bash and ksh know `$\"..\"`.");
        }
    }

    fn parameter(&mut self, parameter: &Parameter<'_>) {
        if self.zsh
            && let Some(text) = zsh::reads_otherwise(parameter)
        {
            self.note(parameter.span, text);
        }
        if let Some(subscript) = &parameter.subscript {
            self.subscript(subscript);
        }
        match &parameter.operation {
            Operation::Fallback { word, .. } => self.operand(word),
            Operation::Trim { pattern, .. } | Operation::Case { pattern, .. } => self.operand(pattern),
            Operation::Replace { pattern, replacement, .. } => {
                self.operand(pattern);
                replacement.iter().for_each(|word| self.operand(word));
            }
            Operation::Substring { offset, length } => {
                self.arithmetic(offset);
                length.iter().for_each(|length| self.arithmetic(length));
            }
            Operation::Value | Operation::Length | Operation::Names | Operation::Transform(_) => {}
        }
    }

    /// A word in `${...}`, the only place where bash reads a bare parenthesis as text.
    fn operand(&mut self, word: &Word<'_>) {
        let opens = |part: &Part<'_>| matches!(part, Part::Literal { text, .. } if text.contains(&b'('));
        if self.zsh && word.parts.iter().any(opens) {
            self.note(word.span, "zsh reads parentheses in `${...}` as a pattern, or as a command: `${x:-=(..)}`.");
        }
        self.parts(&word.parts);
    }

    fn subscript(&mut self, subscript: &Arithmetic<'_>) {
        if self.zsh && leading(&subscript.parts).is_some_and(|byte| byte == b'(') {
            self.note(subscript.span, "zsh reads flags in a subscript.");
        }
        self.arithmetic(subscript);
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic<'_>) {
        for part in &arithmetic.parts {
            let Part::Quoted { text, span, .. } = part else { continue };
            if self.zsh && zsh::has_odd_number(text) {
                self.note(*span, "zsh reads a number in arithmetic otherwise.");
            }
            let pair = |wanted: &[u8]| text.windows(2).any(|pair| pair == wanted);
            if self.plain && (pair(b"**") || pair(b"++") || pair(b"--") || text.iter().any(|b| b"#,".contains(b))) {
                self.note(*span, "Not every `sh` knows this arithmetic.");
            }
        }
        self.parts(&arithmetic.parts);
    }
}

fn leading(parts: &Few<Part<'_>>) -> Option<u8> {
    match parts.first() {
        Some(Part::Quoted { text, .. }) => text.first().copied(),
        _ => None,
    }
}

fn begins_with(word: &Word<'_>, byte: u8) -> bool {
    matches!(word.parts.first(), Some(Part::Literal { text, .. }) if text.first() == Some(&byte))
}

/// `{name}`.
fn names_descriptor(word: &Word<'_>) -> bool {
    let name = word.plain().and_then(|text| text.strip_prefix(b"{")).and_then(|text| text.strip_suffix(b"}"));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'))
}

/// `a}`.
fn closes_brace(word: &Word<'_>) -> bool {
    let mut open = 0_usize;
    for part in &word.parts {
        let Part::Literal { text, .. } = part else { continue };
        for byte in text.iter() {
            match byte {
                b'{' => open += 1,
                b'}' if open == 0 => return true,
                b'}' => open -= 1,
                _ => {}
            }
        }
    }
    false
}

/// `{1..$n}`.
fn counts_to_value(word: &Word<'_>) -> bool {
    let literal = |part: &Part<'_>| matches!(part, Part::Literal { .. });
    word.parts.iter().any(has_dots) && has_braces(word) && !word.parts.iter().all(literal)
}

/// `{..3}`, `{1..}`.
fn counts_from_nothing(word: &Word<'_>) -> bool {
    let holds = |text: &[u8], what: &[u8]| text.windows(what.len()).any(|some| some == what);
    word.parts
        .iter()
        .any(|part| matches!(part, Part::Literal { text, .. } if holds(text, b"{..") || holds(text, b"..}")))
}

fn has_dots(part: &Part<'_>) -> bool {
    matches!(part, Part::Literal { text, .. } if text.windows(2).any(|pair| pair == b".."))
}

fn has_braces(word: &Word<'_>) -> bool {
    let holds = |b: u8| word.parts.iter().any(|part| matches!(part, Part::Literal { text, .. } if text.contains(&b)));
    holds(b'{') && holds(b'}') && (holds(b',') || word.parts.iter().any(has_dots))
}
