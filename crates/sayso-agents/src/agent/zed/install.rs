//! Zed's settings: `sayso acp` in front of the command of each agent that Zed starts.
//!
//! Zed reads comments and trailing commas; both stay. An agent that Zed fetched from its registry has no command here:
//! nothing can be put in front of it, and its owner is told.

use crate::Agent;
use crate::install::command::Ours;
use crate::install::json_text::{self, Comments, Node, NodeKind};
use crate::install::part::{Left, Part};
use crate::install::{Installer, Scope, Setting};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where Zed keeps the agents that it starts.
const AGENTS: &str = "agent_servers";
/// What ends the name of an entry that is Sayso's alone.
const OWN: &str = " (Sayso)";

/// An agent on this machine that speaks ACP: its program, the arguments that make it, and how it is shown.
type Speaker<P> = (P, &'static [&'static str], &'static str);

/// The agents that Zed starts.
pub(super) struct AgentServers;

impl Installer for AgentServers {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        Ok(vec![Box::new(settings(setting)?)])
    }

    /// Zed has no hooks that could be looked at.
    fn registered(&self, _: &Setting, _: &str) -> Option<Ours> {
        None
    }

    fn switched_off(&self, settings: &Value) -> Vec<String> {
        unguarded(settings)
    }

    fn advice(&self, _: &Setting) -> Option<&'static str> {
        Some(
            "What an agent does not ask Zed about is only seen by the agent's own hooks: install those too, for example `sayso install claude-code`.",
        )
    }
}

/// Zed's settings file.
#[derive(Debug)]
struct ZedSettings {
    path: PathBuf,
    program: String,
    home: String,
    /// Agents on this machine that could be started.
    found: Vec<Speaker<PathBuf>>,
}

/// The settings of this user. A project's settings and a machine's cannot name agents.
fn settings(setting: &Setting) -> Result<ZedSettings, String> {
    if setting.scope != Scope::User {
        return Err("Zed reads its agents only from the user's settings".to_owned());
    }
    let text = |path: &Path| path.to_str().map(str::to_owned);
    Ok(ZedSettings {
        path: setting.folder_of(&super::ROW).join("settings.json"),
        program: text(&setting.program)
            .filter(|_| setting.program.is_absolute())
            .ok_or("Sayso's own path is not UTF-8")?,
        home: text(&setting.places.home).ok_or("the home folder's path is not UTF-8")?,
        found: on_path(),
    })
}

/// Agents that Zed starts without a command that Sayso could stand in front of.
fn unguarded(settings: &Value) -> Vec<String> {
    let Some(agents) = settings.get(AGENTS).and_then(Value::as_object) else { return Vec::new() };
    let bare = agents.iter().filter(|(_, agent)| agent.is_object() && agent.get("command").is_none());
    bare.map(|(name, _)| {
        format!("Zed starts {name:?} itself, without a command in these settings, so it is not guarded. Give it a command, or install its hooks.")
    })
    .collect()
}

fn known() -> impl Iterator<Item = Speaker<&'static str>> {
    Agent::ALL.iter().filter_map(|agent| {
        let (program, arguments) = agent.row().acp.program?;
        Some((program, arguments, agent.title()))
    })
}

fn on_path() -> Vec<Speaker<PathBuf>> {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let find = |program: &str| {
        folders
            .iter()
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
    };
    known().filter_map(|(program, arguments, title)| Some((find(program)?, arguments, title))).collect()
}

impl Part for ZedSettings {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let mut text = match before {
            Some(text) if !text.trim().is_empty() => text.to_owned(),
            _ => "{}\n".to_owned(),
        };
        let names = names(&text)?;
        for name in &names {
            text = self.wrapped(&text, name)?;
        }
        if names.is_empty() {
            text = self.added(&text)?;
        }
        Ok(text)
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        if text.trim().is_empty() {
            return Ok(Left::AsIs);
        }
        let mut now = text.to_owned();
        for name in names(text)? {
            now = unwrapped(&now, &name)?;
        }
        if now == text {
            return Ok(Left::AsIs);
        }
        let rest = json_text::drop_empty(&now, &[AGENTS], Comments::Loose)?;
        Ok(if json_text::value(&rest) == Some(json!({})) { Left::Nothing } else { Left::Text(rest) })
    }
}

impl ZedSettings {
    /// The text with Sayso in front of one agent's command.
    fn wrapped(&self, text: &str, name: &str) -> Result<String, String> {
        let root = json_text::parse(text, Comments::Loose)?;
        let agent = entry(&root, name)?.ok_or("an agent's entry has moved")?;
        let (command, arguments) = command(text, agent)?;
        if is_ours(&command, &arguments) {
            return set(text, name, "command", &json!(self.program));
        }
        let arguments: Vec<String> = self.arguments(&command, &arguments);
        let text = set(text, name, "args", &json!(arguments))?;
        set(&text, name, "command", &json!(self.program))
    }

    /// The text with an entry for each agent on this machine.
    fn added(&self, text: &str) -> Result<String, String> {
        if self.found.is_empty() {
            let programs: Vec<&str> = known().map(|(program, ..)| program).collect();
            return Err(format!(
                "it starts no agent with a command, and no agent that Sayso supports is on PATH ({})",
                programs.join(", ")
            ));
        }
        let mut agents = serde_json::Map::new();
        for (program, arguments, title) in &self.found {
            let program = program.to_str().ok_or("an agent's path is not UTF-8")?;
            let arguments = self.arguments(program, &arguments.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
            agents.insert(
                format!("{title}{OWN}"),
                json!({"type": "custom", "command": self.program, "args": arguments, "env": {}}),
            );
        }
        let root = json_text::parse(text, Comments::Loose)?;
        let NodeKind::Object(_) = root.kind else { return Err("the settings are not an object".to_owned()) };
        let Some(there) = root.member(AGENTS)? else {
            return checked(json_text::push(text, &root, Some(AGENTS), &Value::Object(agents)));
        };
        let mut now = text.to_owned();
        for (name, entry) in agents {
            let root = json_text::parse(&now, Comments::Loose)?;
            let parent = root.member(AGENTS)?.map_or(&there.value, |member| &member.value);
            now = checked(json_text::push(&now, parent, Some(&name), &entry))?;
        }
        Ok(now)
    }

    fn arguments(&self, command: &str, arguments: &[String]) -> Vec<String> {
        let own = ["acp", "--home", &self.home, "--", command].map(str::to_owned);
        own.into_iter().chain(arguments.iter().cloned()).collect()
    }
}

/// The agents that have a command.
fn names(text: &str) -> Result<Vec<String>, String> {
    let root = json_text::parse(text, Comments::Loose)?;
    let Some(agents) = root.member(AGENTS)? else { return Ok(Vec::new()) };
    let NodeKind::Object(members) = &agents.value.kind else { return Err(format!("its `{AGENTS}` are not an object")) };
    let mut names: Vec<String> = Vec::new();
    for member in members {
        if names.contains(&member.key) {
            return Err(format!("it has two agents named {:?}", member.key));
        }
        if member.value.member("command")?.is_some() {
            names.push(member.key.clone());
        }
    }
    Ok(names)
}

fn entry<'n>(root: &'n Node, name: &str) -> Result<Option<&'n Node>, String> {
    let Some(agents) = root.member(AGENTS)? else { return Ok(None) };
    Ok(agents.value.member(name)?.map(|member| &member.value))
}

/// An agent's command and its arguments.
fn command(text: &str, agent: &Node) -> Result<(String, Vec<String>), String> {
    let value = agent.value(text);
    let command = value.get("command").and_then(Value::as_str).ok_or("an agent's `command` is not a string")?;
    let arguments = match value.get("args") {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            texts.ok_or("an agent's `args` are not all strings")?
        }
        Some(_) => return Err("an agent's `args` are not a list".to_owned()),
    };
    Ok((command.to_owned(), arguments))
}

fn is_ours(command: &str, arguments: &[String]) -> bool {
    let sayso = Path::new(command).file_name().is_some_and(|name| name == "sayso");
    sayso && arguments.first().is_some_and(|first| first == "acp") && arguments.iter().any(|one| one == "--")
}

/// The text without Sayso in front of one agent's command.
fn unwrapped(text: &str, name: &str) -> Result<String, String> {
    let root = json_text::parse(text, Comments::Loose)?;
    let Some(agent) = entry(&root, name)? else { return Ok(text.to_owned()) };
    let (own, arguments) = command(text, agent)?;
    if !is_ours(&own, &arguments) {
        return Ok(text.to_owned());
    }
    if name.ends_with(OWN) {
        let Some(agents) = root.member(AGENTS)? else { return Ok(text.to_owned()) };
        let NodeKind::Object(members) = &agents.value.kind else { return Ok(text.to_owned()) };
        let at = members.iter().position(|member| member.key == name).unwrap_or(usize::MAX);
        return checked(json_text::remove(text, &agents.value, at));
    }
    let mut behind = arguments.into_iter().skip_while(|one| one != "--").skip(1);
    let command = behind.next().ok_or("Sayso wraps no command there; remove the agent by hand")?;
    let text = set(text, name, "args", &json!(behind.collect::<Vec<_>>()))?;
    set(&text, name, "command", &json!(command))
}

/// The text with another value for one member of an agent.
fn set(text: &str, name: &str, key: &str, value: &Value) -> Result<String, String> {
    let root = json_text::parse(text, Comments::Loose)?;
    let agent = entry(&root, name)?.ok_or("an agent's entry has moved")?;
    let changed = match agent.member(key)? {
        Some(member) if member.value.value(text) == *value => return Ok(text.to_owned()),
        Some(member) => json_text::replace(text, &member.value, value),
        None => json_text::push(text, agent, Some(key), value),
    };
    checked(changed)
}

/// A text that can still be read.
fn checked(text: String) -> Result<String, String> {
    json_text::parse(&text, Comments::Loose).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zed(found: &[&'static str]) -> ZedSettings {
        let known = known().filter(|(program, ..)| found.contains(program));
        ZedSettings {
            path: "/home/ann/.config/zed/settings.json".into(),
            program: "/bin/sayso".to_owned(),
            home: "/home/ann".to_owned(),
            found: known
                .map(|(program, arguments, title)| (Path::new("/bin").join(program), arguments, title))
                .collect(),
        }
    }

    const BEFORE: &str = r#"// Zed settings
{
  "theme": "One Dark", // dark
  "agent_servers": {
    "Gemini": {
      "type": "custom",
      "command": "gemini", // the agent
      "args": ["--acp"],
      "env": { "A": "b" },
    },
    "claude": { "env": {} },
  },
}
"#;

    #[test]
    fn sayso_stands_in_front_of_each_command_and_the_rest_stays() {
        let after = zed(&[]).register(Some(BEFORE)).unwrap();
        let expected = BEFORE
            .replace("\"gemini\", //", "\"/bin/sayso\", //")
            .replace("[\"--acp\"]", r#"["acp","--home","/home/ann","--","gemini","--acp"]"#);
        let shown = |text: &str| text.split_whitespace().collect::<Vec<_>>().join("").replace(' ', "");
        assert_eq!(shown(&after), shown(&expected));
        assert_eq!(zed(&[]).register(Some(&after)).unwrap(), after);
        let Left::Text(back) = zed(&[]).unregister(&after).unwrap() else { panic!("{after}") };
        assert_eq!(shown(&back), shown(BEFORE));
        let moved = ZedSettings { program: "/new/sayso".to_owned(), ..zed(&[]) }.register(Some(&after)).unwrap();
        assert_eq!(moved, after.replace("/bin/sayso", "/new/sayso"));
    }

    #[test]
    fn the_example_in_the_documentation_is_what_happens() {
        let page = include_str!("../../../../../docs/agents/zed.md");
        let mut blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
        let (before, after) = (blocks.next().unwrap(), blocks.next().unwrap());
        let zed = ZedSettings { program: "/usr/local/bin/sayso".to_owned(), ..zed(&[]) };
        assert_eq!(json_text::value(&zed.register(Some(before)).unwrap()), json_text::value(after));
    }

    #[test]
    fn a_zed_without_agents_gets_those_of_this_machine() {
        for before in [None, Some(""), Some("{}\n"), Some("{\n  \"theme\": \"x\"\n}\n")] {
            let after = zed(&["gemini", "opencode"]).register(before).unwrap();
            let agents = &json_text::value(&after).unwrap()[AGENTS];
            assert_eq!(
                agents["Gemini CLI (Sayso)"]["args"],
                json!(["acp", "--home", "/home/ann", "--", "/bin/gemini", "--acp"])
            );
            assert_eq!(agents.as_object().unwrap().len(), 2);
            assert_eq!(zed(&["gemini"]).register(Some(&after)).unwrap(), after);
            let left = zed(&[]).unregister(&after).unwrap();
            match before {
                Some(text) if text.contains("theme") => assert_eq!(left, Left::Text(text.to_owned())),
                _ => assert_eq!(left, Left::Nothing),
            }
        }
        assert!(zed(&[]).register(None).unwrap_err().contains("claude-agent-acp"));
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        for text in [
            "{\"agent_servers\": []}",
            "{\"agent_servers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
            "{\"agent_servers\": {\"a\": {\"command\": [\"x\"]}}}",
            "{\"agent_servers\": {\"a\": {\"command\": \"x\", \"args\": \"y\"}}}",
            "{\"agent_servers\": {\"a\": {\"command\": \"x\", \"command\": \"y\"}}}",
            "{\"a\":1",
        ] {
            assert!(zed(&[]).register(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn agents_without_a_command_are_named() {
        let told = unguarded(&json!({"agent_servers": {"claude": {"type": "registry"}, "x": {"command": "y"}}}));
        assert!(told.len() == 1 && told[0].contains("claude"), "{told:?}");
    }
}
