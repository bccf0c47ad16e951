//! Last: where no rule covers an effect, the strictest default that a file states; else ask.

use super::opinions::Opinions;
use super::{Inputs, built_in};
use crate::explain;
use crate::judging::Judging;
use crate::policy::Defaults;
use crate::rule::run_of;
use crate::word::{Code, Stage, Verdict};
use sayso_shell::{Carry, Effect, NamedBy, Run, Target, Verb};

/// Where no rule settled an effect, `default` speaks.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let (policy, files) = (inputs.policy, &inputs.files);
    // A foreign file has a default of its own; alone, it needs none of ours.
    if policy.files.is_empty() && inputs.hears_foreign() {
        return;
    }
    let silent_allows = (files.is_empty() && !inputs.hears_foreign())
        || (files.len() < policy.files.len() && files.iter().all(|one| states_none(one.defaults())));
    let operation = inputs.judging.operation;
    for (effect, (index, on)) in operation.effects.iter().zip(said.each()) {
        let needs_none = !effect.certain
            || matches!(effect.target, Target::Wrapper(_))
            || (matches!(effect.target, Target::Tool) && operation.known);
        if on.settled || needs_none {
            continue;
        }
        let stated = files.iter().filter_map(|one| one.defaults().get(effect.verb)).max();
        let (verdict, code, text) = match stated {
            None if silent_allows => (Verdict::Allow, Code::Mode, "The mode lets this pass.".to_owned()),
            stated => unsettled(inputs.judging, index, effect, stated.unwrap_or(Verdict::Ask)),
        };
        on.opinions.push(built_in(Stage::Default, verdict, code, text));
    }
}

/// What is said of an effect that no rule covers. What is guarded, and what cannot be seen through, is at least asked
/// about under every default.
fn unsettled(judging: &Judging<'_>, index: usize, effect: &Effect, default: Verdict) -> (Verdict, Code, String) {
    let opaque = matches!(effect.target, Target::Code { .. } | Target::Option(_) | Target::Anything)
        || (matches!(effect.target, Target::Tool) && !judging.operation.known);
    if let Some(guard) = judging.guard(index) {
        let target = explain::effect::target(judging.operation, effect);
        let text = format!("`{target}` {}. Only a rule that names it can allow this.", guard.what);
        return (default.max(Verdict::Ask), guard.code, text);
    }
    if opaque {
        let (code, text) = opaque_reason(judging, effect);
        return (default.max(Verdict::Ask), code, text);
    }
    (default, Code::Default, format!("No rule covers {}.", in_words(judging, effect)))
}

/// An effect in the words of a sentence: `terraform apply`, reading `./x`, connecting to `host`.
fn in_words(judging: &Judging<'_>, effect: &Effect) -> String {
    let run = || run_of(effect).and_then(|id| judging.run(id));
    match (effect.verb, &effect.target) {
        (Verb::Run, Target::Program(_) | Target::Wrapper(_)) => match run().and_then(command) {
            Some(command) => format!("`{command}`"),
            None => "running this program".to_owned(),
        },
        (verb, _) => format!("{} `{}`", verb.gerund(), explain::effect::target(judging.operation, effect)),
    }
}

/// A program and its subcommands, where they are known. Operands are left out: they may be long, and hold secrets.
fn command(run: &Run) -> Option<String> {
    let mut words = vec![run.program.base.clone()?];
    words.extend((0..usize::from(run.subcommands)).map_while(|at| run.subcommand(at)).map(str::to_owned));
    Some(explain::visible(&words.join(" ")).into_owned())
}

fn opaque_reason(judging: &Judging<'_>, effect: &Effect) -> (Code, String) {
    let name = || {
        let base = run_of(effect).and_then(|id| judging.run(id)).and_then(|run| run.program.base.clone());
        base.map_or_else(|| "this program".to_owned(), |base| format!("`{}`", explain::visible(&base)))
    };
    let (code, by) = match &effect.carry {
        Carry::Named { code, by } => (Code::of(*code), Some(by)),
        Carry::Plain => (None, None),
    };
    match (&effect.target, code, by) {
        (Target::Code { language, .. }, _, _) => {
            (Code::Code, format!("Sayso cannot see what this {language} code does."))
        }
        (Target::Option(_), Some(code @ Code::SecretVariable), Some(NamedBy::Env(variable))) => {
            (code, format!("{} gets the value of {variable}, whose name suggests a secret.", capitalised(name())))
        }
        (_, Some(code @ Code::SecretVariable), Some(NamedBy::Env(variable))) => (
            code,
            format!("The value of {variable}, whose name suggests a secret, goes into another variable or a test."),
        ),
        (Target::Anything, Some(code @ (Code::LeavesSandbox | Code::UnseenInput | Code::Environment)), _) => {
            (code, code.title().to_owned())
        }
        (Target::Anything, _, _) => (Code::Opaque, Code::Opaque.title().to_owned()),
        (Target::Tool, _, _) => {
            let tool = explain::visible(&judging.operation.tool.canonical);
            (Code::UnknownTool, format!("Sayso doesn't know the tool `{tool}`."))
        }
        (_, Some(code), _) => (code, format!("{} Allowing {} does not cover it.", code.title(), name())),
        (_, None, _) => (Code::Opaque, Code::Opaque.title().to_owned()),
    }
}

/// A phrase at the beginning of a sentence.
fn capitalised(phrase: String) -> String {
    match phrase.strip_prefix("this ") {
        Some(rest) => format!("This {rest}"),
        None => phrase,
    }
}

fn states_none(defaults: &Defaults) -> bool {
    Verb::ALL.into_iter().all(|verb| defaults.get(verb).is_none())
}
