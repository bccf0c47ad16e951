//! Commands that interactive programs take from their arguments: editors, debuggers, pagers.
//!
//! These languages are large and any corner of them may run something, so only forms known to stay inside are harmless.

use super::cursor::Cursor;
use super::{Finding, exact, listed, unknown};
use crate::word::Word;

/// An Ex command of vi, vim or nvim (`-c`, `+`, `--cmd`), without its colon or with it.
#[must_use]
pub fn ex(command: &[u8]) -> Vec<Finding> {
    let command = command.trim_ascii();
    let command = command.strip_prefix(b":").unwrap_or(command);
    // `|` begins another command, a newline does too, and `\=` in a replacement evaluates an expression.
    if let Some(text) = command.strip_prefix(b"!") {
        return vec![Finding::Shell(vim_shell_text(text))];
    }
    let plain = !command.iter().any(|byte| matches!(byte, b'|' | b'\n' | b'\r' | b'`' | 0x16))
        && !command.windows(2).any(|two| two == b"\\=");
    let finding = if plain { plain_ex(command) } else { Some(Finding::Code("vim")) };
    finding.into_iter().collect()
}

fn plain_ex(command: &[u8]) -> Option<Finding> {
    let name = command.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    let rest = command.get(name.len()..).unwrap_or_default().trim_ascii();
    match name {
        b"q" | b"qa" | b"quit" | b"quitall" | b"qall" | b"wq" | b"wqa" | b"x" | b"xa" | b"wa" | b"wall" | b"cq"
            if matches!(rest, b"" | b"!") =>
        {
            None
        }
        b"w" | b"write" | b"sav" | b"saveas" => match rest {
            b"" | b"!" => None,
            [b'!', text @ ..] if text.first() != Some(&b' ') => Some(Finding::Shell(vim_shell_text(text))),
            _ => {
                let file = rest.strip_prefix(b"!").unwrap_or(rest).trim_ascii();
                let simple =
                    file.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-'));
                Some(Finding::Write(if simple { exact(file) } else { unknown() }))
            }
        },
        b"set" | b"se" | b"setlocal" => {
            let harmless = rest.split(u8::is_ascii_whitespace).all(|option| {
                let name = option.split(|byte| matches!(byte, b'=' | b'!' | b'?')).next().unwrap_or_default();
                listed(HARMLESS_SETTINGS, name)
            });
            (!harmless).then_some(Finding::Code("vim"))
        }
        b"syntax" | b"noh" | b"nohlsearch" => None,
        // A line number, a search, or a substitution on some lines.
        b"" => {
            let body = command
                .iter()
                .position(|byte| !matches!(byte, b'%' | b'$' | b',' | b'.' | b'0'..=b'9' | b' '))
                .and_then(|at| command.get(at..))
                .unwrap_or_default();
            match body {
                [] => None,
                [b'/' | b'?', ..] => None,
                [b's', b'/' | b'#' | b',', ..] => None,
                b"d" | b"j" => None,
                _ => Some(Finding::Code("vim")),
            }
        }
        b"s" if matches!(rest.first(), Some(b'/' | b'#' | b',')) => None,
        _ => Some(Finding::Code("vim")),
    }
}

const HARMLESS_SETTINGS: &str = "nu number nonu nonumber rnu relativenumber ro readonly nomodeline nocompatible nocp ff fileformat enc \
    encoding fenc fileencoding et expandtab noet noexpandtab ts tabstop sw shiftwidth sts softtabstop ai \
    autoindent noai ic ignorecase noic hls hlsearch nohls nohlsearch noswapfile nobackup nowrap wrap paste \
    nopaste ft filetype list nolist nomore bg background";

/// In `:!` text `%`, `#` and `!` stand for other text.
fn vim_shell_text(text: &[u8]) -> Word {
    if text.is_empty() || text.iter().any(|byte| matches!(byte, b'%' | b'#' | b'!' | b'\\' | b'<')) {
        Word::Opaque
    } else {
        exact(text)
    }
}

/// A command of gdb (`-ex`, a line of `-x`). `run` and its like are [`Finding::Code`]: they start the program.
#[must_use]
pub fn gdb(command: &[u8]) -> Vec<Finding> {
    let command = command.trim_ascii();
    if let Some(text) = command.strip_prefix(b"!") {
        return vec![Finding::Shell(exact(text))];
    }
    let mut at = Cursor::new(command);
    let name = at.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let rest = at.line().trim_ascii();
    let finding = match name {
        b"" if command.is_empty() || command.starts_with(b"#") => None,
        b"shell" | b"sh" | b"she" | b"shel" => {
            Some(Finding::Shell(if rest.is_empty() { Word::Opaque } else { exact(rest) }))
        }
        b"bt" | b"backtrace" | b"where" | b"info" | b"i" | b"quit" | b"q" | b"list" | b"l" | b"disassemble"
        | b"disas" | b"frame" | b"f" | b"up" | b"down" | b"help" | b"h" | b"x" | b"show" | b"ptype" | b"whatis"
        | b"break" | b"b" | b"tbreak" | b"delete" | b"directory"
            if !rest.contains(&b'(') =>
        {
            None
        }
        b"set"
            if [
                b"pagination".as_slice(),
                b"confirm",
                b"width",
                b"height",
                b"print",
                b"style",
                b"disassembly-flavor",
            ]
            .iter()
            .any(|known| rest.starts_with(known)) =>
        {
            None
        }
        b"thread" if matches!(rest, b"apply all bt" | b"apply all bt full" | b"apply all backtrace") => None,
        // Printing an expression may call any function of the program, `system` too, and may assign.
        b"print" | b"p" | b"printf" | b"echo" | b"output" if !rest.iter().any(|byte| matches!(byte, b'(' | b'=')) => {
            None
        }
        b"source" => Some(Finding::Load(exact(rest))),
        _ => Some(Finding::Code("gdb")),
    };
    finding.into_iter().collect()
}

/// A first command of `less` or `more` (`+cmd`), without its plus signs.
#[must_use]
pub fn pager(command: &[u8]) -> Vec<Finding> {
    let digits = command.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = command.get(digits..).unwrap_or_default();
    let finding = match rest {
        b"" | b"g" | b"G" | b"F" | b"p" | b"%" | b"f" | b"b" => None,
        [b'/' | b'?', pattern @ ..] if !pattern.iter().any(u8::is_ascii_control) => None,
        [b'!', text @ ..]
            if !text.iter().any(|byte| matches!(byte, b'%' | b'#' | b'!' | b'\\')) && !text.is_empty() =>
        {
            Some(Finding::Shell(exact(text)))
        }
        _ => Some(Finding::Shell(Word::Opaque)),
    };
    finding.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn harmless_commands_have_no_findings() {
        for command in ["q", "wq", ":q!", "%s/a/b/g", "10", "/foo", "set number", "set ff=unix nonu", "1,5d", "x", "w"]
        {
            assert_eq!(ex(command.as_bytes()), vec![], "{command}");
        }
        for command in [
            "bt",
            "info locals",
            "quit",
            "set pagination off",
            "print x->y",
            "thread apply all bt",
            "break main",
            "x/10i $pc",
        ] {
            assert_eq!(gdb(command.as_bytes()), vec![], "{command}");
        }
        for command in ["", "G", "F", "10", "10g", "/pattern"] {
            assert_eq!(pager(command.as_bytes()), vec![], "{command}");
        }
    }

    #[test]
    fn what_runs_or_writes_is_found() {
        assert_eq!(ex(b"!id"), vec![Finding::Shell(exact(b"id"))]);
        assert_eq!(ex(b":!id"), vec![Finding::Shell(exact(b"id"))]);
        assert_eq!(ex(b"w !sh"), vec![Finding::Shell(exact(b"sh"))]);
        assert_eq!(ex(b"w /etc/x"), vec![Finding::Write(exact(b"/etc/x"))]);
        for command in [
            "%!sh",
            "r !id",
            "%s/a/\\=system('id')/",
            "q|!id",
            "py import os",
            "call system('id')",
            "lua os.execute('x')",
        ] {
            assert_eq!(ex(command.as_bytes()), vec![Finding::Code("vim")], "{command}");
        }
        assert_eq!(gdb(b"shell id"), vec![Finding::Shell(exact(b"id"))]);
        assert_eq!(gdb(b"!id"), vec![Finding::Shell(exact(b"id"))]);
        for command in
            ["run", "python import os", "print system(\"id\")", "call exit(0)", "pipe bt | sh", "info proc(x)"]
        {
            assert_eq!(gdb(command.as_bytes()), vec![Finding::Code("gdb")], "{command}");
        }
        assert_eq!(pager(b"!id"), vec![Finding::Shell(exact(b"id"))]);
        for command in ["v", ":e x", "s out", "|$sh", "!!", "10!id;%"] {
            assert_eq!(pager(command.as_bytes()), vec![Finding::Shell(Word::Opaque)], "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = (ex(&text), gdb(&text), pager(&text));
        }
    }
}
