//! `jq` and `yq` programs: they see the environment, take in modules, and `yq` loads files.

use super::cursor::Cursor;
use super::{Finding, exact, unknown};

/// Which language it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// jq, gojq, jaq.
    Jq,
    /// Either of the two yqs.
    Yq,
}

/// What a program does.
#[must_use]
pub fn read(program: &[u8], flavour: Flavour) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = Cursor::new(program);
    // Open brackets; `true` for the `\(` of a string, after whose end the string goes on.
    let mut open: Vec<bool> = Vec::new();
    let mut before = None;
    while let Some(byte) = at.peek() {
        match byte {
            b'#' => {
                at.line();
            }
            b'"' => {
                at.bump();
                if string(&mut at) {
                    open.push(true);
                }
            }
            b'(' => {
                at.bump();
                open.push(false);
            }
            b')' => {
                at.bump();
                if open.pop() == Some(true) && string(&mut at) {
                    open.push(true);
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let name = at.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                // `.env` is a field, `$env` a variable of the program; `$ENV` is the environment.
                match before {
                    Some(b'.') => {}
                    Some(b'$') if name == b"ENV" => findings.push(Finding::Environment),
                    Some(b'$' | b'@') => {}
                    _ => word(name, &mut at, flavour, &mut findings),
                }
            }
            _ => {
                at.bump();
            }
        }
        before = Some(byte);
    }
    findings
}

fn word(name: &[u8], at: &mut Cursor<'_>, flavour: Flavour, findings: &mut Vec<Finding>) {
    match name {
        b"env" | b"strenv" | b"envsubst" => findings.push(Finding::Environment),
        b"import" | b"include" => {
            at.spaces();
            let name = literal(at);
            findings.push(Finding::Load(name.map_or_else(unknown, exact)));
        }
        // An operator of newer yqs; off unless it is switched on.
        b"system" if flavour == Flavour::Yq => findings.push(Finding::Shell(crate::word::Word::Opaque)),
        name if flavour == Flavour::Yq && name.starts_with(b"load") => {
            at.spaces();
            let file = if at.eat(b'(') { literal(at).filter(|file| ends_behind(*at, file.len())) } else { None };
            findings.push(Finding::Read(file.map_or_else(unknown, exact)));
        }
        b"eval" if flavour == Flavour::Yq => findings.push(Finding::Unclear("the yq program evaluates text")),
        _ => {}
    }
}

/// Whether a literal of this length that comes next is the whole argument: `("a" + "b")` names another file.
fn ends_behind(mut at: Cursor<'_>, length: usize) -> bool {
    at.spaces();
    for _ in 0..length + 2 {
        at.bump();
    }
    at.spaces();
    at.peek() == Some(b')')
}

/// A string without escapes, if one comes next; stays before it.
fn literal<'a>(at: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let mut ahead = *at;
    ahead.spaces();
    if !ahead.eat(b'"') {
        return None;
    }
    let text = ahead.take_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
    (ahead.peek() == Some(b'"')).then_some(text)
}

/// Over the rest of a string; whether it stopped at an interpolation.
fn string(at: &mut Cursor<'_>) -> bool {
    while let Some(byte) = at.bump() {
        match byte {
            b'"' => return false,
            // What a backslash hides is passed over in any case.
            b'\\' if at.bump() == Some(b'(') => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn harmless_programs_have_no_findings() {
        for program in [
            ".",
            ".env",
            ".[] | select(.env == \"prod\") | .name",
            "\"env \\(.x) env\"",
            "$env.x",
            "to_entries[] | \"\\(.key)=\\(.value|@sh)\"",
            "# env\n.a",
            "input_filename",
            "[inputs] | length",
            ".a.b[\"env\"]",
            ".environment",
        ] {
            assert_eq!(read(program.as_bytes(), Flavour::Jq), vec![], "{program}");
        }
    }

    #[test]
    fn the_environment_and_modules_are_found() {
        for program in
            ["env", "env.HOME", "$ENV.PATH", "\"\\(env)\"", "\"a\\(\"b\" + $ENV.X)c\"", ". as $x | env|.Y", "env|keys"]
        {
            assert_eq!(read(program.as_bytes(), Flavour::Jq), vec![Finding::Environment], "{program}");
        }
        assert_eq!(read(b"import \"a/b\" as b; .", Flavour::Jq), vec![Finding::Load(exact(b"a/b"))]);
        assert_eq!(read(b"include \"m\"; f", Flavour::Jq), vec![Finding::Load(exact(b"m"))]);
    }

    #[test]
    fn yq_loads_files_and_reads_variables() {
        assert_eq!(read(b".a = load(\"x.yml\")", Flavour::Yq), vec![Finding::Read(exact(b"x.yml"))]);
        assert_eq!(read(b"load_str(.f)", Flavour::Yq), vec![Finding::Read(unknown())]);
        assert_eq!(read(b".a = strenv(TOKEN)", Flavour::Yq), vec![Finding::Environment]);
        assert_eq!(read(b".a.load", Flavour::Yq), vec![]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(program in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&program, Flavour::Jq);
            let _ = read(&program, Flavour::Yq);
        }
    }
}
