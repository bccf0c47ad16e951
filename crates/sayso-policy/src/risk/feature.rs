//! What the model looks at: how many effects of a call are of each kind.

use crate::judging::Judging;
use crate::pattern::{is_link_local, is_loopback};
use sayso_shell::program::Facets;
use sayso_shell::{Carry, Code, Effect, HostTarget, PathTarget, Target, Verb};
use std::path::Path;

/// More effects of one kind than this add nothing.
const MOST: u8 = 3;

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident $text:literal;)*) => {
        /// A kind of effect.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Feature {
            $($(#[$doc])* $name,)*
        }

        impl Feature {
            /// All of them, in the order of the model's points.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// The kebab-case word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

features! {
    /// A program that Sayso does not know is started.
    UnknownProgram "unknown-program";
    /// Code runs that nobody can see through.
    RunsCode "runs-code";
    /// Something is not understood, or depends on what is not known.
    Unclear "unclear";
    /// A variable changes what runs.
    Environment "environment";
    /// Code is fetched and installed.
    Installs "installs";
    /// Refs, index, stash or work tree of a repository change.
    ChangesRepository "changes-repository";
    /// Settings of a program, a user or a project change.
    ChangesSettings "changes-settings";
    /// Something leaves for where others see it, or state at a service changes.
    Publishes "publishes";
    /// A server is started.
    Serves "serves";
    /// Processes are signalled.
    Signals "signals";
    /// The machine changes: services, users, disks, kernel.
    ChangesSystem "changes-system";
    /// Another user, or another computer, runs something.
    RunsElsewhere "runs-elsewhere";
    /// Secrets, or the whole environment, are shown.
    ShowsSecrets "shows-secrets";
    /// A file that may hold secrets is read.
    ReadsSecrets "reads-secrets";
    /// Something outside of the workspace is read.
    ReadsOutside "reads-outside";
    /// Something in the workspace is written.
    WritesInside "writes-inside";
    /// Something outside of the workspace is written.
    WritesOutside "writes-outside";
    /// A file is changed that later runs or steers something, or holds secrets.
    ChangesGuarded "changes-guarded";
    /// A file of the workspace is deleted.
    DeletesInside "deletes-inside";
    /// Folders, or whatever matches, are deleted.
    DeletesMany "deletes-many";
    /// Something outside of the workspace is deleted.
    DeletesOutside "deletes-outside";
    /// Another machine is connected to.
    Connects "connects";
    /// Nobody knows which host, or one where cloud providers serve credentials, is connected to.
    ConnectsUnclear "connects-unclear";
    /// A tool that nobody knows is called.
    UnknownTool "unknown-tool";
    /// Secrets are read, and another machine is connected to.
    SecretsAndNetwork "secrets-and-network";
    /// Code runs that nobody can see through, and another machine is connected to.
    CodeAndNetwork "code-and-network";
}

/// How many effects of a call are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u8; Feature::ALL.len()]);

impl Counts {
    /// Those of a call.
    pub(crate) fn of(judging: &Judging<'_>) -> Self {
        let mut counts = Self::default();
        for (index, effect) in judging.operation.effects.iter().enumerate() {
            // What is only perhaps so would make every long word a risk.
            if effect.certain
                && let Some(feature) = feature(judging, index, effect)
            {
                counts.add(feature);
            }
        }
        if judging.analysis().is_some_and(|analysis| analysis.opaque) && counts.get(Feature::Unclear) == 0 {
            counts.add(Feature::Unclear);
        }
        counts
    }

    /// One effect more. Two kinds together are a kind of their own.
    pub fn add(&mut self, feature: Feature) {
        self.raise(feature);
        let any = |some: &[Feature]| some.iter().any(|feature| self.get(*feature) > 0);
        let network = any(&[Feature::Connects, Feature::ConnectsUnclear]);
        let secrets = any(&[Feature::ReadsSecrets, Feature::ShowsSecrets]);
        let code = any(&[Feature::RunsCode]);
        for (feature, holds) in
            [(Feature::SecretsAndNetwork, network && secrets), (Feature::CodeAndNetwork, network && code)]
        {
            if holds && self.get(feature) == 0 {
                self.raise(feature);
            }
        }
    }

    /// How many there are of a kind.
    #[must_use]
    pub fn get(&self, feature: Feature) -> u8 {
        self.0.get(usize::from(feature as u8)).copied().unwrap_or_default()
    }

    /// Every kind and how many there are of it.
    pub fn each(&self) -> impl Iterator<Item = (Feature, u8)> {
        Feature::ALL.into_iter().zip(self.0)
    }

    fn raise(&mut self, feature: Feature) {
        if let Some(count) = self.0.get_mut(usize::from(feature as u8)) {
            *count = count.saturating_add(1).min(MOST);
        }
    }
}

/// The kind of one effect; most have none.
fn feature(judging: &Judging<'_>, index: usize, effect: &Effect) -> Option<Feature> {
    let guarded = judging.guard(index).map(|guard| guard.code);
    match (&effect.target, effect.verb) {
        (Target::Path(_), Verb::Read) if guarded.is_some() => return Some(Feature::ReadsSecrets),
        (Target::Path(_), Verb::Write | Verb::Delete) if guarded.is_some() => return Some(Feature::ChangesGuarded),
        (Target::Host(host), _) => return connects(host),
        _ => {}
    }
    if let Carry::Named { code, .. } = &effect.carry
        && let Some(feature) = named(*code)
    {
        return Some(feature);
    }
    match &effect.target {
        Target::Program(id) => {
            let program = &judging.run(*id)?.program;
            let unknown = !program.known && !program.builtin && program.taught.is_none();
            if unknown { Some(Feature::UnknownProgram) } else { changes_user(program.facets()) }
        }
        Target::Wrapper(id) => changes_user(judging.run(*id)?.program.facets()),
        Target::Code { .. } => Some(Feature::RunsCode),
        Target::Option(_) | Target::Anything => Some(Feature::Unclear),
        Target::Path(target) => path(judging, index, effect.verb, target),
        Target::Host(_) => None,
        Target::Tool => (!judging.operation.known).then_some(Feature::UnknownTool),
    }
}

fn changes_user(facets: Facets) -> Option<Feature> {
    facets.has(Facets::OTHER_USER).then_some(Feature::RunsElsewhere)
}

fn connects(host: &HostTarget) -> Option<Feature> {
    match host {
        HostTarget::Exact { host, .. } if is_link_local(host) => Some(Feature::ConnectsUnclear),
        HostTarget::Exact { host, .. } if is_loopback(host) => None,
        HostTarget::Exact { .. } | HostTarget::Configured(_) => Some(Feature::Connects),
        HostTarget::Unknown => Some(Feature::ConnectsUnclear),
    }
}

fn path(judging: &Judging<'_>, index: usize, verb: Verb, target: &PathTarget) -> Option<Feature> {
    let resolved = judging.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
    let place = resolved.or_else(|| target.place());
    // INVARIANT: a place that is not known lies outside.
    let inside = place.is_some_and(|place| {
        judging.bases.workspace.as_deref().is_some_and(|root| place.starts_with(root)) || is_temporary(place)
    });
    match (verb, inside) {
        (Verb::Read, true) => None,
        (Verb::Read, false) => Some(Feature::ReadsOutside),
        (Verb::Write, true) => Some(Feature::WritesInside),
        (Verb::Write, false) => Some(Feature::WritesOutside),
        (Verb::Delete, true) if matches!(target, PathTarget::Exact(_)) => Some(Feature::DeletesInside),
        (Verb::Delete, true) => Some(Feature::DeletesMany),
        (Verb::Delete, false) => Some(Feature::DeletesOutside),
        (Verb::Run | Verb::Connect | Verb::Call, _) => None,
    }
}

fn is_temporary(place: &Path) -> bool {
    ["/tmp", "/var/tmp"].iter().any(|folder| place.starts_with(folder))
}

/// The kind that a program's own text names.
fn named(code: Code) -> Option<Feature> {
    Some(match code {
        Code::RunsCode | Code::RunsCommand | Code::InlineCode | Code::LoadsCode => Feature::RunsCode,
        Code::Installs => Feature::Installs,
        Code::ChangesRepository => Feature::ChangesRepository,
        Code::ChangesSettings => Feature::ChangesSettings,
        Code::Publishes | Code::ChangesService => Feature::Publishes,
        Code::Serves => Feature::Serves,
        Code::Signals => Feature::Signals,
        Code::ChangesSystem => Feature::ChangesSystem,
        Code::Remote => Feature::RunsElsewhere,
        Code::ShowsSecrets | Code::SecretVariable => Feature::ShowsSecrets,
        Code::Environment => Feature::Environment,
        Code::UnknownOption
        | Code::UnknownSubcommand
        | Code::DynamicOption
        | Code::UnclearScript
        | Code::OtherHost
        | Code::DynamicText
        | Code::DynamicProgram
        | Code::Opaque => Feature::Unclear,
        _ => return None,
    })
}
