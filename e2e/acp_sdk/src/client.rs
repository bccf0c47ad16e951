//! The client: sends commands as prompts and looks at what the agent was answered.

use crate::sayso_acp;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, SessionNotification, SessionUpdate,
    SetSessionModeRequest, TextContent,
};
use agent_client_protocol::{AcpAgent, AcpAgentConfig, Agent, Client, DynConnectTo};
use agent_client_protocol_conductor::{ConductorImpl, ProxiesAndAgent};
use std::path::Path;
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<String>>>;

/// Commands, what the agent must be answered, and how many questions the person saw by then.
const CASES: &[(&str, &str, usize)] = &[("touch a", "x-yes", 0), ("rm a", "x-no", 0), ("mkdir a", "x-yes", 1)];

pub(crate) async fn check(sayso: &Path, folder: &Path, chain: bool) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    if !chain {
        return drive(DynConnectTo::new(sayso_acp(sayso, folder, Some(&own))), folder).await;
    }
    let agent = AcpAgent::new(AcpAgentConfig::new(own).arg("agent"));
    let component = sayso_acp(sayso, folder, None);
    let conductor = ConductorImpl::new_agent("chain".to_owned(), ProxiesAndAgent::new(agent).proxy(component));
    drive(DynConnectTo::new(conductor), folder).await
}

async fn drive(peer: DynConnectTo<Client>, folder: &Path) -> Result<(), String> {
    let (told, questions): (Seen, Seen) = Default::default();
    let (heard, asked) = (Arc::clone(&told), Arc::clone(&questions));
    // A home folder is no workspace.
    let folder = folder.join("project");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    heard.lock().expect("no panic").push(text.text);
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let kinds: Vec<_> = request.options.iter().map(|option| option.kind).collect();
                asked.lock().expect("no panic").push(format!("{kinds:?}"));
                let yes = request.options.iter().find(|option| option.kind == PermissionOptionKind::AllowOnce);
                let outcome = match yes {
                    Some(option) => {
                        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
                    }
                    None => RequestPermissionOutcome::Cancelled,
                };
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(peer, |connection: ConnectionTo<Agent>| async move {
            connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            let session = connection.send_request(NewSessionRequest::new(folder)).block_task().await?.session_id;
            for (command, expected, seen) in CASES {
                let prompt = vec![ContentBlock::Text(TextContent::new((*command).to_owned()))];
                connection.send_request(PromptRequest::new(session.clone(), prompt)).block_task().await?;
                let answered = told.lock().expect("no panic").last().cloned();
                let shown = questions.lock().expect("no panic").clone();
                if answered.as_deref() != Some(*expected) || shown.len() != *seen {
                    return Err(wrong(format!("{command}: {answered:?}, {shown:?}")));
                }
                if shown.iter().any(|kinds| kinds.contains("Always")) {
                    return Err(wrong(format!("{command}: an answer for ever was offered: {shown:?}")));
                }
            }
            let mode = SetSessionModeRequest::new(session, "bypassPermissions");
            match connection.send_request(mode).block_task().await {
                Ok(_) => Err(wrong("a mode that silences was set".to_owned())),
                Err(_) => Ok(()),
            }
        })
        .await
        .map_err(|error| format!("{error:?}"))
}

fn wrong(why: String) -> agent_client_protocol::Error {
    agent_client_protocol::Error::internal_error().data(why)
}
