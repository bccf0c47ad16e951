// An MCP server with everything that the official conformance suite asks for: `stdio`, or `http PORT`.
// MCP_MODULES: the folder that holds node_modules with @modelcontextprotocol/sdk.
import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import http from "node:http";

const require = createRequire(process.env.MCP_MODULES + "/");
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const sound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (words) => ({ content: [{ type: "text", text: words }] });
const nothing = { type: "object", properties: {} };

const tools = {
  test_simple_text: { run: () => text("This is a simple text response for testing.") },
  test_image_content: { run: () => ({ content: [{ type: "image", data: pixel, mimeType: "image/png" }] }) },
  test_audio_content: { run: () => ({ content: [{ type: "audio", data: sound, mimeType: "audio/wav" }] }) },
  test_embedded_resource: {
    run: () => ({ content: [{ type: "resource", resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "An embedded resource." } }] }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: "text", text: "Several kinds of content:" },
        { type: "image", data: pixel, mimeType: "image/png" },
        { type: "resource", resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' } },
      ],
    }),
  },
  test_tool_with_logging: {
    async run(_, extra) {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
        await pause(50);
      }
      return text("logged");
    },
  },
  test_error_handling: {
    run() {
      return { ...text("This tool intentionally returns an error for testing"), isError: true };
    },
  },
  test_tool_with_progress: {
    async run(_, extra) {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
        }
        await pause(50);
      }
      return text("progressed");
    },
  },
  test_sampling: {
    inputSchema: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    async run({ prompt }, extra) {
      const params = { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 };
      const answer = await extra.sendRequest({ method: "sampling/createMessage", params }, types.CreateMessageResultSchema);
      return text("LLM response: " + (answer.content.text ?? ""));
    },
  },
  test_elicitation: {
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    run: ({ message }, extra) =>
      elicit(extra, message, { response: { type: "string", description: "User's response" } }, ["response"]),
  },
  test_elicitation_sep1034_defaults: {
    run: (_, extra) =>
      elicit(extra, "With defaults", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  },
  test_elicitation_sep1330_enums: {
    run: (_, extra) =>
      elicit(extra, "With choices", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] } },
      }),
  },
  json_schema_2020_12_tool: {
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    run: (given) => text(JSON.stringify(given)),
  },
  test_reconnection: {
    async run(_, extra) {
      extra.closeSSEStream?.();
      await pause(200);
      return text("Reconnection test completed");
    },
  },
};

async function elicit(extra, message, properties, required = []) {
  const params = { message, requestedSchema: { type: "object", properties, required } };
  const { action, content } = await extra.sendRequest({ method: "elicitation/create", params }, types.ElicitResultSchema);
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const prompts = {
  test_simple_prompt: { run: () => [{ type: "text", text: "This is a simple prompt for testing." }] },
  test_prompt_with_arguments: {
    arguments: [{ name: "arg1", required: true }, { name: "arg2", required: true }],
    run: ({ arg1, arg2 }) => [{ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }],
  },
  test_prompt_with_embedded_resource: {
    arguments: [{ name: "resourceUri", required: true }],
    run: ({ resourceUri }) => [
      { type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content." } },
      { type: "text", text: "Please process the embedded resource above." },
    ],
  },
  test_prompt_with_image: {
    run: () => [{ type: "image", data: pixel, mimeType: "image/png" }, { type: "text", text: "Please analyze the image above." }],
  },
};

function read(uri) {
  const template = /^test:\/\/template\/([^/]+)\/data$/.exec(uri);
  if (template) return { uri, mimeType: "application/json", text: JSON.stringify({ id: template[1], data: "Data for ID: " + template[1] }) };
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: pixel };
  if (uri === "test://static-text" || uri === "test://watched-resource") return { uri, mimeType: "text/plain", text: "The content of " + uri };
  throw new types.McpError(-32002, "no such resource: " + uri);
}

function server() {
  const it = new Server(
    { name: "fixtures", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} } },
  );
  it.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, tool]) => ({ name, description: "The tool " + name, inputSchema: tool.inputSchema ?? nothing })),
  }));
  it.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) => {
    const tool = tools[params.name];
    if (!tool) throw new types.McpError(-32602, "no such tool: " + params.name);
    return tool.run(params.arguments ?? {}, extra);
  });
  it.setRequestHandler(types.ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({ name, description: "The prompt " + name, arguments: prompt.arguments })),
  }));
  it.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => ({
    messages: prompts[params.name].run(params.arguments ?? {}).map((content) => ({ role: "user", content })),
  }));
  it.setRequestHandler(types.ListResourcesRequestSchema, () => ({
    resources: ["static-text", "static-binary", "watched-resource"].map((name) => ({ uri: "test://" + name, name, description: name })),
  }));
  it.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }));
  it.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => ({ contents: [read(params.uri)] }));
  it.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
  it.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));
  it.setRequestHandler(types.SetLevelRequestSchema, () => ({}));
  it.setRequestHandler(types.CompleteRequestSchema, () => ({ completion: { values: ["paris", "park"], total: 2, hasMore: false } }));
  return it;
}

/** Keeps events, so that a stream can be taken up again. */
class Kept {
  events = [];
  async storeEvent(stream, message) {
    const id = `${this.events.length}`;
    this.events.push({ stream, message });
    return id;
  }
  async getStreamIdForEventId(id) {
    return this.events[Number(id)]?.stream;
  }
  async replayEventsAfter(last, { send }) {
    const { stream } = this.events[Number(last)];
    for (const [at, event] of this.events.entries()) {
      if (at > Number(last) && event.stream === stream && event.message.jsonrpc) await send(`${at}`, event.message);
    }
    return stream;
  }
}

async function overHttp(port) {
  const sessions = {};
  const local = new Set(["localhost", "127.0.0.1", "[::1]"]);
  const isLocal = (value, scheme = "http://") => value === undefined || local.has(new URL(scheme + value).hostname);
  const web = http.createServer(async (request, response) => {
    try {
      const origin = request.headers.origin;
      if (!isLocal(request.headers.host) || (origin !== undefined && !isLocal(origin, ""))) {
        return response.writeHead(403, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"foreign"}}');
      }
      const id = request.headers["mcp-session-id"];
      if (id && !sessions[id]) return response.writeHead(404).end("no such session");
      let transport = sessions[id];
      if (!transport) {
        transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (fresh) => void (sessions[fresh] = transport),
          onsessionclosed: (old) => void delete sessions[old],
          eventStore: new Kept(),
          retryInterval: 300,
        });
        await server().connect(transport);
      }
      await transport.handleRequest(request, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    }
  });
  web.listen(port, "127.0.0.1", () => console.error("ready"));
}

if (process.argv[2] === "http") await overHttp(Number(process.argv[3]));
else await server().connect(new StdioServerTransport());
