//! curl: connects to what its operands name, and reads and writes files by its options.

use crate::effect::{Carry, HostTarget, NamedBy, PathTarget, Target, Verb};
use crate::program::{Code, View, host, join};
use crate::word::{Part, Word};
use std::borrow::Cow;

pub(crate) fn curl(view: &mut View<'_>) {
    let mut urls: Vec<(usize, Word)> =
        view.operands().into_iter().filter_map(|at| Some((at, view.word(at)?.clone()))).collect();
    for (at, url) in view.values("--url") {
        if let Some([b'@', file @ ..]) = url.exact() {
            view.reads(&Word::Exact(file.into()), at);
            view.connects(&Word::Opaque, at);
        } else {
            urls.push((at, url));
        }
    }
    let bare_is_file = view
        .value("--proto-default")
        .is_some_and(|scheme| scheme.exact().is_none_or(|scheme| scheme.eq_ignore_ascii_case(b"file")));
    for (at, url) in &urls {
        if bare_is_file && url.exact().is_none_or(|url| !url.windows(3).any(|window| window == b"://")) {
            view.reads(url, *at);
        }
        // `{file,http}://` is put together by curl itself.
        if url.exact().is_some_and(globbed_scheme) {
            reads_any(view, *at);
        }
        url_effect(view, url, *at);
    }
    for (at, value) in view.values("--config") {
        view.reads(&value, at);
    }
    sent_files(view);
    more_than_asks(view, &urls);
    redirected_hosts(view);
    outputs(view, &urls);
    for (at, value) in view.values("--upload-file") {
        // `{a,b}` and `[1-9]` name several files.
        if value.exact().is_some_and(|text| text.iter().any(|byte| matches!(byte, b'{' | b'['))) {
            reads_any(view, at);
        }
        view.reads(&value, at);
    }
    other_files(view);
}

/// Implies `--sends` for all that is more than a question to the server that is named: data, another method, another
/// protocol, or going on to where the server points.
fn more_than_asks(view: &mut View<'_>, urls: &[(usize, Word)]) {
    const DATA: &[&str] = &[
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "--json",
        "--form",
        "--form-string",
    ];
    const BEYOND: &[&str] = &[
        "--upload-file",
        "--quote",
        "--mail-from",
        "--mail-rcpt",
        "--location",
        "--location-trusted",
        "--proto-default",
        "--request-target",
        "--config",
        "--telnet-option",
        "--append",
        "--next",
        "--variable",
        // These hold other addresses for the servers that are named.
        "--alt-svc",
        "--hsts",
        "--sends",
        "--beyond",
    ];
    let method = |word: &Word| matches!(word.exact(), Some(b"GET" | b"HEAD" | b"OPTIONS"));
    let asks = |word: &Word| {
        let text = match word {
            // What the shell might expand in the path of a URL leaves its server as it is.
            Word::Dynamic(shape) if !shape.parts.contains(&Part::Hole) => match shape.parts.first() {
                Some(Part::Literal(text)) if matches!(host::of_word(word), HostTarget::Exact { .. }) => text.as_str(),
                _ => None,
            },
            word => word.exact_str(),
        };
        let Some(text) = text else { return false };
        // `{a,b}` and `[1-9]` are several addresses.
        let plain = !text.contains(['{', '[', '\\']) || text.starts_with("http://[::1]");
        plain && text.split_once("://").is_none_or(|(scheme, _)| matches!(scheme, "http" | "https"))
    };
    let posts = |word: &Word| matches!(word.exact(), Some(b"POST" | b"PUT" | b"PATCH"));
    let requests = view.values("--request");
    let other = requests.iter().find(|(_, value)| !method(value)).map(|(at, _)| *at);
    let another = requests.iter().find(|(_, value)| !method(value) && !posts(value)).map(|(at, _)| *at);
    let address = urls.iter().find(|(_, url)| !asks(url)).map(|(at, _)| *at);
    let first =
        |names: &[&str]| view.seen.iter().find(|seen| names.contains(&seen.opt.name.as_str())).map(|seen| seen.at);
    let (data, beyond) = (first(DATA), first(BEYOND));
    // `name=text` is a part of the address; what a file holds is not.
    let file = |word: &Word| {
        word.exact().is_none_or(|text| text.iter().find(|byte| matches!(byte, b'@' | b'=')) == Some(&b'@'))
    };
    let query = view.values("--url-query").iter().find(|(_, value)| file(value)).map(|(at, _)| *at);
    if let Some(at) = data.or(beyond).or(other).or(address).or(query) {
        view.imply("--sends", None, at);
    }
    // More than a form or a message to the server that is named.
    if let Some(at) = beyond.or(another).or(address).or(query) {
        view.imply("--beyond", None, at);
    }
}

/// Some file, nobody knows which.
fn reads_any(view: &mut View<'_>, at: usize) {
    view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
}

/// Files that options read besides those whose value is nothing but a name.
fn other_files(view: &mut View<'_>) {
    for name in ["--cert", "--proxy-cert"] {
        for (at, value) in view.values(name) {
            // `FILE:PASSWORD`
            if let Some(colon) = value.exact().and_then(|text| text.iter().position(|&byte| byte == b':')) {
                let file = value.exact().and_then(|text| text.get(..colon)).unwrap_or_default();
                view.reads(&Word::Exact(file.into()), at);
            }
            view.reads(&value, at);
        }
    }
    for name in ["--pinnedpubkey", "--proxy-pinnedpubkey"] {
        for (at, value) in view.values(name) {
            if value.exact().is_none_or(|text| !text.starts_with(b"sha256//")) {
                view.reads(&value, at);
            }
        }
    }
    for name in ["--hsts", "--alt-svc", "--ssl-sessions"] {
        for (at, value) in view.values(name) {
            view.reads(&value, at);
        }
    }
    if view.has_any(&["--netrc", "--netrc-optional"])
        && let Some(home) = view.inv.home
    {
        let file = home.join(".netrc");
        view.effect(Verb::Read, Target::Path(PathTarget::Exact(file)), 0, Carry::Plain);
    }
    // `--expand-data '@{{name}}'`: any option, its value put together by curl itself.
    let expands = |word: &Word| word.exact().is_some_and(|text| text.starts_with(b"--expand-"));
    if let Some(at) = view.inv.argv.iter().position(expands) {
        reads_any(view, at);
    }
}

/// A URL is connected to; `file:` is a file of this machine.
pub(super) fn url_effect(view: &mut View<'_>, url: &Word, at: usize) {
    let beginning = match url {
        Word::Exact(text) => text.as_bytes(),
        Word::Dynamic(shape) => match shape.parts.first() {
            Some(Part::Literal(text)) => text.as_bytes(),
            _ => b"",
        },
        Word::Opaque => b"",
    };
    let lower = beginning.to_ascii_lowercase();
    if lower.starts_with(b"file:") {
        let path = beginning.get(5..).unwrap_or_default();
        let path = path.strip_prefix(b"//").map_or(path, |rest| {
            rest.iter().position(|&byte| byte == b'/').and_then(|slash| rest.get(slash..)).unwrap_or(rest)
        });
        // What is encoded or unknown may be any file.
        if url.exact().is_some() && !path.iter().any(|byte| matches!(byte, b'%' | b'{' | b'[')) {
            view.reads(&Word::Exact(path.into()), at);
        } else {
            view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
        }
        return;
    }
    if beginning.is_empty() && url.exact().is_none() {
        // The whole URL is unknown: it may be `file:` too.
        view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
    }
    view.connects(url, at);
    // What this machine serves is told apart by its port; without one it is the scheme's.
    let default = if lower.starts_with(b"https:") { 443 } else { 80 };
    let http = lower.starts_with(b"http") || !lower.windows(3).any(|window| window == b"://");
    if let Some(Target::Host(HostTarget::Exact { host, port: port @ None })) =
        view.out.effects.last_mut().map(|effect| &mut effect.target)
        && http
        && is_here(host)
    {
        *port = Some(default);
    }
}

/// Whether a host is this machine, as people write it.
fn is_here(host: &str) -> bool {
    host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127.")
}

/// Whether the scheme of a URL may come out of `{..}` or `[a-z]`.
fn globbed_scheme(url: &[u8]) -> bool {
    let scheme = url.split(|&byte| byte == b':').next().unwrap_or_default();
    scheme.contains(&b'{') || scheme.contains(&b'[') && scheme.contains(&b'-')
}

/// Options whose value names a file behind `@`, `<` or `=`.
fn sent_files(view: &mut View<'_>) {
    for name in ["--data", "--data-ascii", "--data-binary", "--json", "--header", "--proxy-header", "--write-out"] {
        for (at, value) in view.values(name) {
            file_behind(view, &value, b"@", at);
        }
    }
    for name in ["--data-urlencode", "--url-query", "--variable"] {
        for (at, value) in view.values(name) {
            match value.exact() {
                Some(text) => {
                    // `name@file` reads, `name=text` does not, whatever stands in the text.
                    let sign = text.iter().position(|byte| matches!(byte, b'@' | b'='));
                    if let Some([b'@', file @ ..]) = sign.and_then(|sign| text.get(sign..)) {
                        let (file, part) = (file, file.split(|&byte| byte == b';').next().unwrap_or_default());
                        view.reads(&Word::Exact(file.into()), at);
                        if part != file {
                            view.reads(&Word::Exact(part.into()), at);
                        }
                    }
                }
                None => reads_any(view, at),
            }
        }
    }
    for (at, value) in view.values("--form") {
        match value.exact() {
            Some(text) => form_files(view, text, at),
            None => reads_any(view, at),
        }
    }
    for (at, value) in view.values("--cookie") {
        if value.exact().is_none_or(|text| !text.contains(&b'=') && !text.is_empty()) {
            view.reads(&value, at);
        }
    }
    for (at, value) in view.values("--write-out") {
        if value.exact().is_none_or(|text| text.windows(8).any(|window| window == b"%output{")) {
            view.named_by_flag(Code::WritesFile, "--write-out", at);
        }
        for part in value.exact_str().unwrap_or_default().split("%output{").skip(1) {
            let file = part.split('}').next().unwrap_or_default();
            let file = file.strip_prefix(">>").unwrap_or(file);
            view.path_effect(Verb::Write, &Word::Exact(file.into()), at, false, named("--write-out"));
        }
    }
}

/// `name=@a,b;type=t` and `name=<a` send files; `;headers=@c` reads one.
fn form_files(view: &mut View<'_>, text: &[u8], at: usize) {
    let content = text.iter().position(|&byte| byte == b'=').and_then(|equals| text.get(equals + 1..));
    let mut parts = content.unwrap_or_default().split(|&byte| byte == b';');
    let first = parts.next().unwrap_or_default();
    let more = parts.filter_map(|part| part.trim_ascii().strip_prefix(b"headers="));
    for content in std::iter::once(first).chain(more) {
        let content = content.strip_prefix(b"\"").unwrap_or(content);
        let Some(files) = content.strip_prefix(b"@").or_else(|| content.strip_prefix(b"<")) else { continue };
        for file in files.split(|&byte| byte == b',') {
            let file = file.trim_ascii();
            // curl takes the quotes away, and `\` before a sign.
            let file: Vec<u8> = file.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\\')).collect();
            view.reads(&Word::Exact(file.into()), at);
        }
    }
}

fn file_behind(view: &mut View<'_>, value: &Word, sign: &[u8], at: usize) {
    match value {
        Word::Exact(text) => {
            if let Some(file) = text.as_bytes().strip_prefix(sign) {
                view.reads(&Word::Exact(file.into()), at);
            }
        }
        Word::Dynamic(shape) => {
            let may = shape.may_start_with(b'@');
            if may {
                view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
            }
        }
        Word::Opaque => view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain),
    }
}

/// The file behind the first `@`, and behind the last: which one separates depends on what stands before. `;type=` may
/// follow.
fn named_file(view: &mut View<'_>, value: &Word, at: usize) {
    let Some(text) = value.exact() else { return reads_any(view, at) };
    let is_sign = |byte: &u8| *byte == b'@';
    let (first, last) = (text.iter().position(is_sign), text.iter().rposition(is_sign));
    for sign in first.into_iter().chain(last.filter(|_| last != first)) {
        let file = text.get(sign + 1..).unwrap_or_default();
        let end = file.windows(6).position(|window| window == b";type=").unwrap_or(file.len());
        view.reads(&Word::Exact(file.get(..end).unwrap_or(file).into()), at);
    }
}

/// `--connect-to` and `--resolve` send the connection elsewhere than the URL says.
fn redirected_hosts(view: &mut View<'_>) {
    for (name, place) in [("--connect-to", 2), ("--resolve", 2)] {
        for (at, value) in view.values(name) {
            let host = value.exact_str().and_then(|text| text.splitn(place + 1, ':').nth(place));
            match host {
                Some(hosts) => {
                    for host in hosts.split(',').filter(|host| !host.is_empty()) {
                        view.connects(&Word::Exact(host.into()), at);
                    }
                }
                None => view.connects(&Word::Opaque, at),
            }
        }
    }
    for (at, value) in view.values("--dns-servers") {
        for host in value.exact_str().unwrap_or("?").split(',') {
            view.connects(&Word::Exact(host.into()), at);
        }
    }
}

fn outputs(view: &mut View<'_>, urls: &[(usize, Word)]) {
    let before = view.base.clone();
    if let Some(folder) = view.value("--output-dir") {
        view.base = folder.exact().map(|bytes| Cow::Owned(join(before.as_deref(), bytes)));
        if view.base.is_none() {
            view.path_effect(Verb::Write, &Word::Opaque, 0, false, named("--output-dir"));
        }
    }
    for (at, file) in view.values("--output") {
        if file.exact() != Some(b"-") {
            // `#1` stands for a part of the URL.
            let file =
                if file.exact().is_some_and(|name| name.contains(&b'#')) { crate::script::unknown() } else { file };
            view.path_effect(Verb::Write, &file, at, false, named("--output"));
        }
    }
    if view.has_any(&["--remote-name", "--remote-name-all"]) {
        let server_names = view.has("--remote-header-name");
        for (at, url) in urls {
            match remote_name(url).filter(|_| !server_names) {
                Some(name) => {
                    view.path_effect(Verb::Write, &Word::Exact(name.into()), *at, false, named("--remote-name"))
                }
                None => view.path_effect(Verb::Write, &Word::Exact(".".into()), *at, true, named("--remote-name")),
            }
        }
    }
    view.base = before;
}

fn named(flag: &str) -> Carry {
    Carry::Named { code: Code::WritesFile, by: NamedBy::Flag(flag.to_owned()) }
}

/// The last part of a URL's path.
pub(super) fn remote_name(url: &Word) -> Option<&str> {
    let url = url.exact_str()?;
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next()?;
    let (_, name) = path.rsplit_once('/')?;
    (!name.is_empty() && !name.contains(['%', '{', '[', '\\'])).then_some(name)
}

/// `http [METHOD] URL [item..]`; `name@file`, `name=@file` and `@file` read files.
pub(crate) fn httpie(view: &mut View<'_>) {
    for (at, file) in view.values("--verify") {
        if file.exact_str().is_none_or(|verify| !matches!(verify, "yes" | "no" | "true" | "false" | "1" | "0")) {
            view.reads(&file, at);
        }
    }
    for (at, file) in view.values("--session") {
        view.reads(&file, at);
    }
    let mut operands = view.operands();
    let method =
        view.operand_str(0).is_some_and(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
    if method && !operands.is_empty() {
        operands.remove(0);
    }
    for (n, at) in operands.into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        if n == 0 {
            if !view.has("--offline") {
                // `:8080/x` means this machine.
                match word.exact() {
                    Some([b':', rest @ ..]) => {
                        let local: Vec<u8> =
                            b"localhost:".iter().chain(rest.strip_prefix(b":").unwrap_or(rest)).copied().collect();
                        view.connects(&Word::Exact(local.into()), at);
                    }
                    _ => view.connects(word, at),
                }
            }
        } else if word.exact().is_none_or(|text| text.contains(&b'@')) {
            named_file(view, word, at);
        }
    }
}

pub(crate) fn downloader(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.connects(word, at);
        }
    }
    if !view.has_any(&["--dir", "--out", "--paths"]) {
        view.touches(Verb::Write, ".", true);
    }
}
