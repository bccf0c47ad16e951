//! Last: where nothing spoke of an effect, the strictest default that a file states; else ask.

use super::built_in;
use super::slot::Slot;
use crate::judging::Judging;
use crate::policy::CompiledFile;
use crate::rule::{run_of, verb_word};
use crate::word::{Stage, Verdict, code_info};
use sayso_shell::{Carry, Effect, NamedBy, Target, Verb};

/// Where no rule settled an effect, `default` speaks.
pub(crate) fn judge(files: &[&CompiledFile], judging: &Judging<'_>, slots: &mut [Slot], silent_allows: bool) {
    let operation = judging.operation;
    for (index, (effect, slot)) in operation.effects.iter().zip(slots.iter_mut()).enumerate() {
        let needs_none = !effect.certain
            || matches!(effect.target, Target::Wrapper(_))
            || (matches!(effect.target, Target::Tool) && operation.known);
        if slot.settled || needs_none {
            continue;
        }
        let stated = files.iter().filter_map(|file| file.defaults.get(effect.verb)).max();
        let (verdict, why) = match stated {
            Some(verdict) => (verdict, "default"),
            None if silent_allows => (Verdict::Allow, "mode"),
            None => (Verdict::Ask, "default"),
        };
        let opaque = matches!(effect.target, Target::Code { .. } | Target::Option(_) | Target::Anything)
            || (matches!(effect.target, Target::Tool) && !operation.known);
        let guard = judging.guard(index);
        let (verdict, code, text) = if silent_allows && stated.is_none() {
            (verdict, why, "The mode lets this pass.".to_owned())
        } else if let Some(guard) = guard {
            (
                verdict.max(Verdict::Ask),
                guard.code,
                format!("This is {}; only a rule that names it allows it.", guard.what),
            )
        } else if opaque {
            opaque_reason(judging, effect, verdict)
        } else {
            (verdict, "default", format!("No rule speaks of {} this.", verb_word(effect.verb)))
        };
        slot.opinions.push(built_in(Stage::Default, verdict, code, text));
    }
}

/// What cannot be seen through is at least asked about, under every default.
fn opaque_reason(judging: &Judging<'_>, effect: &Effect, verdict: Verdict) -> (Verdict, &'static str, String) {
    let name = || {
        run_of(effect)
            .and_then(|id| judging.run(id))
            .and_then(|run| run.program.base.clone())
            .unwrap_or_else(|| "a program".to_owned())
    };
    let (code, text) = match (&effect.target, &effect.carry) {
        (Target::Code { language, .. }, _) => ("code", format!("Nobody can see what this {language} code does.")),
        (Target::Anything, Carry::Named { code: code @ ("leaves-sandbox" | "unseen-input" | "environment"), .. }) => {
            (*code, code_info(code).map_or_else(String::new, |info| info.title.to_owned()))
        }
        (Target::Option(_), Carry::Named { code: code @ "secret-variable", by: NamedBy::Env(variable) }) => {
            (*code, format!("`{}` gets the value of {variable}, which is a secret by its name.", name()))
        }
        (_, Carry::Named { code: code @ "secret-variable", by: NamedBy::Env(variable) }) => (
            *code,
            format!("The value of {variable}, which is a secret by its name, goes into another variable or a test."),
        ),
        (Target::Anything, _) => ("opaque", "Not everything that this call would do can be seen.".to_owned()),
        (Target::Tool, _) => {
            ("unknown-tool", format!("Nobody knows what `{}` does.", judging.operation.tool.canonical))
        }
        (_, Carry::Named { code, .. }) => {
            (*code, format!("`{}` is used in a way that needs a rule of its own ({code}).", name()))
        }
        _ => ("opaque", "Not everything that this call would do can be seen.".to_owned()),
    };
    (verdict.max(Verdict::Ask), code, text)
}

impl CompiledFile {
    pub(crate) fn states_no_default(&self) -> bool {
        [Verb::Run, Verb::Read, Verb::Write, Verb::Delete, Verb::Connect, Verb::Call]
            .into_iter()
            .all(|verb| self.defaults.get(verb).is_none())
    }
}
