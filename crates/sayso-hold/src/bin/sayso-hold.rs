//! Runs a command held to bounds that are given on the command line. For tests, and for trying things out.
//!
//! ```text
//! sayso-hold [--write DIR] [--read-only PATH] [--absent PATH] [--aside DIR] [--hide DIR] [--read PATH] [--decoy FILE]
//!            [--refuse FILE] [--text FILE=TEXT] [--shared DIR=SECONDS] [--replace NAME=VALUE] [--host NAME[:PORT]] [--resolve NAME=ADDRESS] [--socket PATH] [--copy DIR=STORE]
//!            [--private DIR=FOLDER] [--empty DIR] [--withhold NAME] [--git DIR] [--need whole|files] [--level whole|files]
//!            [--answer yes|no] [--report writes] [--session SOCKET] [--idle SECONDS] [--fail-at NUMBER]
//!            [--try STORE [--take all|none|NUMBER,...] [--take-after FILE]] -- COMMAND...
//! sayso-hold end-session SOCKET
//! ```
//!
//! What was held back is told on standard error, a line each, after `held back:`. With `--try`, what the command changed
//! is told after `try:`, and made as far as it is taken; `--take-after` waits for a file before that.

use sayso_hold::attempt::{self, Attempt, Diff};
use sayso_hold::session::Session;
use sayso_hold::{Answer, Ended, HeldBack, Launch, Level, Stage, Step};
use sayso_shell::bounds::{Bounds, Cache, CacheView, Decoy, Host, Leave, Need, Shared};
use std::collections::HashMap;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const STAGE: &str = "hold-stage";
const SUPERVISOR: &str = "hold-supervisor";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    if words.peek().is_some_and(|word| word == STAGE) {
        return sayso_hold::stage();
    }
    if words.peek().is_some_and(|word| word == SUPERVISOR) {
        return sayso_hold::session::supervisor();
    }
    if words.peek().is_some_and(|word| word == "end-session") {
        let ended = words.nth(1).is_some_and(|socket| sayso_hold::session::end(socket.as_ref()));
        return if ended { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Some((asked, command)) = read(words.collect()) else {
        eprintln!("sayso-hold: wrong usage");
        return ExitCode::from(125);
    };
    let Ok(program) = std::env::current_exe() else { return ExitCode::from(126) };
    let supervisor = Stage { program: program.clone(), arguments: vec![SUPERVISOR.into()] };
    let stage = Stage { program, arguments: vec![STAGE.into()] };
    let mut launch = match Launch::here(command, stage) {
        Ok(launch) => launch,
        Err(error) => return failed(&error.into()),
    };
    launch.fail_at = asked.fail_at;
    launch.report_writes = asked.report_writes;
    if let Some(answer) = asked.answer {
        launch.ask = Some(Arc::new(move |wish| {
            eprintln!("asked: {wish:?}");
            answer
        }));
    }
    if !asked.resolve.is_empty() {
        let known = asked.resolve.clone();
        launch.resolve = Some(Arc::new(move |name, port| {
            Ok(known.get(name).map(|address| SocketAddr::new(*address, port)).into_iter().collect())
        }));
    }
    if let Some(store) = &asked.store {
        return match attempt::run(&asked.bounds, &launch, store) {
            Ok(attempt) => settle(attempt, &asked),
            Err(error) => failed(&error),
        };
    }
    let ended = match (asked.level, asked.session) {
        (None, Some(socket)) => {
            let session = Session { socket, supervisor, idle: asked.idle };
            sayso_hold::session::run_in(&session, &asked.bounds, &launch)
        }
        (Some(level), _) => sayso_hold::run_at(level, &asked.bounds, &launch),
        (None, None) => sayso_hold::run(&asked.bounds, &launch),
    };
    match ended {
        Ok(ended) => finish(&ended),
        Err(error) => failed(&error),
    }
}

fn finish(ended: &Ended) -> ExitCode {
    for (what, count) in ended.held_back.iter() {
        eprintln!("held back: {} ({count})", tell(what));
    }
    ExitCode::from(ended.status.exit_code())
}

/// Shows what a tried run changed, and makes what is taken of it.
fn settle(attempt: Attempt, asked: &Asked) -> ExitCode {
    let code = finish(&attempt.ended);
    for (number, change) in attempt.changes.iter().enumerate() {
        let marks = [(change.guarded, " guarded"), (change.conflict, " conflict")];
        let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
        let from = change.from.as_ref().map(|from| format!(" from {from:?}")).unwrap_or_default();
        let contents = match &change.diff {
            Diff::None => "",
            Diff::Text { .. } => " text",
            Diff::Binary => " binary",
            Diff::Large => " large",
        };
        let kind = change.kind().word();
        eprintln!("try: {number} {kind} {:?}{from}{contents}{marks} {:?}", change.path, change.after);
    }
    for (host, port, _) in attempt.ended.held_back.reached() {
        eprintln!("try: reached {host}:{port}");
    }
    if let Some(file) = &asked.take_after {
        while !file.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    let count = attempt.changes.len();
    let taken: Vec<usize> = match asked.take.as_str() {
        "all" => (0..count).collect(),
        list => list.split(',').filter_map(|number| number.parse().ok()).collect(),
    };
    let committed = attempt.commit(&taken);
    eprintln!("try: took {} of {count}", committed.done.len());
    for (number, why) in &committed.refused {
        eprintln!("try: refused {number}: {why}");
    }
    code
}

fn failed(error: &sayso_hold::Error) -> ExitCode {
    eprintln!("sayso-hold: {error}");
    ExitCode::from(error.exit_code())
}

fn tell(what: &HeldBack) -> String {
    match what {
        HeldBack::Read(path) => format!("read {}", path.display()),
        HeldBack::Write { path, .. } => format!("write {}", path.display()),
        HeldBack::WriteOutside(path) => format!("write {}", path.display()),
        HeldBack::Socket(path) => format!("socket {}", path.display()),
        HeldBack::Connect { host, port: Some(port) } => format!("connect {host}:{port}"),
        HeldBack::Connect { host, port: None } => format!("connect {host}"),
        _ => "something".to_owned(),
    }
}

#[derive(Default)]
struct Asked {
    bounds: Bounds,
    level: Option<Level>,
    resolve: HashMap<String, IpAddr>,
    fail_at: Option<Step>,
    session: Option<PathBuf>,
    idle: u32,
    answer: Option<Answer>,
    report_writes: bool,
    store: Option<PathBuf>,
    take: String,
    take_after: Option<PathBuf>,
}

fn read(words: Vec<OsString>) -> Option<(Asked, Vec<OsString>)> {
    let mut asked = Asked { idle: 1800, ..Asked::default() };
    let mut words = words.into_iter();
    loop {
        let option = words.next()?;
        if option == "--" {
            break;
        }
        let value = words.next()?;
        let path = PathBuf::from(&value);
        let text = value.to_str().unwrap_or_default().to_owned();
        let bounds = &mut asked.bounds;
        match option.to_str()? {
            "--write" => bounds.write.push(path),
            "--read-only" => bounds.read_only.push(path),
            "--absent" => bounds.absent.push(path),
            "--aside" => bounds.aside = Some(path),
            "--hide" => bounds.hide.push(path),
            "--read" => bounds.read.push(path),
            "--decoy" => bounds.decoys.push(Decoy { path, text: "This file is held back.\n".to_owned() }),
            "--refuse" => bounds.refuse.push(path),
            "--text" => {
                let (path, text) = text.split_once('=')?;
                bounds.texts.push(Decoy { path: path.into(), text: text.to_owned() });
            }
            "--shared" => {
                let (path, since) = text.split_once('=')?;
                bounds.shared.push(Shared { path: path.into(), since: since.parse().ok()? });
            }
            "--replace" => {
                let (name, value) = text.split_once('=')?;
                bounds.replace.push((name.into(), value.into()));
            }
            "--socket" => bounds.sockets.push(path),
            "--withhold" => bounds.withhold.push(value),
            "--git" => bounds.read_only.extend(sayso_hold::git::steering(&path)),
            "--host" => {
                let (name, port) =
                    text.split_once(':').map_or((text.as_str(), None), |(name, port)| (name, Some(port)));
                let ports = port.map(|port| port.parse().ok()).into_iter().collect::<Option<Vec<u16>>>()?;
                bounds.hosts.push(Host { name: name.to_owned(), ports });
            }
            "--resolve" => {
                let (name, address) = text.split_once('=')?;
                asked.resolve.insert(name.to_owned(), address.parse().ok()?);
            }
            "--copy" | "--private" => {
                let (path, store) = text.split_once('=')?;
                let store = PathBuf::from(store);
                let seen = if option == "--copy" { CacheView::Copy(store) } else { CacheView::Private(store) };
                bounds.caches.push(Cache { path: path.into(), seen });
            }
            "--empty" => bounds.caches.push(Cache { path, seen: CacheView::Empty }),
            "--need" => bounds.need = if text == "files" { Need::Files } else { Need::Whole },
            "--level" => asked.level = Some(if text == "files" { Level::Files } else { Level::Whole }),
            "--session" => {
                asked.session = Some(path);
                bounds.leave = Leave::Session;
            }
            "--answer" => asked.answer = Some(if text == "yes" { Answer::Yes } else { Answer::No }),
            "--report" => asked.report_writes = text == "writes",
            "--try" => asked.store = Some(path),
            "--take" => asked.take = text,
            "--take-after" => asked.take_after = Some(path),
            "--idle" => asked.idle = text.parse().ok()?,
            "--fail-at" => asked.fail_at = Some(*Step::ALL.get(text.parse::<usize>().ok()?)?),
            _ => return None,
        }
    }
    let command: Vec<OsString> = words.collect();
    (!command.is_empty()).then_some((asked, command))
}
