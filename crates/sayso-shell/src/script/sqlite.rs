//! What `sqlite3` reads: SQL and dot-commands.

use super::cursor::Cursor;
use super::sql::{SqlToken, sql_file, sql_string, sql_token};
use super::{Finding, exact, listed, unknown};
use crate::word::Word;

/// What `sqlite3` does with one text (an operand, `-cmd`, or standard input).
#[must_use]
pub fn sqlite(text: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sql = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        // A dot in the middle of a statement is none of these, but to take it for one hides nothing.
        if let Some(command) = line.trim_ascii_start().strip_prefix(b".") {
            dot_command(command, &mut findings);
        }
        sql.extend_from_slice(line);
        sql.push(b'\n');
    }
    statements(&sql, true, &mut findings);
    findings.dedup();
    findings
}

/// What SQL does; `whole` statements change the database unless they are known to read.
fn statements(sql: &[u8], whole: bool, findings: &mut Vec<Finding>) {
    let mut statement_begins = whole;
    let mut at = Cursor::new(sql);
    while let Some(token) = sql_token(&mut at) {
        match token {
            SqlToken::End => statement_begins = whole,
            SqlToken::Other => statement_begins = false,
            SqlToken::DotCommand => {}
            SqlToken::Quoted(name) => {
                statement_begins = false;
                function(name, findings);
            }
            SqlToken::Word(word) => {
                if statement_begins && !listed(READ_ONLY_STATEMENTS, &word.to_ascii_lowercase()) {
                    findings.push(Finding::Change);
                }
                statement_begins = false;
                sqlite_word(word, &mut at, findings);
            }
        }
    }
}

const READ_ONLY_STATEMENTS: &str = "select explain pragma values with begin commit end rollback attach detach";

fn sqlite_word(word: &[u8], at: &mut Cursor<'_>, findings: &mut Vec<Finding>) {
    match word.to_ascii_lowercase().as_slice() {
        b"attach" => findings.push(Finding::Write(sql_file(at, &[b"database"]))),
        b"into" => {
            // `VACUUM INTO 'f'`; the other `INTO`s are followed by a name.
            if let Some(file) = sql_string(at) {
                findings.push(Finding::Write(exact(&file)));
            }
        }
        b"vacuum" => findings.push(Finding::Unclear("VACUUM may write another file")),
        b"insert" | b"update" | b"delete" | b"replace" => findings.push(Finding::Change),
        b"pragma" => {
            // `PRAGMA name` and `PRAGMA name(table)` ask; `PRAGMA name = value` changes.
            let mut ahead = *at;
            ahead.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b' '));
            if ahead.peek() == Some(b'=') {
                findings.push(Finding::Change);
            }
        }
        _ => function(word, findings),
    }
}

/// Functions and tables that leave the database. Their names may stand in quotes: `select "readfile"('f')`.
fn function(name: &[u8], findings: &mut Vec<Finding>) {
    match name.to_ascii_lowercase().as_slice() {
        b"load_extension" => findings.push(Finding::Code("unknown")),
        b"readfile" | b"fsdir" | b"zipfile" | b"lsdir" => findings.push(Finding::Read(unknown())),
        b"writefile" => findings.push(Finding::Write(unknown())),
        b"edit" => findings.push(Finding::Shell(Word::Opaque)),
        _ => {}
    }
}

/// Dot-commands that stay inside. `sqlite3` takes any beginning of a name.
const HARMLESS_DOTS: &str = "auth bail binary changes connection crlf databases dbconfig dbinfo dbtotxt dump echo eqp exit expert \
    explain fullschema headers help indexes indices intck limit lint mode nullvalue parameter print progress \
    prompt quit scanstats schema separator sha3sum show stats tables timeout timer version vfsinfo vfslist \
    vfsname width";

const OTHER_DOTS: &str = "archive backup cd check clone excel filectrl import imposter iotrace load log once open output read \
    recover restore save selftest session shell system testcase testctrl trace www";

fn dot_command(line: &[u8], findings: &mut Vec<Finding>) {
    let mut at = Cursor::new(line);
    let name = at.take_while(|byte| !byte.is_ascii_whitespace()).to_ascii_lowercase();
    at.blanks();
    let rest = at.line();
    let begins = |known: &&str| !name.is_empty() && known.as_bytes().starts_with(&name);
    if begins(&"parameter") {
        parameter(rest, findings);
    }
    if listed(HARMLESS_DOTS, &name) {
        return;
    }
    let mut meant = OTHER_DOTS.split(' ').filter(begins).peekable();
    if meant.peek().is_none() {
        if !HARMLESS_DOTS.split(' ').any(|known| begins(&known)) {
            findings.push(Finding::Unclear("a dot-command that is not known"));
        }
        return;
    }
    if rest.contains(&b'\\') {
        // Words of a dot-command may be written in octal, in quotes and out of them.
        findings.push(Finding::Unclear("a dot-command with escapes in it"));
    }
    for meant in meant {
        let file = argument(rest);
        let finding = match meant {
            "shell" | "system" => Finding::Shell(if rest.is_empty() { Word::Opaque } else { exact(rest) }),
            "output" | "once" | "log" | "trace" | "iotrace" => match file {
                Argument::None => continue,
                Argument::File(b"stdout" | b"stderr" | b"off" | b"on") => continue,
                Argument::File(name) => Finding::Write(exact(name)),
                Argument::Pipe(text) => Finding::Shell(exact(text)),
                Argument::Unclear => Finding::Write(unknown()),
            },
            "backup" | "save" | "clone" | "open" => match file {
                Argument::File(name) => Finding::Write(exact(name)),
                _ => Finding::Write(unknown()),
            },
            "import" => {
                findings.push(Finding::Change);
                match file {
                    Argument::File(name) => Finding::Read(exact(name)),
                    Argument::Pipe(text) => Finding::Shell(exact(text)),
                    _ => Finding::Read(unknown()),
                }
            }
            "restore" => {
                findings.push(Finding::Change);
                match file {
                    Argument::File(name) => Finding::Read(exact(name)),
                    _ => Finding::Read(unknown()),
                }
            }
            "read" => match file {
                Argument::File(name) => Finding::Load(exact(name)),
                Argument::Pipe(text) => Finding::Shell(exact(text)),
                _ => Finding::Load(unknown()),
            },
            "load" => Finding::Code("unknown"),
            "recover" => continue,
            _ => Finding::Unclear("a dot-command that may write or run"),
        };
        findings.push(finding);
    }
}

/// `.parameter set NAME VALUE`: the value is SQL, which is computed at once.
fn parameter(rest: &[u8], findings: &mut Vec<Finding>) {
    if rest.contains(&b'\\') {
        findings.push(Finding::Unclear("a parameter with escapes in it"));
        return;
    }
    // In quotes of either kind, or out of them: each piece is looked at as SQL, and the whole too.
    for piece in rest.split(|byte| matches!(byte, b'"' | b'\'')).chain([rest]) {
        statements(piece, false, findings);
    }
}

enum Argument<'a> {
    None,
    File(&'a [u8]),
    Pipe(&'a [u8]),
    Unclear,
}

/// The one argument of a dot-command that names a file or, with `|`, a command.
fn argument(rest: &[u8]) -> Argument<'_> {
    let rest = rest.trim_ascii();
    let unquoted = match rest {
        [b'\'', inner @ .., b'\''] if !inner.contains(&b'\'') => inner,
        [b'"', inner @ .., b'"'] if !inner.iter().any(|byte| matches!(byte, b'"' | b'\\')) => inner,
        [] => return Argument::None,
        other => other,
    };
    match unquoted {
        [b'|', command @ ..] => Argument::Pipe(command),
        [b'-', ..] => Argument::Unclear,
        name if unquoted.len() < rest.len() => Argument::File(name),
        name => {
            let word = name.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if word.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\')) {
                Argument::Unclear
            } else {
                Argument::File(word)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sqlite_text_is_read() {
        for (text, expected) in [
            ("select * from t", ""),
            ("SELECT count(*) FROM t WHERE a = 'delete'; ", ""),
            ("with x as (select 1) select * from x", ""),
            (".tables", ""),
            (".schema t", ""),
            (".mode csv\n.headers on\nselect 1;", ""),
            ("pragma table_info(t)", ""),
            ("pragma journal_mode = wal", "change"),
            ("insert into t values (1)", "change"),
            ("create table t(a)", "change"),
            ("drop table t", "change"),
            ("-- note\nselect 1; drop table t", "change"),
            ("with x as (select 1) delete from t", "change"),
            (".shell id", "run id"),
            (".sys id", "run id"),
            (".system rm -rf x", "run rm -rf x"),
            (".output f", "write f"),
            (".once '|sh'", "run sh"),
            (".once |cat > x", "run cat > x"),
            (".read f.sql", "load f.sql"),
            (".import data.csv t", "change, read data.csv"),
            (".backup b.db", "write b.db"),
            ("attach '/etc/x.db' as x", "write /etc/x.db"),
            ("ATTACH DATABASE 'x.db' AS x", "write x.db"),
            ("select writefile('x', 'y')", "write ?"),
            ("select load_extension('x')", "code unknown"),
            (".frobnicate", "unclear"),
            (".param set :x 1", ""),
            (".separator \"\\t\"", ""),
            ("select \"a\" from \"t\"", ""),
            (".param set :x readfile('f')", "read ?"),
            (".param set :x \"readfile('f')\"", "read ?"),
            ("select 1;\n.param set :x readfile('f')", "read ?"),
            (".param set :x \"readfi\\154e('f')\"", "unclear"),
            (".output \"\\056envrc\"", "unclear, write ?"),
            (".once |ls\\073id", "unclear, run ls\\073id"),
            ("select \"readfile\"('f')", "read ?"),
            ("select `writefile`('f', 'x')", "write ?"),
            ("select [load_extension]('x')", "code unknown"),
            ("select * from \"fsdir\"('.')", "read ?"),
        ] {
            assert_eq!(shown(&sqlite(text.as_bytes())), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = sqlite(&text);
        }
    }
}
