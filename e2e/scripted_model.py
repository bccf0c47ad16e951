"""A model that says what a script tells it to say, in the words of whichever API an agent speaks.

Each turn of the script is a list of tool calls, or a text that ends the conversation. Which turn it is follows from
the conversation itself: every call carries its turn in its id, so side requests (titles, summaries) disturb nothing.
"""

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import model_apis

CALL_ID = re.compile(r"turn(\d+)call(\d+)")
# The first turn of a subagent's conversation.
INSIDE = 100


class ScriptedModel:
    """Serves a script on a loopback port while used as a context manager."""

    def __init__(self, turns, inside=None):
        self.turns = turns
        # A subagent has a conversation of its own: (a word of its task, its turns). Its calls count from INSIDE on.
        self.inside = inside
        self.results = {}  # (turn, call) -> text that the agent sent back
        self.unknown_tools = []  # calls of tools that the agent does not offer
        self.offered = set()  # the tools that the agent offers
        self.requests = 0
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def result(self, turn, call=0):
        """What the agent told the model about a call; None if it never did."""
        return self.results.get((turn, call))

    def answer(self, api, request):
        """What to say to a request: texts and calls (id, tool, arguments)."""
        tools = api.tools(request)
        if not tools:
            return ["ok"]
        self.requests += 1
        self.offered |= tools
        turn = 0
        for call_id, text in api.results(request):
            found = CALL_ID.search(call_id or "")
            if found:
                place = (int(found.group(1)), int(found.group(2)))
                self.results[place] = text
                turn = max(turn, place[0] + 1)
        turns, first = self.turns, 0
        if self.inside and (turn >= INSIDE or turn == 0 and self.inside[0] in json.dumps(request)):
            turns, first = self.inside[1], INSIDE
            turn = max(turn, INSIDE)
        said = turns[turn - first] if turn - first < len(turns) else "done"
        if isinstance(said, str):
            return [said]
        steps = []
        for number, (tool, arguments) in enumerate(said):
            if tool not in tools:
                self.unknown_tools.append(tool)
            steps.append(("turn%dcall%d" % (turn, number), tool, arguments))
        return steps


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send(200, "application/json", b"")

    def do_GET(self):
        listed = {"object": "list", "models": [], "data": [{"id": "scripted", "object": "model", "type": "model"}]}
        self.send(200, "application/json", json.dumps(listed).encode())

    def do_POST(self):
        request = json.loads(self.body() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            return self.send(200, "application/json", b'{"input_tokens": 1, "totalTokens": 1}')
        api = model_apis.spoken_at(path)
        if api is None:
            return self.send(404, "application/json", b"{}")
        steps = self.model.answer(api, request)
        stream = api.wants_stream(path, request)
        kind = "text/event-stream" if stream else "application/json"
        self.send(200, kind, api.say(request, steps, stream).encode())

    def body(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
