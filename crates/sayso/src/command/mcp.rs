//! `sayso mcp`: stands between a client and MCP servers.

use crate::choice::PolicyChoice;
use crate::command::run::{inner, told};
use crate::failure::{Failure, Outcome};
use crate::operator;
use sayso_agents::mcp::{
    GatewaySetting, JudgeSetting, Limits, Pin, PinnedServer, Pins, Reach, Redact, ServerSetting, check_name, name_of,
    read_config, run_stdio,
};
use sayso_gate::{Home, InForce, Places};
use sayso_hold::Launch;
use sayso_policy::explain::{visible, visible_lines};
use sayso_policy::shell::bounds::Leave;
use std::ffi::OsString;
use std::io::{Write as _, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Run a gateway between a client and MCP servers that judges every tool call before the server sees it.
///
/// Configure the client to start this instead of the server. Anything that is not a tool call passes through unchanged.
/// A denied call becomes a tool error that the model can read; where your policy says ask, the client asks you if it
/// can (MCP elicitation). Tools are pinned when first seen: if a server later describes a tool differently, it asks
/// again.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  sayso mcp -- npx -y @modelcontextprotocol/server-filesystem .
  sayso mcp --name github --env GITHUB_TOKEN -- github-mcp-server stdio
  sayso mcp --url https://mcp.example.org/mcp --header 'Authorization: Bearer ...'
  sayso mcp --config servers.json                     many servers behind one
  sayso mcp --listen 127.0.0.1:7272 -- mcp-server-git  over HTTP instead of stdio
  sayso mcp pins list                                 show the accepted tools")]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pins: Option<Sub>,
    #[command(flatten)]
    gateway: Gateway,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Show the accepted tools of MCP servers, and those that need your decision
    #[command(subcommand)]
    Pins(PinsCommand),
}

#[derive(Debug, clap::Subcommand)]
enum PinsCommand {
    /// List all servers and tools seen
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a tool's definition, and what changed since it was accepted
    Show {
        /// The server's name
        server: String,
        /// The tool; without it, all that need your decision
        tool: Option<String>,
    },
    /// Accept tools as their server describes them now
    Accept {
        /// The server's name
        server: String,
        /// The tool
        #[arg(required_unless_present = "all")]
        tool: Option<String>,
        /// All tools of the server that need your decision
        #[arg(long, conflicts_with = "tool")]
        all: bool,
    },
    /// Forget a server: its tools are pinned again when next seen
    Forget {
        /// The server's name
        server: String,
    },
}

#[derive(Debug, clap::Args)]
struct Gateway {
    /// Connect to an HTTP server at this address
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "command"])]
    url: Option<String>,
    /// Use the servers in this file, as clients list them: {"mcpServers": {NAME: {...}}}
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    config: Option<PathBuf>,
    /// The server's name in your policy, mcp:NAME/tool [default: from its command or address]
    #[arg(long, conflicts_with = "config")]
    name: Option<String>,
    /// Serve streamable HTTP here instead of stdio. Only this machine can reach it
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Pass a variable to the server: NAME from this environment, or NAME=VALUE. By default it gets only HOME, PATH,
    /// LANG and similar
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with_all = ["url", "config"])]
    env: Vec<String>,
    /// Send this header to the HTTP server
    #[arg(long, value_name = "'NAME: VALUE'", requires = "url")]
    header: Vec<String>,
    /// The folder `.` refers to in your policy [default: the current one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The agent using it, for rules about agents
    #[arg(long)]
    agent: Option<String>,
    /// Who asks, as tool layers and rules name it: agent:NAME,team:TEAM/MEMBER,tenant:NAME
    #[arg(long = "as", value_name = "WHO")]
    stated: Option<sayso_policy::Stated>,
    /// Largest result to pass on, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().largest_result)]
    max_result: usize,
    /// Seconds a server may take to answer
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().timeout.as_secs())]
    timeout: u64,
    /// Seconds to wait for a person
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().patience.as_secs())]
    ask_timeout: u64,
    /// What to redact from results: keys (of well-known formats), secrets (anything that looks like one), nothing
    #[arg(long, value_name = "WHAT", default_value = "keys")]
    redact: String,
    /// Home folder whose policy and record to use [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyChoice,
    /// Hold the servers to what your policy allows: they write to the workspace, read no secrets and reach the hosts that the
    /// policy names. A server that cannot be held does not start
    #[arg(long, conflicts_with = "url")]
    hold: bool,
    /// Be the server's command, held
    #[arg(long, hide = true, conflicts_with_all = ["hold", "url", "config", "listen"])]
    held_server: bool,
    /// The server's command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs it.
pub(crate) fn run(mcp: &Mcp) -> Outcome {
    match &mcp.pins {
        Some(Sub::Pins(command)) => pins(command),
        None => mcp.gateway.run(),
    }
}

impl Gateway {
    fn run(&self) -> Outcome {
        if self.held_server {
            return self.run_held();
        }
        self.find_program()?;
        let setting = self.setting()?;
        match &self.listen {
            None => run_stdio(&setting)?,
            Some(address) => {
                let address: SocketAddr = address.replace("localhost", "127.0.0.1").parse().map_err(|_| {
                    Failure::wrong("error: --listen needs an address and a port\n\n  Try: --listen 127.0.0.1:7272")
                })?;
                sayso_agents::mcp::listen(&setting, address, |address| {
                    eprintln!("sayso: the MCP gateway is listening on http://{address}/mcp");
                })?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// A client that starts this sees only that it ended: what does not exist is said at once.
    fn find_program(&self) -> Result<(), Failure> {
        let Some(program) = self.command.first() else { return Ok(()) };
        let own_path = self.env.iter().any(|it| it.starts_with("PATH="));
        let runs = |path: &std::path::Path| {
            use std::os::unix::fs::PermissionsExt as _;
            path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        let path = std::path::Path::new(program);
        let found = if path.components().count() > 1 {
            runs(path)
        } else {
            own_path
                || std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|it| runs(&it.join(path)))
        };
        if found {
            return Ok(());
        }
        let shown = path.to_string_lossy();
        Err(Failure::wrong(format!(
            "error: the MCP server cannot be started: there is no program {}\n\n  Check the spelling and PATH, or give the \
             program's whole path.",
            visible(&shown)
        )))
    }

    fn setting(&self) -> Result<GatewaySetting, Failure> {
        let home = self.home.as_deref().map_or(Home::Environment, Home::At);
        let places = Places::find(home)?;
        let given = self.policy.texts()?;
        let workspace = match &self.workspace {
            Some(folder) => folder
                .canonicalize()
                .map_err(|error| Failure::wrong(format!("error: --workspace {}: {error}", folder.display())))?,
            None => std::env::current_dir()?,
        };
        let redact = match self.redact.as_str() {
            "keys" => Redact::Keys,
            "secrets" => Redact::Secrets,
            "nothing" => Redact::Nothing,
            other => {
                return Err(Failure::wrong(format!("error: --redact {other}\n\n  Use keys, secrets or nothing.")));
            }
        };
        let limits = Limits {
            largest_result: self.max_result,
            redact,
            patience: Duration::from_secs(self.ask_timeout),
            timeout: Duration::from_secs(self.timeout),
        };
        let given = (!given.is_empty()).then_some(given);
        let judge = JudgeSetting {
            places,
            given,
            workspace,
            agent: self.agent.clone(),
            stated: self.stated.clone().unwrap_or_default(),
        };
        let launcher = if self.hold { launcher(&judge)? } else { Vec::new() };
        Ok(GatewaySetting { judge, servers: self.servers()?, launcher, limits })
    }

    /// Runs the server's command within the bounds of the workspace, until it ends.
    fn run_held(&self) -> Outcome {
        let places = Places::find(self.home.as_deref().map_or(Home::Environment, Home::At))?;
        let workspace = match &self.workspace {
            Some(folder) => folder.canonicalize()?,
            None => std::env::current_dir()?.canonicalize()?,
        };
        let in_force = InForce::load(&places, Some(&workspace))?;
        let names: Vec<OsString> = std::env::vars_os().map(|(name, _)| name).collect();
        let actor = self.stated.clone().unwrap_or_default().of(sayso_policy::Actor::default());
        let mut bounds =
            sayso_gate::hold::bounds(&places, &in_force, &workspace, Some(&places.home), (&actor, &names))?.bounds;
        bounds.leave = Leave::End;
        let launch = Launch::here(self.command.clone(), inner::stage()?)?;
        let ended = sayso_hold::run(&bounds, &launch);
        let moved = sayso_gate::hold::settle(&places, None);
        match ended {
            Ok(mut ended) => {
                moved.into_iter().for_each(|it| ended.held_back.add_moved(it.path, it.aside));
                if let Some(line) = told::line(&ended.held_back, &workspace) {
                    eprintln!("sayso: held back from this MCP server: {line}");
                }
                Ok(ExitCode::from(ended.status.exit_code()))
            }
            Err(error) => {
                eprintln!("sayso: the MCP server does not start: {}", visible(&error.to_string()));
                Ok(ExitCode::from(error.exit_code()))
            }
        }
    }

    fn servers(&self) -> Result<Vec<ServerSetting>, Failure> {
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::wrong(format!("error: cannot read {}: {error}", path.display())))?;
            return read_config(&text, &|name| std::env::var(name).ok())
                .map_err(|why| Failure::wrong(format!("error: {}: {why}", path.display())));
        }
        let reach = match &self.url {
            Some(url) => Reach::Url { url: url.clone(), headers: self.headers()? },
            None if self.command.is_empty() => {
                return Err(Failure::wrong(
                    "error: which server?\n\n  Try: sayso mcp -- npx -y @modelcontextprotocol/server-filesystem .\n  or --url, or --config; `sayso mcp --help` shows more.",
                ));
            }
            None => Reach::Command { command: self.command.clone(), env: self.variables()?, cwd: None },
        };
        let name = self.name.clone().unwrap_or_else(|| name_of(&reach));
        check_name(&name).map_err(|what| Failure::wrong(format!("error: the server {what}\n\n  Try: --name NAME")))?;
        Ok(vec![ServerSetting { name, reach }])
    }

    fn headers(&self) -> Result<Vec<(String, String)>, Failure> {
        let one = |header: &String| match header.split_once(':') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err(Failure::wrong(
                "error: --header needs a name and a value\n\n  Try: --header 'Authorization: Bearer ...'",
            )),
        };
        self.header.iter().map(one).collect()
    }

    fn variables(&self) -> Result<Vec<(OsString, OsString)>, Failure> {
        let one = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.into(), value.into())),
            None => match std::env::var_os(text) {
                Some(value) => Ok((text.into(), value)),
                None => Err(Failure::wrong(format!("error: --env {text}: the variable is not set here"))),
            },
        };
        self.env.iter().map(one).collect()
    }
}

/// The words that start a server held.
fn launcher(judge: &JudgeSetting) -> Result<Vec<OsString>, Failure> {
    let program = std::env::current_exe()?.canonicalize()?;
    let words = ["mcp".into(), "--held-server".into(), "--home".into(), judge.places.home.clone().into_os_string()];
    let workspace = ["--workspace".into(), judge.workspace.clone().into_os_string(), "--".into()];
    Ok(std::iter::once(program.into_os_string()).chain(words).chain(workspace).collect())
}

fn pins(command: &PinsCommand) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let pins = Pins::open(&places)?;
    let text = match command {
        PinsCommand::List { json: true } => format!("{}\n", serde_json::to_string_pretty(&pins.all()?)?),
        PinsCommand::List { json: false } => listed(&pins.all()?),
        PinsCommand::Show { server, tool } => shown(&known(&pins, server)?, tool.as_deref())?,
        PinsCommand::Accept { server, tool, .. } => {
            known(&pins, server)?;
            let open = pins.open_tools(server, tool.as_deref())?;
            if open.is_empty() {
                "Nothing needs your decision there.\n".to_owned()
            } else {
                // Made of the same pins that are accepted: what the server says meanwhile is not.
                let waits = open.iter().map(|tool| in_words(server, &tool.name, &tool.pin, false));
                operator::confirmed(&places, &waits.collect::<Result<String, _>>()?)?;
                match pins.accept(&open)?.as_slice() {
                    [] => {
                        return Err(Failure::wrong(
                            "error: its description changed in the meantime, so nothing was accepted",
                        ));
                    }
                    tools => format!("Accepted as shown: {}\n", visible(&tools.join(", "))),
                }
            }
        }
        PinsCommand::Forget { server } => {
            known(&pins, server)?;
            operator::confirmed(
                &places,
                &format!("The tools of {} will be pinned again as they are seen", visible(server)),
            )?;
            pins.forget(server)?;
            "Forgotten. Its tools are pinned again when next seen.\n".to_owned()
        }
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn known(pins: &Pins, server: &str) -> Result<Vec<PinnedServer>, Failure> {
    let found: Vec<_> = pins.all()?.into_iter().filter(|pinned| pinned.server == server).collect();
    if found.is_empty() {
        return Err(Failure::wrong(format!(
            "error: Sayso has not seen an MCP server named {server}\n\n  List the known ones with `sayso mcp pins list`."
        )));
    }
    Ok(found)
}

fn listed(servers: &[PinnedServer]) -> String {
    if servers.is_empty() {
        return "No MCP servers seen yet.\n\nNext:  sayso mcp -- SERVER COMMAND...     in a client's list of servers\n"
            .to_owned();
    }
    let mut text = String::new();
    for pinned in servers {
        text.push_str(&format!("{}  {}\n", visible(&pinned.server), visible(&pinned.reached)));
        for (name, pin) in &pinned.tools {
            let mut notes: Vec<String> = Vec::new();
            if pin.changed.is_some() {
                notes.push("changed: asks".to_owned());
            }
            if !pin.accepted {
                notes.extend(pin.suspicions.iter().map(|(code, _)| format!("{code}: asks")));
            }
            notes.extend(pin.same_name_at.iter().map(|other| format!("same name at {}", visible(other))));
            let notes = if notes.is_empty() { String::new() } else { format!("  {}", notes.join(", ")) };
            text.push_str(&format!("  {}{notes}\n", visible(name)));
        }
    }
    if servers.iter().any(|pinned| pinned.tools.values().any(|pin| !pin.is_settled())) {
        text.push_str("\nNext:  sayso mcp pins show SERVER     what needs your decision, and why\n");
    }
    text
}

/// What waits for a person about one tool; `whole`: its definition too, where only a part of it changed.
fn in_words(server: &str, name: &str, pin: &Pin, whole: bool) -> Result<String, Failure> {
    let mut text = format!("{} of {}\n", visible(name), visible(server));
    for (code, sentence) in pin.suspicions.iter().filter(|_| !pin.accepted) {
        text.push_str(&format!("  {} [{code}]\n", visible(sentence)));
    }
    for line in pin.difference() {
        text.push_str(&format!("  {line}\n"));
    }
    if whole || pin.changed.is_none() {
        let definition = serde_json::to_string_pretty(&pin.definition)?;
        text.push_str(&visible_lines(definition.as_bytes()));
        text.push('\n');
    }
    Ok(text)
}

fn shown(servers: &[PinnedServer], tool: Option<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    for pinned in servers {
        for (name, pin) in &pinned.tools {
            if tool.is_some_and(|tool| tool != name) || tool.is_none() && pin.is_settled() {
                continue;
            }
            text.push_str(&in_words(&pinned.server, name, pin, tool.is_some())?);
        }
    }
    if text.is_empty() {
        return match tool {
            Some(tool) => Err(Failure::wrong(format!(
                "error: it has no tool named {tool}\n\n  List its tools with `sayso mcp pins list`."
            ))),
            None => Ok("Nothing needs your decision there.\n".to_owned()),
        };
    }
    if tool.is_none() {
        text.push_str("\nNext:  sayso mcp pins accept SERVER TOOL\n");
    }
    Ok(text)
}
