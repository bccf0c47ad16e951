//! Wundr's layers as `[tools]`.

use super::layer::Layer;
use super::{Group, Wundr};
use crate::import::{Draft, one_line, quoted, tool_pattern};

/// A layer of `[tools]`.
#[derive(Clone, Debug, Default)]
struct Native {
    only: Option<Vec<String>>,
    hide: Vec<String>,
}

impl Wundr {
    pub(crate) fn import(&self, draft: &mut Draft) {
        draft.everything("allow", "open by default");
        draft.essential(&[]);
        let mut global = Native::of(&self.global, draft);
        self.import_conditions(&mut global, draft);
        if let Some((_, group)) = self.groups.iter().find(|(name, _)| name == "*") {
            draft.lose("the group `*` is for teams that have no group of their own; here it applies to everyone");
            for layer in group.in_force(None) {
                global = global.and(&Native::of(layer, draft), draft);
            }
        }
        for (who, layer) in self.global.providers() {
            let native = Native::of(layer, draft);
            global = native.write(draft, "provider", who, global, &format!("tools.byProvider.{who}"));
        }
        for (name, layer) in &self.agents {
            let mut native = Native::of(layer, draft);
            for (who, provider) in layer.providers() {
                draft.lose(format!(
                    "the lists of agent `{name}` for provider `{who}` are here for the agent with any provider"
                ));
                native = native.and(&Native::of(provider, draft), draft);
            }
            global = native.write(draft, "agent", name, global, &format!("agents.{name}.tools"));
        }
        for (name, group) in self.groups.iter().filter(|(name, _)| name != "*") {
            global = group.import(name, global, draft);
        }
        let subagents = Native::of(&self.subagents, draft);
        global = subagents.write(draft, "subagent", "subagent", global, "tools.subagents.tools and the default list");
        if global.only.is_some() || !global.hide.is_empty() {
            draft.table(global.text("[tools]", "tools"));
        }
    }
}

impl Wundr {
    /// What depends on more than the tool's name.
    fn import_conditions(&self, global: &mut Native, draft: &mut Draft) {
        for rules in &self.arguments {
            draft.lose(format!("the argument rules of `{}`: the tool is unavailable here", rules.tool()));
            global.hide.push(rules.tool().to_owned());
        }
        for category in &self.categories {
            global.hide.extend(category.denied().map(str::to_owned));
            if category.approval {
                for member in category.members {
                    draft.list("ask", "tool", member, "tools.categories");
                }
            }
        }
        let (none, some): (Vec<_>, Vec<_>) = self.rates.iter().partition(|rate| rate.most == 0);
        global.hide.extend(none.iter().map(|rate| rate.tool().to_owned()));
        let most = some.iter().map(|rate| rate.most).min();
        let window = some.iter().map(|rate| rate.window_ms).max().map(|ms| ms.div_ceil(1000).max(1));
        if let (Some(most), Some(seconds)) = (most, window) {
            draft.lose("rate limits are for each tool; here the strictest is for all calls of a session together");
            draft.table(format!("[limits.session] # tools.rateLimits\nrate = \"{most}/{seconds}s\""));
        }
    }
}

impl Group {
    fn import(&self, name: &str, mut global: Native, draft: &mut Draft) -> Native {
        // What `*` says is for every member without a list of its own: that is the team's layer here.
        let mut team = Native::default();
        for layer in self.in_force(None) {
            team = team.and(&Native::of(layer, draft), draft);
        }
        // A slash parts team and member, so a team with one cannot be named.
        let named = if name.contains('/') { "" } else { name };
        global = team.write(draft, "team", named, global, &format!("groups.{name}"));
        for (member, layer) in self.members.iter().filter(|(member, _)| member != "*") {
            let native = Native::of(layer, draft);
            let who = if named.is_empty() || member.contains(['/', '@']) {
                String::new()
            } else {
                format!("{name}/{member}")
            };
            global = native.write(draft, "team", &who, global, &format!("groups.{name}.toolsByMember.{member}"));
        }
        global
    }
}

impl Native {
    fn of(layer: &Layer, draft: &mut Draft) -> Self {
        let (lists, profile) = layer.texts();
        let own = Self { only: lists, hide: layer.deny.iter().map(|pattern| pattern.text.clone()).collect() };
        own.and(&Self { only: profile, hide: Vec::new() }, draft)
    }

    /// What both let pass.
    fn and(&self, other: &Self, draft: &mut Draft) -> Self {
        let mut hide = self.hide.clone();
        hide.extend(other.hide.iter().filter(|text| !self.hide.contains(text)).cloned());
        let only = match (&self.only, &other.only) {
            (None, only) | (only, None) => only.clone(),
            (Some(a), Some(b)) => {
                let (literal, patterns) = if b.iter().all(|text| !text.contains('*')) { (b, a) } else { (a, b) };
                draft.lose("where two lists of one layer must agree, only what both name alike is there");
                let matches = |text: &String| {
                    patterns.iter().any(|pattern| pattern == text || super::pattern::wild(pattern, text))
                };
                let plain = |text: &&String| !text.contains('*') || patterns.contains(text);
                Some(literal.iter().filter(plain).filter(|text| matches(text)).cloned().collect())
            }
        };
        Self { only, hide }
    }

    /// Writes a layer for an actor. One that cannot be named is for everybody: it joins the global one.
    fn write(&self, draft: &mut Draft, kind: &str, name: &str, global: Self, origin: &str) -> Self {
        match draft.layer_for(kind, name) {
            Some(header) => {
                draft.table(self.text(&header, origin));
                global
            }
            None => {
                draft.lose(format!("`{origin}` cannot be named here, or is there twice: it applies to everyone"));
                global.and(self, draft)
            }
        }
    }

    /// A member without any list still replaces the team's.
    fn text(&self, header: &str, origin: &str) -> String {
        let mut text = format!("{header} # {}", one_line(origin));
        let list =
            |texts: &[String]| texts.iter().map(|text| quoted(&tool_pattern(text))).collect::<Vec<_>>().join(", ");
        match self.only.as_deref() {
            Some([]) => text.push_str("\nhide = [\"@anything\"]"),
            None if self.hide.is_empty() => text.push_str("\nonly = [\"@anything\"]"),
            only => {
                if let Some(only) = only {
                    text.push_str(&format!("\nonly = [{}]", list(only)));
                }
                if !self.hide.is_empty() {
                    text.push_str(&format!("\nhide = [{}]", list(&self.hide)));
                }
            }
        }
        text
    }
}
