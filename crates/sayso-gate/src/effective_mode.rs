//! The mode that decides here and now, told the same way by every view: the terminal, the API and the page.

use crate::audit::now_ms;
use crate::mode::{self, Switch};
use crate::{InForce, Places};
use sayso_policy::Policy;
use sayso_policy::text::Mode;
use serde::Serialize;

/// The mode that decides, and who chose it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ModeInForce))]
pub struct EffectiveMode {
    /// `enforce`, `halt`, `dry-run`, `shadow` or `off`.
    pub run: &'static str,
    /// What that means for calls, in a few words.
    pub meaning: &'static str,
    /// Who switched it. Absent: nobody did, and the policy files say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it was switched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Since when, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// Until when; absent on a switch: until somebody ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
    /// The policy file that sets it, where nobody switched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
}

impl EffectiveMode {
    /// The mode of this policy under this switch.
    #[must_use]
    pub fn of(policy: &Policy, switch: Option<&Switch>) -> Self {
        let (mode, layer) = policy.mode_in_force(switch.map(|switch| switch.mode));
        let switch = switch.filter(|switch| switch.mode == mode && layer.is_none());
        if let Some(switch) = switch {
            return Self::switched(switch);
        }
        let layer = layer.map(|layer| layer.to_string());
        Self { run: mode.as_str(), meaning: meaning(mode), by: None, why: None, since_ms: None, until_ms: None, layer }
    }

    /// A switch, where no policy is known that could pin the mode.
    #[must_use]
    pub fn switched(switch: &Switch) -> Self {
        Self {
            run: switch.mode.as_str(),
            meaning: meaning(switch.mode),
            by: Some(switch.by.to_string()),
            why: Some(switch.why.clone()),
            since_ms: Some(switch.since_ms),
            until_ms: switch.until_ms,
            layer: None,
        }
    }

    /// The mode that decides now about calls under this policy.
    #[must_use]
    pub fn now(places: &Places, in_force: &InForce) -> Self {
        Self::of(&in_force.policy, mode::in_force(places, now_ms()).as_ref())
    }

    /// Whether the policy simply decides.
    #[must_use]
    pub fn enforces(&self) -> bool {
        self.run == Mode::Enforce.as_str()
    }

    /// `halt: every call is denied. Switched by ann: a fire`
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut text = format!("{}: {}", self.run, self.meaning);
        match (&self.by, &self.why, &self.layer) {
            (Some(by), Some(why), _) => text.push_str(&format!(". Switched by {by}: {why}")),
            (.., Some(layer)) => text.push_str(&format!(". Set by the {layer} policy file")),
            _ => {}
        }
        text
    }
}

/// What a mode means for calls.
#[must_use]
pub(crate) const fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "the policy decides",
        Mode::Halt => "every call is denied",
        Mode::DryRun => "allowed calls do not run; agents get stubs",
        Mode::Shadow => "every call passes, and what the policy would have said is recorded",
        Mode::Off => "every call passes; only the record and Sayso's protection of itself remain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_policy::Person;
    use sayso_policy::{Layer, PolicyText};

    fn policy(files: &[(Layer, &str)]) -> Policy {
        let texts: Vec<PolicyText> = files
            .iter()
            .map(|(layer, text)| PolicyText {
                name: format!("{layer}.toml"),
                text: (*text).to_owned(),
                layer: layer.clone(),
                trusted: true,
            })
            .collect();
        Policy::compile(&texts).unwrap()
    }

    #[test]
    fn a_switch_speaks_for_all_files_and_a_file_for_itself() {
        let switch =
            |mode| Switch { mode, by: Person::named("ann"), why: "a fire".into(), since_ms: 1, until_ms: Some(2) };
        let plain = policy(&[(Layer::User, "default = \"ask\"")]);
        let shadow = policy(&[(Layer::User, "[mode]\nrun = \"shadow\"")]);
        assert!(EffectiveMode::of(&plain, None).enforces());
        let said = EffectiveMode::of(&shadow, None);
        assert_eq!((said.run, said.layer.as_deref()), ("shadow", Some("user")));
        let said = EffectiveMode::of(&shadow, Some(&switch(Mode::Halt)));
        assert_eq!((said.run, said.by.as_deref(), said.layer), ("halt", Some("ann"), None));
        assert!(EffectiveMode::of(&plain, Some(&switch(Mode::Off))).in_words().starts_with("off: every call passes"));
    }

    #[test]
    fn a_pinned_mode_is_not_switched_but_to_halt() {
        let pinned = policy(&[(Layer::Managed, "[mode]\nrun = \"enforce\"\npinned = true")]);
        let switch = |mode| Switch { mode, by: Person::named("ann"), why: "x".into(), since_ms: 1, until_ms: Some(2) };
        assert!(EffectiveMode::of(&pinned, Some(&switch(Mode::Off))).enforces());
        assert_eq!(EffectiveMode::of(&pinned, Some(&switch(Mode::Halt))).run, "halt");
    }
}
