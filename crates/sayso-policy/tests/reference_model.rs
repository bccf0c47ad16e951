//! The engine against a small model of stages and precedence that shares no code with it, on random policies and
//! calls; and what must hold of any policy: strictness added never loosens, order of files changes nothing.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod imaged;

use imaged::Both;
use proptest::prelude::*;
use sayso_policy::shell::{Environment, Files, Kind, Verb};
use sayso_policy::{Actor, Facts, Layer, Operation, Policy, PolicyText, State, ToolCall, Verdict, Workspace};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

// ---- the small world

const PATHS: [&str; 4] = ["/w/p/a/x", "/w/p/b/y", "/w/p-evil/z", "/o/q"];
const HOSTS: [&str; 3] = ["one.example", "deep.one.example", "two.test"];
const PATH_PATTERNS: [&str; 6] = ["./**", "./a/**", "./b/y", "/o/**", "/**", "/w/p-evil/*"];
const HOST_PATTERNS: [&str; 3] = ["one.example", "*.example", "*"];
const TOOL_PATTERNS: [&str; 6] = ["file_*", "file_read", "gizmo", "mcp:srv/*", "mcp:srv/go", "*"];
const VERBS: [(&str, Verb); 4] =
    [("read", Verb::Read), ("write", Verb::Write), ("connect", Verb::Connect), ("tool", Verb::Call)];

/// What the patterns above mean, written out by hand.
fn path_matches(pattern: &str, path: &str) -> bool {
    match pattern {
        "./**" => path.starts_with("/w/p/"),
        "./a/**" => path.starts_with("/w/p/a/"),
        "./b/y" => path == "/w/p/b/y",
        "/o/**" => path.starts_with("/o/"),
        "/**" => true,
        "/w/p-evil/*" => path == "/w/p-evil/z",
        other => unreachable!("{other}"),
    }
}

fn host_matches(pattern: &str, host: &str) -> bool {
    match pattern {
        "one.example" => host == "one.example",
        "*.example" => host.ends_with(".example"),
        "*" => true,
        other => unreachable!("{other}"),
    }
}

fn tool_matches(pattern: &str, tool: &str) -> bool {
    match pattern {
        "file_*" => tool.starts_with("file_"),
        "file_read" | "gizmo" | "mcp:srv/go" => tool == pattern,
        "mcp:srv/*" => tool.starts_with("mcp:srv/"),
        "*" => true,
        other => unreachable!("{other}"),
    }
}

#[derive(Clone, Debug)]
enum Call {
    Read(usize),
    Write(usize),
    Fetch(usize),
    Gizmo,
    Mcp,
}

impl Call {
    fn tool(&self) -> &'static str {
        match self {
            Self::Read(_) => "file_read",
            Self::Write(_) => "file_write",
            Self::Fetch(_) => "web_fetch",
            Self::Gizmo => "gizmo",
            Self::Mcp => "mcp:srv/go",
        }
    }

    /// Verb and target, but for the call itself.
    fn effect(&self) -> Option<(Verb, &'static str)> {
        match self {
            Self::Read(at) => Some((Verb::Read, PATHS[*at])),
            Self::Write(at) => Some((Verb::Write, PATHS[*at])),
            Self::Fetch(at) => Some((Verb::Connect, HOSTS[*at])),
            Self::Gizmo | Self::Mcp => None,
        }
    }

    fn operation(&self, actor: &Actor) -> Operation {
        let (name, arguments) = match self {
            Self::Read(at) => ("file_read", json!({ "path": PATHS[*at] })),
            Self::Write(at) => ("file_write", json!({ "path": PATHS[*at], "content": "x" })),
            Self::Fetch(at) => ("web_fetch", json!({ "url": format!("https://{}/", HOSTS[*at]) })),
            Self::Gizmo => ("gizmo", json!({})),
            Self::Mcp => ("mcp__srv__go", json!({})),
        };
        let call = ToolCall {
            cwd: Some("/w/p".into()),
            workspace: Workspace::new("/w/p", Some(Path::new("/home/ann"))),
            home: Some("/home/ann".into()),
            actor: actor.clone(),
            ..ToolCall::tool(name, arguments)
        };
        Operation::new(call, facts())
    }
}

struct Empty;

impl Files for Empty {
    fn kind(&self, _: &Path) -> Kind {
        Kind::Missing
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        Some(Vec::new())
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

impl Environment for Empty {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

fn facts() -> Facts<'static> {
    Facts { files: &Empty, env: &Empty }
}

// ---- policies as values

#[derive(Clone, Debug)]
struct ModelRule {
    verdict: Verdict,
    verb: usize,
    pattern: usize,
    except: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct ModelLayer {
    only: Vec<usize>,
    hide: Vec<usize>,
}

#[derive(Clone, Debug)]
struct ModelFile {
    layer: Layer,
    trusted: bool,
    rules: Vec<ModelRule>,
    default: Option<Verdict>,
    default_read: Option<Verdict>,
    closed: Option<usize>,
    tools: ModelLayer,
    agent_tools: Option<ModelLayer>,
    halt: bool,
}

fn pattern(verb: usize, at: usize) -> &'static str {
    match VERBS[verb].1 {
        Verb::Read | Verb::Write => PATH_PATTERNS[at % PATH_PATTERNS.len()],
        Verb::Connect => HOST_PATTERNS[at % HOST_PATTERNS.len()],
        _ => TOOL_PATTERNS[at % TOOL_PATTERNS.len()],
    }
}

impl ModelFile {
    fn text(&self) -> PolicyText {
        let mut text = String::new();
        match (self.default, self.default_read) {
            (Some(verdict), None) => writeln!(text, "default = \"{verdict}\"").unwrap(),
            (None, Some(read)) => writeln!(text, "default = {{ read = \"{read}\" }}").unwrap(),
            _ => {}
        }
        if let Some(verb) = self.closed
            && self.layer == Layer::Managed
        {
            writeln!(text, "closed = [\"{}\"]", VERBS[verb].0).unwrap();
        }
        for (at, rule) in self.rules.iter().enumerate() {
            let mut list = vec![format!("{:?}", pattern(rule.verb, rule.pattern))];
            list.extend(rule.except.map(|at| format!("{:?}", format!("!{}", pattern(rule.verb, at)))));
            writeln!(
                text,
                "[[rule]]\nid = \"rule-{at}\"\n{} = {{ {} = [{}] }}",
                rule.verdict,
                VERBS[rule.verb].0,
                list.join(", ")
            )
            .unwrap();
        }
        let names = |list: &[usize]| {
            let quoted: Vec<_> = list.iter().map(|at| format!("{:?}", TOOL_PATTERNS[*at])).collect();
            quoted.join(", ")
        };
        for (header, layer) in
            [("[tools]", Some(&self.tools)), ("[tools.for.\"agent:coder\"]", self.agent_tools.as_ref())]
        {
            if let Some(layer) = layer
                && !(layer.only.is_empty() && layer.hide.is_empty())
            {
                writeln!(text, "{header}").unwrap();
                if !layer.only.is_empty() {
                    writeln!(text, "only = [{}]", names(&layer.only)).unwrap();
                }
                if !layer.hide.is_empty() {
                    writeln!(text, "hide = [{}]", names(&layer.hide)).unwrap();
                }
            }
        }
        if self.halt {
            text.push_str("[mode]\nrun = \"halt\"\n");
        }
        PolicyText { layer: self.layer.clone(), name: self.layer.to_string(), text, trusted: self.trusted }
    }
}

// ---- the model

fn model(files: &[ModelFile], call: &Call, agent: Option<&str>) -> Verdict {
    let tool = call.tool();
    let unknown_tool = call.effect().is_none();
    let mut verdict = Verdict::Allow;
    for file in files {
        let hidden = |layer: &ModelLayer| {
            layer.hide.iter().any(|at| tool_matches(TOOL_PATTERNS[*at], tool))
                || (!layer.only.is_empty() && !layer.only.iter().any(|at| tool_matches(TOOL_PATTERNS[*at], tool)))
        };
        let agent_hidden = agent == Some("coder") && file.agent_tools.as_ref().is_some_and(hidden);
        if file.halt || hidden(&file.tools) || agent_hidden {
            verdict = Verdict::Deny;
        }
    }
    let of_call = spoken(files, Verb::Call, tool);
    if let Some((verb, target)) = call.effect() {
        let said = spoken(files, verb, target).or_else(|| {
            of_call.filter(|said| *said != Verdict::Deny && (verb != Verb::Write || target.starts_with("/w/p/")))
        });
        verdict = verdict.max(said.unwrap_or_else(|| default(files, verb)));
        verdict = verdict.max(of_call.unwrap_or(Verdict::Allow));
    } else {
        verdict = verdict.max(of_call.unwrap_or_else(|| default(files, Verb::Call).max(Verdict::Ask)));
    }
    assert!(!unknown_tool || of_call.is_some() || verdict >= Verdict::Ask);
    verdict
}

/// The strictest that some file says of a target; in one file deny over ask over allow.
fn spoken(files: &[ModelFile], verb: Verb, target: &str) -> Option<Verdict> {
    let closed = |file: &ModelFile| {
        file.layer != Layer::Managed
            && files
                .iter()
                .any(|managed| managed.layer == Layer::Managed && managed.closed.is_some_and(|at| VERBS[at].1 == verb))
    };
    files
        .iter()
        .flat_map(|file| {
            file.rules.iter().filter(move |rule| {
                VERBS[rule.verb].1 == verb
                    && matches(rule.verb, rule.pattern, target)
                    && !rule.except.is_some_and(|except| matches(rule.verb, except, target))
                    && (rule.verdict != Verdict::Allow || (file.trusted && !closed(file)))
            })
        })
        .map(|rule| rule.verdict)
        .max()
}

fn matches(verb: usize, at: usize, target: &str) -> bool {
    let pattern = pattern(verb, at);
    match VERBS[verb].1 {
        Verb::Read | Verb::Write => path_matches(pattern, target),
        Verb::Connect => host_matches(pattern, target),
        _ => tool_matches(pattern, target),
    }
}

fn default(files: &[ModelFile], verb: Verb) -> Verdict {
    files
        .iter()
        .filter_map(|file| {
            let stated = match (file.default, file.default_read) {
                (Some(verdict), None) => Some(verdict),
                (None, Some(read)) if verb == Verb::Read => Some(read),
                _ => None,
            }?;
            Some(if file.trusted { stated } else { stated.max(Verdict::Ask) })
        })
        .max()
        .unwrap_or(Verdict::Ask)
}

fn engine(files: &[ModelFile], call: &Call, agent: Option<&str>) -> Verdict {
    let texts: Vec<PolicyText> = files.iter().map(ModelFile::text).collect();
    let policy = Policy::compile(&texts).unwrap_or_else(|problems| panic!("{texts:#?} {problems:#?}"));
    let actor = Actor { agent: agent.map(str::to_owned), ..Actor::default() };
    Both::new(policy).evaluate(&call.operation(&actor), &State::default(), facts()).verdict
}

// ---- random policies and calls

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![Just(Verdict::Allow), Just(Verdict::Ask), Just(Verdict::Deny)]
}

fn any_rule() -> impl Strategy<Value = ModelRule> {
    (any_verdict(), 0..VERBS.len(), 0..6_usize, proptest::option::weighted(0.2, 0..6_usize))
        .prop_map(|(verdict, verb, pattern, except)| ModelRule { verdict, verb, pattern, except })
}

fn any_layer() -> impl Strategy<Value = ModelLayer> {
    let names = || proptest::collection::vec(0..TOOL_PATTERNS.len(), 0..2);
    prop_oneof![
        3 => Just(ModelLayer::default()),
        1 => (names(), names()).prop_map(|(only, hide)| ModelLayer { only, hide }),
    ]
}

fn any_file(layer: Layer, trusted: bool) -> impl Strategy<Value = ModelFile> {
    (
        proptest::collection::vec(any_rule(), 0..6),
        proptest::option::of(any_verdict()),
        proptest::option::weighted(0.3, any_verdict()),
        proptest::option::weighted(0.2, 0..VERBS.len()),
        any_layer(),
        proptest::option::weighted(0.3, any_layer()),
        proptest::bool::weighted(0.03),
    )
        .prop_map(move |(rules, default, default_read, closed, tools, agent_tools, halt)| ModelFile {
            layer: layer.clone(),
            trusted,
            rules,
            default,
            default_read,
            closed,
            tools,
            agent_tools,
            halt,
        })
}

fn any_files() -> impl Strategy<Value = Vec<ModelFile>> {
    (
        proptest::option::weighted(0.4, any_file(Layer::Managed, true)),
        any_file(Layer::User, true),
        proptest::option::weighted(0.4, any::<bool>().prop_flat_map(|trusted| any_file(Layer::Project, trusted))),
    )
        .prop_map(|(managed, user, project)| managed.into_iter().chain([user]).chain(project).collect())
}

fn any_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        (0..PATHS.len()).prop_map(Call::Read),
        (0..PATHS.len()).prop_map(Call::Write),
        (0..HOSTS.len()).prop_map(Call::Fetch),
        Just(Call::Gizmo),
        Just(Call::Mcp),
    ]
}

fn any_agent() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), Just(Some("coder")), Just(Some("reviewer"))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_model(files in any_files(), call in any_call(), agent in any_agent()) {
        let texts: Vec<_> = files.iter().map(|file| file.text().text).collect();
        prop_assert_eq!(engine(&files, &call, agent), model(&files, &call, agent), "{:?} {:#?}", call, texts);
    }

    #[test]
    fn an_ask_or_deny_more_never_loosens(
        files in any_files(), call in any_call(), agent in any_agent(), rule in any_rule(), at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(rule.verdict != Verdict::Allow);
        let before = engine(&files, &call, agent);
        let mut stricter = files;
        let at = at.index(stricter.len());
        stricter[at].rules.push(rule);
        // An ask where nothing spoke replaces a default of deny: that is what the owner wrote, and no allow.
        let after = engine(&stricter, &call, agent);
        prop_assert!(after >= before || (after == Verdict::Ask && before == Verdict::Deny));
    }

    #[test]
    fn a_deny_more_never_loosens(
        files in any_files(), call in any_call(), agent in any_agent(), mut rule in any_rule(), at in any::<prop::sample::Index>(),
    ) {
        rule.verdict = Verdict::Deny;
        let before = engine(&files, &call, agent);
        let mut stricter = files;
        let at = at.index(stricter.len());
        stricter[at].rules.push(rule);
        prop_assert!(engine(&stricter, &call, agent) >= before);
    }

    #[test]
    fn a_file_without_allows_never_allows_more(
        files in any_files(), call in any_call(), agent in any_agent(), mut more in any_file(Layer::Given, true),
    ) {
        more.rules.retain(|rule| rule.verdict == Verdict::Deny);
        more.default = None;
        more.default_read = None;
        more.closed = None;
        let before = engine(&files, &call, agent);
        let with: Vec<_> = files.into_iter().chain([more]).collect();
        prop_assert!(engine(&with, &call, agent) >= before);
    }

    #[test]
    fn the_order_of_files_changes_nothing(files in any_files(), call in any_call(), agent in any_agent()) {
        let mut other = files.clone();
        other.reverse();
        prop_assert_eq!(engine(&files, &call, agent), engine(&other, &call, agent));
    }
}
