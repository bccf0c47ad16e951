//! psql and the other clients of PostgreSQL.

use super::sqlite::from_stdin;
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::script::{self, Finding};
use crate::word::Word;

pub(crate) fn psql(view: &mut View<'_>) {
    if view.has_any(&["--version", "--help", "-V"]) {
        return;
    }
    connects(view);
    for (at, file) in view.values("--output") {
        match file.exact() {
            Some([b'|', command @ ..]) => {
                view.named_by_flag(Code::RunsCommand, "--output", at);
                view.starts_shell(Word::Exact(command.into()), at);
            }
            _ => view.path_effect(
                Verb::Write,
                &file,
                at,
                false,
                Carry::Named { code: Code::WritesFile, by: NamedBy::Flag("--output".to_owned()) },
            ),
        }
    }
    let mut texts = view.values("--command");
    for (at, file) in view.values("--file") {
        match view.content(&file) {
            Some(text) => texts.push((at, Word::Exact(text.into()))),
            None => view.named_by_flag(Code::UnclearScript, "--file", at),
        }
    }
    if texts.is_empty() && !view.has_any(&["--list", "--file"]) {
        match from_stdin(view) {
            Some(text) => texts.push(text),
            None => crate::program::wrapper::interactive(view, "sql", 0),
        }
    }
    let lists = texts.is_empty() && view.has("--list");
    // What is typed is told apart by variables too, which `-c` does not take.
    let told = |text: &Word| view.values("--command").iter().any(|(_, command)| command == text);
    let filled = view.has("--set") && texts.iter().any(|(_, text)| !told(text));
    let asks = !texts.is_empty() && texts.iter().all(|(_, text)| super::sqlite::is_question(text));
    if lists || asks && !filled {
        view.imply("--only-reads", None, 0);
    }
    for (at, text) in texts {
        match script::text_of(&text) {
            Some(text) => {
                view.findings(script::psql(&text), &NamedBy::Nothing, at);
                if script::sqlite(&text).contains(&Finding::Change) {
                    view.named_by_flag(Code::ChangesService, "--command", at);
                }
            }
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(Code::UnclearScript, "SQL of unknown text may change data and run commands".to_owned(), at);
            }
        }
    }
}

/// The server: a host, a URL, `host=..` in a connection string, or what the environment says.
pub(crate) fn connects(view: &mut View<'_>) {
    let mut named = false;
    for (at, host) in view.values("--host") {
        named = true;
        if !host.exact().is_some_and(|host| host.starts_with(b"/")) {
            view.connects(&host, at);
        }
    }
    let mut names: Vec<(usize, Word)> = view.values("--dbname");
    names.extend(view.operands().into_iter().take(1).filter_map(|at| Some((at, view.word(at)?.clone()))));
    for (at, name) in names {
        match name.exact_str() {
            Some(text) if text.contains("://") => {
                named = true;
                view.connects(&name, at);
            }
            Some(text) if text.contains('=') => {
                named = true;
                match hosts_of(text) {
                    None => view.connects(&Word::Opaque, at),
                    Some(hosts) if hosts.is_empty() => view.connects_configured("PostgreSQL", at),
                    Some(hosts) => {
                        for host in hosts.iter().filter(|host| !host.starts_with('/')) {
                            view.connects(&Word::Exact(host.as_str().into()), at);
                        }
                    }
                }
            }
            Some(_) => {}
            None => {
                named = true;
                view.connects(&Word::Opaque, at);
            }
        }
    }
    let told: Vec<Word> = ["PGHOST", "PGHOSTADDR", "PGSERVICE"]
        .iter()
        .flat_map(|name| view.inv.env.iter().filter(|(set, _)| set.as_str() == Some(name)))
        .map(|(_, value)| value.clone())
        .collect();
    for value in told {
        named = true;
        view.connects(&value, 0);
    }
    if !named {
        view.connects_configured("PostgreSQL", 0);
    }
}

/// Every host in a connection string. `None`: it may name others, in quotes or by the name of a service.
fn hosts_of(text: &str) -> Option<Vec<String>> {
    if text.contains(['\'', '\\', '%']) || text.contains("= ") || text.contains(" =") {
        return None;
    }
    let fields: Option<Vec<(&str, &str)>> = text.split_ascii_whitespace().map(|field| field.split_once('=')).collect();
    let fields = fields.filter(|fields| fields.iter().all(|(key, _)| *key != "service"))?;
    Some(
        fields
            .iter()
            .filter(|(key, _)| matches!(*key, "host" | "hostaddr"))
            .map(|(_, host)| (*host).to_owned())
            .collect(),
    )
}
