//! The Rust SDK of MCP as client and as server, with the gateway in between.
//!
//! `sayso-rmcp-peers server`: a server over standard input and output.
//! `sayso-rmcp-peers client SAYSO`: a client that starts the gateway in front of that server, and checks what it sees;
//! with the handshake of 2025-11-25 and without any, as from 2026-07-28 on.

use rmcp::model::*;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RoleClient, RoleServer};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ErrorData, ServerHandler, ServiceExt};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]});
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let tools =
            ["echo", "ask", "deny", "hide"].map(|name| Tool::new(name, format!("The tool {name}."), schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let words = request.arguments.and_then(|given| Some(given.get("words")?.as_str()?.to_owned()));
        let text = format!("{} {}", request.name, words.unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Answers every question with yes, once.
#[derive(Clone, Default)]
struct Client {
    asked: Arc<AtomicUsize>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder().enable_elicitation().build(),
            Implementation::new("sayso-rmcp-peers", "0.0.0"),
        )
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": "once"})))
    }
}

const POLICY: &str = r#"
[allow]
tool = ["mcp:rmcp/echo"]
[ask]
tool = ["mcp:rmcp/ask"]
[deny]
tool = ["mcp:rmcp/deny"]
[tools]
hide = ["mcp:rmcp/hide"]
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "server") {
        Server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let sayso = std::fs::canonicalize(arguments.get(2).ok_or("usage: sayso-rmcp-peers client SAYSO")?)?;
    let folder = std::env::temp_dir().join(format!("sayso-rmcp-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("policy.toml"), POLICY)?;
    let mut failed = 0;
    let modes = [
        ("2025-11-25", ClientLifecycleMode::Initialize),
        ("2026-07-28", ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }),
    ];
    for (version, mode) in modes {
        match through(&sayso, &folder, mode).await {
            Ok(()) => println!("ok      rmcp: {version} through the gateway"),
            Err(why) => {
                failed += 1;
                println!("FAILED  rmcp: {version} through the gateway: {why}");
            }
        }
    }
    std::fs::remove_dir_all(&folder)?;
    println!("{} passed, {failed} failed", 2 - failed);
    std::process::exit(i32::from(failed > 0));
}

async fn through(
    sayso: &std::path::Path,
    folder: &std::path::Path,
    mode: ClientLifecycleMode,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut command = tokio::process::Command::new(sayso);
    command.args(["mcp", "--name", "rmcp", "--policy"]).arg(folder.join("policy.toml"));
    command.arg("--").arg(std::env::current_exe()?).arg("server").env("HOME", folder).current_dir(folder);
    let client = Client::default();
    let running = client.clone().serve_with_lifecycle(TokioChildProcess::new(command)?, mode).await?;
    let tools: Vec<String> = running.list_all_tools().await?.into_iter().map(|tool| tool.name.into_owned()).collect();
    expect(tools == ["echo", "ask"], &format!("the list is {tools:?}"))?;
    for (tool, ran, part) in [
        ("echo", true, "echo hello"),
        ("ask", true, "ask hello"),
        ("deny", false, "Sayso: deny"),
        ("hide", false, "tool-hidden"),
    ] {
        let arguments = json!({"words": "hello"}).as_object().cloned().unwrap_or_default();
        let result = running.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
        let text = serde_json::to_string(&result)?;
        expect((result.is_error != Some(true)) == ran && text.contains(part), &text)?;
    }
    let arguments = json!({"words": 7}).as_object().cloned().unwrap_or_default();
    let result = running.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
    let text = serde_json::to_string(&result)?;
    expect(result.is_error == Some(true) && text.contains("mcp-arguments"), &text)?;
    let asked = client.asked.load(Ordering::SeqCst);
    expect(asked == 1, &format!("the user was asked {asked} times"))?;
    running.cancel().await?;
    Ok(())
}

fn expect(holds: bool, seen: &str) -> Result<(), Box<dyn std::error::Error>> {
    if holds { Ok(()) } else { Err(seen.to_owned().into()) }
}
