"""A model that says what a script tells it to say: the part of Anthropic's Messages API that an agent needs.

Each turn of the script is a list of tool calls, or a text that ends the conversation. Which turn it is follows from
the conversation itself: every call carries its turn in its id, so side requests (titles, summaries) disturb nothing.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALL_ID = re.compile(r"toolu_turn(\d+)call\d+")


class ScriptedModel:
    """Serves a script on a loopback port while used as a context manager."""

    def __init__(self, turns):
        self.turns = turns
        self.results = {}  # call id -> text that the agent sent back
        self.unknown_tools = []  # calls of tools that the agent does not offer
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def result(self, turn, call=0):
        """What the agent told the model about a call; None if it never did."""
        return self.results.get(call_id(turn, call))

    def answer(self, request):
        """The content blocks for a request."""
        tools = {tool.get("name") for tool in request.get("tools") or []}
        if not tools:
            return [{"type": "text", "text": "ok"}]
        turn = 0
        for block in blocks(request):
            found = CALL_ID.fullmatch(block.get("tool_use_id", ""))
            if block.get("type") == "tool_result" and found:
                self.results[block["tool_use_id"]] = text_of(block.get("content"))
                turn = max(turn, int(found.group(1)) + 1)
        if turn >= len(self.turns) or isinstance(self.turns[turn], str):
            return [{"type": "text", "text": self.turns[turn] if turn < len(self.turns) else "done"}]
        answer = []
        for number, (tool, arguments) in enumerate(self.turns[turn]):
            if tool not in tools:
                self.unknown_tools.append(tool)
            answer.append({"type": "tool_use", "id": call_id(turn, number), "name": tool, "input": arguments})
        return answer


def call_id(turn, call):
    return "toolu_turn%dcall%d" % (turn, call)


def blocks(request):
    for message in request.get("messages", []):
        content = message.get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [] if isinstance(block, dict))


def events(message):
    """A whole message as the stream of events that the API would send."""
    opened = dict(message, content=[], stop_reason=None)
    yield {"type": "message_start", "message": opened}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
        else:
            start = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send(200, "application/json", b"")

    def do_GET(self):
        self.send(200, "application/json", b'{"data": []}')

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.send(200, "application/json", b'{"input_tokens": 1}')
        if not path.endswith("/messages"):
            return self.send(404, "application/json", b"{}")
        content = self.model.answer(request)
        calls = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "scripted"),
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not request.get("stream"):
            return self.send(200, "application/json", json.dumps(message).encode())
        lines = ["event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event)) for event in events(message)]
        self.send(200, "text/event-stream", "".join(lines).encode())

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
