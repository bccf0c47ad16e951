//! Which policy to judge by, from the command line: Sayso's own files, presets, and files of other systems.

use crate::completing::Completes;
use crate::failure::Failure;
use crate::judge::rendered;
use sayso_formats::Format;
use sayso_gate::InForce;
use sayso_policy::foreign::Foreign;
use sayso_policy::{Layer, Policy, PolicyText};

/// Which policy to judge by.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PolicyChoice {
    /// Policy file or preset:NAME; repeatable. No other policy and no database is read
    #[arg(long, value_name = "FILE|preset:NAME", help_heading = "Policy", value_parser = Completes::policies(), hide_possible_values = true)]
    pub(crate) policy: Vec<String>,
    /// Read the --policy files in another system's format: wundr, exec-approvals, ferrumdeck, policy-engine, toolcap,
    /// claude-code, codex, gemini, copilot, opencode, cursor, zed; given once for all files, or once per file [default:
    /// detected from the file's keys]
    #[arg(long, value_name = "FORMAT", requires = "policy", help_heading = "Policy", value_parser = Completes::formats(), hide_possible_values = true)]
    pub(crate) policy_format: Vec<String>,
    /// Keep Sayso's own protections in force with other systems' files
    #[arg(long, requires = "policy", help_heading = "Policy")]
    pub(crate) integrity: bool,
}

/// The files that were named.
#[derive(Debug, Default)]
struct Named {
    own: Vec<PolicyText>,
    foreign: Vec<(Option<Format>, Foreign)>,
}

impl PolicyChoice {
    /// Whether none was named, so that the policy in force counts.
    pub(crate) fn is_default(&self) -> bool {
        self.policy.is_empty()
    }

    /// The policy that was named, if one was.
    pub(crate) fn policy(&self) -> Result<Option<InForce>, Failure> {
        if self.policy.is_empty() {
            return Ok(None);
        }
        let Named { own, foreign } = self.named()?;
        let foreign = foreign.into_iter().map(|(_, file)| file).collect();
        let policy = if own.is_empty() { Policy::from_foreign(foreign) } else { compile(&own)?.with_foreign(foreign) };
        let policy = if self.integrity { policy.with_integrity() } else { policy };
        Ok(Some(InForce::of(policy, own)))
    }

    /// The files that were named, those of other systems marked with their format; none if none were.
    pub(crate) fn texts(&self) -> Result<Vec<PolicyText>, Failure> {
        let Named { own, foreign } = self.named()?;
        let foreign = foreign.into_iter().map(|(format, file)| PolicyText {
            layer: Layer::Given,
            name: format.map_or_else(|| file.name.clone(), |format| sayso_formats::marked(format, &file.name)),
            text: file.text,
            trusted: true,
        });
        Ok(own.into_iter().chain(foreign).collect())
    }

    /// The options that have a hook judge by these files: absolute, and checked now.
    pub(crate) fn registered(&self) -> Result<Vec<String>, Failure> {
        // What cannot be read now would stop every call later.
        self.policy()?;
        if self.integrity {
            return Err(Failure::wrong("error: --integrity is always on for an agent that Sayso guards"));
        }
        let mut words = Vec::new();
        for name in &self.policy {
            let path = if name.starts_with("preset:") {
                name.clone()
            } else {
                let path = std::path::absolute(name)?;
                path.to_str().ok_or_else(|| Failure::wrong("error: the policy's path is not UTF-8"))?.to_owned()
            };
            words.extend(["--policy".to_owned(), path]);
        }
        words.extend(self.policy_format.iter().flat_map(|format| ["--policy-format".to_owned(), format.clone()]));
        Ok(words)
    }

    fn named(&self) -> Result<Named, Failure> {
        let formats = self.policy_format.iter().map(|name| format(name)).collect::<Result<Vec<_>, _>>()?;
        let files = self.policy.iter().filter(|name| !name.starts_with("preset:")).count();
        if formats.len() > 1 && formats.len() != files {
            return Err(Failure::wrong(
                "error: give --policy-format once for all --policy files, or once per file\n\n  Try: --policy a.json --policy-format wundr",
            ));
        }
        let mut named = Named::default();
        let mut at = 0;
        for name in &self.policy {
            if let Some(preset) = name.strip_prefix("preset:") {
                named.own.push(PolicyText::preset(preset));
                continue;
            }
            let text = read(name)?;
            let format = if formats.len() == 1 { formats.first() } else { formats.get(at) }.copied();
            at += 1;
            if format.is_some() || sayso_formats::foreign_name(name).is_some() {
                named.foreign.push((format, foreign(format, name, &text)?));
            } else {
                named.own.push(PolicyText { layer: Layer::Given, name: name.clone(), text, trusted: true });
            }
        }
        Ok(named)
    }
}

/// A file of Sayso's own language, or a preset.
pub(crate) fn text(name: &str) -> Result<PolicyText, Failure> {
    if let Some(preset) = name.strip_prefix("preset:") {
        return Ok(PolicyText::preset(preset));
    }
    Ok(PolicyText { layer: Layer::Given, name: name.to_owned(), text: read(name)?, trusted: true })
}

/// A format by its name.
pub(crate) fn format(name: &str) -> Result<Format, Failure> {
    if name == "openclaw" {
        return Err(Failure::wrong(
            "error: openclaw's files have formats of their own\n\n  Try: policy-engine for the plugin in openclaw.json, exec-approvals for exec-approvals.json",
        ));
    }
    Format::by_name(name).ok_or_else(|| {
        let known = Format::ALL.map(Format::name).join(", ");
        Failure::wrong(format!("error: unknown format `{name}`\n\n  Known formats: {known}."))
    })
}

/// Another system's file.
pub(crate) fn foreign(format: Option<Format>, name: &str, text: &str) -> Result<Foreign, Failure> {
    sayso_formats::read(format, name, text).map_err(|error| {
        Failure::wrong(format!(
            "error: {error}\n\n  The file is rejected as a whole: a part Sayso does not understand might be a restriction."
        ))
    })
}

pub(crate) fn read(name: &str) -> Result<String, Failure> {
    std::fs::read_to_string(name).map_err(|error| {
        Failure::wrong(format!("error: cannot read the policy {name}: {error}\n\n  Presets are named preset:NAME."))
    })
}

/// Compiles policy files, or shows what is wrong with them.
pub(crate) fn compile(files: &[PolicyText]) -> Result<Policy, Failure> {
    Policy::compile(files).map_err(|problems| Failure::wrong(rendered(&problems, files)))
}
