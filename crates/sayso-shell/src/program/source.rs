//! Source text on standard input: what it includes is read, and shown.

use super::{Prints, View};
use crate::effect::{Carry, PathTarget, Stdin, Target, Verb};
use crate::word::Word;

/// Words by which a source takes in other files, in the languages of compilers and assemblers.
const TAKES_IN: &[&str] = &["include", "import", "incbin", "embed", "asm", "pragma", "%:", "??", "\\"];

/// Options that leave the folders alone in which headers are looked for.
const PLAIN: &[&str] = &[
    "-E",
    "-P",
    "-S",
    "-O",
    "-ansi",
    "-c",
    "-d",
    "-fsyntax-only",
    "-g",
    "-o",
    "-pedantic",
    "-std",
    "--std",
    "-v",
    "-w",
    "-x",
];

/// A compiler that is given its source on standard input reads what that names: any file, unless the text is known and names
/// only headers of the system.
pub(super) fn on_stdin(view: &mut View<'_>, without_operands: bool) {
    let is_stdin = |word: &Word| word.exact().is_some_and(|word| word == b"-" || word.starts_with(b"/dev/"));
    let named = view.operands().into_iter().find(|&at| view.word(at).is_some_and(is_stdin));
    let at = match named {
        Some(at) => at,
        None if without_operands && view.operand_count() == 0 && view.inv.stdin != Stdin::Inherited => 0,
        None => return,
    };
    let text = match (view.inv.stdin_text, &view.inv.stdin_prints) {
        (Some(text), _) => Some(text),
        (None, Prints::Exact(text)) => Some(text.as_bytes()),
        _ => None,
    };
    let of_the_system = view.seen.iter().all(|seen| PLAIN.contains(&seen.opt.name.as_str()));
    // A file is compiled as any other.
    if text.is_some_and(|text| names_only_headers(text, of_the_system))
        || matches!(view.inv.stdin, Stdin::Inherited | Stdin::File)
    {
        return;
    }
    view.effect(Verb::Read, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
}

fn names_only_headers(text: &[u8], of_the_system: bool) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    text.lines().all(|line| {
        let lower = line.to_ascii_lowercase();
        !TAKES_IN.iter().any(|word| lower.contains(word)) || is_header(line, of_the_system)
    })
}

/// `#include <stdio.h>`, and `#include <vector>` if it can only be the system's: elsewhere any file may be called so.
fn is_header(line: &str, of_the_system: bool) -> bool {
    let name = line.trim().strip_prefix('#').map(str::trim_start).and_then(|rest| rest.strip_prefix("include"));
    let name = name.map(str::trim).and_then(|rest| rest.strip_prefix('<')).and_then(|rest| rest.strip_suffix('>'));
    let plain =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_/+-".contains(&b));
    name.is_some_and(|name| {
        let stem = [".h", ".hh", ".hpp"].iter().find_map(|suffix| name.strip_suffix(suffix));
        let stem = stem.or(of_the_system.then_some(name));
        stem.is_some_and(|stem| plain(stem) && !stem.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_names_other_files_is_told_from_text_that_does_not() {
        for text in [
            "int main(){}",
            "",
            "#include <stdio.h>\nint main(){}",
            "#include <sys/stat.h>",
            "#define A 1\n#if A\n#endif",
            "#include <vector>",
        ] {
            assert!(names_only_headers(text.as_bytes(), true), "{text}");
        }
        for text in [
            "#include \".env\"",
            "#include </etc/shadow>",
            "#include <../.env>",
            "#include <.env>",
            "#inc\\\nlude \".env\"",
            "%:include \".env\"",
            "??=include \".env\"",
            ".incbin \".env\"",
            "asm(\".incbin \\\".env\\\"\");",
            "#embed \".env\"",
            "#define X \".env\"\n#include X",
            "#import \"x\"",
            "%include '.env'",
            "_Pragma(\"x\")",
        ] {
            assert!(!names_only_headers(text.as_bytes(), true), "{text}");
        }
        assert!(!names_only_headers(b"#include <id_rsa>", false));
        assert!(names_only_headers(b"#include <stdio.h>", false));
    }
}
