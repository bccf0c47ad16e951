//! The layers that are in force for an actor: what each file says of it, in order, with the place of each.

use crate::condition::is_actor;
use crate::policy::{Policy, PolicyText};
use crate::role;
use crate::text::{self, File, LayerText, ModelsText, Text, Who};
use crate::word::{Actor, Verdict};
use serde::Serialize;

/// One layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LayerInForce {
    /// What it is: `actor`, `presets`, `default`, `tools`, `models` or `rule`.
    pub kind: &'static str,
    /// Whose file: `managed`, `user`, `project` or `given`.
    pub layer: String,
    /// Whom it is for, as the file names them; absent: everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What it says.
    pub says: String,
    /// `file:line:column`.
    pub source: String,
    /// The layer that stands in its place for this actor; absent: it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// Its allows count: the file is trusted.
    pub trusted: bool,
}

/// The layers in force for an actor: the files in their order, and within each who asks, presets, default, tools, models
/// and the rules that name it.
#[must_use]
pub fn layers(policy: &Policy, texts: &[PolicyText], actor: &Actor) -> Vec<LayerInForce> {
    let actor = policy.owned(actor.clone(), true);
    let sides = policy.sides(&actor);
    let mut found = Vec::new();
    let parsed = texts.iter().filter(|text| !text.teaches()).filter_map(|text| {
        let file = text::parse(&text.name, &text.text).ok()?;
        Some((text, file))
    });
    for (at, (text, file)) in parsed.enumerate() {
        let mut groups: Vec<role::Group> = sides.iter().map(|side| side.group(at)).collect();
        groups.dedup();
        Reading { text, file: &file, actor: &actor, found: &mut found }.file(&groups);
    }
    found
}

struct Reading<'a> {
    text: &'a PolicyText,
    file: &'a File,
    actor: &'a Actor,
    found: &'a mut Vec<LayerInForce>,
}

impl Reading<'_> {
    fn file(&mut self, groups: &[role::Group]) {
        let file = self.file;
        if let Some(actor) = &file.actor {
            let names = [("team", &actor.team), ("member", &actor.member), ("tenant", &actor.tenant)];
            let names = names.iter().filter_map(|(key, name)| Some(format!("{key} {}", name.as_ref()?.value)));
            self.add("actor", None, names.collect::<Vec<_>>().join(", "), &actor.span);
        }
        if let Some(trust) = file.trust_roles.as_ref().filter(|trust| trust.value) {
            self.add("actor", None, "believes what agents report".to_owned(), &trust.span);
        }
        self.presets(groups);
        if let Some(every) = &file.default.every {
            self.add("default", None, every.value.to_string(), &every.span);
        }
        for (verb, verdict) in &file.default.by_verb {
            self.add("default", None, format!("{} {}", verb.as_str(), verdict.value), &verdict.span);
        }
        self.tools();
        self.models();
        self.rules();
    }

    fn presets(&mut self, groups: &[role::Group]) {
        let file = self.file;
        for name in &file.enforce {
            self.add("presets", None, format!("{} (enforced)", name.value), &name.span);
        }
        let in_place = |group: role::Group| {
            let at = usize::try_from(group).ok()?.checked_sub(1)?;
            file.roles.get(at)
        };
        let replaced = groups.iter().filter_map(|group| in_place(*group)).next().filter(|_| !groups.contains(&0));
        if let Some(first) = file.extends.first() {
            self.add("presets", None, listed(&file.extends), &first.span);
            self.replaced(replaced.map(|role| role.who.value.to_string()));
        }
        for role in groups.iter().filter_map(|group| in_place(*group)) {
            let default = role.default.every.as_ref().map(|every| format!(" · default {}", every.value));
            let says = listed(&role.extends) + &default.unwrap_or_default();
            self.add("presets", Some(&role.who.value), says, &role.who.span);
        }
    }

    fn tools(&mut self) {
        let tools = &self.file.tools;
        let base = says_of_tools(&tools.base);
        if !base.is_empty() {
            self.add("tools", None, base, &tools.base.span);
        }
        let aspects = self.actor.every_aspect();
        let meant = |who: &Who| aspects.iter().any(|aspect| is_actor(who, aspect));
        let layers: Vec<_> = tools.layers.iter().filter(|layer| meant(&layer.who.value)).collect();
        // As the stage has it: a model's layer stands in its provider's place, a member's in the team's.
        let model = layers.iter().find(|layer| matches!(&layer.who.value, Who::Provider(key) if key.model.is_some()));
        let member = layers.iter().find(|layer| matches!(&layer.who.value, Who::Team { member: Some(_), .. }));
        for layer in &layers {
            let replaced = match &layer.who.value {
                Who::Provider(key) if key.model.is_none() => model,
                Who::Team { member: None, .. } => member,
                _ => None,
            };
            self.add("tools", Some(&layer.who.value), says_of_tools(&layer.layer), &layer.who.span);
            self.replaced(replaced.map(|other| other.who.value.to_string()));
        }
    }

    fn models(&mut self) {
        let aspects = self.actor.every_aspect();
        for models in &self.file.models {
            let who = models.who.as_ref().map(|who| &who.value);
            let says = says_of_models(models);
            if !says.is_empty() && who.is_none_or(|who| aspects.iter().any(|aspect| is_actor(who, aspect))) {
                self.add("models", who, says, &models.span);
            }
        }
    }

    /// Rules that say whom they are for, and mean this actor.
    fn rules(&mut self) {
        let aspects = self.actor.every_aspect();
        let believed = [self.actor.stated().into_owned()];
        for rule in &self.file.rules {
            let Some(when) = rule.when.as_ref().filter(|when| !when.actors.is_empty()) else { continue };
            let of: &[Actor] = if rule.verdict.value == Verdict::Allow { &believed } else { &aspects };
            let Some(who) = when.actors.iter().find(|who| of.iter().any(|aspect| is_actor(&who.value, aspect))) else {
                continue;
            };
            let name = rule.id.as_ref().map_or_else(String::new, |id| format!("{}: ", id.value));
            let says = format!("{name}{} {} {}", rule.verdict.value, rule.verb.value.as_str(), listed(&rule.patterns));
            self.add("rule", Some(&who.value), says, &rule.span);
        }
    }

    fn add(&mut self, kind: &'static str, who: Option<&Who>, says: String, span: &std::ops::Range<usize>) {
        self.found.push(LayerInForce {
            kind,
            layer: self.text.layer.to_string(),
            who: who.map(ToString::to_string),
            says,
            source: self.file.source(span).to_string(),
            replaced_by: None,
            trusted: self.text.trusted,
        });
    }

    fn replaced(&mut self, by: Option<String>) {
        if let Some(last) = self.found.last_mut() {
            last.replaced_by = by;
        }
    }
}

fn listed(texts: &[Text]) -> String {
    texts.iter().map(|text| text.value.as_str()).collect::<Vec<_>>().join(", ")
}

fn says_of_tools(layer: &LayerText) -> String {
    let profile = layer.profile.as_ref().map(|profile| format!("profile {}", profile.value.as_str()));
    let list = |key: &str, texts: &[Text]| (!texts.is_empty()).then(|| format!("{key} {}", listed(texts)));
    let parts = [profile, list("only", &layer.only), list("also", &layer.also), list("hide", &layer.hide)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn says_of_models(models: &ModelsText) -> String {
    let only = (!models.only.is_empty()).then(|| format!("only {}", listed(&models.only)));
    let model = models.model.as_ref().map(|model| format!("use {}", model.value));
    let fallback = models.fallback.as_ref().map(|model| format!("fallback {}", model.value));
    [only, model, fallback].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;

    #[test]
    fn the_layers_of_an_actor_are_named_in_order_with_their_places() {
        let file = |layer: Layer, name: &str, text: &str| PolicyText {
            layer,
            name: name.into(),
            text: text.into(),
            trusted: true,
        };
        let texts = [
            file(Layer::Managed, "m.toml", "enforce = [\"read-only\"]\n[actor]\nteam = \"a\"\n"),
            file(
                Layer::User,
                "u.toml",
                "extends = [\"developer\"]\ndefault = \"ask\"\n[for.\"agent:coder\"]\nextends = [\"reviewer\"]\n\
                 [tools]\nprofile = \"coding\"\n[tools.for.\"provider:openai\"]\nhide = [\"x\"]\n\
                 [tools.for.\"provider:openai/gpt-4\"]\nhide = [\"@runtime\"]\n[tools.for.\"agent:other\"]\nhide = [\"y\"]\n\
                 [tools.for.\"team:a\"]\nhide = [\"@web\"]\n[models.for.\"agent:coder\"]\nuse = \"openai/gpt-4\"\n\
                 [[rule]]\nid = \"r\"\nask = { run = \"ls\" }\nwhen = { for = [\"agent:x\", \"agent:coder\"] }\n",
            ),
        ];
        let policy = Policy::compile(&texts).unwrap();
        let actor = Actor { agent: Some("coder".into()), provider: Some("OpenAI/gpt-4".into()), ..Actor::default() };
        let found: Vec<String> = layers(&policy, &texts, &actor)
            .iter()
            .map(|it| {
                let who = it.who.as_deref().unwrap_or("-");
                let by = it.replaced_by.as_deref().unwrap_or("-");
                format!("{} {} {who} [{}] {by} {}", it.layer, it.kind, it.says, it.source)
            })
            .collect();
        assert_eq!(
            found,
            [
                "managed actor - [team a] - m.toml:2:1",
                "managed presets - [read-only (enforced)] - m.toml:1:12",
                "user presets - [developer] agent:coder u.toml:1:12",
                "user presets agent:coder [reviewer] - u.toml:3:6",
                "user default - [ask] - u.toml:2:11",
                "user tools - [profile coding] - u.toml:5:1",
                "user tools provider:openai [hide x] provider:openai/gpt-4 u.toml:7:12",
                "user tools provider:openai/gpt-4 [hide @runtime] - u.toml:9:12",
                "user tools team:a [hide @web] - u.toml:13:12",
                "user models agent:coder [use openai/gpt-4] - u.toml:15:13",
                "user rule agent:coder [r: ask run ls] - u.toml:17:1",
            ]
        );
    }
}
