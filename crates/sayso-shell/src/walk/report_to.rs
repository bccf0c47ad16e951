//! Writing down what was found.

use super::change::Manner;
use super::{Input, Walker};
use crate::Doubt;
use crate::effect::{Carry, Effect, NamedBy, PathTarget, Program, Run, RunId, Span, Target, Verb};
use crate::program::Code;
use crate::program::path_target;
use crate::word::{Origin, Part, Shape, Text, Word};
use std::path::Path;

impl Walker<'_> {
    /// There may be more than is listed.
    pub(crate) fn opaque(&mut self, code: Code, text: &str, span: Span) {
        self.out.opaque = true;
        self.doubt(code, text.to_owned(), span);
        self.changed.anywhere = true;
        self.out.effects.push(Effect {
            verb: Verb::Run,
            target: Target::Anything,
            span,
            run: self.parent,
            carry: Carry::Named { code, by: NamedBy::Nothing },
            certain: true,
        });
    }

    /// Something to tell people, no more.
    pub(crate) fn doubt(&mut self, code: Code, text: String, span: Span) {
        if self.out.doubts.len() < 256 {
            self.out.doubts.push(Doubt { code, text, span });
        }
    }

    /// A new run, not yet described.
    pub(crate) fn record(
        &mut self,
        argv: Vec<Word>,
        spans: Vec<Span>,
        span: Span,
        program: Program,
        env: Vec<(Text, Word)>,
    ) -> RunId {
        let id = RunId(u32::try_from(self.out.runs.len()).unwrap_or(u32::MAX));
        let Input { stdin, pipe, .. } = &self.input;
        self.out.runs.push(Run {
            argv,
            spans,
            span,
            program,
            env,
            cwd: if self.state.elsewhere { None } else { self.state.cwd.only().map(Path::to_path_buf) },
            words: Vec::new(),
            subcommands: 0,
            options: Vec::new(),
            open_options: false,
            pipe: *pipe,
            parent: self.parent,
            stdin: *stdin,
            guessed: false,
        });
        self.gets_secrets(id, span);
        id
    }

    pub(crate) fn run_mut(&mut self, id: RunId) -> Option<&mut Run> {
        self.out.runs.get_mut(usize::try_from(id.0).ok()?)
    }

    /// The effect of starting a program.
    pub(crate) fn runs(&mut self, run: RunId, transparent: bool, span: Span) {
        let target = if transparent { Target::Wrapper(run) } else { Target::Program(run) };
        self.out.effects.push(Effect {
            verb: Verb::Run,
            target,
            span,
            run: Some(run),
            carry: Carry::Plain,
            certain: true,
        });
    }

    /// Adds an effect, as it must be seen after what the call has done so far.
    pub(crate) fn effect(&mut self, mut effect: Effect, manner: Manner) {
        if let Target::Path(target) = &effect.target {
            if is_no_file(target) {
                return;
            }
            if self.state.elsewhere {
                // Paths of another machine are not ours to judge; that something is written there is. Under another
                // root of this machine a path may be the one it names here.
                effect.certain = false;
                if self.state.may_be_here {
                    self.out.effects.push(effect.clone());
                }
                if effect.verb == Verb::Read {
                    return;
                }
                if let Target::Path(target) = &mut effect.target {
                    *target = PathTarget::Unknown(None);
                }
            }
            if let Target::Path(target) = &mut effect.target {
                self.changed.blur(target);
            }
        }
        if effect.certain {
            self.changed.note(&effect, manner);
        }
        self.out.effects.push(effect);
    }

    /// The file may be read, which counts for asks and denies alone.
    pub(crate) fn may_read(&mut self, word: &Word, span: Span) {
        let at = self.out.effects.len();
        self.path_effect(Verb::Read, word, span, self.parent, &Carry::Plain, false);
        for effect in self.out.effects.iter_mut().skip(at) {
            effect.certain = false;
        }
    }

    /// An effect on a path word, for each folder the shell may be in.
    pub(crate) fn path_effect(
        &mut self,
        verb: Verb,
        word: &Word,
        span: Span,
        run: Option<RunId>,
        carry: &Carry,
        below: bool,
    ) {
        let cwd = self.state.cwd.clone();
        let mut add = |cwd: Option<&Path>| {
            let target = Target::Path(path_target(word, cwd, below));
            let effect = Effect { verb, target, span, run, carry: carry.clone(), certain: true };
            self.effect(effect, Manner::Plain);
        };
        match cwd.places() {
            [] => add(None),
            places if is_absolute(word) => add(places.first().map(std::path::PathBuf::as_path)),
            places => places.iter().for_each(|place| add(Some(place))),
        }
    }
}

fn is_absolute(word: &Word) -> bool {
    match word {
        Word::Exact(text) => text.as_bytes().first() == Some(&b'/'),
        Word::Dynamic(Shape { parts, .. }) => {
            matches!(parts.first(), Some(Part::Literal(text)) if text.as_bytes().first() == Some(&b'/'))
        }
        Word::Opaque => true,
    }
}

/// The sink, the terminal, and descriptors that are open already.
pub(crate) fn is_no_file(target: &PathTarget) -> bool {
    match target {
        PathTarget::Exact(path) | PathTarget::Below(path) => {
            if !path.starts_with("/dev") {
                return false;
            }
            let Some(path) = path.to_str() else { return false };
            matches!(
                path,
                "/dev/null"
                    | "/dev/stdin"
                    | "/dev/stdout"
                    | "/dev/stderr"
                    | "/dev/tty"
                    | "/dev/zero"
                    | "/dev/full"
                    | "/dev/random"
                    | "/dev/urandom"
            ) || path.strip_prefix("/dev/fd/").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }
        // `<(...)` is a descriptor whose number nobody knows.
        PathTarget::Unknown(Some(Shape { parts, origin: Origin::Number, .. })) => {
            matches!(parts.as_slice(), [Part::Literal(text), Part::Hole]
                if matches!(text.as_bytes(), b"/dev/fd/" | b"/proc/self/fd/"))
        }
        _ => false,
    }
}
