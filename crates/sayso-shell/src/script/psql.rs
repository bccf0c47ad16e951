//! What `psql` reads: SQL and backslash commands.

use super::cursor::Cursor;
use super::sql::{SqlToken, sql_string, sql_token};
use super::{Finding, exact, listed, unknown};
use crate::word::Word;

/// What `psql` does with one text. SQL itself is the server's business.
#[must_use]
pub fn psql(text: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let mut at = Cursor::new(line);
        let mut copied = false;
        // Strings are not skipped: a backslash in one costs a doubt, to misread where one ends would hide a command.
        at.take_while(|byte| byte != b'\\');
        // A backquote in an argument of a backslash command runs a command.
        if at.peek().is_some() && line.contains(&b'`') {
            findings.push(Finding::Shell(Word::Opaque));
        }
        while at.bump().is_some() {
            if at.eat(b'!') {
                let command = at.line().trim_ascii();
                findings.push(Finding::Shell(if command.is_empty() { Word::Opaque } else { exact(command) }));
                break;
            }
            let name = at.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?' | b'+'));
            if name == b"copy" && !copied {
                copied = true;
                copy(at, &mut findings);
            } else if !backslash_command(name, at, &mut findings) {
                break;
            }
            at.take_while(|byte| byte != b'\\');
        }
    }
    findings
}

/// Whether more commands may follow in the line.
fn backslash_command(name: &[u8], mut at: Cursor<'_>, findings: &mut Vec<Finding>) -> bool {
    at.blanks();
    match name {
        b"o" | b"out" | b"g" | b"gx" | b"w" | b"write" | b"s" => {
            if at.eat(b'|') {
                findings.push(Finding::Shell(exact(at.line())));
                return false;
            }
            if at.peek().is_some_and(|byte| byte != b'\\') {
                findings.push(Finding::Write(file_argument(&mut at)));
            }
        }
        b"i" | b"ir" | b"include" | b"include_relative" => findings.push(Finding::Load(file_argument(&mut at))),
        b"lo_import" => findings.push(Finding::Read(file_argument(&mut at))),
        b"lo_export" => findings.push(Finding::Write(unknown())),
        b"e" | b"edit" | b"ef" | b"ev" => findings.push(Finding::Shell(Word::Opaque)),
        b"gexec" | b"setenv" | b"cd" | b"password" => {
            findings.push(Finding::Unclear("a backslash command that changes what follows"));
        }
        b"c" | b"connect" => findings.push(Finding::Connect(unknown())),
        name if name.is_empty() || listed(HARMLESS_BACKSLASHES, name) => {}
        [b'd' | b'l', rest @ ..] if rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'+') => {}
        _ => findings.push(Finding::Unclear("a backslash command that is not known")),
    }
    true
}

/// A file name without quotes or variables; else it is unknown.
fn file_argument(at: &mut Cursor<'_>) -> Word {
    let name = at.take_while(|byte| !byte.is_ascii_whitespace() && byte != b'\\');
    if name.iter().any(|byte| matches!(byte, b'\'' | b'"' | b':' | b'`' | b'(')) { unknown() } else { exact(name) }
}

const HARMLESS_BACKSLASHES: &str = " ? a C conninfo crosstabview echo elif else encoding endif errverbose f gdesc gset h H help if p print \
    pset q qecho quit r reset set sf sf+ sv sv+ t T timing unset warn watch x z";

/// `\copy t to 'f'`, `\copy t from program 'cmd'`.
fn copy(mut at: Cursor<'_>, findings: &mut Vec<Finding>) {
    let mut understood = false;
    while let Some(token) = sql_token(&mut at) {
        let SqlToken::Word(word) = token else { continue };
        let to = word.eq_ignore_ascii_case(b"to");
        if !to && !word.eq_ignore_ascii_case(b"from") {
            continue;
        }
        understood = true;
        at.blanks();
        let mut ahead = at;
        let next = ahead.take_while(|byte| !byte.is_ascii_whitespace());
        // A query may hold a `from` of its own: each is counted, the names of tables too.
        if next.eq_ignore_ascii_case(b"program") {
            findings.push(Finding::Shell(sql_string(&mut ahead).map_or(Word::Opaque, |text| exact(&text))));
            at = ahead;
        } else if [b"stdin".as_slice(), b"stdout", b"pstdin", b"pstdout"]
            .iter()
            .any(|std| next.eq_ignore_ascii_case(std))
        {
            at = ahead;
        } else {
            let quoted = next.starts_with(b"'");
            let file = if quoted { sql_string(&mut at).map_or_else(unknown, |name| exact(&name)) } else { exact(next) };
            findings.push(if to { Finding::Write(file) } else { Finding::Read(file) });
        }
    }
    if !understood {
        findings.push(Finding::Unclear("a copy whose file is not understood"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn psql_text_is_read() {
        for (text, expected) in [
            ("select 1", ""),
            ("\\dt", ""),
            ("\\d+ users", ""),
            ("\\l", ""),
            ("\\x\nselect * from t;", ""),
            ("\\! id", "run id"),
            ("\\!id", "run id"),
            ("select 1; \\! rm x", "run rm x"),
            ("\\o out.txt", "write out.txt"),
            ("\\o | sh", "run  sh"),
            ("select 1 \\g f", "write f"),
            ("\\i x.sql", "load x.sql"),
            ("\\copy t to '/tmp/x'", "write /tmp/x"),
            ("\\copy t from program 'id'", "run id"),
            ("\\copy t to stdout", ""),
            ("\\set x `id`", "run ?"),
            ("\\x \\! id", "run id"),
            ("\\frob", "unclear"),
        ] {
            assert_eq!(shown(&psql(text.as_bytes())), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = psql(&text);
        }
    }
}
