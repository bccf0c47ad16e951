//! The server lists of MCP clients: `sayso mcp` in front of the command of each server.
//!
//! A server behind HTTP has no command that Sayso could stand in front of; its owner is told how to put it behind one.
//! What a client's list gives a server as environment stays there, and reaches the server by name.

use super::json_text::{self, Comments, NodeKind};
use super::part::{Left, Part, read, resolved};
use super::{FileChange, MCP, Noted, Plan, Scope, Setting, keep};
use crate::agent::McpList;
use crate::mcp::check_name;
use crate::{Agent, Error};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A client's list of servers.
#[derive(Debug)]
struct ServerList {
    path: PathBuf,
    /// The agent's name in rules, where the client is one.
    agent: Option<&'static str>,
    /// What the list is called.
    key: &'static str,
    comments: Comments,
    /// Lists of single projects are in it too, below this key.
    projects: Option<&'static str>,
    program: String,
    home: String,
}

/// The lists of clients that are none of the agents: Claude Desktop and Visual Studio Code.
const OTHERS: &[McpList] = &[
    desktop(".config/Claude/claude_desktop_config.json"),
    desktop("Library/Application Support/Claude/claude_desktop_config.json"),
    code(false, ".config/Code/User/mcp.json"),
    code(false, "Library/Application Support/Code/User/mcp.json"),
    code(true, ".vscode/mcp.json"),
];

const fn desktop(path: &'static str) -> McpList {
    McpList { in_project: false, path, key: "mcpServers", comments: Comments::Refused, projects: None }
}

const fn code(in_project: bool, path: &'static str) -> McpList {
    McpList { in_project, path, key: "servers", comments: Comments::Loose, projects: None }
}

/// Plans Sayso in front of every server of the clients on this machine.
///
/// # Errors
/// If a list cannot be read or safely edited.
pub fn plan_install_mcp(setting: &Setting) -> Result<Plan, Error> {
    let mut plan = Plan {
        files: Vec::new(),
        notices: Vec::new(),
        noted: Noted::new(MCP, setting),
        state: setting.places.clone(),
        installing: true,
    };
    for list in lists(setting)? {
        let path = resolved(list.path())?;
        let Some(before) = read(&path)? else { continue };
        let refuse = |why| Error::Settings { path: path.clone(), why };
        let after = list.register(Some(&before)).map_err(refuse)?;
        plan.notices.extend(list.unguarded(&after));
        let keep_as = kept_as(&path);
        let original = match keep::original(&setting.places, &keep_as, Some(&before))? {
            Some(original) => original,
            None => list.unregister(&before).unwrap_or(Left::AsIs).of(&before),
        };
        plan.files.push(FileChange { path, before: Some(before), after: Some(after), original, keep_as });
    }
    Ok(plan)
}

/// Plans the removal of Sayso from the clients' lists.
///
/// # Errors
/// If a list cannot be read or safely edited.
pub fn plan_uninstall_mcp(setting: &Setting) -> Result<Plan, Error> {
    let mut plan = Plan {
        files: Vec::new(),
        notices: Vec::new(),
        noted: Noted::new(MCP, setting),
        state: setting.places.clone(),
        installing: false,
    };
    for list in lists(setting)? {
        let path = resolved(list.path())?;
        let Some(before) = read(&path)? else { continue };
        let refuse = |why| Error::Settings { path: path.clone(), why };
        let keep_as = kept_as(&path);
        let after = match keep::original(&setting.places, &keep_as, Some(&before))? {
            Some(original) => original,
            None => list.unregister(&before).map_err(refuse)?.of(&before),
        };
        plan.files.push(FileChange { path, before: Some(before), after, original: None, keep_as });
    }
    Ok(plan)
}

/// Apart from what an agent's own registration keeps of the same file.
fn kept_as(path: &Path) -> PathBuf {
    path.join("mcp")
}

/// The lists that may be there.
fn lists(setting: &Setting) -> Result<Vec<ServerList>, Error> {
    let cannot = |why: &str| Error::CannotInstall { agent: "MCP clients", why: why.to_owned() };
    if setting.scope == Scope::Managed {
        return Err(cannot("MCP server lists belong to users and projects"));
    }
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let program = text(&setting.program).filter(|_| setting.program.is_absolute());
    let program = program.ok_or_else(|| cannot("Sayso's own path is not UTF-8"))?;
    let home = text(&setting.places.home).ok_or_else(|| cannot("the home folder's path is not UTF-8"))?;
    let in_project = setting.scope == Scope::Project;
    let folder = if in_project { &setting.project } else { &setting.places.home };
    let of_agents =
        Agent::ALL.iter().flat_map(|agent| agent.row().mcp_lists.iter().map(|list| (Some(agent.name()), list)));
    let all = of_agents.chain(OTHERS.iter().map(|list| (None, list)));
    let server_list = |(agent, list): (Option<&'static str>, &McpList)| ServerList {
        path: folder.join(list.path),
        agent,
        key: list.key,
        comments: list.comments,
        projects: list.projects,
        program: program.clone(),
        home: home.clone(),
    };
    Ok(all.filter(|(_, list)| list.in_project == in_project).map(server_list).collect())
}

impl Part for ServerList {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let mut text = before.unwrap_or_default().to_owned();
        for place in self.places(&text)? {
            text = self.wrapped(&text, &place)?;
        }
        Ok(text)
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        let mut now = text.to_owned();
        for place in self.places(text)? {
            now = self.unwrapped(&now, &place)?;
        }
        Ok(if now == text { Left::AsIs } else { Left::Text(now) })
    }
}

impl ServerList {
    /// Where each server's entry is: the keys that lead to it.
    fn places(&self, text: &str) -> Result<Vec<Vec<String>>, String> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let root = json_text::parse(text, self.comments)?;
        let mut heads: Vec<Vec<String>> = vec![vec![self.key.to_owned()]];
        if let Some(projects) = self.projects
            && let Some(member) = root.member(projects)?
            && let NodeKind::Object(each) = &member.value.kind
        {
            heads.extend(each.iter().map(|one| vec![projects.to_owned(), one.key.clone(), self.key.to_owned()]));
        }
        let mut places = Vec::new();
        for head in heads {
            let mut node = Some(&root);
            for key in &head {
                node = match node {
                    Some(inner) => inner.member(key)?.map(|member| &member.value),
                    None => None,
                };
            }
            if let Some(NodeKind::Object(servers)) = node.map(|node| &node.kind) {
                places.extend(servers.iter().map(|server| [head.clone(), vec![server.key.clone()]].concat()));
            }
        }
        Ok(places)
    }

    fn entry(&self, text: &str, place: &[String]) -> Option<Value> {
        place.iter().try_fold(json_text::value(text)?, |value, key| value.get(key).cloned())
    }

    fn wrapped(&self, text: &str, place: &[String]) -> Result<String, String> {
        let Some(entry) = self.entry(text, place) else { return Ok(text.to_owned()) };
        let Some((command, arguments)) = command_of(&entry)? else { return Ok(text.to_owned()) };
        if is_ours(&command, &arguments) {
            return self.set(text, place, "command", &json!(self.program));
        }
        let name = name_for_rules(place.last().map(String::as_str).unwrap_or_default());
        let mut own = vec!["mcp".to_owned(), "--name".to_owned(), name, "--home".to_owned(), self.home.clone()];
        if let Some(agent) = self.agent {
            own.extend(["--agent".to_owned(), agent.to_owned()]);
        }
        for variable in entry.get("env").and_then(Value::as_object).into_iter().flatten() {
            own.extend(["--env".to_owned(), variable.0.clone()]);
        }
        own.extend(["--".to_owned(), command]);
        own.extend(arguments);
        let text = self.set(text, place, "args", &json!(own))?;
        self.set(&text, place, "command", &json!(self.program))
    }

    fn unwrapped(&self, text: &str, place: &[String]) -> Result<String, String> {
        let Some(entry) = self.entry(text, place) else { return Ok(text.to_owned()) };
        let Some((command, arguments)) = command_of(&entry)? else { return Ok(text.to_owned()) };
        if !is_ours(&command, &arguments) {
            return Ok(text.to_owned());
        }
        let mut behind = arguments.into_iter().skip_while(|one| one != "--").skip(1);
        let command = behind.next().ok_or("Sayso wraps no command there; remove the server by hand")?;
        let text = self.set(text, place, "args", &json!(behind.collect::<Vec<_>>()))?;
        self.set(&text, place, "command", &json!(command))
    }

    fn set(&self, text: &str, place: &[String], key: &str, value: &Value) -> Result<String, String> {
        let path: Vec<&str> = place.iter().map(String::as_str).chain([key]).collect();
        let changed = json_text::set(text, &path, value, self.comments)?;
        json_text::parse(&changed, self.comments).map(|_| changed)
    }

    /// Servers that Sayso does not stand in front of.
    fn unguarded(&self, text: &str) -> Vec<String> {
        let places = self.places(text).unwrap_or_default();
        let behind_http = places.iter().filter_map(|place| {
            let entry = self.entry(text, place)?;
            let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(key)?.as_str())?;
            let name = place.last()?;
            Some(format!(
                "{name:?} in {} uses HTTP and is not guarded. Replace it with: {{\"command\": {}, \"args\": [\"mcp\", \"--name\", {:?}, \"--url\", {url:?}]}}",
                self.path.display(),
                Value::from(self.program.as_str()),
                name_for_rules(name),
            ))
        });
        behind_http.collect()
    }
}

/// A server's command and its arguments; `None`: it has none.
fn command_of(entry: &Value) -> Result<Option<(String, Vec<String>)>, String> {
    // Zed once wrote an object here: nothing that can be wrapped without knowing all of it.
    let Some(command) = entry.get("command").and_then(Value::as_str) else { return Ok(None) };
    if entry.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "stdio") {
        return Ok(None);
    }
    let arguments = match entry.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => {
            let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            texts.ok_or("a server's `args` are not all strings")?
        }
        Some(_) => return Err("a server's `args` are not a list".to_owned()),
    };
    Ok(Some((command.to_owned(), arguments)))
}

fn is_ours(command: &str, arguments: &[String]) -> bool {
    let sayso = Path::new(command).file_name().is_some_and(|name| name == "sayso");
    sayso && arguments.first().is_some_and(|first| first == "mcp") && arguments.iter().any(|one| one == "--")
}

/// A server's name as rules can write it.
fn name_for_rules(name: &str) -> String {
    if check_name(name).is_ok() {
        return name.to_owned();
    }
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' };
    let plain: String = name.chars().map(fits).take(64).collect();
    let plain = plain.trim_matches('-').to_owned();
    if plain.is_empty() { "server".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_gate::Places;

    fn setting(home: &Path, scope: Scope) -> Setting {
        Setting {
            places: Places::below(home, home),
            scope,
            project: home.join("project"),
            agent_folder: None,
            program: "/opt/sayso".into(),
            shell: None,
            stated: None,
            limiter: None,
            policy: Vec::new(),
            trust: false,
            root: home.to_owned(),
        }
    }

    fn write(home: &Path, name: &str, text: &str) -> PathBuf {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    const CLAUDE: &str = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {\"TOKEN\": \"t\"} },\n    \"web\": {\"type\": \"http\", \"url\": \"https://example.org/mcp\"}\n  },\n  \"projects\": {\"/p\": {\"mcpServers\": {\"my git!\": {\"command\": \"git-mcp\"}}, \"x\": 1}}\n}\n";

    #[test]
    fn servers_go_through_the_gateway_and_come_back_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let setting = setting(&home, Scope::User);
        let claude = write(&home, ".claude.json", CLAUDE);
        let zed_text = "{\n  // mine\n  \"context_servers\": {\"a\": {\"command\": \"a\", \"args\": [],},},\n}\n";
        let zed = write(&home, ".config/zed/settings.json", zed_text);
        let plan = plan_install_mcp(&setting).unwrap();
        assert!(plan.notices.len() == 1 && plan.notices[0].contains("\"web\""), "{:?}", plan.notices);
        plan.apply().unwrap();

        let now: Value = serde_json::from_str(&std::fs::read_to_string(&claude).unwrap()).unwrap();
        let files = &now["mcpServers"]["files"];
        assert_eq!(files["command"], "/opt/sayso");
        let home_text = home.to_str().unwrap();
        let expected = [
            "mcp",
            "--name",
            "files",
            "--home",
            home_text,
            "--agent",
            "claude-code",
            "--env",
            "TOKEN",
            "--",
            "npx",
            "-y",
            "x",
        ];
        assert_eq!(files["args"], json!(expected));
        assert_eq!(files["env"]["TOKEN"], "t", "values stay where they are");
        let git = &now["projects"]["/p"]["mcpServers"]["my git!"];
        assert_eq!((&git["command"], &git["args"][2]), (&json!("/opt/sayso"), &json!("my-git")));
        assert!(std::fs::read_to_string(&zed).unwrap().contains("// mine"));
        assert!(!plan_install_mcp(&setting).unwrap().changes(), "twice is once");

        plan_uninstall_mcp(&setting).unwrap().apply().unwrap();
        assert_eq!(std::fs::read_to_string(&claude).unwrap(), CLAUDE);
        assert_eq!(std::fs::read_to_string(&zed).unwrap(), zed_text);
        assert!(!plan_uninstall_mcp(&setting).unwrap().changes());
    }

    #[test]
    fn what_the_client_changed_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let setting = setting(&home, Scope::User);
        let claude = write(&home, ".claude.json", CLAUDE);
        plan_install_mcp(&setting).unwrap().apply().unwrap();
        let text = std::fs::read_to_string(&claude).unwrap().replace("\"numStartups\": 3", "\"numStartups\": 4");
        std::fs::write(&claude, text).unwrap();
        plan_uninstall_mcp(&setting).unwrap().apply().unwrap();
        let now: Value = serde_json::from_str(&std::fs::read_to_string(&claude).unwrap()).unwrap();
        let mut was: Value = serde_json::from_str(CLAUDE).unwrap();
        was["numStartups"] = json!(4);
        was["projects"]["/p"]["mcpServers"]["my git!"]["args"] = json!([]);
        assert_eq!(now, was);
    }

    #[test]
    fn a_project_has_lists_of_its_own_and_a_broken_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let setting = setting(&home, Scope::Project);
        let code = write(
            &home,
            "project/.vscode/mcp.json",
            "{ /* x */ \"servers\": {\"a\": {\"type\": \"stdio\", \"command\": \"a\"}}}",
        );
        plan_install_mcp(&setting).unwrap().apply().unwrap();
        let text = std::fs::read_to_string(&code).unwrap();
        assert!(text.contains("/* x */") && text.contains("/opt/sayso"), "{text}");
        write(&home, "project/.mcp.json", "{\"mcpServers\": {");
        assert!(matches!(plan_install_mcp(&setting), Err(Error::Settings { .. })));
        assert!(plan_install_mcp(&super::tests::setting(&home, Scope::Managed)).is_err());
    }
}
