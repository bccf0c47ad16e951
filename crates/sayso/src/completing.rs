//! Arguments whose usual values the shell's completion knows. Anything else is taken too: what it means is decided where
//! it is used, which can say more about a wrong one.

use clap::builder::{PossibleValue, TypedValueParser};
use sayso_agents::Agent;
use sayso_formats::Format;
use sayso_policy::presets;
use std::ffi::OsStr;

/// The usual values of an argument.
#[derive(Clone, Debug)]
pub(crate) struct Completes(Vec<String>);

impl Completes {
    /// Agents that Sayso knows.
    pub(crate) fn agents() -> Self {
        Self(Agent::ALL.iter().map(|agent| agent.name().to_owned()).collect())
    }

    /// Presets, by their names.
    pub(crate) fn presets() -> Self {
        Self(presets::NAMES.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Presets as policies to judge by. Files are completed by the shell itself.
    pub(crate) fn policies() -> Self {
        Self(presets::NAMES.iter().map(|name| format!("preset:{name}")).collect())
    }

    /// Formats of other systems' files.
    pub(crate) fn formats() -> Self {
        Self(Format::ALL.iter().map(|format| format.name().to_owned()).collect())
    }

    /// Every code that can be explained.
    pub(crate) fn codes() -> Self {
        let all = crate::codes::SOURCES.iter().flat_map(|(_, codes)| codes.iter().map(|info| info.code.to_owned()));
        let all: std::collections::BTreeSet<String> = all.collect();
        Self(all.into_iter().collect())
    }
}

impl TypedValueParser for Completes {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}
