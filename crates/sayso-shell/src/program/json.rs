//! jq and its kin. The language is read by [`crate::script`].

use super::{Code, View};
use crate::effect::NamedBy;
use crate::script::{self, Flavour};
use crate::word::Word;

/// It rewrites what it formats.
pub(crate) fn taplo(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if !view.has_any(&["--check", "--diff"]) && word.exact() != Some(b"-") {
            view.writes_sources(word, at, "toml");
        }
    }
}

pub(crate) fn jq(view: &mut View<'_>) {
    // All that follow `--args` are texts.
    let first = |names: [&str; 2]| view.seen.iter().filter(|s| names.contains(&&*s.opt.name)).map(|s| s.at).min();
    let (arguments, from) = (first(["--args", "--jsonargs"]), first(["--from-file"; 2]));
    let mut words = view.operands().into_iter();
    if let Some(from) = from {
        from_file(view, Flavour::Jq);
        // Where `-f` is a mere flag, as before jq 1.8, the filter is in the first operand, wherever that stands.
        let mut before = view.operands().into_iter().filter(|at| *at < from);
        if let Some(at) = before.next() {
            view.named(Code::UnclearScript, NamedBy::Flag("--from-file".to_owned()), at);
        }
    } else {
        program(view, words.next(), Flavour::Jq);
    }
    for at in words.filter(|at| arguments.is_none_or(|first| *at < first)) {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
        }
    }
}

/// A filter that stands in a file.
fn from_file(view: &mut View<'_>, flavour: Flavour) {
    for (at, file) in view.values("--from-file") {
        match view.content(&file) {
            Some(content) => {
                view.findings(script::jq(&content, flavour), &NamedBy::Flag("--from-file".to_owned()), at);
            }
            None => view.named(Code::UnclearScript, NamedBy::Flag("--from-file".to_owned()), at),
        }
    }
}

pub(crate) fn yq(view: &mut View<'_>) {
    let mut words = view.operands().into_iter();
    for (at, word) in view.values("--expression") {
        filter(view, &word, at, Flavour::Yq);
    }
    from_file(view, Flavour::Yq);
    if !view.has_any(&["--from-file", "--expression"]) {
        program(view, words.next(), Flavour::Yq);
    }
    let in_place = view.has("--inplace");
    for at in words {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
            if in_place {
                view.writes(word, at);
            }
        }
    }
}

fn program(view: &mut View<'_>, at: Option<usize>, flavour: Flavour) {
    let Some((at, word)) = at.and_then(|at| view.word(at).map(|w| (at, w))) else { return };
    filter(view, word, at, flavour);
}

fn filter(view: &mut View<'_>, word: &Word, at: usize, flavour: Flavour) {
    match script::text_of(word) {
        Some(text) => {
            let findings = script::jq(&text, flavour);
            view.findings(findings, &NamedBy::Nothing, at);
        }
        // A filter that holds a variable's text can read the environment at most.
        None => view.named(Code::UnclearScript, NamedBy::Nothing, at),
    }
}
