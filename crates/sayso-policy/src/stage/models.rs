//! Which models calls may come from, and which one an agent is routed to.
//!
//! Part of the rules: a model that a list does not name makes the call an Ask. What an agent says of its model only
//! tightens; where nothing is said of it, nothing is known to be wrong.

use super::opinions::Opinions;
use super::{FileInForce, Inputs, of_layer};
use crate::compile::Compiler;
use crate::condition::is_actor;
use crate::pattern::Glob;
use crate::policy::Policy;
use crate::text::Who;
use crate::word::{Actor, Code, Source, Stage, Verdict};
use serde::Serialize;

/// One layer of `[models]`.
#[derive(Clone, Debug)]
pub(crate) struct ModelRule {
    pub who: Option<Who>,
    /// `provider/model`, with `*`; empty: any.
    pub only: Vec<String>,
    pub model: Option<String>,
    pub fallback: Option<String>,
    pub source: Option<Source>,
}

/// Which model an agent is routed to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Route {
    /// `provider/model`; absent: the policy names none, and the agent keeps its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// It is the fallback, because too many calls of the session were denied.
    pub fallback: bool,
    /// The models that its calls may come from; empty: any.
    pub only: Vec<String>,
    /// Where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// `[models]` of a file.
pub(crate) fn section(compiler: &mut Compiler<'_>) -> Vec<ModelRule> {
    let rule = |text: &crate::text::ModelsText| ModelRule {
        who: text.who.as_ref().map(|who| who.value.clone()),
        only: text.only.iter().map(|name| name.value.clone()).collect(),
        model: text.model.as_ref().map(|name| name.value.clone()),
        fallback: text.fallback.as_ref().map(|name| name.value.clone()),
        source: Some(compiler.file.source(&text.span)),
    };
    compiler.file.models.iter().map(rule).collect()
}

/// Whether a pattern of `only` names a model. A provider whose model is not known is within `provider/*` alone.
pub(crate) fn covers(pattern: &str, model: &str) -> bool {
    let normal = |text: &str| text.split('/').map(|part| part.trim().to_lowercase()).collect::<Vec<_>>().join("/");
    let (pattern, model) = (normal(pattern), normal(model));
    if !model.contains('/') {
        return pattern.strip_suffix("/*").is_some_and(|provider| Glob::new(provider).matches(model.as_bytes()));
    }
    Glob::new(&pattern).matches(model.as_bytes())
}

/// What the lists of all files say of the call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    if inputs.files.iter().all(|FileInForce { file, .. }| file.models.is_empty()) {
        return;
    }
    for FileInForce { file, .. } in &inputs.files {
        for actor in inputs.judging.operation.actor.and_above() {
            let found = actor.every_aspect().iter().find_map(|aspect| refusing(&file.models, aspect));
            if let Some((rule, model)) = found {
                let text =
                    format!("`{}` is not one of the models that calls may come from.", crate::explain::visible(&model));
                let mut opinion = of_layer(Stage::Rules, Verdict::Ask, Code::ModelNotListed, text, file.layer.clone());
                opinion.reason.source.clone_from(&rule.source);
                said.call.push(opinion);
                break;
            }
        }
    }
}

/// The first list that applies and does not name the model.
fn refusing<'p>(rules: &'p [ModelRule], actor: &Actor) -> Option<(&'p ModelRule, String)> {
    let model = actor.provider.as_deref().map(str::trim).filter(|model| !model.is_empty())?;
    let applies = |rule: &&ModelRule| rule.who.as_ref().is_none_or(|who| is_actor(who, actor));
    let refused = |rule: &&ModelRule| !rule.only.is_empty() && !rule.only.iter().any(|only| covers(only, model));
    rules.iter().filter(applies).find(refused).map(|rule| (rule, model.to_owned()))
}

impl Policy {
    /// Which model an actor is routed to; `fallback` where too many of its session's calls were denied. Of several files
    /// the first that names one counts, of its layers the one that names the actor. A project's file that nobody trusts
    /// names none.
    #[must_use]
    pub fn route(&self, actor: &Actor, fallback: bool) -> Route {
        let actor = &self.owned(actor.clone(), true);
        let mut route = Route::default();
        for file in &self.files {
            let applies = |rule: &&ModelRule| rule.who.as_ref().is_none_or(|who| is_actor(who, actor));
            let mut layers: Vec<&ModelRule> = file.models.iter().filter(applies).collect();
            layers.sort_by_key(|rule| rule.who.is_none());
            route.only.extend(layers.iter().flat_map(|rule| rule.only.iter().cloned()));
            if route.model.is_some() || !file.counts_allow {
                continue;
            }
            let stated = |of: fn(&ModelRule) -> &Option<String>| {
                layers.iter().find_map(|rule| of(rule).clone().map(|model| (model, rule.source.clone())))
            };
            let up = stated(|rule| &rule.fallback).filter(|_| fallback);
            route.fallback = up.is_some();
            if let Some((model, source)) = up.or_else(|| stated(|rule| &rule.model)) {
                route.model = Some(model);
                route.source = source.map(|source| source.to_string());
            }
        }
        for crate::foreign::Foreign { name, stages, .. } in &self.foreign {
            let (model, up) = stages.route(actor);
            let up = up.filter(|_| fallback);
            let falls = up.is_some();
            if let Some(model) = up.or(model).filter(|_| route.model.is_none()) {
                (route.model, route.fallback, route.source) = (Some(model), falls, Some(name.clone()));
            }
        }
        route
    }

    /// Whether any file routes an actor to another model once too many calls were denied.
    #[must_use]
    pub fn has_fallback(&self) -> bool {
        self.files.iter().any(|file| file.counts_allow && file.models.iter().any(|rule| rule.fallback.is_some()))
            || self.foreign.iter().any(|file| file.stages.most_blocked().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_models_of_its_provider() {
        for (pattern, model, expected) in [
            ("anthropic/*", "anthropic/claude-opus-4-6", true),
            ("anthropic/*", "Anthropic / Claude", true),
            ("anthropic/*", "anthropic", true),
            ("anthropic/claude-*", "anthropic", false),
            ("anthropic/claude-*", "anthropic/claude-x", true),
            ("anthropic/*", "openai/gpt-5", false),
            ("anthropic/*", "anthropics/x", false),
            ("*/*", "x/y", true),
        ] {
            assert_eq!(covers(pattern, model), expected, "{pattern} {model}");
        }
    }
}
