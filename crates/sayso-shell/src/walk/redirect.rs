//! Redirects: files opened by the shell itself.

use super::expand::Position;
use super::{Input, Walker};
use crate::canonical::canonical;
use crate::certain::value::Known;
use crate::certain::{Output, Printed, Sink};
use crate::effect::{Carry, Effect, HostTarget, NamedBy, RunId, Span, Stdin, Target, Verb};
use crate::program::Code;
use crate::program::Prints;
use crate::syntax::tree::{
    Descriptor, Part as SyntaxPart, ProcessSubstitution, Redirect, RedirectOperator, RedirectTarget, Word as Syntax,
};
use crate::value::Scalar;
use crate::value::scope::Held;
use crate::word::{Origin, Part, Word};
use crate::{Dialect, Kind};
use std::rc::Rc;

/// What the redirects of one command come to.
#[derive(Debug, Default)]
pub(crate) struct Redirected {
    /// Files that are read: part of what the command's program does.
    reads: Vec<(Word, Span)>,
    /// One of them may fail, and then the command does not run.
    pub(crate) may_fail: bool,
}

impl<'t> Walker<'t> {
    /// Opens what redirects name. Sets where the command reads from and writes to; the caller restores `input` and
    /// `state.streams`.
    pub(crate) fn redirects(&mut self, redirects: &'t [Redirect<'t>]) -> Redirected {
        let mut out = Redirected::default();
        let before = self.state.streams;
        for redirect in redirects {
            self.redirect(redirect, &mut out);
        }
        // zsh writes to the file and to the pipe.
        let led_away = before.out.may_be_here() && self.state.streams.out != before.out;
        if led_away && self.state.dialect.may_be_zsh() && self.input.pipe.is_some() {
            self.state.streams.set(1, Sink::Perhaps);
        }
        // It writes to all files that are named for one descriptor.
        if redirects.len() > 1 && self.state.dialect.may_be_zsh() {
            for number in 1..=9 {
                if redirects.iter().filter(|redirect| leads_away(redirect, number)).count() > 1 {
                    self.state.streams.set(number, Sink::Perhaps);
                }
            }
        }
        out
    }

    fn redirect(&mut self, redirect: &'t Redirect<'t>, out: &mut Redirected) {
        let span = self.span(redirect.span);
        let number = match &redirect.descriptor {
            Descriptor::Default => None,
            Descriptor::Number(number) => Some(*number),
            Descriptor::Variable(name) => {
                if name.contains(&b'[') {
                    self.evaluates_again(span);
                } else {
                    self.set(name, Held::Scalar(Scalar::number()));
                }
                Some(u32::MAX)
            }
        };
        out.may_fail |= number.is_some_and(|number| number > 9) || self.state.descriptors_unsure;
        let word = match &redirect.target {
            RedirectTarget::HereDocument(id) => {
                let tree = self.place.tree;
                let text = match tree.here_document(*id) {
                    Some(document) => self.scalar_of(&document.body.parts, Position::Quoted),
                    None => Scalar::crafted(),
                };
                self.crafted |= risky(&text, self.armed);
                match number.unwrap_or(0) {
                    0 => self.read_text(&text),
                    other => self.state.streams.set(other, Sink::Elsewhere),
                }
                return;
            }
            RedirectTarget::Word(word) => word,
        };
        if redirect.operator == RedirectOperator::HereString {
            let text = self.scalar(word, Position::Single);
            self.crafted |= risky(&text, self.armed);
            if number.unwrap_or(0) == 0 {
                let line = match text.bytes() {
                    Some(bytes) => Scalar::exact(&[bytes, b"\n"].concat(), Known::Joined),
                    None => text,
                };
                self.read_text(&line);
            } else if let Some(number) = number {
                self.state.streams.set(number, Sink::Elsewhere);
            }
            return;
        }
        if let (RedirectOperator::Read, 0, [SyntaxPart::Process(process)]) =
            (redirect.operator, number.unwrap_or(0), &*word.parts)
            && !process.output
            && matches!(self.state.dialect, Dialect::Bash | Dialect::Zsh)
        {
            out.may_fail = true;
            self.read_process(process);
            return;
        }
        let mut words = self.target(word);
        if words.is_empty() {
            // bash refuses an empty name; an expansion that vanished may be no accident.
            words.push(Scalar::unknown().to_word());
        }
        // bash expands the name of a file behind `>&` twice: only plain text is what it seems.
        let dialect = self.state.dialect;
        let plain =
            |word: &Word| is_descriptor(word, dialect) || word.exact().is_some_and(|text| !text.iter().any(expands));
        if redirect.operator == RedirectOperator::CopyOutput && !words.iter().all(plain) {
            self.opaque(Code::DynamicText, "The shell may expand the word behind `>&` twice.", span);
        }
        let opens = matches!(words.as_slice(), [word] if self.surely_opens(redirect.operator, word));
        out.may_fail |= !opens;
        for word in &words {
            self.open(redirect.operator, number, word, span, out);
        }
    }

    /// What the word behind a redirect becomes. `sh` neither splits it nor looks for files: `> $x` is one name.
    fn target(&mut self, word: &'t Syntax<'t>) -> Vec<Word> {
        let mut words = Vec::new();
        match self.state.dialect {
            Dialect::Sh => words.push(self.scalar(word, Position::Single).to_word()),
            Dialect::Bash | Dialect::Zsh => self.argument(word, &mut words),
            Dialect::Other => {
                self.argument(word, &mut words);
                // Some split it, some do not.
                if !matches!(words.as_slice(), [Word::Exact(_)]) {
                    words = vec![Scalar::hole(Origin::Unknown, self.armed).to_word()];
                }
            }
        }
        words
    }

    /// Whether a redirect cannot fail: `/dev/null`, and descriptors that a shell starts with.
    fn surely_opens(&mut self, operator: RedirectOperator, word: &Word) -> bool {
        use RedirectOperator as Op;
        let name = word.exact();
        if name == Some(b"/dev/null") && operator != Op::CopyInput {
            return !self.state.descriptors_unsure && !self.state.elsewhere;
        }
        if !matches!(operator, Op::CopyInput | Op::CopyOutput) {
            return false;
        }
        if name.is_some_and(|name| matches!(name, b"0" | b"1" | b"2")) {
            // The next turn of a loop may find closed what this one finds open.
            return !self.state.descriptors_unsure && self.loops == 0;
        }
        self.state.descriptors_unsure = true;
        false
    }

    fn read_text(&mut self, text: &Scalar) {
        let pipe = self.input.pipe;
        if self.state.dialect.may_be_zsh() && self.input.stdin != Stdin::Inherited {
            // zsh reads one after the other.
            self.input = Input { stdin: Stdin::Pipe, pipe, ..Input::default() };
            return;
        }
        let text = text.bytes().map(Rc::from);
        self.input = Input { stdin: Stdin::Text, text, pipe, ..Input::default() };
    }

    /// `< <(git ls-files)`: names that a listing prints are known as such, as behind a pipe. Of all else nothing is.
    fn read_process(&mut self, process: &'t ProcessSubstitution<'t>) {
        let printed = self.process_substitution(process);
        let alone = self.input.stdin == Stdin::Inherited;
        let prints = match printed.into_printed() {
            Printed::Known(prints @ Prints::Names(_)) | Printed::Perhaps(prints @ Prints::Names(_)) if alone => prints,
            _ => Prints::Unknown,
        };
        self.input = Input { stdin: Stdin::File, prints, pipe: self.input.pipe, ..Input::default() };
        self.state.streams.set(0, Sink::Elsewhere);
    }

    /// The file behind `<`, where its place is certain.
    fn input_file(&self, word: &Word) -> Option<Rc<std::path::Path>> {
        let name = word.exact()?;
        let here = match self.state.cwd.places() {
            [only] if !self.state.elsewhere => only,
            _ => return None,
        };
        Some(Rc::from(crate::program::join(Some(here), name).as_path()))
    }

    fn open(&mut self, operator: RedirectOperator, number: Option<u32>, word: &Word, span: Span, out: &mut Redirected) {
        use RedirectOperator as Op;
        let (reads, writes) = match operator {
            Op::Read => (true, false),
            Op::Write | Op::Append | Op::Clobber | Op::WriteBoth | Op::AppendBoth => (false, true),
            Op::ReadWrite => (true, true),
            Op::CopyInput if is_descriptor(word, self.state.dialect) => {
                self.copy_descriptor(number.unwrap_or(0), word);
                if number.unwrap_or(0) == 0 {
                    let pipe = self.input.pipe;
                    let more = self.state.dialect == Dialect::Zsh && self.input.stdin != Stdin::Inherited;
                    let stdin = if more { Stdin::Pipe } else { Stdin::default() };
                    self.input = Input { stdin, pipe, ..Input::default() };
                }
                return;
            }
            Op::CopyOutput if is_descriptor(word, self.state.dialect) => {
                self.copy_descriptor(number.unwrap_or(1), word);
                if number == Some(0) {
                    let pipe = self.input.pipe;
                    self.input = Input { pipe, ..Input::default() };
                }
                return;
            }
            // bash calls a file here an ambiguous redirect.
            Op::CopyInput => return,
            Op::CopyOutput => (false, true),
            Op::HereString | Op::HereDocument => return,
        };
        let input = number.unwrap_or(u32::from(!reads)) == 0;
        if reads && input {
            let pipe = self.input.pipe;
            // At a terminal a person types.
            let stdin = if word.exact() == Some(b"/dev/tty") { Stdin::Inherited } else { Stdin::File };
            let file = self.input_file(word).filter(|_| !writes && self.input.stdin == Stdin::Inherited);
            self.input = Input { stdin, pipe, file, ..Input::default() };
        }
        let sink = if writes { self.sink(word) } else { Sink::Elsewhere };
        self.state.streams.set(number.unwrap_or(u32::from(!reads)), sink);
        if number.is_none() && matches!(operator, Op::WriteBoth | Op::AppendBoth | Op::CopyOutput) {
            self.state.streams.set(2, sink);
        }
        if let Some(host) = network(word) {
            let carry = Carry::Named { code: Code::Redirect, by: NamedBy::Nothing };
            let target = Target::Host(host);
            self.out.effects.push(Effect { verb: Verb::Connect, target, span, run: None, carry, certain: true });
            // To other shells it is a file like any other.
            if self.state.dialect == Dialect::Bash {
                return;
            }
        }
        if reads {
            out.reads.push((word.clone(), span));
        }
        if writes {
            let carry = Carry::Named { code: Code::Redirect, by: NamedBy::Nothing };
            self.path_effect(Verb::Write, word, span, None, &carry, false);
        }
    }

    /// `n>&m`, `n>&m-`, `n>&-`.
    fn copy_descriptor(&mut self, number: u32, word: &Word) {
        let from = word.exact().map(|text| text.strip_suffix(b"-").unwrap_or(text));
        let sink = match from {
            Some(b"") => Sink::Elsewhere,
            Some(digits) => match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
                Some(from) => self.state.streams.get(from),
                None => Sink::Perhaps,
            },
            None => Sink::Perhaps,
        };
        self.state.streams.set(number, sink);
    }

    /// Where writing to this word leads. A file is elsewhere only if it certainly is one: `/dev/stdout`, what lies below
    /// `/proc`, a link to either, and a named pipe may lead here.
    fn sink(&self, word: &Word) -> Sink {
        if word.exact() == Some(b"/dev/null") && !self.state.elsewhere {
            return Sink::Nowhere;
        }
        let streams = self.state.streams;
        if !(streams.out.may_be_here() || streams.err.may_be_here() || streams.get(3).may_be_here()) {
            return Sink::Elsewhere;
        }
        let path = match (word.exact_str(), self.state.cwd.only()) {
            (Some(path), _) if path.starts_with('/') => std::path::PathBuf::from(path),
            (Some(path), Some(cwd)) => cwd.join(path),
            _ => return Sink::Perhaps,
        };
        let found = canonical(self.context.files, &path);
        let device = ["/dev", "/proc", "/sys"].iter().any(|place| found.path.starts_with(place));
        let file = found.certain && !device && matches!(found.kind, Kind::File { .. } | Kind::Missing);
        if file && !self.changed.leads_astray(&path) && !self.state.elsewhere { Sink::Elsewhere } else { Sink::Perhaps }
    }

    /// Notes what was read, once it is known who reads it.
    pub(crate) fn read_by(&mut self, redirected: &Redirected, run: Option<RunId>) {
        for (word, span) in &redirected.reads {
            let carry = match run {
                Some(_) => Carry::Plain,
                None => Carry::Named { code: Code::Redirect, by: NamedBy::Nothing },
            };
            self.path_effect(Verb::Read, word, *span, run, &carry, false);
        }
        if run.is_none() && (!redirected.reads.is_empty() || self.state.dialect.may_be_zsh()) {
            // `$(<f)` prints the file; zsh runs `cat` or `more` where no command is.
            self.print(Output::ANYTHING);
        }
    }
}

/// Whether a redirect may change where this descriptor leads.
fn leads_away(redirect: &Redirect<'_>, number: u32) -> bool {
    use RedirectOperator as Op;
    match (&redirect.descriptor, redirect.operator) {
        (Descriptor::Number(own), _) => *own == number,
        (Descriptor::Variable(_), _) => false,
        (Descriptor::Default, Op::WriteBoth | Op::AppendBoth | Op::CopyOutput) => number <= 2,
        (Descriptor::Default, Op::Write | Op::Append | Op::Clobber) => number == 1,
        (Descriptor::Default, Op::Read | Op::ReadWrite | Op::CopyInput | Op::HereString | Op::HereDocument) => false,
    }
}

/// Text that arithmetic would run if it came out of a substitution.
fn risky(text: &Scalar, armed: bool) -> bool {
    match text.bytes() {
        Some(bytes) => bytes.iter().any(|b| b"[$`".contains(b)),
        None => armed || text.may_run_in_arithmetic(),
    }
}

/// Whether a byte means something to an expansion.
fn expands(byte: &u8) -> bool {
    b"$`\\'\"~*?[{ \t\n".contains(byte)
}

/// `2`, `-`, `3-`, or a number that a variable holds. To zsh `3-` is a file.
fn is_descriptor(word: &Word, dialect: Dialect) -> bool {
    match word {
        Word::Exact(text) => {
            let bytes = text.as_bytes();
            let digits = bytes.strip_suffix(b"-").unwrap_or(bytes);
            let moves = digits.len() < bytes.len() && !digits.is_empty();
            !bytes.is_empty() && digits.iter().all(u8::is_ascii_digit) && !(moves && dialect.may_be_zsh())
        }
        Word::Dynamic(shape) => {
            shape.origin.is_number()
                && shape.parts.iter().all(|part| match part {
                    Part::Literal(text) => {
                        text.as_bytes().iter().all(|b| b.is_ascii_digit() || *b == b'-' && !dialect.may_be_zsh())
                    }
                    _ => true,
                })
        }
        Word::Opaque => false,
    }
}

/// `/dev/tcp/host/port`.
fn network(word: &Word) -> Option<HostTarget> {
    let first = match word {
        Word::Exact(text) => text.as_bytes(),
        Word::Dynamic(shape) => match shape.parts.first() {
            Some(Part::Literal(text)) => text.as_bytes(),
            _ => return None,
        },
        Word::Opaque => return None,
    };
    let rest = first.strip_prefix(b"/dev/tcp/").or_else(|| first.strip_prefix(b"/dev/udp/"))?;
    let mut pieces = rest.splitn(2, |b| *b == b'/');
    let host = pieces.next().unwrap_or_default();
    let port = pieces.next();
    let known = word.exact().is_some() || port.is_some();
    let host = std::str::from_utf8(host).ok().filter(|host| known && !host.is_empty());
    Some(match host {
        Some(host) => HostTarget::Exact {
            host: host.to_ascii_lowercase(),
            port: port.and_then(|port| std::str::from_utf8(port).ok()).and_then(|port| port.parse().ok()),
        },
        None => HostTarget::Unknown,
    })
}
