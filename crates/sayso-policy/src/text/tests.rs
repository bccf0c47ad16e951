//! The language as a whole: what is read, and what is said of what cannot be read.

use super::*;
use crate::state::Scope;
use crate::word::{Answer, Verdict};
use sayso_shell::Verb;
use std::time::Duration;

const EXAMPLE: &str = include_str!("example.toml");

fn texts(texts: &[Text]) -> Vec<&str> {
    texts.iter().map(|text| text.value.as_str()).collect()
}

#[test]
fn the_example_of_the_design_is_read_whole() {
    let file = parse("p.toml", EXAMPLE).unwrap();
    assert_eq!(texts(&file.extends), ["developer"]);
    assert_eq!(file.default.of(Verb::Run).map(|v| v.value), Some(Verdict::Ask));
    assert_eq!(file.unanswered.as_ref().map(|v| v.value), Some(Verdict::Deny));

    let lists: Vec<_> = file.lists.iter().map(|l| (l.verdict, l.verb.value, texts(&l.patterns).len())).collect();
    assert_eq!(
        lists,
        [
            (Verdict::Allow, Verb::Run, 4),
            (Verdict::Allow, Verb::Read, 1),
            (Verdict::Allow, Verb::Write, 2),
            (Verdict::Allow, Verb::Connect, 1),
            (Verdict::Allow, Verb::Call, 1),
            (Verdict::Ask, Verb::Run, 1),
            (Verdict::Ask, Verb::Call, 1),
            (Verdict::Deny, Verb::Run, 3),
            (Verdict::Deny, Verb::Read, 1),
        ]
    );
    let force = &file.lists[7].patterns[0];
    assert_eq!(force.value, "git push --force");
    assert_eq!(file.source(&force.span).to_string(), "p.toml:17:9");

    let rule = &file.rules[0];
    assert_eq!(rule.id.as_ref().map(|id| id.value.as_str()), Some("prod-repos"));
    assert_eq!((rule.verdict.value, rule.verb.value), (Verdict::Ask, Verb::Call));
    assert_eq!(texts(&rule.patterns), ["mcp:github/create_*"]);
    let when = rule.when.as_ref().unwrap();
    assert_eq!(when.args[0].path.value, ["repo"]);
    assert_eq!(texts(&when.args[0].patterns), ["prod-*"]);
    assert_eq!(rule.approver.as_ref().map(|a| a.value.as_str()), Some("leads"));
    assert_eq!(rule.hits[0].value, ExampleValue::Arguments(serde_json::json!({ "repo": "prod-api" })));

    assert_eq!(texts(&file.sets[0].members), ["@compilation", "zig build"]);
    assert_eq!(file.tools.base.profile.as_ref().map(|p| p.value), Some(Profile::Coding));
    assert_eq!(texts(&file.tools.base.also), ["web_fetch"]);
    let layers: Vec<_> = file.tools.layers.iter().map(|layer| layer.who.value.to_string()).collect();
    assert_eq!(layers, ["provider:openai/gpt-4", "agent:coder", "team:a", "team:a/alice", "subagent"]);

    let limit = &file.limits[0];
    assert_eq!(limit.scope.value, Scope::Session);
    assert_eq!(limit.tokens.as_ref().map(|t| t.value), Some(2_000_000));
    assert_eq!(limit.cost.as_ref().map(|c| c.value.micros), Some(5_000_000));
    assert_eq!(limit.wall.as_ref().map(|w| w.value), Some(Duration::from_secs(7200)));
    assert_eq!(limit.at_limit.as_ref().map(|v| v.value), Some(Verdict::Ask));

    assert_eq!(file.approvals[0].name.value, "leads");
    assert_eq!(file.approvals[0].expires.as_ref().map(|e| e.value), Some(Duration::from_secs(900)));
    assert_eq!(file.mode.as_ref().map(|mode| mode.value), Some(Mode::Enforce));
}

#[test]
fn what_the_example_leaves_out_is_read_too() {
    let file = parse(
        "p.toml",
        r#"
default = { read = "allow", tool = "deny" }
disable = "no-force-push"
enforce = ["read-only"]
closed = ["run", "tool"]

[mode]
run = "halt"
pinned = true

[[rule]]
deny = { run = ["rm -r", "!rm -r ./target"] }
always = true
[rule.when]
within = "./**"
for = ["agent:x", "tenant:acme", "subagent"]
flag = "--force"
env = ["LD_*"]
operand = ["/etc/**"]
piped_to = ["@shells"]
stdin_only = true
arg.a.b = ["x", "!y"]
arg.n = 3
arg.deep = { er = { yes = true } }

[hold]
run = ["@builds", "!make deploy"]
always = true
need = "files"
write = "./**"
caches = "private"
connect = ["*.example.org"]
env = "GITHUB_TOKEN"
leave = "end"

[[rule]]
ask = { run = "make" }
always = true
held = "allow"
hits = ["make", "make all"]
misses = "gmake"

[patterns]
bash_execute = ["rm\\s+-rf"]
web_fetch = { deny = "^file:", ask = ["localhost"], params = ["url"] }

[limits.day]
calls = 0x10
rate = "30/1m"
bytes_written = "10MB"
deletes = 5
hosts = 9
repeats = 3
[limits.run]
bytes_written = 4096

[[test]]
command = "git status"
expect = "allow"
cwd = "sub"
agent = "coder"
subagent = true
[[test]]
tool = "x"
args = { n = 1, list = [1.5, "a", true] }
expect = "dry-run"
code = "mode"
"#,
    );
    let problems = file.unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].code, "not-an-ask");
}

#[test]
fn a_test_case_names_its_request_its_actor_and_its_answer() {
    let file = parse(
        "p.toml",
        "[[test]]\ntool = 'x'\nargs = { n = 1, list = [1.5, 'a', true] }\nexpect = 'dry-run'\nagent = 'coder'\n",
    )
    .unwrap();
    let test = &file.tests[0];
    assert_eq!(test.expect.value, Answer::DryRun);
    assert_eq!(test.actor.agent.as_deref(), Some("coder"));
    let TestRequest::Tool { name, arguments } = &test.request else { panic!("a tool") };
    assert_eq!(name.value, "x");
    assert_eq!(arguments, &serde_json::json!({ "n": 1, "list": [1.5, "a", true] }));
}

#[test]
fn the_parser_and_the_schema_know_the_same_keys() {
    // All tables are opened, so that the parser asks for all of their keys.
    parse("p.toml", EXAMPLE).unwrap();
    let more = "default = {}\n[[test]]\ncommand='x'\nexpect='ask'\n[patterns]\nx = { deny = 'y' }\n[hold]\n\
                [plan]\n[risk]\n[models.for.\"agent:a\"]\nuse = 'a/b'\n[for.\"agent:a\"]\nextends = 'full'\n[actor]\nteam = 'a'\n[approvals.a]\nmembers = 'b'\nescalate = { wait = '5m', to = 'c' }\n\
                [[rule]]\nid = 'r'\nask = { connect = '*' }\nwhen = { after.read = '@secrets' }\n";
    let asked = {
        let _ = parse("p.toml", more);
        read::asked::so_far()
    };
    let schema = schema();
    let mut in_schema = std::collections::BTreeSet::new();
    let mut add = |table: &str, object: &serde_json::Value| {
        for key in object["properties"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            in_schema.insert((table.to_owned(), key.clone()));
        }
    };
    add("file", &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        add(name, definition);
    }
    let asked: std::collections::BTreeSet<_> =
        asked.into_iter().map(|(table, key)| (table.to_owned(), key.to_owned())).collect();
    assert_eq!(asked, in_schema);
}

#[test]
fn very_many_problems_are_said_as_far_as_anybody_reads() {
    let many = |one: &dyn Fn(usize) -> String| (0..5_000).map(one).collect::<String>();
    let problems = |text: &str| {
        let file = crate::PolicyText { layer: crate::Layer::User, name: "p".into(), text: text.into(), trusted: true };
        crate::Policy::compile(&[file]).err().map_or(0, |problems| problems.len())
    };
    let sets = many(&|at| format!("s{at} = 'x'\n"));
    let lists = many(&|at| format!("'@none-{at}',"));
    assert_eq!(problems(&format!("[set]\n{sets}[deny]\nrun = [{lists}]")), 100);
    let approvals = many(&|at| format!("[approvals.a{at}]\nmembers = 'x'\n"));
    let rules = many(&|at| format!("[[rule]]\nask = {{ run = 'x{at}' }}\napprover = 'b{at}'\n"));
    assert_eq!(problems(&format!("{approvals}{rules}")), 100);
    let names = many(&|at| format!("'no-{at}',"));
    assert_eq!(problems(&format!("extends = 'developer'\ndisable = [{names}]")), 100);
    assert_eq!(problems(&format!("extends = [{names}]")), 100);
    assert_eq!(lint(&parse("p", &format!("[deny]\nrun = [{}]", "'x',".repeat(5_000))).unwrap()).len(), 100);
}

#[test]
fn a_preset_named_again_and_again_is_read_once() {
    let text = |names: &str| crate::PolicyText {
        layer: crate::Layer::Managed,
        name: "p".into(),
        text: format!("extends = [{names}]\nenforce = [{names}]"),
        trusted: true,
    };
    let often = crate::Policy::compile(&[text(&"'developer',".repeat(5_000))]).unwrap();
    let once = crate::Policy::compile(&[text("'developer'")]).unwrap();
    assert_eq!(often.files.first().unwrap().presets.len(), once.files.first().unwrap().presets.len());
}

#[test]
fn a_file_that_stands_for_too_many_patterns_is_refused() {
    let set: String = (0..20_000).map(|at| format!("'p{at}',")).collect();
    let rules = "[[rule]]\ndeny = { run = '@long' }\n".repeat(30);
    let file = crate::PolicyText {
        layer: crate::Layer::User,
        name: "p".into(),
        text: format!("{rules}[set]\nlong = [{set}]"),
        trusted: true,
    };
    let problems = crate::Policy::compile(&[file]).unwrap_err();
    assert!(problems.first().unwrap().message.contains("more than 500,000 patterns"), "{problems:?}");
}
