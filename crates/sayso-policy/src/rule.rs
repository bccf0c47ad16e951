//! One rule: a verdict, a pattern, conditions, and what to say about it.

use crate::condition::{Condition, all_hold};
use crate::judging::Judging;
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern, ToolPattern};
use crate::word::{Approvers, Layer, Reason, ReasonCode, Source, Tri, Verdict};
use sayso_shell::{Carry, Effect, NamedBy, RunId, Target, Verb};
use std::borrow::Cow;
use std::sync::Arc;

/// A pattern of one verb.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Run(RunPattern),
    Path(PathPattern),
    Host(HostPattern),
    Tool(ToolPattern),
}

/// One rule, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub verdict: Verdict,
    pub verb: Verb,
    pub pattern: Pattern,
    /// The `!` patterns of the same list.
    pub except: Arc<[Pattern]>,
    /// `when`, all of which must hold.
    pub when: Arc<[Condition]>,
    /// The rule's `id`, or made from its text.
    pub code: Cow<'static, str>,
    /// What it says, made once: the owner's `because`, or the pattern in words.
    pub sentence: Arc<str>,
    pub layer: Layer,
    pub source: Option<Source>,
    pub approver: Option<Arc<Approvers>>,
    pub always: bool,
    /// A hold answers this ask.
    pub held: bool,
}

/// What a rule says where its owner gave no reason.
pub(crate) fn in_words(verdict: Verdict, verb: Verb, pattern: &str) -> String {
    let word = match verdict {
        Verdict::Allow => "allows",
        Verdict::Ask => "asks about",
        Verdict::Deny => "denies",
    };
    format!("A rule {word} {} `{pattern}`.", verb.gerund())
}

impl Rule {
    /// One that says nothing of its own: what is found by it is all that is asked for.
    pub(crate) fn silent(verb: Verb, pattern: Pattern, except: Arc<[Pattern]>, code: Cow<'static, str>) -> Self {
        Self {
            verdict: Verdict::Deny,
            verb,
            pattern,
            except,
            when: Arc::new([]),
            code,
            sentence: Arc::from(""),
            layer: Layer::BuiltIn,
            source: None,
            approver: None,
            always: false,
            held: false,
        }
    }

    pub(crate) fn reason(&self) -> Reason {
        Reason {
            code: ReasonCode::Rule(self.code.clone()),
            text: self.sentence.to_string(),
            layer: self.layer.clone(),
            source: self.source.clone(),
        }
    }

    pub(crate) fn purpose(&self) -> Purpose {
        if self.verdict == Verdict::Allow { Purpose::Permit } else { Purpose::Restrict }
    }

    /// Whether the rule speaks of this effect by its own verb.
    pub(crate) fn matches(&self, judging: &Judging<'_>, index: usize) -> Tri {
        let Some(effect) = judging.operation.effects.get(index) else { return Tri::No };
        let purpose = self.purpose();
        let own = self.pattern.matches(self.verb, judging, index, effect, purpose);
        if own == Tri::No {
            return Tri::No;
        }
        // What an exception covers is restricted where the rule permits, and the reverse: maybe stays maybe.
        let excepted = self
            .except
            .iter()
            .map(|except| except.matches(self.verb, judging, index, effect, purpose.opposite()))
            .max()
            .unwrap_or(Tri::No);
        let result = own.and(!excepted).and(all_hold(&self.when, judging, index, purpose));
        // A maybe-effect can be no more than maybe.
        if !effect.certain && purpose == Purpose::Restrict { result.min(Tri::Maybe) } else { result }
    }

    /// Whether this `run` rule names an effect that no plain allow carries. What is guarded, and what is changed
    /// outside the workspace, only a rule of its own verb can name.
    pub(crate) fn names(&self, judging: &Judging<'_>, index: usize, effect: &Effect) -> bool {
        let (Carry::Named { by, .. }, Some(id)) = (&effect.carry, run_of(effect)) else { return false };
        if let Target::Path(target) = &effect.target {
            let preset = matches!(self.layer, Layer::Preset(_));
            let inside = effect.verb == Verb::Read || judging.stays_inside(index, target, preset);
            if self.verdict == Verdict::Allow && (!inside || judging.guard(index).is_some()) {
                return false;
            }
        }
        let Pattern::Run(pattern) = &self.pattern else { return false };
        let Some(run) = judging.run(id) else { return false };
        let named = match by {
            NamedBy::Env(name) => {
                matches!(pattern, RunPattern::Anything) || self.when.iter().any(|when| when.names_env(name))
            }
            by => match pattern {
                RunPattern::Kind(kind) => kind.names(effect),
                pattern => pattern.names(by, run, &judging.bases),
            },
        };
        named
            && judging.matches_run(pattern, id, self.purpose()) == Tri::Yes
            && self.except.iter().all(|except| match except {
                Pattern::Run(except) => judging.matches_run(except, id, Purpose::Restrict) == Tri::No,
                _ => true,
            })
            && all_hold(&self.when, judging, index, self.purpose()) == Tri::Yes
    }
}

/// The program that an effect belongs to.
pub(crate) fn run_of(effect: &Effect) -> Option<RunId> {
    match &effect.target {
        Target::Program(id) | Target::Wrapper(id) | Target::Option(id) | Target::Code { run: id, .. } => Some(*id),
        _ => effect.run,
    }
}

impl Pattern {
    pub(crate) fn matches(
        &self,
        verb: Verb,
        judging: &Judging<'_>,
        index: usize,
        effect: &Effect,
        purpose: Purpose,
    ) -> Tri {
        match (self, &effect.target) {
            (Self::Run(RunPattern::Anything), _) if effect.verb == Verb::Run => Tri::Yes,
            (Self::Run(pattern), Target::Program(id) | Target::Wrapper(id)) => {
                judging.matches_run(pattern, *id, purpose)
            }
            // Who changes a file may not delete it either; who may change it may not therefore delete it.
            (Self::Path(pattern), Target::Path(target))
                if effect.verb == verb
                    || (verb == Verb::Write && effect.verb == Verb::Delete && purpose == Purpose::Restrict) =>
            {
                if purpose == Purpose::Permit
                    && let Some(guard) = judging.guard(index)
                    && !guard.named_by(pattern)
                {
                    return Tri::No;
                }
                judging.matches_path(pattern, index, effect.verb, target, purpose)
            }
            (Self::Host(pattern), Target::Host(target)) => {
                if purpose == Purpose::Permit && judging.guard(index).is_some() && !pattern.names_guarded() {
                    return Tri::No;
                }
                pattern.matches(target, purpose)
            }
            (Self::Tool(pattern), Target::Tool) => pattern.matches(&judging.operation.tool, purpose),
            _ => Tri::No,
        }
    }
}
