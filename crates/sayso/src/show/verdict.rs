//! A decision for people: the verdict and why, the risky part marked, who said so, what would help.

use crate::show::caret;
use crate::show::mode::ShownMode;
use crate::show::paint::Paint;
use sayso_policy::explain::effect::{bytes_of, command_line, command_text};
use sayso_policy::explain::{Change, visible};
use sayso_policy::shell::bounds::Need;
use sayso_policy::shell::{Analysis, RunId, Span, Target};
use sayso_policy::{Code, Decision, EffectOpinions, Holding, Layer, Operation, Opinion, Reason, Verdict};
use std::fmt::Write as _;
use std::ops::Range;

/// Everything under the first line is moved in by as much.
const INDENT: &str = "      ";
/// Programs, doubts and rules named at most.
const MOST: usize = 6;

/// The answer of `check`.
pub(crate) fn report(
    paint: Paint,
    operation: &Operation,
    decision: &Decision,
    changes: &[Change],
    mode: &ShownMode,
) -> String {
    let mut out = headline(paint, decision);
    let marks = marks(operation, decision, changes);
    if decision.verdict != Verdict::Allow
        && let Some(command) = command_text(operation)
    {
        out.push('\n');
        for line in caret::marked(command, &marks) {
            let _ = writeln!(out, "{INDENT}{}", line.text);
            if !line.carets.is_empty() {
                let _ = writeln!(out, "{INDENT}{}", paint.caret(decision.answer, &line.carets));
            }
        }
    }
    let mut say = |label: &str, text: String| {
        let _ = writeln!(out, "{INDENT}{}  {text}", paint.dim(&format!("{label:<7}")));
    };
    for line in mode.lines() {
        say("mode", line);
    }
    if let Some(hold) = decision.hold {
        say("hold", hold_line(hold));
    }
    let rules = rules(decision);
    if !rules.is_empty() {
        say("rule", rules.join(", and "));
    }
    if decision.verdict != Verdict::Allow {
        let allowed = allowed(operation, decision);
        if !allowed.is_empty() {
            say("allowed", allowed.join(" · "));
        }
        for doubt in doubts(operation) {
            say("unclear", doubt);
        }
        if let Some(change) = changes.first() {
            say("nearest", change_line(paint, change));
        }
    }
    out
}

/// What is said of holding the run.
pub(crate) fn hold_line(hold: Holding) -> String {
    let level = match hold.need() {
        Need::Whole => "held whole",
        Need::Files => "held, files at least",
    };
    match hold {
        Holding::Required(_) => format!("allowed only {level}: `sayso run` runs it so"),
        Holding::Wanted(_) => format!("the policy wants it {level}"),
        Holding::WouldAllow(_) => format!("{level}, this would be allowed: `sayso run -- COMMAND`"),
    }
}

/// `deny  Force pushes rewrite shared history.  [no-force-push]`
fn headline(paint: Paint, decision: &Decision) -> String {
    let word = paint.answer(decision.answer, decision.answer.as_str());
    let would = if decision.answer.as_str() == decision.verdict.as_str() {
        String::new()
    } else {
        format!(" (would be {})", decision.verdict)
    };
    match decision.reasons.first() {
        Some(reason) => format!(
            "{word}{would}  {}  {}\n",
            visible(&reason.text),
            paint.dim(&format!("[{}]", visible(reason.code.as_str())))
        ),
        None => format!("{word}{would}\n"),
    }
}

/// `without --force: ask  (preset developer, git-push)`
pub(crate) fn change_line(paint: Paint, change: &Change) -> String {
    let verdict = paint.verdict(change.verdict, change.verdict.as_str());
    match &change.reason {
        Some(reason) => {
            let (who, code) = (who(reason), visible(reason.code.as_str()));
            let speaker = if who == code { who } else { format!("{who}, {code}") };
            format!("without {}: {verdict}  ({speaker})", change.text)
        }
        None => format!("without {}: {verdict}", change.text),
    }
}

/// Who speaks: the place of the rule, the preset, the default, or Sayso itself.
pub(crate) fn who(reason: &Reason) -> String {
    match (&reason.layer, &reason.source) {
        (Layer::Preset(name), _) => format!("preset {}", visible(name)),
        (_, Some(source)) => visible(&source.to_string()).into_owned(),
        (_, None) if reason.code == Code::Default => Code::Default.to_string(),
        (layer, None) => visible(&layer.to_string()).into_owned(),
    }
}

/// The opinion that decided about an effect.
pub(crate) fn decisive(opinions: &EffectOpinions) -> Option<&Opinion> {
    opinions.decisive.and_then(|index| opinions.opinions.get(index))
}

fn rules(decision: &Decision) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for opinions in decision.effects.iter().filter(|it| it.verdict == decision.verdict) {
        for opinion in opinions.opinions.iter().filter(|it| it.verdict == decision.verdict) {
            let who = who(&opinion.reason);
            if !rules.contains(&who) {
                rules.push(who);
            }
        }
    }
    let more = rules.len().saturating_sub(MOST);
    rules.truncate(MOST);
    if more > 0 {
        rules.push(format!("{more} more"));
    }
    rules
}

/// What to put carets under: what the strictest opinions are about, and what would make them weaker.
fn marks(operation: &Operation, decision: &Decision, changes: &[Change]) -> Vec<Range<usize>> {
    let mut marks: Vec<Range<usize>> = changes.iter().map(|change| bytes_of(change.span)).collect();
    let strictest = decision.effects.iter().filter(|it| it.verdict == decision.verdict);
    for effect in strictest.filter_map(|it| operation.effects.get(it.effect?)) {
        match (&effect.target, &operation.analysis) {
            (Target::Program(run) | Target::Wrapper(run), Some(analysis)) => marks.push(name_of(analysis, *run)),
            _ => marks.push(bytes_of(effect.span)),
        }
    }
    marks.retain(|mark| !mark.is_empty());
    marks
}

/// From the name of a program to its last subcommand, as far as they stand together.
fn name_of(analysis: &Analysis, id: RunId) -> Range<usize> {
    let Some(run) = analysis.run(id) else { return 0..0 };
    let spans: Vec<Span> = run.spans.first().copied().into_iter().collect();
    let subcommands = run.words.iter().take(usize::from(run.subcommands));
    let spans = spans.into_iter().chain(subcommands.filter_map(|index| run.spans.get(usize::from(*index)).copied()));
    let mut range = 0..0;
    for span in spans.map(bytes_of) {
        if range.is_empty() {
            range = span;
        } else if span.start <= range.end + 1 {
            range.end = span.end;
        }
    }
    range
}

/// The programs of which nothing is asked or denied.
fn allowed(operation: &Operation, decision: &Decision) -> Vec<String> {
    let Some(analysis) = &operation.analysis else { return Vec::new() };
    let text = command_text(operation).unwrap_or_default();
    let mut seen: Vec<(RunId, Verdict, bool)> = Vec::new();
    for opinions in &decision.effects {
        let Some(effect) = opinions.effect.and_then(|index| operation.effects.get(index)) else { continue };
        let (id, is_program) = match (&effect.target, effect.run) {
            (Target::Program(id), _) => (*id, true),
            (_, Some(id)) => (id, false),
            (_, None) => continue,
        };
        match seen.iter_mut().find(|(other, ..)| *other == id) {
            Some((_, verdict, program)) => {
                *verdict = opinions.verdict.max(*verdict);
                *program |= is_program;
            }
            None => seen.push((id, opinions.verdict, is_program)),
        }
    }
    seen.sort_by_key(|(id, ..)| *id);
    let allowed = seen.iter().filter(|(_, verdict, program)| *program && *verdict == Verdict::Allow);
    let shown = allowed.filter(|(id, ..)| !operation.provenance.has_run(*id));
    shown.filter_map(|(id, ..)| analysis.run(*id)).take(MOST).map(|run| command_line(run, text)).collect()
}

fn doubts(operation: &Operation) -> Vec<String> {
    let doubts = operation.analysis.iter().flat_map(|analysis| &analysis.doubts);
    let mut texts: Vec<String> = Vec::new();
    for doubt in doubts {
        let text = format!("{}  [{}]", visible(&doubt.text), doubt.code);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.truncate(3);
    texts
}
