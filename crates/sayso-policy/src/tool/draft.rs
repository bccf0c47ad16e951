//! The effects of one call while they are collected.

use crate::normalise::Kind;
use crate::normalise::place::{self, Place};
use crate::normalise::url::{self, Address};
use crate::word::{Facts, Workspace};
use sayso_shell::{Analysis, Carry, Effect, HostTarget, NamedBy, PathTarget, Span, Target, Verb};
use std::path::Path;

/// More effects of arguments than this are not listed.
const MAX_EFFECTS: usize = 256;

/// What is known about where a call would run.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) home: Option<&'a Path>,
    pub(crate) workspace: &'a Workspace,
    pub(crate) facts: Facts<'a>,
    /// The tool's name as the agent spelled it.
    pub(crate) spelled: &'a str,
}

impl<'a> Scene<'a> {
    /// What the caller says its home is, where that is another folder.
    pub(crate) fn claimed_homes(&self) -> impl Iterator<Item = &'a Path> {
        self.facts.env.claimed_homes().iter().map(std::path::PathBuf::as_path)
    }
}

/// How far a path effect reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    Exact,
    /// The path and all below it.
    Below,
}

/// The effects of one call while they are collected.
pub(crate) struct Draft<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) kind: Kind,
    /// The effects say what the call does, so that they decide.
    pub(crate) known: bool,
    pub(crate) effects: Vec<Effect>,
    pub(crate) analysis: Option<Analysis>,
    pub(crate) command: Vec<u8>,
    /// Names under which asks and denies may know what this call does.
    pub(crate) resembles: Vec<&'static str>,
    full: bool,
    unclear: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(scene: Scene<'a>, kind: Kind) -> Self {
        Self {
            scene,
            kind,
            known: false,
            effects: Vec::new(),
            analysis: None,
            command: Vec::new(),
            resembles: Vec::new(),
            full: false,
            unclear: false,
        }
    }

    /// A path of a tool's parameter: every place that it may mean.
    pub(crate) fn path(&mut self, verbs: &[Verb], text: &str, reach: Reach, certain: bool) {
        let homes = std::iter::once(self.scene.home).chain(self.scene.claimed_homes().map(Some));
        let mut places: Vec<Place> = Vec::new();
        for place in homes.flat_map(|home| place::places(text, self.scene.cwd, home)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        for place in places {
            for verb in verbs {
                let target = match &place {
                    Place::At(path) if reach == Reach::Below => PathTarget::Below(path.clone()),
                    Place::At(path) => PathTarget::Exact(path.clone()),
                    Place::Unknown => PathTarget::Unknown(None),
                };
                self.push(*verb, Target::Path(target), certain);
            }
        }
    }

    /// A path target that a family made itself.
    pub(crate) fn target(&mut self, verb: Verb, target: PathTarget, certain: bool) {
        self.push(verb, Target::Path(target), certain);
    }

    /// A URL: a connection, or a file to be read.
    pub(crate) fn url(&mut self, text: &str, certain: bool) {
        match url::address(text) {
            Address::Host { host, port } => self.connect(HostTarget::Exact { host, port }, certain),
            Address::File(path) => self.path(&[Verb::Read], &path, Reach::Exact, certain),
            Address::Nowhere => {}
            Address::Unclear(seeming) => {
                self.connect(HostTarget::Unknown, certain);
                if let Some(host) = seeming {
                    self.connect(HostTarget::Exact { host, port: None }, false);
                }
                if text.trim_ascii_start().get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("file:")) {
                    self.push(Verb::Read, Target::Path(PathTarget::Unknown(None)), certain);
                }
            }
        }
    }

    pub(crate) fn connect(&mut self, host: HostTarget, certain: bool) {
        self.push(Verb::Connect, Target::Host(host), certain);
    }

    /// The arguments are not what this tool takes, or there are too many: it may do anything.
    pub(crate) fn unclear(&mut self) {
        self.known = false;
        if !std::mem::replace(&mut self.unclear, true) {
            self.effects.push(anything(sayso_shell::Code::UnclearArguments));
        }
    }

    fn push(&mut self, verb: Verb, target: Target, certain: bool) {
        if self.full {
            return;
        }
        if self.effects.len() >= MAX_EFFECTS {
            self.full = true;
            self.unclear();
            return;
        }
        let effect = Effect { verb, target, span: Span::default(), run: None, carry: Carry::Plain, certain };
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }
}

/// There may be more than is listed.
pub(crate) fn anything(code: sayso_shell::Code) -> Effect {
    Effect {
        verb: Verb::Run,
        target: Target::Anything,
        span: Span::default(),
        run: None,
        carry: Carry::Named { code, by: NamedBy::Nothing },
        certain: true,
    }
}
