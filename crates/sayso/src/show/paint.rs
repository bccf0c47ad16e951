//! Colours, on a terminal only.

use sayso_policy::{Answer, Verdict};
use std::io::IsTerminal;

/// Whether and how to colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colour: bool,
}

impl Paint {
    /// For standard output: colours on a terminal, unless `NO_COLOR` is set to something.
    pub(crate) fn for_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { colour: wanted && std::io::stdout().is_terminal() }
    }

    /// No colours.
    pub(crate) fn plain() -> Self {
        Self { colour: false }
    }

    /// A verdict in its colour, in bold.
    pub(crate) fn verdict(self, verdict: Verdict, text: &str) -> String {
        self.answer(Answer::from(verdict), text)
    }

    /// An answer in its colour, in bold.
    pub(crate) fn answer(self, answer: Answer, text: &str) -> String {
        let colour = match answer {
            Answer::Allow => "1;32",
            Answer::Ask => "1;33",
            Answer::Deny => "1;31",
            Answer::DryRun => "1;36",
        };
        self.wrap(colour, text)
    }

    /// The mark under the risky part.
    pub(crate) fn caret(self, answer: Answer, text: &str) -> String {
        if text.trim().is_empty() { String::new() } else { self.answer(answer, text) }
    }

    /// Text that stands back.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Text that stands out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
