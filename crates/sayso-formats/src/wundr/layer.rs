//! One layer: deny before allow, an empty allow is open, `alsoAllow` adds.

use super::pattern::{Pattern, members};
use crate::Error;
use crate::document::Node;
use sayso_policy::foreign::Remark;
use sayso_policy::{Actor, Code, Source, ToolName, Verdict};

/// Lists of one layer.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// Where the policy comes from, for people: `global`, `agent coder`.
    title: String,
    /// The same as `[tools.for]` would call it: `global`, `agent:coder`.
    who: String,
    allow: Vec<Pattern>,
    also: Option<Vec<Pattern>>,
    pub(super) deny: Vec<Pattern>,
    profile: Option<Profile>,
    providers: Vec<(String, Layer)>,
    source: Option<Source>,
}

/// A named list.
#[derive(Debug)]
struct Profile {
    name: &'static str,
    only: Vec<Pattern>,
    source: Option<Source>,
}

impl Layer {
    pub(super) fn named(title: &str) -> Self {
        Self { title: title.to_owned(), who: title.to_owned(), ..Self::default() }
    }

    /// Reads the lists of a table, which may hold these other keys too.
    pub(super) fn read(node: &Node<'_>, title: &str, who: &str, beside: &[&str]) -> Result<Self, Error> {
        let own = ["allow", "deny", "alsoAllow", "profile", "byProvider"];
        node.only(&[&own[..], beside].concat())?;
        let list = |key: &str| node.get(key)?.map(|node| Pattern::list(&node)).transpose();
        let mut providers = Vec::new();
        if let Some(by) = node.get("byProvider")? {
            for (key, provider) in by.entries()? {
                let name = normal_provider(key);
                let layer = Self::read(&provider, &format!("provider {key}"), &format!("provider:{name}"), &[])?;
                providers.push((name, layer));
            }
        }
        Ok(Self {
            title: title.to_owned(),
            who: who.to_owned(),
            allow: list("allow")?.unwrap_or_default(),
            also: list("alsoAllow")?,
            deny: list("deny")?.unwrap_or_default(),
            profile: node.get("profile")?.map(|node| Profile::read(&node)).transpose()?.flatten(),
            providers,
            source: Some(node.source()),
        })
    }

    /// The layer for a model, or else for its provider.
    pub(super) fn for_provider(&self, actor: &Actor) -> Option<&Self> {
        let key = actor.provider_key()?;
        let find = |wanted: &str| self.providers.iter().rev().find(|(name, _)| name == wanted).map(|(_, layer)| layer);
        let model = key.model.as_ref().map(|model| format!("{}/{model}", key.provider));
        model.and_then(|model| find(&model)).or_else(|| find(&key.provider))
    }

    /// The layers for providers and models.
    pub(super) fn providers(&self) -> impl Iterator<Item = (&str, &Self)> {
        // The last of a name counts.
        self.providers.iter().rev().map(|(name, layer)| (name.as_str(), layer))
    }

    /// The names that its allow list and its profile let pass; `None`: all.
    pub(super) fn texts(&self) -> (Option<Vec<String>>, Option<Vec<String>>) {
        let texts = |own: &[Pattern]| -> Vec<String> {
            own.iter()
                .chain(self.also.as_deref().unwrap_or_default())
                .flat_map(|pattern| pattern.names.clone())
                .collect()
        };
        let lists = (!self.allow.is_empty()).then(|| texts(&self.allow));
        (lists, self.profile.as_ref().map(|profile| texts(&profile.only)))
    }

    /// Why a tool does not pass: by a deny, by the allow list, or by the layer's profile.
    pub(super) fn refuses(&self, tool: &ToolName) -> Option<Remark> {
        if let Some(pattern) = self.deny.iter().find(|pattern| pattern.restricts(tool)) {
            let text = format!("The {} policy denies `{}` (`{}`).", self.title, tool.canonical, pattern.text);
            return Some(
                Remark::new(Verdict::Deny, Code::ToolHidden, text).at(self.source.clone()).by_layer(&self.who),
            );
        }
        let mut listed = self.allow.iter().chain(self.also.iter().flatten());
        if self.allow.is_empty() || listed.any(|pattern| pattern.permits(tool)) {
            let also = self.also.as_deref().unwrap_or_default();
            let refused = self.profile.as_ref().and_then(|profile| profile.refuses(tool, also));
            return refused.map(|remark| remark.by_layer(&self.who));
        }
        let text = format!("The {} policy does not list `{}`.", self.title, tool.canonical);
        Some(Remark::new(Verdict::Deny, Code::ToolNotListed, text).at(self.source.clone()).by_layer(&self.who))
    }
}

/// Provider keys are trimmed and lower case on both sides of the slash.
fn normal_provider(key: &str) -> String {
    key.split('/').map(|part| part.trim().to_lowercase()).collect::<Vec<_>>().join("/")
}

impl Profile {
    /// `None`: `full`, which restricts nothing.
    fn read(node: &Node<'_>) -> Result<Option<Self>, Error> {
        let group = |name: &str| members(name).unwrap_or_default();
        let (name, only): (&'static str, Vec<&[&str]>) = match node.text()?.value.trim() {
            "full" => return Ok(None),
            "minimal" => ("minimal", vec![&["session_status"]]),
            "coding" => ("coding", ["group:fs", "group:runtime", "group:sessions", "group:memory"].map(group).to_vec()),
            "analysis" => ("analysis", vec![group("group:analysis"), &["file_read", "file_list"]]),
            other => {
                return Err(
                    node.wrong(format!("there is no profile `{other}`; there are minimal, coding, analysis, full"))
                );
            }
        };
        let only = only.concat().into_iter().map(Pattern::new).collect();
        Ok(Some(Self { name, only, source: Some(node.source()) }))
    }

    fn refuses(&self, tool: &ToolName, also: &[Pattern]) -> Option<Remark> {
        if self.only.iter().chain(also).any(|pattern| pattern.permits(tool)) {
            return None;
        }
        let text = format!("The profile `{}` does not include `{}`.", self.name, tool.canonical);
        Some(Remark::new(Verdict::Deny, Code::ToolNotListed, text).at(self.source.clone()))
    }
}
