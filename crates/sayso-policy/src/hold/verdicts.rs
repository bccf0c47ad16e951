//! What the policy says of single paths and hosts, asked with the engine that judges calls.

use super::ground::HoldGround;
use crate::judging::Judging;
use crate::past::Past;
use crate::pattern::{Bases, Ground, PathPattern, Purpose};
use crate::policy::{CompiledFile, Policy};
use crate::role::Side;
use crate::stage::opinions::Opinions;
use crate::stage::{Inputs, ask, default, integrity, rules};
use crate::state::State;
use crate::word::{Facts, Operation, Resolved, Stage, ToolCall, Verdict, Workspace};
use sayso_shell::{Carry, Effect, HostTarget, NoEnvironment, NoFiles, PathTarget, Span, Target, Verb};
use std::path::Path;

/// What is said of one effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    /// In the end.
    pub verdict: Verdict,
    /// The same if nothing were guarded.
    pub bare: Verdict,
    /// A rule asks or denies, or it is Sayso's.
    pub by_rule: bool,
}

/// What is said of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfPath {
    pub read: Said,
    pub write: Said,
    pub delete: Said,
    /// `hold.write` leaves it out.
    pub excepted: bool,
}

/// Asks the policy.
pub(super) struct Verdicts<'a> {
    policy: &'a Policy,
    files: &'a [&'a CompiledFile],
    operation: Operation,
    except: Vec<&'a PathPattern>,
    sides: Vec<Side>,
    bases: Bases,
    past: Past,
}

const NOTHING: Facts<'static> = Facts { files: &NoFiles, env: &NoEnvironment };

impl<'a> Verdicts<'a> {
    pub(super) fn of(policy: &'a Policy, ground: &HoldGround, files: &'a [&'a CompiledFile]) -> Self {
        let (root, home) = (ground.workspace.clone(), ground.home.clone());
        let call = ToolCall {
            workspace: root.map_or_else(Workspace::unknown, |root| Workspace::new(root, home.as_deref())),
            home,
            actor: ground.actor.clone(),
            ..ToolCall::tool("file_write", serde_json::json!({}))
        };
        let operation = Operation::new(call, NOTHING);
        let sides = policy.sides(&ground.actor);
        let lists = policy.holds_of(files, &sides).into_iter().filter_map(|hold| hold.write.as_ref());
        let except = lists.flat_map(|list| list.except.iter().map(|one| &one.pattern)).collect();
        let bases = super::ground::bases(ground.workspace.as_deref(), ground.home.as_deref());
        let known = ground.past.clone();
        let past = Past::when_asked(move || known.clone());
        Self { policy, files, operation, except, sides, bases, past }
    }

    /// What is said of reading, writing and deleting each of these.
    pub(super) fn on(&self, paths: &[&Path]) -> Vec<OfPath> {
        const VERBS: [Verb; 3] = [Verb::Read, Verb::Write, Verb::Delete];
        let targets = paths.iter().flat_map(|path| {
            VERBS.map(|verb| (verb, Target::Path(PathTarget::Exact(path.to_path_buf())), Some(*path)))
        });
        let said = self.judge(targets.collect());
        let excepted =
            |path: &Path| self.except.iter().any(|one| one.matches_path(path, &self.bases, Purpose::Restrict));
        let each = said.chunks_exact(VERBS.len()).zip(paths);
        each.filter_map(|(said, path)| match said {
            [read, write, delete] => {
                Some(OfPath { read: *read, write: *write, delete: *delete, excepted: excepted(path) })
            }
            _ => None,
        })
        .collect()
    }

    /// What is said of connecting to a host.
    pub(super) fn on_host(&self, host: &str, port: Option<u16>) -> Option<Said> {
        let target = Target::Host(HostTarget::Exact { host: host.to_owned(), port });
        self.judge(vec![(Verb::Connect, target, None)]).first().copied()
    }

    fn judge(&self, targets: Vec<(Verb, Target, Option<&Path>)>) -> Vec<Said> {
        let mut operation = self.operation.clone();
        let found = |path: Option<&Path>| {
            let path = path.map(Path::to_owned);
            Resolved { canonical: path.clone(), lexical: path }
        };
        operation.resolved = targets.iter().map(|(_, _, path)| found(*path)).collect();
        let effect = |(verb, target, _)| Effect {
            verb,
            target,
            span: Span::default(),
            run: None,
            carry: Carry::Plain,
            certain: true,
        };
        operation.effects = targets.into_iter().map(effect).collect();
        operation.known = true;
        let guards = self.policy.image.as_ref().map(|image| &image.guards);
        let guarded = self.said(&Judging::on(Ground::unknown(), &operation, NOTHING, guards).after(&self.past));
        let bare = self.said(&Judging::bare(&operation, NOTHING).after(&self.past));
        let both = guarded.into_iter().zip(bare);
        both.map(|((verdict, by_rule), (bare, _))| Said { verdict, bare, by_rule }).collect()
    }

    /// The strictest of what is said from each side.
    fn said(&self, judging: &Judging<'_>) -> Vec<(Verdict, bool)> {
        let each = self.sides.iter().map(|side| self.said_from(side, judging));
        let stricter = |one: Vec<(Verdict, bool)>, other: Vec<(Verdict, bool)>| {
            one.into_iter().zip(other).map(|(one, other)| (one.0.max(other.0), one.1 || other.1)).collect()
        };
        each.reduce(stricter).unwrap_or_default()
    }

    fn said_from(&self, side: &Side, judging: &Judging<'_>) -> Vec<(Verdict, bool)> {
        let state = State { past: self.past.clone(), ..State::default() };
        let counts = |file: &CompiledFile| self.files.iter().any(|known| std::ptr::eq(*known, file));
        let inputs = Inputs::new(self.policy, judging, &state, side, counts);
        let mut said = Opinions::about(judging.operation);
        integrity::judge(&inputs, &mut said);
        rules::judge(&inputs, &mut said);
        default::judge(&inputs, &mut said);
        let of_effect = |opinions: Vec<crate::word::Opinion>| {
            let stricter =
                |opinion: &crate::word::Opinion| opinion.verdict != Verdict::Allow && opinion.stage != Stage::Default;
            let by_rule = opinions.iter().any(stricter);
            (ask::settle(None, opinions).verdict, by_rule)
        };
        said.effects.into_iter().map(|on| of_effect(on.opinions)).collect()
    }
}
