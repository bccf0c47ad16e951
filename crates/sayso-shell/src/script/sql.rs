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

/// Whether this text only asks a server for what it holds: each statement begins with a word that reads, and every function
/// in it is one that changes nothing. What may be read in two ways is no question.
pub fn only_asks(text: &[u8]) -> bool {
    const BEGINS: &str = "select values table show explain with";
    const FUNCTIONS: &str = "abs and any array array_agg array_length as avg between bool_and bool_or by case cast ceil coalesce concat \
        concat_ws count current_database current_date current_schema current_setting current_timestamp current_user date date_part \
        date_trunc dense_rank distinct else every except exists extract filter first_value floor format format_type from greatest \
        group having if ifnull in initcap intersect interval is isnull join json_agg json_build_object jsonb_agg jsonb_array_length \
        jsonb_pretty julianday lag last_value lateral lead least left length like lower ltrim max md5 min mod not now ntile nullif \
        numeric obj_description offset on or order over partition percentile_cont pg_database_size pg_get_constraintdef \
        pg_get_indexdef pg_get_viewdef pg_relation_size pg_size_pretty pg_table_size pg_total_relation_size position quote_ident \
        random rank regexp_matches regexp_replace replace right round row row_number row_to_json rtrim select some split_part sqrt \
        string_agg strftime strpos substr substring sum text then timestamp to_char to_date to_json to_jsonb to_regclass \
        to_timestamp total trim union unnest upper using values varchar version when where with";
    const CHANGES: &str = "into analyze insert update delete merge create drop alter truncate grant revoke copy call do execute \
        prepare vacuum reindex cluster lock listen notify load set reset discard refresh import security comment attach detach";
    let text = text.trim_ascii();
    if let Some(command) = text.strip_prefix(b"\\") {
        // `\dt`, `\d+ users`, `\l`.
        let name = command.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" +_.*".contains(byte);
        return matches!(command.first(), Some(b'd' | b'l' | b'z')) && name <= 4 && command.iter().all(plain);
    }
    // Escapes and quotes in dollars end strings where nobody expects it.
    if text.is_empty() || text.iter().any(|byte| matches!(byte, b'\\' | b'$' | b'`' | 0)) {
        return false;
    }
    let mut at = Cursor::new(text);
    let mut begins = true;
    while let Some(token) = sql_token(&mut at) {
        let called = |at: &Cursor<'_>| {
            let mut ahead = *at;
            ahead.spaces();
            ahead.peek() == Some(b'(')
        };
        match token {
            SqlToken::End => begins = true,
            SqlToken::Word(word) => {
                let word = word.to_ascii_lowercase();
                let known = if begins { super::listed(BEGINS, &word) } else { !super::listed(CHANGES, &word) };
                if !known || called(&at) && !super::listed(FUNCTIONS, &word) {
                    return false;
                }
                begins = false;
            }
            SqlToken::Quoted(_) if begins || called(&at) => return false,
            SqlToken::Quoted(_) | SqlToken::DotCommand => {}
            SqlToken::Other if begins => return false,
            SqlToken::Other => {}
        }
    }
    true
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
