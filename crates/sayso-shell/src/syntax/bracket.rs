//! Where a bracket ends, found the way bash finds it: before its inside is understood.
//!
//! bash reads `${...}`, `$((...))`, `((...))`, `$[...]`, subscripts and extended globs in two steps: first it looks for
//! the closing byte, stepping over quotes and substitutions; later, when the command runs, it reads what is inside by
//! other rules. The steps may disagree (`"${x:-'$(evil)'}"` steps over the quotes, then ignores them), and an
//! attacker would use just that, so the two steps are two here as well.

use super::Trouble;
use super::cursor::{Parse, Parser, Seen};

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bracket {
    open: u8,
    close: u8,
    /// `<(` is a process substitution here, to be stepped over whatever it holds.
    processes: bool,
    /// An opening byte inside does not count.
    first_close: bool,
    /// `\` does not escape.
    literal: bool,
}

impl Bracket {
    const fn quotes(quote: u8) -> Self {
        Self { open: quote, close: quote, processes: false, first_close: false, literal: false }
    }
    pub(super) const DOUBLE_QUOTES: Self = Self::quotes(b'"');
    pub(super) const BACKTICKS: Self = Self::quotes(b'`');
    pub(super) const ANSI_C_QUOTES: Self = Self::quotes(b'\'');
    const SINGLE_QUOTES: Self = Self { literal: true, ..Self::quotes(b'\'') };
    pub(super) const PARENTHESES: Self = Self { open: b'(', close: b')', ..Self::quotes(b'(') };
    pub(super) const OLD_ARITHMETIC: Self = Self { open: b'[', close: b']', ..Self::quotes(b'[') };
    pub(super) const SUBSCRIPT: Self = Self { processes: true, ..Self::OLD_ARITHMETIC };
    pub(super) const BRACES: Self =
        Self { open: b'{', close: b'}', first_close: true, processes: true, ..Self::quotes(b'{') };
}

impl<'a> Parser<'_, 'a> {
    /// From just after the opening byte to just after the closing one; answers where the closing one stands.
    pub(super) fn skip_bracket(&mut self, bracket: Bracket) -> Parse<usize> {
        self.deeper(|p| {
            let start = p.pos;
            let close = p.skip_bracket_here(bracket)?;
            p.step(close - start)?;
            Ok(close)
        })
    }

    fn skip_bracket_here(&mut self, bracket: Bracket) -> Parse<usize> {
        let grouping = bracket.open != bracket.close;
        let mut count = 1_usize;
        let mut after_dollar = false;
        let mut after_angle = false;
        while let Some(byte) = self.raw() {
            let (was_dollar, was_angle) = (after_dollar, after_angle);
            (after_dollar, after_angle) = (false, false);
            let at = self.pos;
            self.pos += 1;
            if byte == b'\\' && !bracket.literal {
                // A `\<newline>` is no character at all: `$\<newline>(` is `$(`.
                if self.raw() == Some(b'\n') {
                    (after_dollar, after_angle) = (was_dollar, was_angle);
                }
                self.pos += 1;
                continue;
            }
            if byte == bracket.close {
                count -= 1;
                if count == 0 {
                    return Ok(at);
                }
                continue;
            }
            if bracket.open == b'\'' || bracket.open == b'`' {
                continue;
            }
            match byte {
                b'(' if was_dollar || (was_angle && bracket.processes) => {
                    self.skip_substitution()?;
                }
                b'{' if was_dollar => self.skip_seen(Bracket::BRACES)?,
                b'[' if was_dollar => self.skip_seen(Bracket::OLD_ARITHMETIC)?,
                b'\'' if grouping => {
                    let quotes = if was_dollar { Bracket::ANSI_C_QUOTES } else { Bracket::SINGLE_QUOTES };
                    self.skip_bracket(quotes)?;
                }
                b'"' if grouping => {
                    self.skip_bracket(Bracket::DOUBLE_QUOTES)?;
                }
                b'`' => {
                    self.skip_bracket(Bracket::BACKTICKS)?;
                }
                b'$' => after_dollar = !was_dollar,
                b'<' | b'>' => after_angle = true,
                _ if byte == bracket.open && !bracket.first_close => count += 1,
                _ => {}
            }
        }
        self.pos = self.end;
        Err(self.error(Trouble::Unterminated))
    }

    /// A bracket inside another, `pos` just after its opening byte: its end is remembered for the second step.
    pub(super) fn skip_seen(&mut self, bracket: Bracket) -> Parse<()> {
        let key = self.pos;
        if let Some(seen) = self.seen.get(&key)
            && seen.end <= self.end
        {
            self.pos = seen.end;
            return self.step(1);
        }
        self.skip_bracket(bracket)?;
        self.seen.insert(key, Seen { end: self.pos, body: None });
        Ok(())
    }

    /// `( ... )` of a command or process substitution inside a bracket, `pos` just after the parenthesis: only its
    /// grammar says where it ends.
    pub(super) fn skip_substitution(&mut self) -> Parse<()> {
        let key = self.pos;
        if let Some(seen) = self.seen.get(&key)
            && seen.end <= self.end
        {
            self.pos = seen.end;
            return self.step(1);
        }
        if self.peek() == Some(b'(') {
            self.pos = key;
            self.skip_bracket(Bracket::PARENTHESES)?;
            self.seen.insert(key, Seen { end: self.pos, body: None });
            return Ok(());
        }
        self.pos = key;
        let body = self.substitution_body()?;
        self.seen.insert(key, Seen { end: self.pos, body: Some(body) });
        Ok(())
    }
}
