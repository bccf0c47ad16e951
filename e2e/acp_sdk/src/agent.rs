//! The agent: each prompt is a command that it asks permission for; it tells what it was answered.

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, SessionNotification, SessionUpdate, SetSessionModeRequest,
    SetSessionModeResponse, StopReason, TextContent, ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::{Agent, Client, Result, Stdio};

pub(crate) async fn run() -> Result<()> {
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                responder.respond(
                    InitializeResponse::new(request.protocol_version).agent_capabilities(AgentCapabilities::new()),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _| responder.respond(NewSessionResponse::new("s")),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: SetSessionModeRequest, responder, _| responder.respond(SetSessionModeResponse::new()),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let spawned = connection.clone();
                connection.spawn(async move {
                    let told = ask(&spawned, &request).await?;
                    let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(told)));
                    let update = SessionUpdate::AgentMessageChunk(chunk);
                    spawned.send_notification(SessionNotification::new(request.session_id.clone(), update))?;
                    responder.respond(PromptResponse::new(StopReason::EndTurn))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

async fn ask(connection: &ConnectionTo<Client>, request: &PromptRequest) -> Result<String> {
    let command = request.prompt.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    let fields = ToolCallUpdateFields::new()
        .title("a command".to_owned())
        .raw_input(serde_json::json!({"command": command.unwrap_or_default()}));
    let options = [
        ("x-always", PermissionOptionKind::AllowAlways),
        ("x-no", PermissionOptionKind::RejectOnce),
        ("x-yes", PermissionOptionKind::AllowOnce),
    ]
    .map(|(id, kind)| PermissionOption::new(id, id, kind))
    .to_vec();
    let asked = RequestPermissionRequest::new(request.session_id.clone(), ToolCallUpdate::new("c", fields), options);
    let answer = connection.send_request(asked).block_task().await?;
    Ok(match answer.outcome {
        RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
        _ => "cancelled".to_owned(),
    })
}
