//! Tools that act on the agent itself: its plans, its sessions, its memory, other agents.

use super::draft::{Draft, Reach};
use super::{BuiltIn, file, loose, unknown};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::Verb;
use serde_json::Value;

pub(super) const TOOLS: &[BuiltIn] = &[
    harmless("think", &["sequentialthinking", "reportintent", "updatetopic"], Kind::Think),
    harmless(
        "todo_write",
        &["todo", "writetodos", "managetodolist", "updatetodolist", "updatetodo", "taskcreate", "taskupdate"],
        Kind::Think,
    ),
    harmless("todo_read", &["readtodos", "tasklist", "taskget", "getgoal"], Kind::Think),
    harmless("update_plan", &["creategoal", "updategoal"], Kind::Think),
    harmless("tool_search", &[], Kind::Think),
    harmless("session_wait", &["waitagent", "multiagentv1waitagent"], Kind::Read),
    harmless(
        "ask_user",
        &["askuserquestion", "requestuserinput", "question", "askquestion", "askfollowupquestion"],
        Kind::Other,
    ),
    harmless("bash_output", &["readbash", "listbash", "taskoutput", "getterminaloutput", "commandstatus"], Kind::Read),
    harmless("kill_shell", &["killbash", "stopbash", "taskstop", "closeagent", "multiagentv1closeagent"], Kind::Other),
    // A yes to this is the person's yes to the plan, and ends a mode in which nothing is changed.
    needs_yes("exit_plan_mode", &["exitplan", "planexit"], Kind::SwitchMode),
    needs_yes("enter_plan_mode", &["planenter"], Kind::SwitchMode),
    needs_yes("switch_mode", &[], Kind::SwitchMode),
    // Instructions are loaded, by which the agent goes on.
    needs_yes("skill", &["activateskill", "loadskill", "useskill"], Kind::Read),
    BuiltIn {
        canonical: "lsp",
        implies: &[],
        aliases: &["languageserver", "getdiagnostics", "diagnostics", "gotodefinition", "findreferences"],
        kind: Kind::Read,
        describe: language_server,
    },
    BuiltIn {
        canonical: "session_spawn",
        implies: &[],
        aliases: &[
            "agent",
            "task",
            "spawnagent",
            "collaborationspawnagent",
            "multiagentv1spawnagent",
            "invokeagent",
            "sessionsspawn",
            "newtask",
            "runsubagent",
        ],
        kind: Kind::Other,
        describe: spawn,
    },
    needs_yes("session_list", &["sessionslist"], Kind::Other),
    needs_yes("session_status", &[], Kind::Other),
    needs_yes("session_send", &["sessionssend", "sendmessage", "multiagentv1sendinput"], Kind::Other),
    needs_yes("memory_search", &[], Kind::Search),
    needs_yes("memory_get", &[], Kind::Read),
    needs_yes("memory_write", &["savememory", "storememory", "memoryset"], Kind::Edit),
];

/// A tool that changes nothing but the agent's own notes, or shows what an earlier call printed: known to do nothing.
const fn harmless(canonical: &'static str, aliases: &'static [&'static str], kind: Kind) -> BuiltIn {
    BuiltIn { canonical, implies: &[], aliases, kind, describe: nothing }
}

/// A tool without effects that Sayso speaks of, whose call needs a yes.
const fn needs_yes(canonical: &'static str, aliases: &'static [&'static str], kind: Kind) -> BuiltIn {
    BuiltIn { canonical, implies: &[], aliases, kind, describe: call_only }
}

fn nothing(_: &BuiltIn, _: &Value, draft: &mut Draft<'_>) {
    draft.known = true;
}

/// A language server answers about a file of the project, which it reads. What it is asked is a word of its own protocol.
fn language_server(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let role = |key: &str| match key {
        "operation" | "action" | "symbol" | "query" | "name" => Role::Text,
        other => file::role(other),
    };
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Path | Role::From | Role::To, text) => draft.path(&[Verb::Read], text, Reach::Exact, true),
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) => {}
        Found::Wrong | Found::TooMuch => draft.unclear(),
    });
}

/// Parameters of a new agent that are words for its model. What it does with them is judged call by call.
const WORDS: &[&str] = &["prompt", "message", "task", "description", "instructions", "query"];

fn spawn(tool: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let mut rest = arguments.clone();
    if let Some(rest) = rest.as_object_mut() {
        rest.retain(|key, value| !(WORDS.contains(&key.as_str()) && value.is_string()));
    }
    call_only(tool, &rest, draft);
}

fn call_only(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let kind = draft.kind;
    unknown::describe(arguments, draft);
    draft.kind = kind;
}
