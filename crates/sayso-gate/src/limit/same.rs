//! Which calls are the same call again, for the limit on repeats.
//!
//! An agent in a loop changes what costs it nothing: the description of a command, its timeout, a space, a comment, a
//! `true` in front of it. So calls are compared by what they would do, not by how they are written.

use sayso_policy::{Operation, Request};
use sayso_shell::program::{Facets, facets};
use sayso_shell::syntax::few::Few;
use sayso_shell::syntax::tree::{Command, CommandKind, Connector, Item, List, Part, Pipeline, Simple, Word};
use sayso_shell::{Dialect, Run, Stdin, syntax};
use serde_json::Value;
use std::collections::HashSet;

/// Commands that start others, which are listed beside them, and do nothing else.
const STARTS: Facets = Facets::ONLY_STARTS.and(Facets::SHELL);
/// Parameters that change what a known tool does, beside the paths and hosts that its effects name; plain spelling.
const MATTERS: [&str; 47] = [
    "action",
    "body",
    "cellid",
    "celltype",
    "code",
    "codeedit",
    "content",
    "contents",
    "data",
    "diff",
    "edit",
    "editmode",
    "edits",
    "endline",
    "exclude",
    "expectedreplacements",
    "filetext",
    "glob",
    "headers",
    "include",
    "input",
    "insertline",
    "inserttext",
    "instruction",
    "instructions",
    "limit",
    "line",
    "lines",
    "method",
    "newsource",
    "newstr",
    "newstring",
    "newtext",
    "offset",
    "oldstr",
    "oldstring",
    "oldtext",
    "pages",
    "patch",
    "pattern",
    "prompt",
    "query",
    "regex",
    "replaceall",
    "replacement",
    "startline",
    "viewrange",
];
/// Parameters that say nothing of what a tool does that nobody knows: how long it may take, and which call it is.
const SAYS_NOTHING: [&str; 9] = [
    "callid",
    "explanation",
    "justification",
    "requestid",
    "timeout",
    "timeoutms",
    "timeoutseconds",
    "toolcallid",
    "turnid",
];

/// Names a call by what it would do: two calls of one name are the same call.
pub(crate) fn name(operation: &Operation) -> String {
    let mut parts = Parts(blake3::Hasher::new());
    parts.text(&operation.tool.canonical);
    for folder in std::iter::once(&operation.folder).chain([&operation.cwd]) {
        parts.text(&format!("{folder:?}"));
    }
    match (&operation.analysis, &operation.command) {
        (Some(analysis), Some(command)) => {
            // Code in a here-document stands in no word and in no effect.
            let unseen = analysis.opaque || analysis.runs.iter().any(|run| run.stdin == Stdin::Text);
            if unseen {
                parts.text(&shape(command));
            }
            let started: HashSet<u32> = analysis.runs.iter().filter_map(|run| Some(run.parent?.0)).collect();
            let acts = |(id, run): &(u32, &Run)| match run.program.base.as_deref().or_else(|| run.name()) {
                // Where the others run stands with each of those.
                Some(name) => match facets(name) {
                    facets if facets.has(STARTS) => !started.contains(id),
                    facets => !facets.has(Facets::IDLE.and(Facets::MOVES)),
                },
                None => true,
            };
            let does_nothing = !(0..).zip(&analysis.runs).any(|run| acts(&run));
            let folders = operation.folders.iter().map(Some).chain(std::iter::repeat(None));
            for ((id, run), folder) in (0..).zip(&analysis.runs).zip(folders) {
                if !unseen && (does_nothing || acts(&(id, run))) {
                    let folder = folder.and_then(Option::as_ref).or(run.cwd.as_ref());
                    parts.text(&format!("{:?} {:?} {:?} {folder:?}", run.argv, run.program.path, run.env));
                }
            }
        }
        (Some(_), None) => {}
        (None, _) => arguments(operation, &mut parts),
    }
    // What a field that nobody knows may mean counts against denies, and for nothing else.
    for (effect, resolved) in operation.effects.iter().zip(&operation.resolved).filter(|(effect, _)| effect.certain) {
        if let sayso_shell::Target::Path(_) | sayso_shell::Target::Host(_) = effect.target {
            parts.text(&format!("{:?} {:?} {:?}", effect.verb, effect.target, resolved.canonical));
        }
    }
    parts.0.finalize().to_hex().to_string()
}

/// A hash of parts, each with its length, so that no two lists of them read alike.
struct Parts(blake3::Hasher);

impl Parts {
    fn text(&mut self, text: &str) {
        self.0.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        self.0.update(text.as_bytes());
    }
}

/// A command without its comments and spaces; as it is written where it cannot be read.
fn shape(command: &[u8]) -> String {
    let options = syntax::Options { extended_globs: false };
    let Ok(mut tree) = syntax::parse(command, Dialect::Bash, options) else {
        return String::from_utf8_lossy(command).into_owned();
    };
    without_idle(&mut tree.body);
    // Each node of the picture stands on a line, with its place behind it.
    let place = |line: &str| line.rfind("  [").filter(|_| line.ends_with(']'));
    let picture = tree.render();
    picture
        .lines()
        .map(|line| line.get(..place(line).unwrap_or(line.len())).unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Takes out commands that do nothing, unless there are no others.
fn without_idle(body: &mut List<'_>) {
    let mut kept = Few::new();
    for item in body.items.iter() {
        let mut and_or = item.and_or.clone();
        while let (true, Some((Connector::And, _))) = (is_idle(&and_or.first), and_or.rest.first()) {
            and_or.first = and_or.rest.remove(0).1;
        }
        if !and_or.rest.is_empty() || !is_idle(&and_or.first) {
            kept.push(Item { and_or, background: item.background });
        }
    }
    if !kept.is_empty() {
        body.items = kept;
    }
}

fn is_idle(pipeline: &Pipeline<'_>) -> bool {
    let [Command { kind: CommandKind::Simple(simple), .. }] = &*pipeline.commands else { return false };
    let Simple { assignments, words, redirects } = simple;
    let fixed = |word: &Word<'_>| word.parts.iter().all(|p| matches!(p, Part::Literal { .. } | Part::Quoted { .. }));
    let stays = |words: &[Word<'_>]| matches!(words, [_, to] if matches!(to.plain(), Some(b"." | b"./")));
    let Some(name) = words.first().and_then(Word::plain).and_then(|name| std::str::from_utf8(name).ok()) else {
        return false;
    };
    let facets = facets(name);
    let idle = facets.has(Facets::IDLE) || facets.has(Facets::MOVES) && stays(words);
    idle && assignments.is_empty() && redirects.is_empty() && words.iter().all(fixed)
}

fn arguments(operation: &Operation, parts: &mut Parts) {
    let arguments = match &operation.request {
        Request::Command(bytes) => return parts.text(&String::from_utf8_lossy(bytes)),
        Request::Tool { arguments, .. } => arguments,
    };
    let Value::Object(named) = arguments else { return parts.text(&arguments.to_string()) };
    let counts = |key: &str| {
        let key = plain(key);
        if operation.known { MATTERS.contains(&key.as_str()) } else { !SAYS_NOTHING.contains(&key.as_str()) }
    };
    let mut named: Vec<(&String, &Value)> = named.iter().filter(|(key, _)| counts(key)).collect();
    named.sort_by_key(|(key, _)| *key);
    for (key, value) in named {
        parts.text(key);
        parts.text(&value.to_string());
    }
}

/// `timeoutMs`, `timeout_ms` and `timeout-ms` are one.
fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sayso_policy::ToolCall;
    use serde_json::json;

    fn tool(name: &str, arguments: Value) -> String {
        let facts = sayso_policy::Facts { files: &crate::RealFiles, env: &sayso_shell::NoEnvironment };
        let mut call = ToolCall::tool(name, arguments);
        call.cwd = Some("/nonexistent".into());
        super::name(&Operation::new(call, facts))
    }

    fn command(text: &str) -> String {
        tool("Bash", json!({"command": text}))
    }

    #[test]
    fn what_has_no_effect_makes_no_other_call_of_it() {
        let plain = command("cargo test a");
        for same in [
            "cargo  test  a",
            "cargo test a # again",
            "true; cargo test a",
            ": 7 && cargo test a",
            "cargo test 'a'",
            "cd .; cargo test a",
            "cd ./ && cargo test a",
            "cd /nonexistent/../nonexistent && cargo test a",
            "sleep 3; cargo test a",
            "timeout 5 cargo test a",
            "nice -n 3 timeout 6 cargo test a",
            "command cargo test a",
            "exec cargo test a",
            "time cargo test a",
            "bash -c 'cargo test a'",
            "eval cargo test a",
            "(cargo test a)",
            "yash -c 'cargo test a'",
            "gnice cargo test a",
            "pushd . && cargo test a",
        ] {
            assert_eq!(command(same), plain, "{same}");
        }
        let opaque = command("x $(<y) | bash");
        for same in
            ["true; x $(<y) | bash", "cd .; x $(<y) | bash", "echo a && : && x  $(<y) | bash", "sleep 2;x $(<y)|bash"]
        {
            assert_eq!(command(same), opaque, "{same}");
        }
        let make = command("make");
        for same in ["cd .; make", "true; make", "timeout 5 make", "timeout 50 make"] {
            assert_eq!(command(same), make, "{same}");
        }
        for n in 0..3 {
            let again = json!({"command": "cargo test a", "description": n.to_string(), "timeout": n, "x": [n]});
            assert_eq!(tool("Bash", again), plain);
        }
        let read = |n: u32| tool("Read", json!({"file_path": "/a", "description": n, "whatever": n}));
        assert_eq!(read(1), read(2));
        let call = |n: u32| tool("mcp__x__y", json!({"a": 1, "timeout_ms": n}));
        assert_eq!(call(1), call(2));
        assert_eq!(command("python3 - <<E\nx\nE\n"), command("python3  - <<E # 1\nx\nE\n"));
    }

    #[test]
    fn what_has_an_effect_does() {
        let all = [
            command("cargo test a"),
            command("cargo test b"),
            command("cargo test a > out"),
            command("A=1 cargo test a"),
            command("cd /tmp && cargo test a"),
            command("timeout 5 cargo test c"),
            command("sleep 5"),
            command("cd /tmp"),
            command("cd x && x $(<y) | bash"),
            command("x $(<y) | bash"),
            command("echo $(<y) | bash; x $(<y) | bash"),
            command("echo a"),
            command("echo b"),
            command("python3 - <<E\nx\nE"),
            command("python3 - <<E\ny\nE"),
            tool("Read", json!({"file_path": "/a"})),
            tool("Read", json!({"file_path": "/b"})),
            tool("Read", json!({"file_path": "/a", "offset": 2})),
            tool("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "y"})),
            tool("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "z"})),
            tool("mcp__x__issue", json!({"title": "a"})),
            tool("mcp__x__issue", json!({"title": "b"})),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }

    proptest! {
        /// Whatever is put into fields that a shell does not see.
        #[test]
        fn no_field_beside_the_command_counts(key in "[a-zA-Z_]{1,12}", value in ".{0,20}") {
            let taken = ["command", "cmd", "script", "commandline", "shellcommand", "bashcommand", "commands", "args",
                "arguments", "argv", "workdir", "cwd", "cd", "dir", "directory", "dirpath", "workingdirectory",
                "workingdir", "env", "environment", "envvars", "environmentvariables", "shell", "restart", "input"];
            prop_assume!(!taken.contains(&plain(&key).as_str()));
            let with = json!({"command": "cargo test a", key: value});
            prop_assert_eq!(tool("Bash", with), command("cargo test a"));
        }

        #[test]
        fn no_command_makes_it_fail(text in ".{0,60}") {
            prop_assert_eq!(command(&text), command(&text));
        }
    }
}
