//! Commands of one program, as a matcher describes them.

use super::{best, broken};
use crate::judging::Judging;
use crate::pattern::{Bases, Purpose, RunPattern};
use crate::word::Tri;
use sayso_shell::{NamedBy, Run, RunId};

/// Commands of one program.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    program: String,
    subcommands: Vec<String>,
    flags: Vec<String>,
    /// One pattern for each subcommand; `None` if one cannot be read.
    patterns: Option<Vec<RunPattern>>,
}

impl Command {
    pub(crate) fn new(program: &str) -> Self {
        Self { program: program.to_owned(), subcommands: Vec::new(), flags: Vec::new(), patterns: None }.compiled()
    }

    /// Commands that any of these patterns match.
    pub(super) fn of_patterns(patterns: Vec<RunPattern>) -> Self {
        Self { program: String::new(), subcommands: Vec::new(), flags: Vec::new(), patterns: Some(patterns) }
    }

    pub(crate) fn with_subcommands<S: AsRef<str>>(mut self, subcommands: impl IntoIterator<Item = S>) -> Self {
        self.subcommands.extend(subcommands.into_iter().map(|subcommand| subcommand.as_ref().to_owned()));
        self.compiled()
    }

    pub(crate) fn with_flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self.compiled()
    }

    fn compiled(mut self) -> Self {
        // These texts become a pattern, so nothing in them may be one: a name with a blank is no program's.
        let is_word = |text: &str| {
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || matches!(c, '|' | '{' | '}' | '@'))
        };
        let program = is_word(&self.program) && !self.program.starts_with("re:");
        let flags = self.flags.iter().all(|flag| is_word(flag) && flag.starts_with('-'));
        let words = |text: &String| text.split_whitespace().all(|word| is_word(word) && !word.starts_with('-'));
        if !(program && flags && self.subcommands.iter().all(words)) {
            self.patterns = None;
            return self;
        }
        let flags: String = self.flags.iter().map(|flag| format!(" {flag}")).collect();
        let parse = |text: &str| RunPattern::parse(text, &mut |_| Ok(Vec::new())).ok();
        self.patterns = if self.subcommands.is_empty() {
            parse(&format!("{}{flags}", self.program)).map(|pattern| vec![pattern])
        } else {
            self.subcommands.iter().map(|words| parse(&format!("{} {words}{flags}", self.program))).collect()
        };
        self
    }

    /// Whether it names what an effect must be named by.
    pub(super) fn names(&self, by: &NamedBy, run: &Run, bases: &Bases) -> bool {
        self.means_every_subcommand(by) || self.patterns.iter().flatten().any(|pattern| pattern.names(by, run, bases))
    }

    /// A rule for a program as a whole means each of its subcommands; what an option does it does not mean.
    fn means_every_subcommand(&self, by: &NamedBy) -> bool {
        let whole = self.subcommands.is_empty() && !matches!(self.program.as_str(), "" | "*");
        whole && matches!(by, NamedBy::Words(_) | NamedBy::Task(_))
    }

    pub(super) fn matches(&self, judging: &Judging<'_>, id: RunId, purpose: Purpose) -> Tri {
        let (Some(patterns), Some(_)) = (&self.patterns, judging.programs()) else { return broken(purpose) };
        best(patterns.iter().map(|pattern| judging.matches_run(pattern, id, purpose)))
    }
}
