//! Typing that does not show.

use crate::failure::Failure;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Read as _, Write as _};

/// The longest line.
const LONGEST: usize = 256;

/// One line from the terminal, not shown while it is typed. What was typed before it was asked for is thrown away.
pub(super) fn line(terminal: &mut File, asked: &str) -> Result<String, Failure> {
    let hidden = Hidden::over(terminal)?;
    let typed = terminal.write_all(asked.as_bytes()).map_err(Failure::from).and_then(|()| read(terminal));
    drop(hidden);
    writeln!(terminal)?;
    typed?.ok_or_else(|| Failure::wrong("error: nothing was typed, so nothing was changed"))
}

/// The line's end ends it; Ctrl-C and Ctrl-D give it up. `None`: given up.
fn read(terminal: &mut File) -> Result<Option<String>, Failure> {
    let mut typed = String::new();
    let mut byte = [0];
    while typed.len() < LONGEST {
        if terminal.read(&mut byte)? == 0 {
            return Ok(None);
        }
        match byte {
            [b'\r' | b'\n'] => return Ok(Some(typed)),
            [3 | 4 | 28] => return Ok(None),
            [8 | 127] => drop(typed.pop()),
            [21] => typed.clear(),
            [other] => typed.push(char::from(other)),
        }
    }
    Ok(None)
}

/// A terminal that shows nothing, byte by byte, as long as this lives. Signals come as bytes, so that none ends the
/// process with the terminal left like this.
struct Hidden {
    terminal: File,
    before: Termios,
}

impl Hidden {
    fn over(terminal: &File) -> Result<Self, Failure> {
        let before = tcgetattr(terminal)?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        let hidden = Self { terminal: terminal.try_clone()?, before };
        tcsetattr(&hidden.terminal, OptionalActions::Flush, &now)?;
        Ok(hidden)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing either.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}
