//! Builtins that change how the shell reads and finds commands: `set`, `shopt`, `enable`, `hash`, `alias`.

use super::Arguments;
use crate::certain::setting::{self, Switch};
use crate::effect::NamedBy;
use crate::program::Code;
use crate::resolve::is_builtin;
use crate::value::field::Globbing;
use crate::value::scope::{Entry, Held, alias_key, is_alias_key};
use crate::walk::{Definition, Walker};
use crate::word::Word;
use std::path::Path;
use std::rc::Rc;

pub(super) fn run(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    match name {
        "set" => set(walker, words),
        "shopt" => shopt(walker, words),
        "enable" => enable(walker, words),
        "hash" => hash(walker, words),
        "alias" => alias(walker, words),
        _ => unalias(walker, words),
    }
}

fn set(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let mut at = 1;
    while let Some(word) = words.argv.get(at) {
        let Some(bytes) = word.exact() else {
            // `set $x`: options or parameters, nobody knows.
            if word.may_be_option() {
                other_grammar(walker, words, at);
            }
            walker.state.positional = None;
            return;
        };
        match bytes {
            b"--" => {
                walker.state.positional = walker.parameters(words.argv.get(at + 1..).unwrap_or_default());
                return;
            }
            b"-o" | b"+o" => {
                let option = words.argv.get(at + 1).map(|word| word.exact());
                option_by_name(walker, option, bytes == b"-o", words, at);
                at += 2;
            }
            // No such option: it complains, and nothing is set.
            [b'-', b'-', ..] => return,
            // `set -`: tracing ends, and what follows are parameters. So they are behind a lone `+`.
            b"-" | b"+" => {
                if at + 1 < words.argv.len() {
                    walker.state.positional = walker.parameters(words.argv.get(at + 1..).unwrap_or_default());
                }
                return;
            }
            [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                for letter in letters {
                    option_by_letter(walker, *letter, *sign == b'-', words, at);
                }
                // `set -eo pipefail`: each `o` takes a word, wherever it stands among the letters.
                for _ in letters.iter().filter(|letter| **letter == b'o') {
                    let option = words.argv.get(at + 1).map(|word| word.exact());
                    option_by_name(walker, option, *sign == b'-', words, at);
                    at += 1;
                }
                at += 1;
            }
            _ => {
                walker.state.positional = walker.parameters(words.argv.get(at..).unwrap_or_default());
                return;
            }
        }
    }
}

fn option_by_letter(walker: &mut Walker<'_>, letter: u8, on: bool, words: &Arguments<'_>, at: usize) {
    match setting::name_of(letter) {
        Some(name) => switch(walker, setting::option(name, on), on, words, at),
        // `set -eo pipefail` names its option in the next word.
        None if letter == b'o' => {}
        None => other_grammar(walker, words, at),
    }
}

fn option_by_name(walker: &mut Walker<'_>, name: Option<Option<&[u8]>>, on: bool, words: &Arguments<'_>, at: usize) {
    match name {
        Some(Some(name)) => switch(walker, setting::option(name, on), on, words, at),
        Some(None) => other_grammar(walker, words, at),
        // Alone it prints.
        None => {}
    }
}

fn switch(walker: &mut Walker<'_>, switch: Switch, on: bool, words: &Arguments<'_>, at: usize) {
    let state = &mut walker.state;
    match switch {
        Switch::Inert => {}
        Switch::Globs if state.patterns_unsure => state.globbing = Globbing::Unknown,
        Switch::Globs => state.globbing = if on { Globbing::Off } else { Globbing::On },
        Switch::Patterns | Switch::ExtendedPatterns => {
            state.globbing = Globbing::Unknown;
            state.patterns_unsure = true;
            if switch == Switch::ExtendedPatterns {
                state.extended_globs = on;
            }
        }
        Switch::ExportsAll => state.exports_all = Some(on),
        Switch::PhysicalFolders => walker.state.physical_cd |= on,
        Switch::EndsOnFailure => state.ends_on_failure |= on,
        Switch::EndsOnUnset => state.ends_on_unset |= on,
        Switch::Traces => state.traces |= on,
        Switch::Ends => state.may_have_ended |= on,
        Switch::Aliases => {
            state.aliases |= on;
            if on && walker.scope.names().any(|name| is_alias_key(name)) {
                walker.opaque(Code::Alias, "Names are aliased, and aliases are switched on.", words.span(at));
            }
        }
        Switch::Unmodelled => other_grammar(walker, words, at),
    }
}

fn other_grammar(walker: &mut Walker<'_>, words: &Arguments<'_>, at: usize) {
    walker.state.cd_unsure = true;
    walker.opaque(Code::OtherGrammar, "From here on the shell reads commands by other rules.", words.span(at));
}

fn shopt(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let Some(letters) = words.letters() else { return other_grammar(walker, words, 1) };
    let on = letters.contains(&b's');
    let off = letters.contains(&b'u');
    if !on && !off {
        return;
    }
    for (at, word) in words.operands() {
        match word.exact() {
            name if letters.contains(&b'o') => option_by_name(walker, Some(name), on, words, at),
            Some(name) => switch(walker, setting::shopt(name, on), on, words, at),
            None => other_grammar(walker, words, at),
        }
    }
}

fn enable(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    match words.letters() {
        Some(letters) if letters.contains(&b'f') => {
            walker.code(words.run, "unknown", Code::LoadsCode, words.span(1));
            let file = words.all().find_map(|(_, word)| word.exact_str().filter(|name| name.contains('/')));
            let absent = match (file, walker.cwd().only()) {
                (Some(file), _) if file.starts_with('/') => walker.is_missing(Path::new(file)),
                (Some(file), Some(cwd)) => walker.is_missing(&cwd.join(file)),
                _ => false,
            };
            if !absent || walker.changed.touched() {
                walker.opaque(Code::LoadsCode, "`enable -f` loads code into the shell.", words.span(1));
            }
        }
        Some(letters) => {
            let known = |word: &Word| word.exact_str().is_some_and(is_builtin);
            let all_known = words.operands().all(|(_, word)| known(word));
            if letters.iter().any(|letter| !b"anps".contains(letter)) || !all_known {
                // A name that is no builtin is looked for among files that hold some.
                walker.code(words.run, "unknown", Code::LoadsCode, words.span(1));
                walker.opaque(Code::LoadsCode, "`enable` may load code into the shell.", words.span(1));
            } else if letters.contains(&b'n') && words.operands().next().is_some() {
                // Without a builtin its name means a program.
                walker.state.path_changed = true;
                other_grammar(walker, words, 1);
            }
        }
        None => walker.opaque(Code::LoadsCode, "`enable` may load code into the shell.", words.span(1)),
    }
}

/// `hash -p PATH NAME` makes a name mean another program.
fn hash(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    if words.letters().is_none_or(|letters| letters.contains(&b'p')) {
        walker.state.path_changed = true;
        words.named(walker, Code::Environment, NamedBy::Flag("-p".to_owned()), 1);
    }
}

fn alias(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    // Of zsh: aliases that stand for any word, or for names of files. bash has no such options.
    if words.letters().is_none_or(|letters| letters.iter().any(|b| b"gs".contains(b))) {
        walker.opaque(Code::Alias, "Which names are aliased here is not known.", words.span(1));
    }
    for (at, word) in words.operands() {
        let name = match word {
            Word::Exact(text) => text.as_bytes().split(|b| *b == b'=').next(),
            Word::Dynamic(shape) => match shape.parts.first() {
                Some(crate::Part::Literal(text)) if text.as_bytes().contains(&b'=') => {
                    text.as_bytes().split(|b| *b == b'=').next()
                }
                _ => None,
            },
            Word::Opaque => None,
        };
        // With a reserved word the grammar itself is another one.
        let reserved = |name: &[u8]| {
            !name.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.+".contains(b)) || RESERVED.contains(&name)
        };
        match name {
            Some(name) if walker.state.aliases || reserved(name) => {
                let text = format!("The call makes an alias of `{}`.", String::from_utf8_lossy(name));
                walker.opaque(Code::Alias, &text, words.span(at));
            }
            Some(name) => {
                let held = Held::Defined { definitions: Rc::from([Definition::Alias]), maybe: true };
                walker.scope.set(&alias_key(name), Some(Entry::new(held)));
            }
            None => walker.opaque(Code::Alias, "Which names are aliased here is not known.", words.span(at)),
        }
    }
}

const RESERVED: &[&[u8]] = &[
    b"if",
    b"then",
    b"else",
    b"elif",
    b"fi",
    b"case",
    b"esac",
    b"for",
    b"select",
    b"while",
    b"until",
    b"do",
    b"done",
    b"in",
    b"function",
    b"time",
    b"coproc",
];

fn unalias(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    for (_, word) in words.operands() {
        if let Some(name) = word.exact() {
            walker.scope.set(&alias_key(name), None);
        }
    }
}
