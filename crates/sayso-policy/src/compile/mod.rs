//! From typed files to a policy: patterns, sets and names are resolved here, and everything that is wrong is said.

mod defaults;
mod example;
mod pattern;
mod programs;

use crate::condition::Condition;
use crate::index::Table;
use crate::past::After;
use crate::pattern::ToolPattern;
use crate::policy::{CompiledFile, Defaults, Policy, PolicyText};
use crate::role::Role;
use crate::set::SetKind;
use crate::stage::integrity::Protected;
use crate::stage::{essential, limits, mode, models, patterns, plan, tools};
use crate::text::{self, File, MAX_PROBLEMS, Problem, nearest};
use crate::word::{Layer, Stated, Verdict};
pub(crate) use pattern::Compiler;
pub use pattern::slug;
use sayso_shell::Verb;
use sayso_shell::program::Catalogue;
use std::borrow::Cow;

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
    let mut parsed = Vec::new();
    for text in texts.iter().filter(|text| !text.teaches()) {
        match text::parse(&text.name, &text.text) {
            Ok(file) => {
                if text.layer == Layer::Managed {
                    closed.extend(file.closed.iter().map(|verb| verb.value));
                    if file.mode_pinned.as_ref().is_some_and(|pinned| pinned.value) {
                        pinned = file.mode.as_ref().map(|mode| mode.value);
                    }
                }
                parsed.push((text, file));
            }
            Err(found) => problems.extend(found),
        }
    }
    for (text, file) in &parsed {
        let believes = parsed.iter().any(|(other, file)| believes(file) && reaches(&other.layer, &text.layer));
        files.push(compile_file((text, believes), file, &programs, &mut problems));
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

/// Whether a file believes what agents report.
fn believes(file: &File) -> bool {
    file.trust_roles.as_ref().is_some_and(|trust| trust.value)
}

/// Whether what one file believes counts for another: its own layer, and those below it.
fn reaches(believing: &Layer, other: &Layer) -> bool {
    match believing {
        Layer::Managed => true,
        Layer::User => matches!(other, Layer::User | Layer::Project),
        _ => believing == other && *believing != Layer::Project,
    }
}

fn compile_file(
    (text, believes): (&PolicyText, bool),
    file: &File,
    programs: &Catalogue,
    problems: &mut Vec<Problem>,
) -> CompiledFile {
    let managed = text.layer == Layer::Managed;
    if !managed {
        managed_only(file, problems);
    }
    if text.layer == Layer::Project {
        owner_only(file, problems);
    }
    let mut compiler = Compiler::new(file, text.layer.clone(), programs, problems);
    compiler.believes = believes;
    let mut rules = compiler.rules();
    let tools = tools::section(&mut compiler);
    let patterns = patterns::section(&mut compiler);
    let essential = essential::section(&mut compiler, &text.layer);
    let models = models::section(&mut compiler);
    let plan = plan::section(&compiler);
    let risk = crate::risk::section(&compiler);
    let limits = limits::section(file);
    let mut in_presets = defaults::InPresets { file, text, programs, believes, rules: &mut rules, codes: Vec::new() };
    let own = in_presets.group(0, (&file.extends, &file.enforce), &file.default, &file.disable, problems);
    let mut compiled_presets = own.presets;
    let (mut defaults, hold) = (own.defaults, own.hold);
    let unanswered = file.unanswered.as_ref().map(|verdict| verdict.value).or(own.unanswered);
    let mut roles = Vec::new();
    for (group, role) in (1..).zip(&file.roles) {
        let default = if role.default == text::Defaults::default() { &file.default } else { &role.default };
        let found = in_presets.group(group, (&role.extends, &[]), default, &role.disable, problems);
        compiled_presets.extend(found.presets);
        let mut defaults = found.defaults;
        if !text.trusted {
            asking(&mut defaults);
        }
        roles.push(Role { who: role.who.value.clone(), defaults, hold: found.hold });
    }
    let codes = in_presets.codes;
    for off in file.disable.iter().chain(file.roles.iter().flat_map(|role| &role.disable)) {
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
        asking(&mut defaults);
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
        actor: file.actor.as_ref().map(|actor| {
            let name = |name: &Option<text::Text>| name.as_ref().map(|name| name.value.clone());
            Stated { agent: None, team: name(&actor.team), member: name(&actor.member), tenant: name(&actor.tenant) }
        }),
        trusts_roles: believes,
        roles,
        hold,
        plan,
        risk,
        after,
        self_written,
    }
}

/// INVARIANT: an untrusted project file can only tighten, so its defaults do not allow.
fn asking(defaults: &mut Defaults) {
    for verb in Verb::ALL {
        if defaults.get(verb) == Some(Verdict::Allow) {
            defaults.set(verb, Verdict::Ask);
        }
    }
}

/// Who asks, and whether to believe it, is the owner's word: a repository says nothing of it.
fn owner_only(file: &File, problems: &mut Vec<Problem>) {
    let actor = file.actor.iter().map(|actor| ("[actor]", &actor.span));
    let trust = file.trust_roles.iter().map(|trust| ("trust_roles", &trust.span));
    for (key, span) in actor.chain(trust) {
        let message = format!("a project's file cannot say `{key}`");
        let mut problem = file.problem("owner-only", span, message);
        problem.suggestion = Some("put it in your own policy file".to_owned());
        report(problems, problem);
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
    use crate::presets;

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
