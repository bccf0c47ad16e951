//! Variables that hold secrets, as the shell puts them into words.
//!
//! The walker notes each use as it expands; the next program that is recorded is the one that gets the value. What only asks
//! whether a variable is set (`[ -n "$TOKEN" ]`, `${TOKEN:+yes}`) takes its notes back.

use super::{Fog, Walker};
use crate::builtin::is_test;
use crate::effect::{Carry, Effect, NamedBy, RunId, Span, Target, Verb};
use crate::program::{Code, Facets, is_secret_variable};
use crate::value::scope::{Entry, Held, function_key};
use crate::word::{Text, Word};

/// Uses of secrets that no program has been recorded for yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted(usize);

impl Walker<'_> {
    /// A variable's value goes into a word. What this call has surely set holds what it was given.
    pub(crate) fn uses_variable(&mut self, name: &[u8]) {
        let set = |held: &Held<_>| matches!(held, Held::Unset(_) | Held::Scalar(_) | Held::Array(_));
        let set = |entry: &Entry<_>| !entry.odd && set(&entry.held);
        if self.state.fog != Fog::All && self.scope.get(name).is_some_and(set) {
            return;
        }
        if let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_secret_variable(name)) {
            self.secrets.push(Some(Text::from(name)));
        }
    }

    /// As [`Self::uses_variable`], of a variable whose name nobody knows.
    pub(crate) fn uses_some_variable(&mut self) {
        self.secrets.push(None);
    }

    /// How many uses were noted up to here.
    pub(crate) fn noted(&self) -> Noted {
        Noted(self.secrets.len())
    }

    /// What was noted since reveals nothing.
    pub(crate) fn take_back(&mut self, since: Noted) {
        self.secrets.truncate(since.0);
    }

    /// Whether a command only asks if its words are empty, and nothing prints them on the way (`set -x`).
    pub(crate) fn only_asks(&self, argv: &[Word]) -> bool {
        let Some(name) = argv.first().and_then(Word::exact) else { return false };
        let asks = |word: &Word| {
            word.exact().is_none_or(|word| matches!(word, b"-n" | b"-z" | b"!" | b"-a" | b"-o" | b"(" | b")" | b"]"))
        };
        is_test(name)
            && argv.iter().skip(1).all(asks)
            && self.scope.get(&function_key(name)).is_none()
            && !self.may_trace()
    }

    /// Whether the shell may print each command before it runs it.
    pub(crate) fn may_trace(&self) -> bool {
        const SWITCHES: Facets = Facets::TRACES.and(Facets::SHELL).and(Facets::MULTI_CALL);
        let holds = |word: &Word| word.exact().is_none_or(|word| word.contains(&b'x'));
        self.state.fog == Fog::All
            || self.scope.get(b"SHELLOPTS").is_some()
            || self.out.runs.iter().any(|run| {
                run.program.facets().has(SWITCHES)
                    && (run.argv.iter().skip(1).any(holds)
                        || run.env.iter().any(|(name, _)| name.as_bytes() == b"SHELLOPTS"))
            })
    }

    /// The program that was just recorded gets what was noted.
    pub(crate) fn gets_secrets(&mut self, run: RunId, span: Span) {
        for name in std::mem::take(&mut self.secrets) {
            self.shows_secret(name.as_ref(), Some(run), span);
        }
    }

    /// What no program got: a value that stays in the shell, and may come out of it.
    pub(crate) fn leaves_secrets(&mut self) {
        for name in std::mem::take(&mut self.secrets) {
            self.shows_secret(name.as_ref(), None, Span::default());
        }
    }

    fn shows_secret(&mut self, name: Option<&Text>, run: Option<RunId>, span: Span) {
        let (code, by) = match name {
            Some(name) => (Code::SecretVariable, NamedBy::Env(name.to_string_lossy().into_owned())),
            None => (Code::ShowsSecrets, NamedBy::Nothing),
        };
        let carry = Carry::Named { code, by };
        let target = run.map_or(Target::Anything, Target::Option);
        // A loop is walked more than once.
        if self
            .out
            .effects
            .iter()
            .rev()
            .take(64)
            .any(|other| other.span == span && other.carry == carry && other.run == run)
        {
            return;
        }
        self.out.effects.push(Effect { verb: Verb::Run, target, span, run, carry, certain: true });
    }
}
