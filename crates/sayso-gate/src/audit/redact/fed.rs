//! Commands that hand a secret on, and those that read one from their standard input.

use super::command::is_fed;
use super::{Piece, pieces};

/// What a command has to do with the secret that one reads from its standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fed {
    /// It prints it.
    Prints,
    /// It reads it.
    Reads,
}

/// The commands that print a secret for the next one in their pipe, and those that read it, by their number.
pub(super) fn fed_commands(text: &str) -> Vec<(usize, Fed)> {
    // Most texts are one command, and every record is looked at.
    let fed = text.contains('|') || text.contains("<<") || text.contains("<(");
    if !fed {
        return Vec::new();
    }
    let (mut commands, mut last) = (vec![Said::default()], "");
    for piece in pieces(text) {
        match piece {
            Piece::Between(between) if ends_command(between, last) => {
                if let Some(said) = commands.last_mut() {
                    said.piped = between.contains('|') && !between.contains("||");
                    said.closes += between.matches(')').count();
                }
                commands.push(Said::default());
            }
            Piece::Between(between) | Piece::Word(between) => {
                if let Some(said) = commands.last_mut() {
                    said.text.push_str(between);
                    said.opens += between.matches('(').count() + usize::from(between == "{");
                    said.closes += between.matches(')').count() + usize::from(between == "}");
                }
                last = between;
            }
        }
    }
    let mut found = Vec::new();
    for (number, said) in commands.iter().enumerate().filter(|(_, said)| is_fed(&said.text)) {
        if said.text.contains("<<") || said.text.contains("<(") {
            found.push((number, Fed::Reads));
        }
        // `{ echo a; echo b; } | x`: all of a group is in its pipe.
        let mut depth = 0_usize;
        for (number, before) in commands.iter().enumerate().take(number).rev() {
            if depth == 0 && !before.piped {
                break;
            }
            found.push((number, Fed::Prints));
            depth = (depth + before.closes).saturating_sub(before.opens);
        }
    }
    found
}

/// A command of a text.
#[derive(Default)]
struct Said {
    text: String,
    /// What it prints goes to the next one.
    piped: bool,
    /// Groups that begin and end in it.
    opens: usize,
    closes: usize,
}

/// Whether what stands between two words ends a command.
pub(super) fn ends_command(between: &str, last: &str) -> bool {
    between.contains(['\n', ';', '|', '&']) && !(last.ends_with('\\') && between.starts_with('\n'))
}
