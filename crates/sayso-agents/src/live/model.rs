//! A model that asks for a few commands, one after the other, and then says that it is done, in the words of four APIs.

use super::http::{HttpAnswer, Request, Server};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// What every id of ours holds.
const CALL: &str = "saysolive";
/// Shell tools of agents, and the argument that is the command.
const SHELLS: &[(&str, &str)] = &[
    ("Bash", "command"),
    ("exec_command", "cmd"),
    ("run_shell_command", "command"),
    ("bash", "command"),
    ("shell_command", "command"),
];

/// What the model saw of the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The agent offered tools.
    pub(super) spoke: bool,
    /// The tools that it offered, where none was a shell.
    pub(super) without_shell: Option<Vec<String>>,
    /// How many calls were made.
    pub(super) called: usize,
    /// What the agent said came of each.
    pub(super) told: Vec<String>,
}

/// The model, while it runs.
pub(super) struct Model {
    server: Server,
    seen: Arc<Mutex<Seen>>,
}

impl Model {
    /// A model that wants these commands.
    pub(super) fn start(commands: Vec<String>) -> std::io::Result<Self> {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        let server = Server::start(move |request| {
            let mut seen = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            answer(request, &commands, &mut seen)
        })?;
        Ok(Self { server, seen })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port)
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// The API that an address speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

/// What the model says: a text, or the call.
enum Step {
    Text(&'static str),
    Call { id: String, tool: String, arguments: Value },
}

fn answer(request: &Request, commands: &[String], seen: &mut Seen) -> HttpAnswer {
    let json = |body: Value| HttpAnswer { status: "200 OK", kind: "application/json", body: body.to_string() };
    let path = request.path.split('?').next().unwrap_or_default();
    let api = match path {
        _ if path.ends_with("/messages") => Api::Messages,
        _ if path.ends_with("/responses") => Api::Responses,
        _ if path.ends_with("/chat/completions") => Api::Chat,
        _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => Api::Gemini,
        _ if path.ends_with("/count_tokens") || path.ends_with(":countTokens") => {
            return json(json!({"input_tokens": 1, "totalTokens": 1}));
        }
        _ if request.method == "POST" => {
            return HttpAnswer { status: "404 Not Found", kind: "application/json", body: "{}".to_owned() };
        }
        _ => {
            return json(
                json!({"object": "list", "models": [], "data": [{"id": "scripted", "object": "model", "type": "model"}]}),
            );
        }
    };
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return HttpAnswer { status: "400 Bad Request", kind: "application/json", body: "{}".to_owned() };
    };
    let step = step(api, &body, commands, seen);
    let stream = match api {
        Api::Gemini => path.ends_with(":streamGenerateContent"),
        _ => body.get("stream") == Some(&Value::Bool(true)),
    };
    match api {
        Api::Messages => messages(&body, &step, stream),
        Api::Responses => responses(&body, &step, stream),
        Api::Chat => chat(&body, &step, stream),
        Api::Gemini => gemini(&body, &step, stream),
    }
}

fn step(api: Api, body: &Value, commands: &[String], seen: &mut Seen) -> Step {
    let tools = tools(api, body);
    // Titles, summaries and the like.
    if tools.is_empty() {
        return Step::Text("ok");
    }
    seen.spoke = true;
    let told: Vec<String> = (0..commands.len()).map_while(|number| result(api, body, &call_id(number))).collect();
    let number = told.len();
    if told.len() > seen.told.len() {
        seen.told = told;
    }
    let Some(command) = commands.get(number).filter(|_| number == seen.called) else { return Step::Text("done") };
    let shell = SHELLS.iter().find(|(name, _)| tools.iter().any(|tool| tool == name));
    let Some((tool, key)) = shell else {
        seen.without_shell = Some(tools);
        return Step::Text("done");
    };
    seen.called += 1;
    let mut arguments = json!({*key: command});
    if let (true, Some(arguments)) = (*key == "command", arguments.as_object_mut()) {
        arguments.insert("description".to_owned(), json!("Sayso checks that it is asked"));
    }
    Step::Call { id: call_id(number), tool: (*tool).to_owned(), arguments }
}

/// No id is the beginning of another.
fn call_id(number: usize) -> String {
    format!("{CALL}{number}x")
}

/// The tools that an agent offers.
fn tools(api: Api, body: &Value) -> Vec<String> {
    let listed = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(ToOwned::to_owned);
    match api {
        Api::Messages | Api::Responses => listed.filter_map(name).collect(),
        Api::Chat => listed.filter_map(|tool| name(tool.get("function")?)).collect(),
        Api::Gemini => {
            let declared = listed.filter_map(|tool| tool.get("functionDeclarations")?.as_array()).flatten();
            declared.filter_map(name).collect()
        }
    }
}

/// What came of a call.
fn result(api: Api, body: &Value, call: &str) -> Option<String> {
    let list = |key: &str| body.get(key).and_then(Value::as_array).into_iter().flatten();
    let ours = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).is_some_and(|id| id.contains(call));
    let found = match api {
        Api::Messages => list("messages")
            .filter_map(|message| message.get("content")?.as_array())
            .flatten()
            .find(|block| ours(block, "tool_use_id"))
            .and_then(|block| block.get("content")),
        Api::Responses => list("input")
            .find(|item| ours(item, "call_id") && item.get("output").is_some())
            .and_then(|item| item.get("output")),
        Api::Chat => list("messages").find(|message| ours(message, "tool_call_id")).and_then(|it| it.get("content")),
        Api::Gemini => list("contents")
            .filter_map(|content| content.get("parts")?.as_array())
            .flatten()
            .filter_map(|part| part.get("functionResponse"))
            .find(|answer| ours(answer, "id"))
            .and_then(|answer| answer.get("response")),
    };
    found.map(|found| found.as_str().map_or_else(|| found.to_string(), ToOwned::to_owned))
}

fn whole(value: &Value) -> HttpAnswer {
    HttpAnswer { status: "200 OK", kind: "application/json", body: value.to_string() }
}

fn events(listed: &[Value], named: bool, end: &str) -> HttpAnswer {
    let mut body = String::new();
    for event in listed {
        if let (true, Some(name)) = (named, event.get("type").and_then(Value::as_str)) {
            body.push_str(&format!("event: {name}\n"));
        }
        body.push_str(&format!("data: {event}\n\n"));
    }
    body.push_str(end);
    HttpAnswer { status: "200 OK", kind: "text/event-stream", body }
}

/// Anthropic's.
fn messages(request: &Value, step: &Step, stream: bool) -> HttpAnswer {
    let (block, start, delta, reason) = match step {
        Step::Text(text) => (
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Step::Call { id, tool, arguments } => {
            let of =
                |input: Value| json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": tool, "input": input});
            let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
            (of(arguments.clone()), of(json!({})), delta, "tool_use")
        }
    };
    let message = |content: Value, reason: Value| {
        json!({"id": "msg_saysolive", "type": "message", "role": "assistant", "model": request.get("model"),
            "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    if !stream {
        return whole(&message(json!([block]), json!(reason)));
    }
    let listed = [
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    events(&listed, true, "")
}

/// OpenAI's newer.
fn responses(request: &Value, step: &Step, stream: bool) -> HttpAnswer {
    let item = match step {
        Step::Text(text) => json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Step::Call { id, tool, arguments } => json!({"type": "function_call", "id": format!("item_{id}"),
            "call_id": format!("call_{id}"), "status": "completed", "name": tool, "arguments": arguments.to_string()}),
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2});
    let response = |status: &str, output: Value| {
        json!({"id": "resp_saysolive", "object": "response", "created_at": 0, "model": request.get("model"),
            "status": status, "output": output, "usage": usage})
    };
    let done = response("completed", json!([item]));
    if !stream {
        return whole(&done);
    }
    let listed = [
        json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": 3, "response": done}),
    ];
    events(&listed, true, "")
}

/// OpenAI's older, which others speak too.
fn chat(request: &Value, step: &Step, stream: bool) -> HttpAnswer {
    let (message, reason) = match step {
        Step::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Step::Call { id, tool, arguments } => {
            let call = json!({"index": 0, "id": format!("call_{id}"), "type": "function",
                "function": {"name": tool, "arguments": arguments.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let of = |object: &str, choice: Value| {
        json!({"id": "chat_saysolive", "created": 0, "model": request.get("model"), "object": object,
            "choices": [choice], "usage": usage})
    };
    if !stream {
        return whole(&of("chat.completion", json!({"index": 0, "finish_reason": reason, "message": message})));
    }
    let listed = [
        of("chat.completion.chunk", json!({"index": 0, "delta": message, "finish_reason": null})),
        of("chat.completion.chunk", json!({"index": 0, "delta": {}, "finish_reason": reason})),
    ];
    events(&listed, false, "data: [DONE]\n\n")
}

/// Google's.
fn gemini(request: &Value, step: &Step, stream: bool) -> HttpAnswer {
    let wanted = request.get("generationConfig");
    let schema = wanted.and_then(|it| it.get("responseJsonSchema").or_else(|| it.get("responseSchema")));
    let part = match (step, schema) {
        (Step::Call { id, tool, arguments }, _) => {
            json!({"functionCall": {"id": id, "name": tool, "args": arguments}, "thoughtSignature": "AA=="})
        }
        // A side request that wants an object gets its smallest.
        (Step::Text(_), Some(schema)) => json!({"text": smallest(schema, 0).to_string()}),
        (Step::Text(text), None) => json!({"text": text}),
    };
    let said = json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted"});
    if stream { events(&[said], false, "") } else { whole(&said) }
}

fn smallest(schema: &Value, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string").to_ascii_lowercase();
    match kind.as_str() {
        "object" if depth < 8 => {
            let members = schema.get("properties").and_then(Value::as_object);
            let member = |(key, value): (&String, &Value)| (key.clone(), smallest(value, depth + 1));
            Value::Object(members.into_iter().flatten().map(member).collect())
        }
        "array" => json!([]),
        "boolean" => json!(false),
        "number" | "integer" => json!(0),
        _ => json!("ok"),
    }
}
