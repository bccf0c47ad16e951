//! An effect in words.

use crate::explain::visible::{visible, visible_bytes};
use crate::word::{Operation, Request};
use sayso_shell::{Carry, Effect, HostTarget, Listing, NamedBy, PathTarget, Run, Sieve, Span, Target, Text, Word};
use std::path::Path;

/// The verb as a word.
#[must_use]
pub fn verb(effect: &Effect) -> &'static str {
    effect.verb.as_str()
}

/// What an effect is done to, on one line, safe to show. Paths are shortened to `./` in the workspace and `~/` at home.
#[must_use]
pub fn target(operation: &Operation, effect: &Effect) -> String {
    if operation.provenance.covers(operation, effect) {
        return named_elsewhere(operation, effect);
    }
    let run = |id| operation.analysis.as_ref().and_then(|analysis| analysis.run(id));
    match &effect.target {
        Target::Program(id) | Target::Wrapper(id) => run(*id).map_or_else(|| "?".to_owned(), program),
        Target::Code { run: id, language } => match run(*id) {
            Some(run) => format!("{language} code in {}", program(run)),
            None => format!("{language} code"),
        },
        Target::Option(id) => match run(*id) {
            Some(run) => match &effect.carry {
                Carry::Named { by: NamedBy::Env(name), .. } => format!("{} with {}", program(run), assigned(run, name)),
                _ => format!("{} {}", program(run), source(operation, effect)),
            },
            None => source(operation, effect),
        },
        Target::Anything => "anything (Sayso cannot see all of it)".to_owned(),
        Target::Path(target) => path(operation, target),
        Target::Host(HostTarget::Exact { host, port: None }) => visible(host).into_owned(),
        Target::Host(HostTarget::Exact { host, port: Some(port) }) => format!("{}:{port}", visible(host)),
        Target::Host(HostTarget::Configured(label)) => format!("host of {}", visible(label)),
        Target::Host(HostTarget::Unknown) => "unknown host".to_owned(),
        Target::Tool => visible(&operation.tool.canonical).into_owned(),
    }
}

/// What stands in a file is named by the file, and by the part of the command that leads there.
fn named_elsewhere(operation: &Operation, effect: &Effect) -> String {
    let written = source(operation, effect);
    let files = sources(operation);
    if written.is_empty() || written.len() > 60 {
        format!("named in {files}")
    } else {
        format!("named in {files} (at `{written}`)")
    }
}

/// The files that words of an operation come from.
#[must_use]
pub fn sources(operation: &Operation) -> String {
    const MOST: usize = 3;
    let files = operation.provenance.files();
    let mut named: Vec<String> = files.iter().take(MOST).map(|file| shorten(operation, file)).collect();
    if files.len() > MOST {
        named.push(format!("{} more files", files.len() - MOST));
    }
    named.join(", ")
}

/// A variable of a run, as it would be typed before it.
fn assigned(run: &Run, name: &str) -> String {
    let value = run.env.iter().rev().find(|(known, _)| known.as_bytes() == name.as_bytes()).map(|(_, value)| value);
    let value = match value {
        Some(Word::Exact(text)) if text.as_bytes().is_empty() => String::new(),
        Some(Word::Exact(text)) => quoted(text),
        _ => "…".to_owned(),
    };
    format!("{}={value}", visible(name))
}

/// A run by what it resolves to, or else by its name.
fn program(run: &Run) -> String {
    match (&run.program.path, &run.program.base, run.argv.first()) {
        (Some(path), _, _) => visible_path(path),
        (None, Some(base), _) => visible(base).into_owned(),
        (None, None, Some(Word::Exact(text))) => visible_text(text),
        _ => "unknown program".to_owned(),
    }
}

/// A run as a person would type it: the name and its words. Words of which the value is not known are shown as they
/// stand in the text, or as `…` where they do not stand there.
#[must_use]
pub fn command_line(run: &Run, text: &[u8]) -> String {
    let as_written = |index: usize| {
        let written = run.spans.get(index).and_then(|span| text.get(bytes_of(*span)));
        written.filter(|written| !written.is_empty() && written.len() <= 60).map(visible_bytes)
    };
    let words = run.argv.iter().enumerate().map(|(index, word)| match word {
        Word::Exact(text) => quoted(text),
        Word::Dynamic(_) | Word::Opaque => as_written(index).unwrap_or_else(|| "…".to_owned()),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(text: &Text) -> String {
    let shown = visible_text(text);
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~\\{}".contains(c);
    if !shown.is_empty() && shown.chars().all(plain) { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}

/// The part of the command that an effect comes from.
fn source(operation: &Operation, effect: &Effect) -> String {
    command_text(operation).and_then(|text| text.get(bytes_of(effect.span))).map(visible_bytes).unwrap_or_default()
}

/// The text that spans of effects point into: the command, or the one that a shell tool was given.
#[must_use]
pub fn command_text(operation: &Operation) -> Option<&[u8]> {
    match &operation.request {
        Request::Command(text) => Some(text),
        Request::Tool { arguments, .. } => {
            operation.analysis.as_ref()?;
            ["command", "cmd", "script"].iter().find_map(|key| Some(arguments.get(key)?.as_str()?.as_bytes()))
        }
    }
}

/// A span as a range of bytes.
#[must_use]
pub fn bytes_of(span: Span) -> std::ops::Range<usize> {
    usize::try_from(span.start).unwrap_or(usize::MAX)..usize::try_from(span.end).unwrap_or(usize::MAX)
}

fn path(operation: &Operation, target: &PathTarget) -> String {
    match target {
        PathTarget::Exact(path) => shorten(operation, path),
        PathTarget::Below(path) => format!("{}/**", shorten(operation, path).trim_end_matches('/')),
        PathTarget::Sifted(listing) => sifted(operation, listing),
        PathTarget::Glob { base, pattern, below } => {
            let below = if *below { "/**" } else { "" };
            format!("{}/{}{below}", shorten(operation, base).trim_end_matches('/'), visible_text(pattern))
        }
        PathTarget::Listed(listing) => match listing.sieve {
            Sieve::All => format!("names listed in {}", shorten(operation, &listing.folder)),
            _ => format!("names listed in {}", sifted(operation, listing)),
        },
        PathTarget::Told(of) => format!("{} (its name and size)", path(operation, of)),
        PathTarget::Unknown(_) => "unknown path".to_owned(),
    }
}

/// `./**/*.rs`, or what of `./**` is not hidden.
fn sifted(operation: &Operation, listing: &Listing) -> String {
    let folder = shorten(operation, &listing.folder);
    let folder = folder.trim_end_matches('/');
    match &listing.sieve {
        Sieve::All => format!("{folder}/**"),
        Sieve::Visible => format!("{folder}/** (not hidden)"),
        Sieve::Searched => format!("{folder}/** (not hidden, not ignored)"),
        Sieve::Unignored => format!("{folder}/** (not ignored)"),
        Sieve::Tracked => format!("{folder}/** (tracked by git)"),
        Sieve::Without(_) => format!("{folder}/** (some names left out)"),
        Sieve::Named(names) | Sieve::Sources(names) => {
            // A formatter of many languages has many; who wants them all looks at the trace.
            let mut shown: Vec<String> = names.iter().take(4).map(visible_text).collect();
            if names.len() > shown.len() {
                shown.push("...".to_owned());
            }
            match shown.as_slice() {
                [only] => format!("{folder}/**/{only}"),
                some => format!("{folder}/**/{{{}}}", some.join(",")),
            }
        }
    }
}

/// `./x` in the workspace, `~/x` at home, else as it is.
fn shorten(operation: &Operation, path: &Path) -> String {
    for (root, short) in [(operation.workspace.root(), "."), (operation.home.as_deref(), "~")] {
        if let Some(rest) = root.and_then(|root| path.strip_prefix(root).ok()) {
            return if rest.as_os_str().is_empty() {
                short.to_owned()
            } else {
                format!("{short}/{}", visible_path(rest))
            };
        }
    }
    visible_path(path)
}

fn visible_path(path: &Path) -> String {
    visible_bytes(path.as_os_str().as_encoded_bytes())
}

fn visible_text(text: &Text) -> String {
    visible_bytes(text.as_bytes())
}
