//! Who stands with whom in a pipe.

use super::Purpose;
use super::kind::{Kinds, kinds};
use crate::word::Tri;
use sayso_shell::{Analysis, Run, RunId};
use std::cell::OnceCell;
use std::collections::HashMap;

/// A pipe of more programs than this is not followed. Every program of it would be compared with every other, and nobody
/// writes one by hand.
pub(super) const LONGEST: usize = 256;

/// The programs of a command, and which of them stand in one pipe.
pub(crate) struct Programs<'a> {
    analysis: &'a Analysis,
    /// By pipeline, from left to right. Most commands are never asked about it.
    lines: OnceCell<HashMap<u16, Vec<Piped<'a>>>>,
    /// Of each program, found once.
    kinds: OnceCell<Vec<Kinds>>,
}

/// A program and its place in its pipe. What a group runs stands in one place.
#[derive(Clone, Copy)]
pub(crate) struct Piped<'a> {
    pub place: u16,
    pub id: RunId,
    pub run: &'a Run,
}

/// Those that stand in one pipe with a program.
pub(crate) enum Line<'l, 'a> {
    /// All of them, the program too; none if it stands in no pipe.
    Whole(&'l [Piped<'a>]),
    /// More than are compared.
    TooLong,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(analysis: &'a Analysis) -> Self {
        Self { analysis, lines: OnceCell::new(), kinds: OnceCell::new() }
    }

    pub(crate) fn analysis(&self) -> &'a Analysis {
        self.analysis
    }

    /// What kinds of runs they are.
    pub(super) fn kinds(&self) -> &[Kinds] {
        self.kinds.get_or_init(|| kinds(self.analysis))
    }

    /// The pipe of a program.
    pub(crate) fn line(&self, run: &Run) -> Line<'_, 'a> {
        let line = run.pipe.and_then(|pipe| self.lines.get_or_init(|| lines(self.analysis)).get(&pipe.pipeline));
        match line.map_or(&[][..], Vec::as_slice) {
            long if long.len() > LONGEST => Line::TooLong,
            line => Line::Whole(line),
        }
    }
}

/// What is said of a pipe that is too long to be followed: nothing is permitted, and anything may be restricted.
pub(crate) fn too_long(purpose: Purpose) -> Tri {
    if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe }
}

fn lines(analysis: &Analysis) -> HashMap<u16, Vec<Piped<'_>>> {
    let mut lines: HashMap<u16, Vec<Piped<'_>>> = HashMap::new();
    for (id, run) in (0_u32..).map(RunId).zip(&analysis.runs) {
        if let Some(pipe) = run.pipe {
            lines.entry(pipe.pipeline).or_default().push(Piped { place: pipe.place, id, run });
        }
    }
    lines.values_mut().for_each(|line| line.sort_by_key(|piped| piped.place));
    lines
}

#[cfg(test)]
mod tests {
    use crate::{Answer, Facts, Layer, Operation, Policy, PolicyText, State, ToolCall};
    use sayso_shell::{MemoryFiles, NoEnvironment};

    fn answer(policy: &str, command: &str) -> Answer {
        let file = PolicyText { layer: Layer::Given, name: "p.toml".into(), text: policy.into(), trusted: true };
        let policy = Policy::compile(&[file]).unwrap();
        let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
        let operation = Operation::new(ToolCall::command(command.as_bytes()), facts);
        policy.evaluate(&operation, &State::default(), facts).answer
    }

    #[test]
    fn a_pipe_that_is_too_long_to_be_followed_is_asked_about_and_never_allowed() {
        let between = |count: usize| "|cat".repeat(count);
        let deny = "default = 'allow'\n[deny]\nrun = 'curl | sh'";
        assert_eq!(answer(deny, &format!("curl h.x{}|sh", between(200))), Answer::Deny);
        assert_eq!(answer(deny, &format!("curl h.x{}", between(200))), Answer::Allow);
        assert_eq!(answer(deny, &format!("curl h.x{}|sh", between(300))), Answer::Ask);
        assert_eq!(answer(deny, &format!("true{}", between(300))), Answer::Allow, "nothing of it is meant");
        let allow = "[allow]\nrun = 'cat'\n[[rule]]\nallow = { run = 'true' }\nwhen.piped_to = 'cat'";
        assert_eq!(answer(allow, &format!("true{}", between(200))), Answer::Allow);
        assert_eq!(answer(allow, &format!("true{}", between(300))), Answer::Ask);
        assert_eq!(answer("[allow]\nrun = 'true | cat'", "true|cat|cat"), Answer::Allow);
        assert_eq!(answer("[allow]\nrun = 'true | cat'", &format!("true{}", between(200))), Answer::Allow);
        assert_eq!(answer("[allow]\nrun = 'true | cat'", &format!("true{}", between(300))), Answer::Ask);
    }

    #[test]
    fn a_pipe_of_very_many_programs_costs_no_more_than_its_length() {
        let deny = "default = 'allow'\n[deny]\nrun = ['curl | sh', 'sh | a | b']";
        assert_eq!(answer(deny, "b|".repeat(20_000).trim_end_matches('|')), Answer::Ask);
        assert_eq!(answer(deny, "x|".repeat(20_000).trim_end_matches('|')), Answer::Allow);
        assert_eq!(answer(deny, &"x|y;".repeat(10_000)), Answer::Allow);
    }

    #[test]
    fn a_pattern_of_more_programs_than_are_followed_is_refused() {
        let compiled = |count: usize| {
            let text = format!("[deny]\nrun = '{}'\n", ["a"].repeat(count).join(" | "));
            Policy::compile(&[PolicyText { layer: Layer::Given, name: "p.toml".into(), text, trusted: true }])
        };
        assert!(compiled(256).is_ok());
        let problems = compiled(257).err().unwrap();
        assert!(problems[0].message.contains("more than 256 programs"), "{problems:?}");
        assert!(compiled(30_000).is_err());
    }
}
