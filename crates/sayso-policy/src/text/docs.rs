//! `docs/policy.md` is held to what is true: its examples are read and judged, its reference is made from the tables.
//!
//! `SAYSO_UPDATE_DOCS=1 cargo test -p sayso-policy docs` writes the reference anew.

use super::{PROBLEM_CODES, parse, reference, render_all};
use crate::word::{Answer, CodeInfo, Facts, Layer, REASON_CODES, ToolCall, Workspace};
use crate::{Policy, PolicyText, State};
use sayso_shell::{MemoryFiles, NoEnvironment};
use std::fmt::Write as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md");

fn page() -> String {
    std::fs::read_to_string(PATH).unwrap()
}

/// The fenced blocks of a language, with the line on which each begins.
fn fences<'a>(page: &'a str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, &'a str, String)> = None;
    for (line, text) in (1..).zip(page.lines()) {
        match (&mut open, text.strip_prefix("```")) {
            (None, Some(language)) => open = Some((line + 1, language, String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, _, body)), None) => *body += &format!("{text}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    found.into_iter().filter(|(_, found, _)| *found == language).map(|(line, _, body)| (line, body)).collect()
}

#[test]
fn every_example_is_read() {
    let page = page();
    let examples = fences(&page, "toml");
    assert!(examples.len() > 20);
    for (line, text) in examples {
        let name = format!("docs/policy.md, line {line} and");
        if let Err(problems) = parse(&name, &text) {
            panic!("{}", render_all(&problems, &text, false));
        }
    }
}

/// Where the examples of the page take place.
fn machine() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    files.folder("/srv/app").folder("/home/you").folder("/etc").open_folder("/tmp");
    files
}

/// The policy of an example, as the file of a user, or as the managed one if only that may say such things.
fn compile(line: usize, text: &str) -> Policy {
    let managed = text.contains("enforce = [") || text.contains("pinned");
    let layer = if managed { Layer::Managed } else { Layer::User };
    let name = format!("docs/policy.md, line {line} and");
    let file = PolicyText { layer, name, text: text.to_owned(), trusted: true };
    Policy::compile(&[file]).unwrap_or_else(|problems| panic!("{}", render_all(&problems, text, false)))
}

fn judge(policy: &Policy, request: &str, files: &MemoryFiles) -> (Answer, String) {
    // `name {"json": ...}` is a tool call, all else a command.
    let tool = request.split_once(" {").and_then(|(name, _)| {
        let arguments = serde_json::from_str(request.strip_prefix(name)?).ok()?;
        Some(ToolCall::tool(name, arguments))
    });
    let call = ToolCall {
        cwd: Some("/srv/app".into()),
        workspace: Workspace::new("/srv/app", Some("/home/you".as_ref())),
        home: Some("/home/you".into()),
        ..tool.unwrap_or_else(|| ToolCall::command(request))
    };
    let facts = Facts { files, env: &NoEnvironment };
    let decision = policy.evaluate(&policy.operation(call, facts), &State::default(), facts);
    let why: Vec<String> = decision.reasons.iter().map(|reason| format!("[{}] {}", reason.code, reason.text)).collect();
    (decision.answer, why.join(" "))
}

#[test]
fn every_example_says_what_the_page_says() {
    let (page, files) = (page(), machine());
    let mut wrong = String::new();
    let mut count = 0;
    for (line, text) in fences(&page, "toml") {
        let policy = compile(line, &text);
        for (at, case) in (line..).zip(text.lines()) {
            let Some(case) = case.strip_prefix("#: ") else { continue };
            let (expected, request) = case.split_once(' ').unwrap();
            let (answer, why) = judge(&policy, request.trim(), &files);
            count += 1;
            if answer.as_str() != expected {
                let _ = writeln!(wrong, "docs/policy.md:{at}: {request}: {}, {why}", answer.as_str());
            }
        }
    }
    assert!(count > 50);
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_mistake_that_is_shown_looks_like_that() {
    let page = page();
    let (_, shown) = fences(&page, "text").into_iter().find(|(_, text)| text.starts_with("error[")).unwrap();
    let text = "defualt = \"ask\"\n";
    assert_eq!(shown.trim_end(), render_all(&parse(".sayso.toml", text).unwrap_err(), text, false));
}

fn sets() -> String {
    let mut out = String::from("| built-in set | kind | members |\n|---|---|---|\n");
    for set in crate::set::BUILT_IN {
        let members: Vec<String> =
            set.all(&sayso_shell::program::BUILT_IN).iter().map(|member| format!("`{member}`")).collect();
        let _ = writeln!(out, "| `@{}` | {} | {} |", set.name, set.kind.noun(), members.join(", "));
    }
    let everything = "everything, including what Sayso cannot see into; only for a disposable machine";
    let _ = writeln!(out, "| `@{}` | all of them | {everything} |", crate::set::ANYTHING);
    out
}

fn codes(table: &[CodeInfo]) -> String {
    let mut out = String::from("| code | meaning | what to do |\n|---|---|---|\n");
    for info in table {
        let _ = writeln!(out, "| `{}` | {} | {} |", info.code, info.title, info.advice);
    }
    out
}

#[test]
fn the_reference_is_what_the_tables_say() {
    let page = page();
    let mut made = page.clone();
    for (name, content) in
        [("sets", sets()), ("keys", reference()), ("reasons", codes(REASON_CODES)), ("problems", codes(PROBLEM_CODES))]
    {
        let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
        let (before, rest) = made.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        made = format!("{before}{begin}\n{}\n\n{end}{after}", content.trim());
    }
    if made != page {
        if std::env::var_os("SAYSO_UPDATE_DOCS").is_some() {
            std::fs::write(PATH, made).unwrap();
        } else {
            panic!("the reference of docs/policy.md is stale: SAYSO_UPDATE_DOCS=1 cargo test -p sayso-policy docs");
        }
    }
}

#[test]
fn codes_are_unique_kebab_case_and_described() {
    let mut seen = std::collections::BTreeSet::new();
    for info in REASON_CODES.iter().chain(PROBLEM_CODES) {
        assert!(seen.insert(info.code), "{} stands there twice", info.code);
        assert!(info.code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", info.code);
        assert!(info.title.ends_with(['.', ')']) && info.advice.ends_with('.'), "{}", info.code);
    }
}
