//! `declare`, `local`, `export`, `readonly`, `unset`.

use super::Arguments;
use crate::Dialect;
use crate::certain::value::Gone;
use crate::certain::value::Known;
use crate::certain::variable::{Meaning, may_compute, meaning, steers_new_shell};
use crate::effect::NamedBy;
use crate::program::{Code, changes_what_runs, names_output};
use crate::value::Scalar;
use crate::value::scope::{Entry, Held, crafted, function_key};
use crate::walk::{Assigned, Fog, Walker, is_name};
use crate::word::{Part, Word};

pub(super) fn run<'t>(walker: &mut Walker<'t>, name: &str, words: &Arguments<'_>, mut assigned: Vec<Assigned<'t>>) {
    let letters = flags(words, &assigned);
    // `export` and `readonly` take no subscripts, but of zsh they do.
    let subscripts = !matches!(name, "export" | "readonly") || walker.state.dialect.may_be_zsh();
    let Some(letters) = letters else {
        for (at, word) in words.all().filter(|(_, word)| subscripts && word.exact().is_none()) {
            subscripted(walker, word, words, at);
        }
        return lose(walker, words);
    };
    // Where the name is not written plainly (`\\export x=$y`), some shells split the value and some do not.
    let assigns = |word: &Word| word.exact().is_none_or(|text| text.contains(&b'='));
    if walker.state.dialect.may_be_plain()
        && words.operands().any(|(at, word)| assigns(word) && !assigned.iter().any(|one| one.at == at))
    {
        walker.lose_variables();
    }
    let has = |letter: u8| letters.contains(&letter);
    if has(b'p') || has(b'F') {
        return;
    }
    // Outside a function bash complains and sets nothing; zsh does not mind.
    if name == "local" && !walker.in_function() {
        match walker.state.dialect {
            Dialect::Zsh => {}
            Dialect::Other => return lose(walker, words),
            Dialect::Bash | Dialect::Sh => return,
        }
    }
    // The options of the shell go back to what they are now when the function ends.
    if name == "local" && words.all().any(|(_, word)| word.exact() == Some(b"-")) {
        let text = "What this function switches is switched back when it ends.";
        walker.opaque(Code::OtherGrammar, text, words.span(0));
    }
    if has(b'f') {
        export_functions(walker, name, words);
        return;
    }
    // A nameref lets one name write another; values of `-i`, `-u`, `-l`, `-c` are not what is assigned.
    if has(b'n') && name != "export" {
        refers(walker, words, &assigned);
        return lose(walker, words);
    }
    let odd = has(b'i') || has(b'u') || has(b'l') || has(b'c') || has(b'A');
    let readonly = has(b'r') || name == "readonly";
    let exported = name == "export" || has(b'x');
    let unexport = name == "export" && has(b'n') || has(b'+');
    // To zsh what a function makes read-only is its own.
    let own = readonly && name == "readonly" && walker.in_function();
    if own && walker.state.dialect == Dialect::Other {
        return lose(walker, words);
    }
    let local =
        (matches!(name, "local" | "declare" | "typeset") || own && walker.state.dialect == Dialect::Zsh) && !has(b'g');
    for (at, word) in words.all() {
        if word.exact().is_some_and(|text| text.starts_with(b"-") || text.starts_with(b"+")) {
            continue;
        }
        let (name, held) = match assigned.iter().position(|one| one.at == at) {
            Some(found) => {
                let one = assigned.swap_remove(found);
                (one.name, Some(one.held))
            }
            None => match name_and_value(word) {
                Some((name, value)) => (name, value.map(Held::Scalar)),
                None => {
                    if subscripts {
                        subscripted(walker, word, words, at);
                    }
                    lose(walker, words);
                    continue;
                }
            },
        };
        if let Some(Held::Scalar(value)) = &held {
            // `declare -a 'a=($(x))'` reads the value again as shell text, and so does `declare` of what is an array.
            let array = has(b'a')
                || has(b'A')
                || walker.scope.get(&name).is_some_and(|entry| !matches!(entry.held, Held::Scalar(_)));
            let again = match value.bytes() {
                Some(bytes) => bytes.first() == Some(&b'('),
                None => array && !value.is_number(),
            };
            if again {
                walker.opaque(
                    Code::EvaluatesAgain,
                    "The value of an array is read again as shell text.",
                    words.span(at),
                );
            }
        }
        if has(b'i')
            && let Some(Held::Scalar(value)) = &held
        {
            let value = value.clone();
            walker.evaluate(&value, words.span(at));
        }
        if matches!(meaning(&name), Meaning::Unmodelled | Meaning::Aliases) {
            walker.notice(&name, &Held::Unknown { crafted: false }, words.span(at));
        }
        // zsh refuses to give an array a string in this way, or the other way round, and ends a script there.
        let refused = walker.state.dialect.may_be_zsh()
            && !(local && walker.in_function())
            && held.as_ref().is_some_and(|new| {
                let old = walker.scope.get(&name).map(|entry| &entry.held);
                let string = matches!(new, Held::Scalar(_));
                string && (has(b'a') || has(b'A'))
                    || string != matches!(old, None | Some(Held::Scalar(_) | Held::Unset(_)))
            });
        if local {
            hide(walker, &name);
        }
        if refused {
            walker.may_abort();
        }
        let held = if held.is_some() && (refused || has(b'g') && below_a_local(walker, &name)) {
            // It is what it was, or the outermost variable is set, not the one that is seen here.
            Some(Held::Unknown { crafted: true })
        } else {
            held
        };
        // `declare -A m=(key value)`: every other word is a subscript.
        let held = match held {
            Some(held @ Held::Array(_)) if has(b'A') => Some(Held::Unknown { crafted: crafted(Some(&held)) }),
            held => held,
        };
        match held {
            Some(held) => walker.set_at(&name, held, words.span(at)),
            // `x=1 f`: a local `x` begins with what was given for the function; in dash with what it was.
            None if local
                && walker.in_function()
                && (has(b'I') || is_prefixed(walker, &name) || walker.state.dialect.may_be_plain()) =>
            {
                walker.set(&name, Held::Unknown { crafted: walker.armed });
            }
            // Of zsh: a new variable is empty, and what becomes an array loses what it held.
            None if walker.state.dialect.may_be_zsh() && (local && walker.in_function() || has(b'a') || has(b'A')) => {
                walker.set(&name, Held::Unknown { crafted: walker.armed });
            }
            None if local && walker.in_function() => walker.set(&name, Held::Unset(Gone::Declared)),
            None if exported => {
                let held = walker.scope.get(&name).map(|entry| entry.held.clone());
                if let Some(held) = held {
                    walker.notice(&name, &held, words.span(at));
                } else {
                    continue;
                }
            }
            None if (has(b'a') || has(b'A')) && walker.scope.get(&name).is_none() => {
                walker.set(&name, Held::Unset(Gone::Declared))
            }
            // What it holds is kept; what it is given from now on is changed.
            None if odd && walker.scope.get(&name).is_none() => walker.set(&name, Held::Unknown { crafted: false }),
            None => {}
        }
        if let Some(entry) = walker.scope.get(&name) {
            let mut entry = entry.clone();
            entry.exported = (entry.exported || exported) && !unexport;
            entry.odd |= odd;
            entry.map |= has(b'A');
            walker.scope.set(&name, Some(entry));
        }
        if readonly {
            walker.state.readonly.push(name);
        }
    }
}

/// A word that is an option decides what the others mean.
fn flags(words: &Arguments<'_>, assigned: &[Assigned<'_>]) -> Option<Vec<u8>> {
    let mut letters = Vec::new();
    for (at, word) in words.all() {
        match word {
            // `NAME=...` is none.
            _ if assigned.iter().any(|one| one.at == at) => {}
            Word::Exact(text) => match text.as_bytes() {
                [b'-', rest @ ..] => letters.extend_from_slice(rest),
                [b'+', ..] => letters.push(b'+'),
                _ => {}
            },
            Word::Dynamic(_) if word.may_be_option() => return None,
            Word::Dynamic(_) => {}
            Word::Opaque => return None,
        }
    }
    Some(letters)
}

/// `NAME` or `NAME=value` in a word that was expanded like any other.
fn name_and_value(word: &Word) -> Option<(Vec<u8>, Option<Scalar>)> {
    match word {
        Word::Exact(text) => {
            let bytes = text.as_bytes();
            match bytes.iter().position(|b| *b == b'=') {
                None => is_name(bytes).then(|| (bytes.to_vec(), None)),
                Some(at) => {
                    let (name, value) = bytes.split_at(at);
                    is_name(name)
                        .then(|| (name.to_vec(), Some(Scalar::exact(value.get(1..).unwrap_or_default(), Known::Cut))))
                }
            }
        }
        Word::Dynamic(shape) if !shape.splits() => {
            let Some(Part::Literal(first)) = shape.parts.first() else { return None };
            let at = first.as_bytes().iter().position(|b| *b == b'=')?;
            let name = first.as_bytes().get(..at)?;
            is_name(name).then(|| (name.to_vec(), Some(Scalar::crafted())))
        }
        _ => None,
    }
}

/// `declare 'a[$(x)]=1'` evaluates the subscript.
fn subscripted(walker: &mut Walker<'_>, word: &Word, words: &Arguments<'_>, at: usize) {
    walker.names_variable(&Scalar::from_word(word, walker.armed), words.span(at));
}

/// `declare -n r=NAME`: from now on each use of `r` evaluates a subscript in the name.
fn refers(walker: &mut Walker<'_>, words: &Arguments<'_>, assigned: &[Assigned<'_>]) {
    for (at, word) in words.operands() {
        let name = assigned.iter().find(|one| one.at == at).map(|one| &one.held);
        match name {
            Some(Held::Scalar(name)) => {
                let steers = |name: &[u8]| {
                    meaning(name) != Meaning::Ordinary
                        || may_compute(name)
                        || steers_new_shell(name)
                        || std::str::from_utf8(name).is_ok_and(|name| changes_what_runs(name) || names_output(name))
                };
                if name.bytes().is_none_or(steers) {
                    walker.opaque(
                        Code::Environment,
                        "Which variable is set by another name is not known.",
                        words.span(at),
                    );
                }
                walker.names_variable(name, words.span(at));
            }
            _ if word.exact().is_some_and(|word| word.contains(&b'=') && !word.contains(&b'[')) => {}
            // The name is given later.
            _ => walker.evaluates_again(words.span(at)),
        }
    }
}

/// Nobody knows which variables were set, or how.
fn lose(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    walker.lose_variables();
    words.named(walker, Code::Environment, NamedBy::Nothing, 0);
    let text = "Which variables are set here is not known; they may change what runs.".to_owned();
    walker.doubt(Code::Environment, text, words.span(0));
}

/// Whether a variable is local to a function that is being walked. What it hides is then no longer known.
fn below_a_local(walker: &mut Walker<'_>, name: &[u8]) -> bool {
    let mut found = false;
    for frame in &mut walker.frames {
        for (_, entry) in frame.hidden.iter_mut().filter(|(known, _)| known == name) {
            *entry = Some(Entry { odd: true, ..Entry::new(Held::Unknown { crafted: true }) });
            found = true;
        }
    }
    found
}

/// Whether it is set for the command that runs now alone.
fn is_prefixed(walker: &Walker<'_>, name: &[u8]) -> bool {
    walker.prefixed.iter().any(|known| known.as_bytes() == name)
}

fn hide(walker: &mut Walker<'_>, name: &[u8]) {
    let old = match name {
        // What `cd` sets while it is local is not seen behind the function.
        b"PWD" | b"OLDPWD" => Some(Entry::new(Held::Unknown { crafted: walker.armed })),
        // Where it may not be hidden, what the function sets may stay.
        name if walker.frames.last().is_some_and(|frame| walker.branches > frame.branches) => {
            let old = walker.scope.get(name);
            let (exported, odd) = old.map_or((false, false), |entry| (entry.exported, entry.odd));
            Some(Entry { exported, odd, ..Entry::new(Held::Unknown { crafted: walker.armed }) })
        }
        name => walker.scope.get(name).cloned(),
    };
    if let Some(frame) = walker.frames.last_mut()
        && !frame.hidden.iter().any(|(known, _)| known == name)
    {
        frame.hidden.push((name.to_vec(), old));
    }
}

fn export_functions(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    if name != "export" {
        return;
    }
    for (_, word) in words.operands() {
        let Some(name) = word.exact() else { continue };
        let key = function_key(name);
        if let Some(entry) = walker.scope.get(&key) {
            let entry = Entry { exported: true, ..entry.clone() };
            walker.scope.set(&key, Some(entry));
        }
    }
}

pub(super) fn unset(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let letters = words.letters();
    let functions = letters.as_ref().is_none_or(|letters| letters.contains(&b'f'));
    let variables = letters.as_ref().is_none_or(|letters| !letters.contains(&b'f'));
    for (at, word) in words.operands() {
        match word.exact() {
            Some(name) if is_name(name) => {
                if variables && walker.scope.get(name).is_some_and(|entry| entry.odd) {
                    continue;
                }
                // `unset -n` takes a nameref away, and leaves what is none.
                if letters.as_ref().is_none_or(|letters| letters.contains(&b'n')) {
                    walker.set_at(name, Held::Unknown { crafted: true }, words.span(at));
                    continue;
                }
                // Behind it the one that it hid may be seen again.
                let (last, outer) =
                    walker.frames.split_last().map_or((None, &[][..]), |(last, outer)| (Some(last), outer));
                let hides = |frame: &crate::walk::Frame<'_>| frame.hidden.iter().any(|(known, _)| known == name);
                if variables && (is_prefixed(walker, name) || last.is_some() && outer.iter().any(hides)) {
                    below_a_local(walker, name);
                    walker.set_at(name, Held::Unknown { crafted: true }, words.span(at));
                    continue;
                }
                if variables {
                    walker.steering.retain(|(known, _)| known.as_bytes() != name);
                    walker.set_at(name, Held::Unset(Gone::Removed), words.span(at));
                }
                // Without `-f` a function goes only if there is no such variable.
                let key = function_key(name);
                if let Some(entry) = walker.scope.get(&key) {
                    let entry = match (&entry.held, functions && !variables) {
                        (_, true) => None,
                        (Held::Defined { definitions, .. }, false) => {
                            Some(Entry::new(Held::Defined { definitions: definitions.clone(), maybe: true }))
                        }
                        _ => None,
                    };
                    walker.scope.set(&key, entry);
                }
            }
            Some(name) if functions && !variables => {
                let key = function_key(name);
                walker.scope.set(&key, None);
            }
            Some(name) => {
                walker.names_variable(&Scalar::exact(name, Known::Written), words.span(at));
                if let Some(end) = name.iter().position(|b| *b == b'[')
                    && let Some(name) = name.get(..end)
                {
                    walker.set(name, Held::Unknown { crafted: true });
                }
            }
            None => {
                walker.names_variable(&Scalar::from_word(word, walker.armed), words.span(at));
                walker.state.fog = Fog::All;
                walker.state.path_changed = true;
            }
        }
    }
}
