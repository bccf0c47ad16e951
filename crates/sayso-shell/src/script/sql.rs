//! The words of SQL: just enough to tell code from strings and comments.

use super::cursor::Cursor;
use super::{exact, unknown};
use crate::word::Word;

/// A piece of SQL.
pub(super) enum SqlToken<'a> {
    Word(&'a [u8]),
    /// A name in quotes, or a string of a server that takes those for strings.
    Quoted(&'a [u8]),
    DotCommand,
    End,
    Other,
}

pub(super) fn sql_token<'a>(at: &mut Cursor<'a>) -> Option<SqlToken<'a>> {
    at.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    Some(match at.peek()? {
        b'\n' => {
            at.bump();
            at.blanks();
            if at.peek() == Some(b'.') {
                at.line();
            }
            SqlToken::DotCommand
        }
        b'.' => {
            at.bump();
            SqlToken::Other
        }
        b';' => {
            at.bump();
            SqlToken::End
        }
        quote @ (b'\'' | b'"' | b'`') => {
            at.bump();
            let inner = at.take_while(|byte| byte != quote);
            at.bump();
            if quote == b'\'' { SqlToken::Other } else { SqlToken::Quoted(inner) }
        }
        b'-' if at.ahead(1) == Some(b'-') => {
            at.line();
            SqlToken::DotCommand
        }
        b'/' if at.ahead(1) == Some(b'*') => {
            at.bump();
            at.bump();
            loop {
                at.take_while(|byte| byte != b'*');
                if at.bump().is_none() || at.eat(b'/') {
                    break;
                }
            }
            SqlToken::DotCommand
        }
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            SqlToken::Word(at.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        }
        _ => {
            at.bump();
            SqlToken::Other
        }
    })
}

/// The string that comes next, doubled quotes undone.
pub(super) fn sql_string(at: &mut Cursor<'_>) -> Option<Vec<u8>> {
    at.spaces();
    let quote = at.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    at.bump();
    let mut text = Vec::new();
    loop {
        text.extend_from_slice(at.take_while(|byte| byte != quote));
        at.bump()?;
        if !at.eat(quote) {
            return Some(text);
        }
        text.push(quote);
    }
}

pub(super) fn sql_file(at: &mut Cursor<'_>, noise: &[&[u8]]) -> Word {
    at.spaces();
    let mut ahead = *at;
    let word = ahead.take_while(|byte| byte.is_ascii_alphabetic());
    if noise.iter().any(|known| word.eq_ignore_ascii_case(known)) {
        *at = ahead;
    }
    match sql_string(at) {
        Some(file) => exact(&file),
        None => unknown(),
    }
}
