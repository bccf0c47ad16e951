//! From typed files to a policy: patterns, sets and names are resolved here, and everything that is wrong is said.

mod example;
mod pattern;
mod programs;

use crate::condition::Condition;
use crate::hold::{self, HoldSection};
use crate::index::Table;
use crate::past::After;
use crate::pattern::ToolPattern;
use crate::policy::{CompiledFile, CompiledPreset, Defaults, Policy, PolicyText};
use crate::presets;
use crate::rule::Rule;
use crate::set::SetKind;
use crate::stage::integrity::Protected;
use crate::stage::{essential, limits, mode, models, patterns, tools};
use crate::text::{self, File, MAX_PROBLEMS, Problem, nearest};
use crate::word::{Layer, Verdict};
pub(crate) use pattern::Compiler;
pub use pattern::slug;
use sayso_shell::Verb;
use sayso_shell::program::Catalogue;
use std::borrow::Cow;
use std::collections::HashSet;

/// What `disable` calls the `[hold]` of a preset.
const HOLD: &str = "hold";

/// Compiles files, strictest wins between them.
pub(crate) fn compile(texts: &[PolicyText]) -> Result<Policy, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    let mut closed = Vec::new();
    let mut pinned = None;
    let programs = programs::catalogue(texts).unwrap_or_else(|found| {
        problems.extend(found);
        Catalogue::default()
    });
    for text in texts.iter().filter(|text| !text.teaches()) {
        match text::parse(&text.name, &text.text) {
            Ok(file) => {
                if text.layer == Layer::Managed {
                    closed.extend(file.closed.iter().map(|verb| verb.value));
                    if file.mode_pinned.as_ref().is_some_and(|pinned| pinned.value) {
                        pinned = file.mode.as_ref().map(|mode| mode.value);
                    }
                }
                files.push(compile_file(text, &file, &programs, &mut problems));
            }
            Err(found) => problems.extend(found),
        }
    }
    let (warnings, errors): (Vec<_>, Vec<_>) = problems.into_iter().partition(|problem| problem.warning);
    if !errors.is_empty() {
        return Err(errors);
    }
    if let Some(mode) = pinned {
        files.iter_mut().for_each(|file| file.mode = mode);
    }
    Ok(Policy {
        files,
        foreign: Vec::new(),
        version: version(texts),
        closed,
        protected: Protected::default(),
        integrity: true,
        pinned: pinned.is_some(),
        warnings,
        programs,
        image: None,
    })
}

/// Identifies the content of all files and of this Sayso: short enough to be read out, long enough to be unique.
fn version(texts: &[PolicyText]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    for text in texts {
        for part in
            [text.layer.to_string().as_bytes(), text.name.as_bytes(), text.text.as_bytes(), &[u8::from(text.trusted)]]
        {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}

fn compile_file(text: &PolicyText, file: &File, programs: &Catalogue, problems: &mut Vec<Problem>) -> CompiledFile {
    let managed = text.layer == Layer::Managed;
    if !managed {
        managed_only(file, problems);
    }
    let mut compiler = Compiler::new(file, text.layer.clone(), programs, problems);
    let mut rules = compiler.rules();
    let tools = tools::section(&mut compiler);
    let patterns = patterns::section(&mut compiler);
    let essential = essential::section(&mut compiler, &text.layer);
    let models = models::section(&mut compiler);
    let own_hold = hold::compile(&mut compiler);
    let mut preset_holds = Vec::new();
    let limits = limits::section(file);
    let mut defaults = Defaults::default();
    for verb in Verb::ALL {
        if let Some(verdict) = file.default.of(verb) {
            defaults.set(verb, verdict.value);
        }
    }
    let mut compiled_presets = Vec::new();
    let mut codes: Vec<Cow<'static, str>> = Vec::new();
    let mut unanswered = file.unanswered.as_ref().map(|verdict| verdict.value);
    let named = file.extends.iter().map(|name| (name, false)).chain(file.enforce.iter().map(|name| (name, true)));
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
        match text::parse(&format!("preset:{}", name.value), preset) {
            Ok(parsed) => {
                let layer = Layer::Preset(Cow::Owned(name.value.clone()));
                let mut compiler = Compiler::new(&parsed, layer, programs, problems);
                let found = compiler.rules();
                let hold = hold::compile(&mut compiler);
                codes.extend(found.iter().map(|rule| rule.code.clone()));
                codes.extend(hold.is_some().then_some(Cow::Borrowed(HOLD)));
                let off = |code: &str| file.disable.iter().any(|off| off.value == code);
                preset_holds.extend(hold.filter(|_| enforced || !off(HOLD)));
                let kept: Vec<Rule> = found.into_iter().filter(|rule| enforced || !off(&rule.code)).collect();
                for verb in Verb::ALL {
                    // The file's own default overrules its presets'; among presets the strictest counts.
                    if file.default.of(verb).is_none()
                        && let Some(verdict) = parsed.default.of(verb)
                    {
                        defaults.set(verb, defaults.get(verb).unwrap_or(Verdict::Allow).max(verdict.value));
                    }
                }
                unanswered = unanswered.or(parsed.unanswered.as_ref().map(|verdict| verdict.value));
                if enforced {
                    rules.extend(kept);
                } else {
                    compiled_presets.push(CompiledPreset { table: Table::new(kept) });
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    for off in &file.disable {
        if problems.len() < MAX_PROBLEMS && !codes.contains(&Cow::Borrowed(off.value.as_str())) {
            let mut problem = file.problem(
                "unknown-rule",
                &off.span,
                format!("none of this file's presets has a rule named `{}`", off.value),
            );
            problem.suggestion =
                nearest(&off.value, codes.iter().map(AsRef::as_ref)).map(|best| format!("did you mean `{best}`?"));
            problems.push(problem);
        }
    }
    if !text.trusted {
        // INVARIANT: an untrusted project file can only tighten, so its defaults do not allow.
        for verb in Verb::ALL {
            if defaults.get(verb) == Some(Verdict::Allow) {
                defaults.set(verb, Verdict::Ask);
            }
        }
    }
    let own = Table::new(rules);
    let conditions = || {
        let tables = std::iter::once(&own).chain(compiled_presets.iter().map(|preset| &preset.table));
        tables.flat_map(Table::each).flat_map(|rule| rule.when.iter())
    };
    let mut after: Vec<&After> = Vec::new();
    for condition in conditions() {
        if let Condition::After(one) = condition
            && !after.iter().any(|known| known.key == one.key)
        {
            after.push(one);
        }
    }
    let after = Table::new(after.into_iter().flat_map(After::rules).collect());
    let self_written = conditions().any(|condition| matches!(condition, Condition::SelfWritten(_)));
    CompiledFile {
        layer: text.layer.clone(),
        own,
        presets: compiled_presets,
        counts_allow: text.trusted,
        defaults,
        mode: mode::section(file, text.trusted),
        tools,
        patterns,
        essential,
        limits,
        unanswered,
        models,
        hold: HoldSection::of(own_hold, preset_holds, text.trusted),
        after,
        self_written,
    }
}

fn managed_only(file: &File, problems: &mut Vec<Problem>) {
    let spans = file
        .enforce
        .iter()
        .map(|name| ("enforce", &name.span))
        .chain(file.closed.iter().map(|verb| ("closed", &verb.span)))
        .chain(file.mode_pinned.iter().map(|pinned| ("mode.pinned", &pinned.span)));
    for (key, span) in spans {
        report(problems, file.problem("managed-only", span, format!("`{key}` is only allowed in the managed file")));
    }
}

/// Keeps a problem, if there are not too many already for anybody to read.
fn report(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MAX_PROBLEMS {
        problems.push(problem);
    }
}

impl Compiler<'_> {
    /// The patterns on tools that one text stands for.
    pub(crate) fn tool_patterns(&mut self, text: &text::Text) -> Vec<ToolPattern> {
        self.expand(&text.value, &text.span, SetKind::Tool)
            .into_iter()
            .flat_map(|expanded| {
                if expanded == "@anything" {
                    return vec![ToolPattern::Anything];
                }
                match ToolPattern::parse(&expanded) {
                    Ok(patterns) => patterns,
                    Err(error) => {
                        self.complain(&text.span, &error);
                        Vec::new()
                    }
                }
            })
            .collect()
    }
}

/// The patterns of a built-in set of tools, and of the sets in it.
pub(crate) fn built_in_tools(name: &str) -> Vec<ToolPattern> {
    let mut names = vec![name.to_owned()];
    let mut found = Vec::new();
    while let Some(name) = names.pop() {
        for member in crate::set::built_in(&name).map(|set| set.members).unwrap_or_default() {
            match member.strip_prefix('@') {
                Some(inner) => names.push(inner.to_owned()),
                None => found.extend(ToolPattern::parse(member).unwrap_or_default()),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_every_preset_hold() {
        for name in presets::NAMES {
            let parsed = text::parse(name, presets::text(name).unwrap()).unwrap();
            let mut problems = Vec::new();
            let layer = Layer::Preset(Cow::Borrowed(name));
            let rules = Compiler::new(&parsed, layer, &sayso_shell::program::BUILT_IN, &mut problems).rules();
            assert!(!rules.is_empty());
            assert!(problems.is_empty(), "{name}: {problems:#?}");
        }
    }
}
