//! From typed files to a policy: patterns, sets and names are resolved here, and everything that is wrong is said.

mod example;
mod pattern;

use crate::index::Table;
use crate::pattern::ToolPattern;
use crate::policy::{CompiledFile, CompiledPreset, Defaults, Policy, PolicyText};
use crate::presets;
use crate::rule::Rule;
use crate::set::SetKind;
use crate::stage::integrity::Protected;
use crate::stage::limits::LimitRule;
use crate::stage::patterns::{Expression, ParamRule};
use crate::stage::tools::ToolLayer;
use crate::text::{self, File, LayerText, MAX_PROBLEMS, Mode, Problem, nearest};
use crate::word::{Layer, Verdict};
use pattern::Compiler;
use sayso_shell::Verb;
use std::borrow::Cow;
use std::collections::HashSet;

const VERBS: [Verb; 6] = [Verb::Run, Verb::Read, Verb::Write, Verb::Delete, Verb::Connect, Verb::Call];

/// Compiles files, strictest wins between them.
pub(crate) fn compile(texts: &[PolicyText]) -> Result<Policy, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    let mut closed = Vec::new();
    let mut pinned = None;
    for text in texts {
        match text::parse(&text.name, &text.text) {
            Ok(file) => {
                if text.layer == Layer::Managed {
                    closed.extend(file.closed.iter().map(|verb| verb.value));
                    if file.mode_pinned.as_ref().is_some_and(|pinned| pinned.value) {
                        pinned = file.mode.as_ref().map(|mode| mode.value);
                    }
                }
                files.push(compile_file(text, &file, &mut problems));
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

fn compile_file(text: &PolicyText, file: &File, problems: &mut Vec<Problem>) -> CompiledFile {
    let managed = text.layer == Layer::Managed;
    if !managed {
        managed_only(file, problems);
    }
    let mut compiler = Compiler::new(file, text.layer.clone(), problems);
    let mut rules = compiler.rules();
    let tools = compiler.tool_layers();
    let patterns = compiler.param_rules();
    let essential = if text.layer == Layer::Project { Vec::new() } else { compiler.essential() };
    let limits = file
        .limits
        .iter()
        .map(|limit| LimitRule { limit: limit.clone(), source: file.source(&limit.scope.span), inclusive: false })
        .collect();
    let mut defaults = Defaults::default();
    for verb in VERBS {
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
                file.problem("unknown-preset", &name.span, format!("there is no preset `{}`", name.value));
            problem.suggestion =
                nearest(&name.value, presets::NAMES.iter().copied()).map(|best| format!("did you mean `{best}`?"));
            report(problems, problem);
            continue;
        };
        match text::parse(&format!("preset:{}", name.value), preset) {
            Ok(parsed) => {
                let layer = Layer::Preset(Cow::Owned(name.value.clone()));
                let found = Compiler::new(&parsed, layer, problems).rules();
                codes.extend(found.iter().map(|rule| rule.code.clone()));
                let kept: Vec<Rule> = found
                    .into_iter()
                    .filter(|rule| enforced || !file.disable.iter().any(|off| off.value == rule.code))
                    .collect();
                for verb in VERBS {
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
            let mut problem =
                file.problem("unknown-rule", &off.span, format!("no rule of its presets is called `{}`", off.value));
            problem.suggestion =
                nearest(&off.value, codes.iter().map(AsRef::as_ref)).map(|best| format!("did you mean `{best}`?"));
            problems.push(problem);
        }
    }
    if !text.trusted {
        // INVARIANT: an untrusted project file can only tighten. Its defaults may not loosen, its mode may not either.
        for verb in VERBS {
            if defaults.get(verb) == Some(Verdict::Allow) {
                defaults.set(verb, Verdict::Ask);
            }
        }
    }
    let mode = match (file.mode.as_ref().map(|mode| mode.value), text.trusted) {
        (Some(mode), true) => mode,
        (Some(mode @ (Mode::Halt | Mode::Enforce)), false) => mode,
        _ => Mode::Enforce,
    };
    CompiledFile {
        layer: text.layer.clone(),
        own: Table::new(rules),
        presets: compiled_presets,
        counts_allow: text.trusted,
        defaults,
        mode,
        dry_run_first: false,
        tools,
        patterns,
        essential,
        limits,
        unanswered,
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
        report(problems, file.problem("managed-only", span, format!("`{key}` counts only in the managed file")));
    }
}

/// Keeps a problem, if there are not too many already for anybody to read.
fn report(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MAX_PROBLEMS {
        problems.push(problem);
    }
}

impl Compiler<'_> {
    fn tool_layers(&mut self) -> Vec<ToolLayer> {
        let tools = &self.file.tools;
        let mut layers = vec![self.tool_layer(None, &tools.base)];
        for layer in &tools.layers {
            layers.push(self.tool_layer(Some(layer.who.value.clone()), &layer.layer));
        }
        // An empty layer says nothing, but one for a member replaces the team's all the same.
        layers.retain(|layer| layer.who.is_some() || layer.only.is_some() || !layer.hide.is_empty());
        layers
    }

    fn tool_layer(&mut self, who: Option<text::Who>, layer: &LayerText) -> ToolLayer {
        let mut only = None;
        if layer.profile.is_some() || !layer.only.is_empty() {
            let mut patterns = Vec::new();
            if let Some(profile) = &layer.profile {
                let members = Compiler::built_in_tools(&format!("profile-{}", profile.value.as_str()));
                patterns.extend(members);
            }
            for text in layer.only.iter().chain(&layer.also) {
                patterns.extend(self.tool_patterns(text));
            }
            only = Some(patterns);
        } else {
            // Checked all the same: a typo must not be silently open.
            for text in &layer.also {
                self.tool_patterns(text);
            }
        }
        let hide = layer.hide.iter().flat_map(|text| self.tool_patterns(text)).collect();
        let source = (!layer.span.is_empty()).then(|| self.file.source(&layer.span));
        ToolLayer { who, only, hide, source }
    }

    fn tool_patterns(&mut self, text: &text::Text) -> Vec<ToolPattern> {
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

    fn built_in_tools(name: &str) -> Vec<ToolPattern> {
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

    /// `@essential`, with which an agent can always report, and `@T0` where the file itself says what that is: tools
    /// that read are not exempt from a closed list unless its owner wrote so.
    fn essential(&mut self) -> Vec<ToolPattern> {
        ["essential", "T0"]
            .into_iter()
            .flat_map(|name| match self.file.sets.iter().find(|set| set.name.value == name) {
                Some(set) => set.members.clone().iter().flat_map(|member| self.tool_patterns(member)).collect(),
                None if name == "essential" => Self::built_in_tools(name),
                None => Vec::new(),
            })
            .collect()
    }

    fn param_rules(&mut self) -> Vec<ParamRule> {
        let mut rules = Vec::new();
        for entry in &self.file.patterns {
            let tools = self.tool_patterns(&entry.tool);
            let mut expressions = Vec::new();
            for (verdict, texts) in [(Verdict::Deny, &entry.deny), (Verdict::Ask, &entry.ask)] {
                for text in texts {
                    let source = Some(self.file.source(&text.span));
                    let written = text.value.strip_prefix("re:").unwrap_or(&text.value);
                    match crate::pattern::compile_regex(written) {
                        Ok(regex) => expressions.push(Expression::new(verdict, regex, source)),
                        Err(error) => self.complain(&text.span, &error),
                    }
                }
            }
            rules.push(ParamRule {
                tools,
                expressions,
                params: entry.params.iter().map(|p| p.value.clone()).collect(),
            });
        }
        rules
    }
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
            let rules = Compiler::new(&parsed, layer, &mut problems).rules();
            assert!(!rules.is_empty());
            assert!(problems.is_empty(), "{name}: {problems:#?}");
        }
    }
}
