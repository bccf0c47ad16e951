//! wget: fetches what its operands name into files.

use super::curl::url_effect;
use crate::effect::{Carry, HostTarget, Target, Verb};
use crate::program::{Code, View, join};
use crate::word::Word;
use std::borrow::Cow;

pub(crate) fn wget(view: &mut View<'_>) {
    let urls = view.operands();
    for &at in &urls {
        if let Some(word) = view.word(at) {
            url_effect(view, word, at);
        }
    }
    for (at, file) in view.values("--input-file") {
        if file.exact_str().is_some_and(|name| name.contains("://")) {
            view.connects(&file, at);
        } else {
            view.reads(&file, at);
        }
        view.effect(Verb::Connect, Target::Host(HostTarget::Unknown), at, Carry::Plain);
    }
    for (at, file) in view.values("--config") {
        view.reads(&file, at);
    }
    for (at, setting) in view.values("--execute") {
        setting_files(view, &setting, at);
    }
    for (at, file) in view.values("--hsts-file") {
        view.reads(&file, at);
    }
    if view.has_any(&["--recursive", "--mirror", "--page-requisites"]) && view.has("--span-hosts") {
        view.effect(Verb::Connect, Target::Host(HostTarget::Unknown), 0, Carry::Plain);
    }
    if view.has_any(&["--spider", "--version", "--help"]) {
        return;
    }
    for (at, file) in view.values("--output-document") {
        if file.exact() != Some(b"-") {
            view.path_effect(Verb::Write, &file, at, false, Carry::Plain);
        }
    }
    if view.has("--output-document") {
        return;
    }
    let before = view.base.clone();
    if let Some(folder) = view.value("--directory-prefix") {
        view.base = folder.exact().map(|bytes| Cow::Owned(join(before.as_deref(), bytes)));
        if view.base.is_none() {
            view.path_effect(Verb::Write, &Word::Opaque, 0, false, Carry::Plain);
        }
    }
    let many = view.has_any(&[
        "--recursive",
        "--mirror",
        "--page-requisites",
        "--input-file",
        "--content-disposition",
        "--trust-server-names",
        "--force-directories",
    ]);
    for &at in &urls {
        match view.word(at).and_then(saved_as).filter(|_| !many) {
            Some(name) => view.path_effect(Verb::Write, &Word::Exact(name.as_str().into()), at, false, Carry::Plain),
            None => view.path_effect(Verb::Write, &Word::Exact(".".into()), at, true, Carry::Plain),
        }
    }
    if urls.is_empty() && many {
        view.touches(Verb::Write, ".", true);
    }
    view.base = before;
    if view.has("--background") && !view.has("--output-file") {
        view.named_by_flag(Code::WritesFile, "--background", 0);
    }
}

/// `-e post_file=x` is a line of `.wgetrc`, where the names are written in any case, with or without `-` and `_`.
fn setting_files(view: &mut View<'_>, setting: &Word, at: usize) {
    let Some((name, value)) = setting.exact_str().and_then(|setting| setting.split_once('=')) else {
        return view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
    };
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let value = Word::Exact(value.trim().into());
    match name.as_str() {
        "postfile" | "bodyfile" | "loadcookies" | "input" | "certificate" | "privatekey" | "cacertificate"
        | "cadirectory" | "crlfile" | "warcdedup" => view.reads(&value, at),
        "outputdocument" | "logfile" | "savecookies" | "rejectedlog" | "warcfile" | "dirprefix" | "hstsfile" => {
            view.path_effect(Verb::Write, &value, at, false, Carry::Plain);
        }
        _ => {}
    }
}

/// The name under which a URL is saved: the last part of its path, with the query.
fn saved_as(url: &Word) -> Option<String> {
    let url = url.exact_str()?;
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next()?;
    let path = rest.split('?').next()?;
    if path.contains(['%', '\\', '*']) {
        return None;
    }
    let name = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next()).unwrap_or_default();
    let query = rest.strip_prefix(path).unwrap_or_default();
    let name = if name.is_empty() { "index.html" } else { name };
    (!query.contains('/')).then(|| format!("{name}{query}"))
}
