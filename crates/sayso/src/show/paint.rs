//! Colours, on a terminal only.

use sayso_policy::{Answer, Verdict};
use std::io::IsTerminal;
use std::sync::OnceLock;

/// What `--color` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

static CHOSEN: OnceLock<Color> = OnceLock::new();

/// What the command line says of colours, once.
pub(crate) fn choose(color: Color) {
    let _ = CHOSEN.set(color);
}

/// Whether output to a terminal, or to something else, has colours: `--color` before `NO_COLOR` before `CLICOLOR_FORCE`
/// before `CLICOLOR`.
pub(crate) fn wanted(is_terminal: bool) -> bool {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    decide(CHOSEN.get().copied().unwrap_or(Color::Auto), is_terminal, |name| {
        variable(name).map(|value| value.to_string_lossy().into_owned())
    })
}

fn decide(chosen: Color, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    match chosen {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if variable("NO_COLOR").is_some() => false,
        Color::Auto if variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto => {
            is_terminal
                && variable("CLICOLOR").is_none_or(|value| value != "0")
                && variable("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Whether and how to colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colour: bool,
}

impl Paint {
    /// For standard output.
    pub(crate) fn for_stdout() -> Self {
        Self { colour: wanted(std::io::stdout().is_terminal()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_the_environment_and_the_environment_over_the_terminal() {
        let with = |set: &'static [(&str, &str)]| {
            move |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        assert!(decide(Color::Auto, true, with(&[])) && !decide(Color::Auto, false, with(&[])));
        assert!(!decide(Color::Never, true, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(decide(Color::Always, false, with(&[("NO_COLOR", "1")])));
        assert!(!decide(Color::Auto, true, with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")])));
        assert!(decide(Color::Auto, false, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!decide(Color::Auto, false, with(&[("CLICOLOR_FORCE", "0")])));
        assert!(!decide(Color::Auto, true, with(&[("CLICOLOR", "0")])));
        assert!(!decide(Color::Auto, true, with(&[("TERM", "dumb")])));
    }
}
