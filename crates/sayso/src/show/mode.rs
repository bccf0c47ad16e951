//! The mode in force, wherever a verdict is shown.

use crate::command::log::time::shown as time;
use sayso_gate::EffectiveMode;
use sayso_policy::explain::visible;

/// The mode beside a verdict.
#[derive(Clone, Debug)]
pub(crate) enum ShownMode {
    /// It decided.
    Decides(EffectiveMode),
    /// Policies were named, so the mode that somebody switched on here was looked past.
    LookedPast {
        /// What the named policies themselves say.
        own: EffectiveMode,
        /// What is in force on this machine, if it is not `enforce`.
        here: Option<EffectiveMode>,
    },
}

impl ShownMode {
    /// The mode under which the verdict was found.
    pub(crate) fn decided(&self) -> &EffectiveMode {
        match self {
            Self::Decides(mode) | Self::LookedPast { own: mode, .. } => mode,
        }
    }

    /// The mode in force that was looked past.
    pub(crate) fn looked_past(&self) -> Option<&EffectiveMode> {
        match self {
            Self::Decides(_) => None,
            Self::LookedPast { here, .. } => here.as_ref(),
        }
    }

    /// What is said beside the verdict; nothing where the policy simply decides.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.decided().enforces() {
            lines.push(whole(self.decided()));
        }
        if let Some(here) = self.looked_past() {
            lines.push(format!("--policy looks past the mode in force here. {}", whole(here)));
        }
        lines
    }
}

/// `halt: every call is denied. Switched by ann: a fire (since 10:02, until someone ends it)`
pub(crate) fn whole(mode: &EffectiveMode) -> String {
    let mut text = visible(&mode.in_words()).into_owned();
    if let Some(since) = mode.since_ms {
        let until = mode.until_ms.map_or("until someone ends it".to_owned(), |until| format!("until {}", time(until)));
        text.push_str(&format!(" (since {}, {until})", time(since)));
    }
    text
}
