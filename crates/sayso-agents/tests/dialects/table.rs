//! The tables. A line is a case: what comes in, and what it means to the agent that hears the answer.

use crate::answer::meaning;
use crate::session::Session;
use sayso_agents::Agent;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// What the case shows.
    case: String,
    /// The event, on top of what the first line says all events have; `null` takes a member away.
    #[serde(default)]
    event: Map<String, Value>,
    /// The event as text, where it is none or an odd one.
    raw: Option<String>,
    /// What the answer means.
    says: String,
    /// What its reason holds.
    #[serde(default)]
    why: Vec<String>,
    /// What was recorded: the tool, the verdict, effects that must be among the recorded ones.
    tool: Option<String>,
    verdict: Option<String>,
    #[serde(default)]
    effects: Vec<String>,
    /// No effect that is recorded holds any of these.
    #[serde(default)]
    without: Vec<String>,
}

#[derive(Deserialize)]
struct Common {
    common: Map<String, Value>,
}

fn check(agent: Agent, table: &str) {
    let mut lines = table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let Common { common } = serde_json::from_str(lines.next().unwrap()).unwrap();
    let mut failures = Vec::new();
    let mut cases = 0;
    for line in lines {
        let line: Line = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        cases += 1;
        if let Err(why) = std::panic::catch_unwind(|| run(agent, &common, &line)) {
            let why = why.downcast_ref::<String>().cloned().or(why.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            failures.push(format!("{}: {}", line.case, why.unwrap_or_default()));
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases failed:\n{}", failures.len(), failures.join("\n"));
    assert!(cases >= 25, "{agent} has only {cases} cases");
}

fn run(agent: Agent, common: &Map<String, Value>, line: &Line) {
    let session = Session::new(agent);
    let input = line.raw.clone().unwrap_or_else(|| {
        let mut event = common.clone();
        for (key, value) in &line.event {
            match value {
                Value::Null => event.remove(key),
                value => event.insert(key.clone(), value.clone()),
            };
        }
        Value::Object(event).to_string()
    });
    let output = session.hook(session.here(&input).as_bytes());
    let (said, why) = meaning(agent, &output);
    assert_eq!(said, line.says, "{why} {output:?}");
    for part in &line.why {
        assert!(why.contains(part.as_str()), "no {part:?} in {why:?}");
    }
    let records = session.records();
    let record = records.last();
    if let Some(tool) = &line.tool {
        assert_eq!(record.map(|record| record.tool.as_str()), Some(tool.as_str()));
    }
    if let Some(verdict) = &line.verdict {
        assert_eq!(record.map(|record| record.verdict.as_str()), Some(verdict.as_str()), "{why}");
    }
    if said == "allow" || said == "deny" || said == "ask" {
        assert_eq!(records.len(), 1, "what is said is recorded, once");
    }
    let project = session.project.to_str().unwrap();
    let effects: Vec<String> = record
        .map(|record| {
            let shown = |effect: &sayso_gate::audit::EffectRecord| {
                format!("{} {}", serde_json::to_value(effect.verb).unwrap().as_str().unwrap(), effect.target)
            };
            record.effects.iter().map(|effect| shown(effect).replace(project, "$P")).collect()
        })
        .unwrap_or_default();
    for effect in &line.effects {
        assert!(effects.contains(effect), "no {effect:?} among {effects:?}");
    }
    for part in &line.without {
        assert!(!effects.iter().any(|effect| effect.contains(part.as_str())), "{part:?} among {effects:?}");
    }
}

macro_rules! tables {
    ($($name:ident: $agent:ident $file:literal;)*) => {$(
        #[test]
        fn $name() {
            check(Agent::$agent, include_str!(concat!("data/", $file, ".jsonl")));
        }
    )*};
}

tables! {
    claude_code_is_answered_in_its_own_words: CLAUDE_CODE "claude-code";
    codex_is_answered_in_its_own_words: CODEX "codex";
    gemini_is_answered_in_its_own_words: GEMINI "gemini";
    copilot_is_answered_in_its_own_words: COPILOT "copilot";
    cursor_is_answered_in_its_own_words: CURSOR "cursor";
    opencode_is_answered_in_its_own_words: OPENCODE "opencode";
    openclaw_is_answered_in_its_own_words: OPENCLAW "openclaw";
}

/// Gemini CLI does not tell whether anybody can be asked. Without a person a question of its own runs the call, or never ends.
#[test]
fn without_a_person_at_its_terminal_nothing_is_left_to_gemini() {
    let mut session = Session::new(Agent::GEMINI);
    session.setting.seated = None;
    for (tool, input) in [
        ("run_shell_command", serde_json::json!({"command": "mkdir d"})),
        ("google_web_search", serde_json::json!({"query": "x"})),
        ("frobnicate", serde_json::json!({})),
    ] {
        let event = serde_json::json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": "$P", "tool_name": tool,
            "tool_input": input});
        let (said, why) = meaning(Agent::GEMINI, &session.hook(session.here(&event.to_string()).as_bytes()));
        assert_eq!(said, "deny", "{tool}: {why}");
        assert!(why.contains("sayso approvals"), "{why}");
    }
}
