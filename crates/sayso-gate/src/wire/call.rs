//! A tool call from JSON.

use super::line::{Fields, not_known};
use crate::{ProcessEnvironment, RealFiles};
use sayso_policy::explain::visible;
use sayso_policy::{Actor, CanHold, Request, ToolCall, Workspace};
use sayso_shell::resolve::is_system_folder;
use sayso_shell::{Environment, Files, canonical::canonical};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a call of the API may say.
pub const OF_A_CALL: [&str; 13] = [
    "id",
    "command",
    "tool",
    "args",
    "cwd",
    "workspace",
    "home",
    "env",
    "kind",
    "context",
    "call_id",
    "wait",
    "can_hold",
];
/// What it may say of who asks.
pub const OF_A_CONTEXT: [&str; 9] =
    ["agent", "provider", "group", "member", "tenant", "session", "run", "subagent", "parent"];

/// The environment in which a command would run: what the JSON says, and that of this process.
#[derive(Debug, Default)]
pub struct CallEnvironment {
    /// What the JSON says; `None`: nothing.
    said: Option<BTreeMap<String, String>>,
    /// What of it is not so in this process anyway: the call brings it.
    brought: Vec<(String, String)>,
    /// It is a caller's word, and not the owner's: what it leaves out is as it is in this process.
    is_claim: bool,
    /// Folders that the caller says are its home, where this process has another one.
    claimed_homes: Vec<PathBuf>,
}

impl Environment for CallEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        match &self.said {
            Some(said) if !self.is_claim => said.get(name).cloned(),
            Some(said) => said.get(name).cloned().or_else(|| ProcessEnvironment.get(name)),
            None => ProcessEnvironment.get(name),
        }
    }

    fn given(&self) -> &[(String, String)] {
        &self.brought
    }

    fn claimed_homes(&self) -> &[PathBuf] {
        &self.claimed_homes
    }

    fn known(&self, name: &str) -> Option<String> {
        if self.is_claim { ProcessEnvironment.get(name) } else { None }
    }
}

/// Whether whoever makes the call says that it holds what it runs: `true` means whole.
///
/// # Errors
/// If it is neither `true` nor `false`.
pub fn can_hold(fields: &Fields) -> Result<CanHold, String> {
    match fields.value("can_hold")? {
        None | Some(Value::Bool(false)) => Ok(CanHold::No),
        Some(Value::Bool(true)) => Ok(CanHold::Whole),
        Some(_) => Err("`can_hold` must be true or false.".to_owned()),
    }
}

/// The call of a line, by the owner: what it says replaces what is so here. What the JSON does not say is not known; what
/// it says besides is left aside.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn call(fields: &Fields) -> Result<(ToolCall, CallEnvironment), String> {
    let (mut call, env) = call_of(fields, context(fields, Besides::LeftAside)?)?;
    call.home = folder(fields, "home")?.or_else(|| home(&env));
    settle(fields, &RealFiles, call, env)
}

/// The call in a body, where these are the files. Whatever else is said of who asks is refused.
///
/// INVARIANT: what a caller says of its home and its environment adds to what is so here, and replaces nothing. A rule
/// on `~` means the home of this process, whoever asks, and where it restricts also the one that is claimed. One on `.`
/// means the workspace that is claimed, and where it restricts also the folder that the call runs in.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn call_in(fields: &Fields, files: &dyn Files) -> Result<(ToolCall, CallEnvironment), String> {
    let (mut call, mut env) = call_of(fields, actor(fields)?)?;
    env.is_claim = true;
    call.home = home(&ProcessEnvironment);
    let by_variable = env.said.as_ref().and_then(|said| said.get("HOME")).map(PathBuf::from);
    for claimed in [folder(fields, "home")?, by_variable].into_iter().flatten() {
        if claimed.is_absolute() && Some(&claimed) != call.home.as_ref() && !env.claimed_homes.contains(&claimed) {
            env.claimed_homes.push(claimed);
        }
    }
    settle(fields, files, call, env)
}

fn call_of(fields: &Fields, actor: Actor) -> Result<(ToolCall, CallEnvironment), String> {
    let request = match (fields.bytes("command")?, fields.string("tool")?) {
        (Some(command), None) => Request::Command(command),
        (None, Some(name)) => {
            let arguments = fields.value("args")?.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            Request::Tool { name, arguments, server: None }
        }
        (Some(_), Some(_)) => return Err("Give `command` or `tool`, not both.".to_owned()),
        (None, None) => return Err("Neither `command` nor `tool` is given.".to_owned()),
    };
    let env = environment(fields, folder(fields, "home")?.as_deref())?;
    let (cwd, reported_kind) = (folder(fields, "cwd")?, fields.string("kind")?);
    let call = ToolCall { request, actor, cwd, reported_kind, ..ToolCall::command("") };
    Ok((call, env))
}

/// The call with its workspace, which no home may be in.
fn settle(
    fields: &Fields,
    files: &dyn Files,
    mut call: ToolCall,
    env: CallEnvironment,
) -> Result<(ToolCall, CallEnvironment), String> {
    if let Some(root) = folder(fields, "workspace")?.or_else(|| call.cwd.clone()) {
        call.workspace = workspace_of(files, &root, &call, &env);
    }
    Ok((call, env))
}

/// The workspace of a call at a folder, which need not be there.
#[must_use]
pub fn workspace_of(files: &dyn Files, root: &Path, call: &ToolCall, env: &CallEnvironment) -> Workspace {
    let homes = call.home.iter().chain(&env.claimed_homes).map(PathBuf::as_path);
    let workspace = Workspace::beside(canonical(files, root).path, homes);
    if env.is_claim { workspace.claimed() } else { workspace }
}

/// An absolute path.
///
/// # Errors
/// If it is relative, or no string.
pub fn folder(fields: &Fields, key: &str) -> Result<Option<PathBuf>, String> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = fields.bytes(key)?.map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
    match path {
        Some(path) if !path.is_absolute() => Err(format!("`{key}` must be an absolute path.")),
        path => Ok(path),
    }
}

fn environment(fields: &Fields, home: Option<&Path>) -> Result<CallEnvironment, String> {
    let wrong = || "`env` must be an object of strings.".to_owned();
    let Some(value) = fields.value("env")? else { return Ok(CallEnvironment::default()) };
    let Value::Object(variables) = value else { return Err(wrong()) };
    let string = |(name, value): (String, Value)| match value {
        // No process can be given these: whoever starts the call would have to make something else of them.
        Value::String(value) if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') => {
            Err(format!("`env` has an invalid variable name: {}.", visible(&name)))
        }
        Value::String(value) => Ok((name, value)),
        _ => Err(wrong()),
    };
    let all = variables.into_iter().map(string).collect::<Result<BTreeMap<_, _>, _>>()?;
    let brought = |(name, value): &(&String, &String)| !is_usual(name, value, home);
    let brought = all.iter().filter(brought).map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(CallEnvironment { said: Some(all), brought, ..CallEnvironment::default() })
}

/// Whether a variable says what is so without it: whoever gives a whole environment gives these too. A `PATH` is as
/// good as the folders it names: those of the system, of this process's own `PATH`, or that only the system can change.
fn is_usual(name: &str, value: &str, home: Option<&Path>) -> bool {
    match name {
        _ if ProcessEnvironment.get(name).as_deref() == Some(value) => true,
        "HOME" => home == Some(Path::new(value)),
        "PATH" => {
            let own = ProcessEnvironment.get("PATH").unwrap_or_default();
            let known = |folder: &str| {
                is_system_folder(folder)
                    || folder.starts_with('/')
                        && (own.split(':').any(|known| known == folder) || !RealFiles.changeable(Path::new(folder)))
            };
            value.split(':').all(known)
        }
        _ => false,
    }
}

/// Who asks, in a body.
///
/// # Errors
/// If it is not said as it must be.
pub fn actor(fields: &Fields) -> Result<Actor, String> {
    context(fields, Besides::Refused)
}

/// What becomes of words that are not known.
#[derive(PartialEq, Eq)]
enum Besides {
    LeftAside,
    Refused,
}

fn context(fields: &Fields, besides: Besides) -> Result<Actor, String> {
    let Some(context) = fields.value("context")? else { return Ok(Actor::default()) };
    of_context(&context, &besides, 0)
}

/// Agents above one another that are read.
const DEEPEST: usize = 8;

fn of_context(context: &Value, besides: &Besides, depth: usize) -> Result<Actor, String> {
    let Value::Object(context) = context else { return Err("`context` must be an object.".to_owned()) };
    let parent = match context.get("parent") {
        None | Some(Value::Null) => None,
        Some(Value::Object(_)) if depth >= DEEPEST => {
            return Err(format!("`context.parent` is nested more than {DEEPEST} deep."));
        }
        Some(parent @ Value::Object(_)) => Some(Box::new(of_context(parent, besides, depth + 1)?)),
        Some(_) => return Err("`context.parent` must be an object.".to_owned()),
    };
    if *besides == Besides::Refused
        && let Some(key) = context.keys().find(|key| !OF_A_CONTEXT.contains(&key.as_str()))
    {
        return Err(not_known(&format!("context.{key}"), &OF_A_CONTEXT));
    }
    let text = |key: &str| match context.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`context.{key}` must be a string.")),
    };
    let subagent = match context.get("subagent") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(subagent)) => *subagent,
        Some(_) => return Err("`context.subagent` must be true or false.".to_owned()),
    };
    Ok(Actor {
        agent: text("agent")?,
        provider: text("provider")?,
        team: text("group")?,
        member: text("member")?,
        tenant: text("tenant")?,
        session: text("session")?,
        run: text("run")?,
        // What has a parent was started by it, whatever else is said.
        subagent: subagent || parent.is_some(),
        parent,
        ..Actor::default()
    })
}

/// The home folder, by the environment.
#[must_use]
pub fn home(env: &dyn Environment) -> Option<PathBuf> {
    env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The workspace at a folder, which need not be there.
#[must_use]
pub fn workspace_at(root: &Path, home: Option<&Path>) -> Workspace {
    Workspace::new(canonical(&RealFiles, root).path, home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::line;

    fn call(line: &str) -> Result<(ToolCall, CallEnvironment), String> {
        super::call(&line::read(line.as_bytes()).1.unwrap())
    }

    #[test]
    fn what_a_line_does_not_say_is_not_known() {
        let (call, _) = call(r#"{"command":"ls","env":{}}"#).unwrap();
        assert_eq!(call, ToolCall::command("ls"));
    }

    #[test]
    fn a_line_fills_the_whole_call() {
        let (call, env) = call(
            r#"{"tool":"Read","args":{"path":"x"},"cwd":"/no/where/a","workspace":"/no/where","home":"/home/x","kind":"read",
                "env":{"HOME":"/elsewhere","A":"1"},
                "context":{"agent":"a","provider":"p/m","group":"g","member":"m","tenant":"t","session":"s","subagent":true,"more":1}}"#,
        )
        .unwrap();
        assert_eq!(call.cwd.as_deref(), Some(Path::new("/no/where/a")));
        assert_eq!(call.workspace.root(), Some(Path::new("/no/where")));
        assert_eq!(call.home.as_deref(), Some(Path::new("/home/x")));
        assert_eq!(call.reported_kind.as_deref(), Some("read"));
        assert_eq!(call.actor.team.as_deref(), Some("g"));
        assert!(call.actor.subagent);
        assert_eq!(env.get("A").as_deref(), Some("1"));
        assert_eq!(env.get("PATH"), None);
        assert_eq!(env.given(), [("A".to_owned(), "1".to_owned()), ("HOME".to_owned(), "/elsewhere".to_owned())]);
    }

    #[test]
    fn what_is_so_anyway_is_nothing_that_a_call_brings() {
        let path = ProcessEnvironment.get("PATH").unwrap();
        for env in ["{}".to_owned(), format!("{{\"PATH\":\"{path}\"}}"), r#"{"PATH":"/bin:/usr/bin"}"#.to_owned()] {
            let (_, env) = call(&format!(r#"{{"command":"ls","env":{env}}}"#)).unwrap();
            assert_eq!(env.given(), [], "{env:?}");
        }
        let (_, env) = call(r#"{"command":"ls","home":"/h","env":{"HOME":"/h","PATH":"/bin:x"}}"#).unwrap();
        assert_eq!(env.given(), [("PATH".to_owned(), "/bin:x".to_owned())]);
        let (_, env) = call(r#"{"command":"ls"}"#).unwrap();
        assert_eq!(env.given(), []);
    }

    #[test]
    fn the_working_directory_is_the_workspace_unless_said_otherwise() {
        let (call, _) = call(r#"{"command":"ls","cwd":"/no/where"}"#).unwrap();
        assert_eq!(call.workspace.root(), Some(Path::new("/no/where")));
    }

    #[test]
    fn wrong_lines_say_what_is_wrong() {
        for (line, expected) in [
            (r"{}", "Neither `command` nor `tool` is given."),
            (r#"{"command":"a","tool":"b"}"#, "Give `command` or `tool`, not both."),
            (r#"{"command":7}"#, "`command` must be a string."),
            (r#"{"command":"a","cwd":"x"}"#, "`cwd` must be an absolute path."),
            (r#"{"command":"a","env":[]}"#, "`env` must be an object of strings."),
            (r#"{"command":"a","env":{"A":1}}"#, "`env` must be an object of strings."),
            (r#"{"command":"a","env":{"A=":"1"}}"#, "`env` has an invalid variable name: A=."),
            (r#"{"command":"a","context":"x"}"#, "`context` must be an object."),
            (r#"{"command":"a","context":{"group":1}}"#, "`context.group` must be a string."),
            (r#"{"command":"a","context":{"subagent":"yes"}}"#, "`context.subagent` must be true or false."),
            (r#"{"command":"a","context":{"parent":"x"}}"#, "`context.parent` must be an object."),
        ] {
            assert_eq!(call(line).unwrap_err(), expected, "{line}");
        }
    }
}
