//! Builtins that change how the shell reads and finds commands: `set`, `shopt`, `enable`, `hash`, `alias`.

use super::Arguments;
use crate::effect::NamedBy;
use crate::value::field::Globbing;
use crate::value::scope::{Entry, Held, alias_key};
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
                walker.state.globbing = Globbing::Unknown;
                walker.cd_unsure = true;
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
            [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                for letter in letters {
                    option_by_letter(walker, *letter, *sign == b'-', words, at);
                }
                // `set -eo pipefail`
                if letters.last() == Some(&b'o') {
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
    match letter {
        b'e' => walker.state.ends_on_failure |= on,
        b'u' => walker.state.ends_on_unset |= on,
        b'x' | b'v' => walker.state.traces |= on,
        b'f' => walker.state.globbing = if on { Globbing::Off } else { Globbing::On },
        b'a' => walker.state.exports_all |= on,
        b'P' => walker.physical_cd |= on,
        b'r' => walker.cd_unsure = true,
        b'k' | b'p' if on => other_grammar(walker, words, at),
        // `set -n` reads commands and runs none; what is listed is then too much, never too little.
        _ => {}
    }
}

fn option_by_name(walker: &mut Walker<'_>, name: Option<Option<&[u8]>>, on: bool, words: &Arguments<'_>, at: usize) {
    match name {
        Some(Some(b"errexit")) => walker.state.ends_on_failure |= on,
        Some(Some(b"nounset")) => walker.state.ends_on_unset |= on,
        Some(Some(b"xtrace" | b"verbose")) => walker.state.traces |= on,
        Some(Some(b"noglob")) => walker.state.globbing = if on { Globbing::Off } else { Globbing::On },
        Some(Some(b"allexport")) => walker.state.exports_all |= on,
        Some(Some(b"physical")) => walker.physical_cd |= on,
        Some(Some(b"restricted")) => walker.cd_unsure = true,
        Some(Some(b"posix" | b"keyword" | b"privileged")) if on => other_grammar(walker, words, at),
        Some(None) => other_grammar(walker, words, at),
        _ => {}
    }
}

fn other_grammar(walker: &mut Walker<'_>, words: &Arguments<'_>, at: usize) {
    walker.opaque("other-grammar", "From here on the shell reads commands by other rules.", words.span(at));
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
            _ if letters.contains(&b'o') => option_by_name(walker, Some(word.exact()), on, words, at),
            Some(
                b"nullglob" | b"failglob" | b"nocaseglob" | b"dotglob" | b"globstar" | b"extglob" | b"globasciiranges",
            ) => {
                walker.state.globbing = Globbing::Unknown;
                if word.exact() == Some(b"extglob") {
                    walker.state.extended_globs = on;
                }
            }
            // `echo` then makes something of `\\`.
            Some(b"xpg_echo") if on => other_grammar(walker, words, at),
            Some(b"expand_aliases") => walker.state.aliases |= on,
            Some(b"lastpipe") if on => {
                // The last command of a pipe then runs in this shell.
                walker.state.fog = crate::walk::Fog::All;
            }
            Some(b"cdable_vars" | b"autocd") if on => walker.physical_cd = true,
            // A trap may then skip any command.
            Some(b"extdebug" | b"restricted_shell") if on => walker.cd_unsure = true,
            Some(
                b"assoc_expand_once"
                | b"xpg_echo"
                | b"sourcepath"
                | b"nocasematch"
                | b"inherit_errexit"
                | b"checkwinsize"
                | b"localvar_inherit"
                | b"patsub_replacement"
                | b"histappend"
                | b"cmdhist"
                | b"execfail"
                | b"huponexit",
            ) => {}
            Some(_) => {}
            None => other_grammar(walker, words, at),
        }
    }
}

fn enable(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    match words.letters() {
        Some(letters) if letters.contains(&b'f') => {
            walker.code(words.run, "unknown", "loads-code", words.span(1));
            let file = words.all().find_map(|(_, word)| word.exact_str().filter(|name| name.contains('/')));
            let absent = match (file, walker.cwd().only()) {
                (Some(file), _) if file.starts_with('/') => walker.is_missing(Path::new(file)),
                (Some(file), Some(cwd)) => walker.is_missing(&cwd.join(file)),
                _ => false,
            };
            if !absent || walker.changed.touched() {
                walker.opaque("loads-code", "`enable -f` loads code into the shell.", words.span(1));
            }
        }
        // Without a builtin its name means a program.
        Some(letters) if letters.contains(&b'n') => {
            walker.state.path_changed = true;
            walker.cd_unsure = true;
        }
        Some(_) => {}
        None => walker.opaque("loads-code", "`enable` may load code into the shell.", words.span(1)),
    }
}

/// `hash -p PATH NAME` makes a name mean another program.
fn hash(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    if words.letters().is_none_or(|letters| letters.contains(&b'p')) {
        walker.state.path_changed = true;
        words.named(walker, "environment", NamedBy::Flag("-p".to_owned()), 1);
    }
}

fn alias(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    // Of zsh: aliases that stand for any word, or for names of files. bash has no such options.
    if words.letters().is_none_or(|letters| letters.iter().any(|b| b"gs".contains(b))) {
        walker.opaque("alias", "Which names are aliased here is not known.", words.span(1));
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
        match name {
            Some(name) => {
                let held = Held::Defined { definitions: Rc::from([Definition::Alias]), maybe: true };
                walker.scope.set(&alias_key(name), Some(Entry::new(held)));
            }
            None if walker.state.aliases => {
                walker.opaque("alias", "Which names are aliased here is not known.", words.span(at));
            }
            None => {}
        }
    }
}

fn unalias(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    for (_, word) in words.operands() {
        if let Some(name) = word.exact() {
            walker.scope.set(&alias_key(name), None);
        }
    }
}
