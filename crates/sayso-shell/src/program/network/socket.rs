//! Raw connections: nc, socat, telnet, openssl's client is in its own file.

use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::word::Word;

pub(crate) fn netcat(view: &mut View<'_>) {
    if view.has_any(&["--listen", "-L", "-h", "--version"]) {
        return;
    }
    if let (Some(at), Some(host)) = (view.operand_at(0), view.operand(0)) {
        if view.has("--unixsock") {
            view.named_by_flag(Code::ChangesService, "--unixsock", at);
            return;
        }
        let host = match (host.exact_str(), view.operand_str(1)) {
            (Some(host), Some(port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.contains(':') => {
                Word::Exact(format!("{host}:{port}").as_str().into())
            }
            _ => host.clone(),
        };
        view.connects(&host, at);
    }
}

/// What standard input says may fetch and store files, and run commands here.
pub(crate) fn interactive_client(view: &mut View<'_>) {
    if matches!(view.inv.name, "ftp" | "tftp") {
        view.code("ftp", Code::RunsCode, NamedBy::Program, 0);
    }
}

pub(crate) fn remote_shell(view: &mut View<'_>) {
    if let (Some(at), Some(host)) = (view.operand_at(0), view.operand(0)) {
        view.connects(host, at);
        match view.operand_at(1).and_then(|from| crate::program::wrapper::joined(view, from)) {
            Some(text) => {
                let span = view.span(at);
                view.out.starts.push(crate::program::Start::Shell {
                    text,
                    span,
                    dialect: crate::Dialect::Other,
                    elsewhere: true,
                    parameters: Vec::new(),
                });
            }
            None => crate::program::wrapper::interactive(view, "sh", at),
        }
    }
}

/// Two addresses, each `KEYWORD:parameters,options`, or `first!!second`.
pub(crate) fn socat(view: &mut View<'_>) {
    let mut at = 1;
    while let Some(option) = view.word(at).and_then(Word::exact).filter(|word| word.starts_with(b"-") && word.len() > 1)
    {
        let takes =
            matches!(option, b"-t" | b"-T" | b"-b" | b"-L" | b"-W" | b"-lf" | b"-lp" | b"-lm" | b"-ly" | b"-r" | b"-R");
        if matches!(option, b"-lf" | b"-r" | b"-R" | b"-L" | b"-W")
            && let Some(file) = view.word(at + 1)
        {
            view.path_effect(
                Verb::Write,
                file,
                at + 1,
                false,
                Carry::Named {
                    code: Code::WritesFile,
                    by: NamedBy::Flag(String::from_utf8_lossy(option).into_owned()),
                },
            );
        }
        at += if takes { 2 } else { 1 };
    }
    view.out.words = (at..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    for at in at..view.inv.argv.len() {
        match view.word(at).and_then(Word::exact_str) {
            Some(text) => {
                for address in text.split("!!") {
                    socat_address(view, address, at);
                }
            }
            None => view.named(Code::DynamicOption, NamedBy::Nothing, at),
        }
    }
}

fn socat_address(view: &mut View<'_>, address: &str, at: usize) {
    let (keyword, rest) = address.split_once(':').unwrap_or((address, ""));
    let parameter = rest.split(',').next().unwrap_or_default();
    let keyword = keyword.split(',').next().unwrap_or_default().to_ascii_uppercase();
    let word = Word::Exact(parameter.into());
    match keyword.as_str() {
        "-" | "STDIO" | "STDIN" | "STDOUT" | "STDERR" | "FD" | "PIPE" | "PTY" | "READLINE" | "TUN" => {}
        "EXEC" | "SYSTEM" | "SHELL" => {
            view.named(Code::RunsCommand, NamedBy::Nothing, at);
            view.starts_shell(word, at);
        }
        name if name.ends_with("LISTEN")
            || name.ends_with("-L")
            || name.ends_with("RECVFROM")
            || name.ends_with("RECV") =>
        {
            view.named(Code::Serves, NamedBy::Nothing, at);
        }
        "OPEN" | "FILE" | "GOPEN" | "CREATE" | "CREAT" => {
            view.reads(&word, at);
            view.path_effect(
                Verb::Write,
                &word,
                at,
                false,
                Carry::Named { code: Code::WritesFile, by: NamedBy::Nothing },
            );
        }
        name if name.starts_with("UNIX") || name.starts_with("ABSTRACT") || name.starts_with("LOCAL") => {
            view.named(Code::ChangesService, NamedBy::Nothing, at)
        }
        name if ["TCP", "UDP", "SCTP", "DCCP", "OPENSSL", "SSL", "IP", "SOCKS", "PROXY"]
            .iter()
            .any(|known| name.starts_with(known)) =>
        {
            view.connects(&word, at);
        }
        _ if keyword.contains('/') => {
            let file = Word::Exact(address.into());
            view.reads(&file, at);
            view.path_effect(
                Verb::Write,
                &file,
                at,
                false,
                Carry::Named { code: Code::WritesFile, by: NamedBy::Nothing },
            );
        }
        _ => view.named(Code::UnknownOption, NamedBy::Nothing, at),
    }
}
