//! Clients of MySQL, Redis, MongoDB and their like.

use super::sqlite::from_stdin;
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::script::{self, Finding};

/// Commands of the client itself stand between statements: `\!`, `system`, `source`, `tee`, `pager`.
fn client_commands(text: &[u8]) -> bool {
    let names: &[&[u8]] = &[b"system", b"source", b"tee", b"pager", b"edit", b"delimiter"];
    let backslash = text.windows(2).any(|two| matches!(two, b"\\!" | b"\\." | b"\\T" | b"\\P" | b"\\e"));
    let named = text.split(|&byte| matches!(byte, b'\n' | b';')).any(|line| {
        let word =
            line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default().to_ascii_lowercase();
        names.contains(&word.as_slice())
    });
    let files = text.to_ascii_lowercase();
    backslash
        || named
        || files.windows(7).any(|window| window == b"outfile" || window == b"infile ")
        || files.windows(9).any(|window| window == b"load_file")
}

pub(crate) fn mysql(view: &mut View<'_>) {
    if view.has_any(&["--version", "--help", "-V"]) {
        return;
    }
    server(view, "MySQL");
    let mut texts = view.values("--execute");
    if texts.is_empty() {
        match from_stdin(view) {
            Some(text) => texts.push(text),
            None => crate::program::wrapper::interactive(view, "sql", 0),
        }
    }
    for (at, text) in texts {
        match script::text_of(&text) {
            Some(text) if client_commands(&text) => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(Code::UnclearScript, "a command of the client that may run or write".to_owned(), at);
            }
            Some(text) => {
                if script::sqlite(&text).contains(&Finding::Change) {
                    view.named_by_flag(Code::ChangesService, "--execute", at);
                }
            }
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(Code::UnclearScript, "SQL of unknown text may change data and run commands".to_owned(), at);
            }
        }
    }
}

fn server(view: &mut View<'_>, label: &str) {
    if !view.has_any(&["--host", "--socket", "-h", "-u", "-s"]) {
        view.connects_configured(label, 0);
    }
}

pub(crate) fn mysql_tool(view: &mut View<'_>) {
    for (at, host) in view.values("--host") {
        view.connects(&host, at);
    }
    server(view, "MySQL");
    if matches!(view.inv.name, "mysqladmin" | "mysqlimport") {
        view.named(Code::ChangesService, NamedBy::Program, 0);
    }
}

/// Commands that only read.
const REDIS_READS: &str = "get mget getrange strlen exists type ttl pttl keys scan hget hmget hgetall hkeys hvals hlen hexists hscan hstrlen lrange llen lindex lpos smembers sismember smismember scard srandmember sscan \
    sinter sunion sdiff zrange zrevrange zrangebyscore zrevrangebyscore zrangebylex zscore zmscore zrank zrevrank zcard zcount zlexcount zscan xrange xrevrange xlen xinfo xpending info ping echo dbsize time lastsave role \
    memory object command client cluster slowlog latency getbit bitcount bitpos pfcount geopos geodist geohash geosearch randomkey dump touch json.get json.mget json.type ft.search ft.info ts.get ts.range";

pub(crate) fn redis(view: &mut View<'_>) {
    server(view, "Redis");
    if view.has_any(&["--pipe", "-x", "-X"]) {
        view.named_by_flag(Code::ChangesService, "--pipe", 0);
    }
    match view.operand(0) {
        Some(word) => {
            let reads = word
                .exact_str()
                .is_some_and(|word| REDIS_READS.split(' ').any(|known| word.eq_ignore_ascii_case(known)));
            // `client kill`, `cluster reset`, `memory purge`, `slowlog reset` change something.
            let second = view.operand_str(1).unwrap_or_default().to_ascii_lowercase();
            let changes = matches!(
                second.as_str(),
                "kill"
                    | "reset"
                    | "purge"
                    | "pause"
                    | "setname"
                    | "failover"
                    | "forget"
                    | "meet"
                    | "addslots"
                    | "delslots"
                    | "flushslots"
                    | "reply"
                    | "unblock"
                    | "tracking"
                    | "no-evict"
            );
            if !reads || changes {
                let by = word.exact_str().map_or(NamedBy::Nothing, |word| NamedBy::Words(vec![word.to_owned()]));
                view.named(Code::ChangesService, by, 0);
            }
        }
        None if view.has_any(&[
            "--scan",
            "--bigkeys",
            "--stat",
            "--latency",
            "--memkeys",
            "--hotkeys",
            "--version",
            "--help",
            "--rdb",
        ]) => {}
        None => match from_stdin(view) {
            Some(_) => view.named(Code::UnclearScript, NamedBy::Nothing, 0),
            None => crate::program::wrapper::interactive(view, "redis", 0),
        },
    }
}

/// The first operand is a database or URL, the others are scripts.
pub(crate) fn mongo(view: &mut View<'_>) {
    let mut named = view.has("--host");
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        let file = word.exact_str().is_some_and(|text| [".js", ".mjs", ".cjs"].iter().any(|end| text.ends_with(end)));
        if n == 0 && !file {
            if word.exact_str().is_none_or(|text| text.contains("://") || text.contains('.') || text.contains(':')) {
                named = true;
                view.connects(word, at);
            }
        } else {
            view.path_effect(Verb::Read, word, at, false, Carry::Plain);
            view.code("javascript", Code::RunsCode, NamedBy::Program, at);
        }
    }
    if !named && !view.has_any(&["--nodb", "--version", "--help"]) {
        view.connects_configured("MongoDB", 0);
    }
    if view.operand_count() < 2 && !view.has_any(&["--eval", "--file", "--version", "--help"]) {
        crate::program::wrapper::interactive(view, "javascript", 0);
    }
}
