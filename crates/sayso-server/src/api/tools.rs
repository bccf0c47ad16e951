//! `POST /v1/tools/filter`: which tools of a list are there for an actor, as the MCP gateway shows them.

use super::body::{self, Keys};
use super::call::Context;
use super::parameters::blocking;
use crate::app::App;
use crate::error::ApiError;
use crate::who::Caller;
use axum::Json;
use axum::extract::State;
use sayso_gate::wire;
use sayso_gate::wire::line::Fields;
use sayso_policy::{Listed, Reason, available};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Most tools in one list.
const MOST: usize = 10_000;

/// A list of tools, and for whom.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ToolList)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct List {
    /// At most 10,000.
    #[schema(max_items = 10000)]
    tools: Vec<Offered>,
    context: Option<Context>,
    /// Absolute.
    cwd: Option<String>,
    /// Absolute; absent: the working directory.
    workspace: Option<String>,
}

/// A name, or a definition: whatever else it holds is left aside.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = ToolOffered)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
enum Offered {
    Name(String),
    Tool {
        name: String,
        /// The MCP server that has it.
        server: Option<String>,
    },
}

/// The tools of a list.
#[derive(Serialize, ToSchema)]
#[schema(as = Tools)]
pub(super) struct Filtered {
    /// In their order.
    tools: Vec<Tool>,
}

/// One tool.
#[derive(Serialize, ToSchema)]
pub(super) struct Tool {
    /// As it was given.
    name: String,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The name that policies use.
    canonical: String,
    /// Whether it is there: what is not is denied, and is not to be listed.
    available: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

struct Given {
    name: String,
    server: Option<String>,
}

impl Listed for Given {
    fn name(&self) -> &str {
        &self.name
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

/// Says of each tool whether it is there. Whether a call of it may run is asked when it is called.
pub(super) async fn filter(
    State(app): State<Arc<App>>,
    caller: Caller,
    Keys(body, _): Keys<List>,
) -> Result<Json<Filtered>, ApiError> {
    let fields = body::object(&body, &["tools", "context", "workspace", "cwd"])?;
    blocking(move || judge(&app, &caller, &fields)).await.map(Json)
}

fn judge(app: &App, caller: &Caller, fields: &Fields) -> Result<Filtered, ApiError> {
    let given = given(fields)?;
    let mut actor = wire::actor(fields).map_err(ApiError::malformed)?;
    app.sign(caller, &mut actor, None)?;
    let workspace = match wire::folder(fields, "workspace").map_err(ApiError::malformed)? {
        Some(workspace) => Some(workspace),
        None => wire::folder(fields, "cwd").map_err(ApiError::malformed)?,
    };
    let policy = app.gate(workspace.as_deref())?.in_force();
    let tools = given.into_iter().map(|tool| {
        let (canonical, reason) = match available(&policy.policy, &actor, &tool) {
            Ok(name) => (name.canonical, None),
            Err(denied) => (denied.tool.canonical, Some(denied.reason)),
        };
        Tool { name: tool.name, server: tool.server, canonical, available: reason.is_none(), reason }
    });
    Ok(Filtered { tools: tools.collect() })
}

/// Names, or objects with a `name` and perhaps a `server`; whatever else a definition holds is left aside.
fn given(fields: &Fields) -> Result<Vec<Given>, ApiError> {
    let wrong = || ApiError::malformed("`tools` must be a list of names, or of objects with a `name`.");
    let Some(Value::Array(tools)) = fields.value("tools").map_err(ApiError::malformed)? else { return Err(wrong()) };
    if tools.len() > MOST {
        return Err(ApiError::malformed(format!("At most {MOST} tools at a time.")));
    }
    let one = |tool: Value| match tool {
        Value::String(name) => Ok(Given { name, server: None }),
        Value::Object(tool) => {
            let text = |key: &str| match tool.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(_) => Err(wrong()),
            };
            Ok(Given { name: text("name")?.ok_or_else(wrong)?, server: text("server")? })
        }
        _ => Err(wrong()),
    };
    tools.into_iter().map(one).collect()
}
