//! The presets that a file has as its defaults, or that a managed file enforces.

use super::{Compiler, report};
use crate::hold::{self, HoldSection};
use crate::index::Table;
use crate::policy::{CompiledPreset, Defaults, PolicyText};
use crate::presets;
use crate::role::Group;
use crate::rule::Rule;
use crate::text::{self, File, Problem, Text, nearest};
use crate::word::{Layer, Verdict};
use sayso_shell::Verb;
use sayso_shell::program::Catalogue;
use std::borrow::Cow;
use std::collections::HashSet;

/// What `disable` calls the `[hold]` of a preset.
const HOLD: &str = "hold";

/// Compiles the presets of one file.
pub(super) struct InPresets<'f, 'r> {
    pub file: &'f File,
    pub text: &'f PolicyText,
    pub programs: &'f Catalogue,
    pub believes: bool,
    /// The file's own rules, which what is enforced joins.
    pub rules: &'r mut Vec<Rule>,
    /// What `disable` may name.
    pub codes: Vec<Cow<'static, str>>,
}

/// What a group of presets says.
pub(super) struct Found {
    pub presets: Vec<CompiledPreset>,
    pub defaults: Defaults,
    pub hold: Option<HoldSection>,
    pub unanswered: Option<Verdict>,
}

impl InPresets<'_, '_> {
    /// One group: what it extends, and what is enforced.
    pub(super) fn group(
        &mut self,
        group: Group,
        (extends, enforce): (&[Text], &[Text]),
        default: &text::Defaults,
        disable: &[Text],
        problems: &mut Vec<Problem>,
    ) -> Found {
        let (file, programs) = (self.file, self.programs);
        let mut defaults = Defaults::default();
        for verb in Verb::ALL {
            if let Some(verdict) = default.of(verb) {
                defaults.set(verb, verdict.value);
            }
        }
        let (mut compiled, mut holds, mut unanswered) = (Vec::new(), Vec::new(), None);
        let named = extends.iter().map(|name| (name, false)).chain(enforce.iter().map(|name| (name, true)));
        let mut seen = HashSet::new();
        for (name, enforced) in named {
            // Named twice, a preset says nothing more.
            if !seen.insert((name.value.as_str(), enforced)) {
                continue;
            }
            let Some(preset) = presets::text(&name.value) else {
                let mut problem =
                    file.problem("unknown-preset", &name.span, format!("there is no preset named `{}`", name.value));
                problem.suggestion =
                    nearest(&name.value, presets::NAMES.iter().copied()).map(|best| format!("did you mean `{best}`?"));
                report(problems, problem);
                continue;
            };
            let parsed = match text::parse(&format!("preset:{}", name.value), preset) {
                Ok(parsed) => parsed,
                Err(found) => {
                    problems.extend(found);
                    continue;
                }
            };
            let layer = Layer::Preset(Cow::Owned(name.value.clone()));
            let mut compiler = Compiler::new(&parsed, layer, programs, problems).within(file);
            compiler.believes = self.believes;
            let found = compiler.rules();
            let hold = hold::compile(&mut compiler);
            self.codes.extend(found.iter().map(|rule| rule.code.clone()));
            self.codes.extend(hold.is_some().then_some(Cow::Borrowed(HOLD)));
            let off = |code: &str| disable.iter().any(|off| off.value == code);
            holds.extend(hold.filter(|_| enforced || !off(HOLD)));
            let kept: Vec<Rule> = found.into_iter().filter(|rule| enforced || !off(&rule.code)).collect();
            for verb in Verb::ALL {
                // The file's own default overrules its presets'; among presets the strictest counts.
                if default.of(verb).is_none()
                    && let Some(verdict) = parsed.default.of(verb)
                {
                    defaults.set(verb, defaults.get(verb).unwrap_or(Verdict::Allow).max(verdict.value));
                }
            }
            unanswered = unanswered.or(parsed.unanswered.as_ref().map(|verdict| verdict.value));
            if enforced {
                self.rules.extend(kept);
            } else {
                compiled.push(CompiledPreset { table: Table::new(kept), group });
            }
        }
        let own = hold::compile(&mut Compiler::new(file, self.text.layer.clone(), programs, problems));
        let hold = HoldSection::of(own, holds, self.text.trusted);
        Found { presets: compiled, defaults, hold, unanswered }
    }
}
