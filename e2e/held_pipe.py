#!/usr/bin/env python3
"""Programs that Sayso holds in a pipe: what an ACP agent has its client start, and MCP servers.

usage: e2e/held_pipe.py PATH-TO-SAYSO
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

# An ACP agent that wants one program started.
AGENT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
    elif method == "session/new":
        result = {"sessionId": "s1"}
    elif method == "session/prompt":
        wanted = {"sessionId": "s1", "command": "make", "args": ["evil"], "cwd": message["params"]["_meta"]["folder"],
                  "outputByteLimit": 7}
        print(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "terminal/create", "params": wanted}), flush=True)
        result = {"stopReason": "end_turn"}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

# An MCP server that writes where it is told to.
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {}
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "demo", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "put", "inputSchema": {"type": "object"}}]}
    elif message.get("method") == "tools/call":
        said = []
        for path in sys.argv[1:]:
            try:
                open(path, "w").write("x")
                said.append("wrote " + path)
            except OSError as error:
                said.append("refused %s: %s" % (path, error))
        result = {"content": [{"type": "text", "text": "; ".join(said)}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Pipe:
    def __init__(self, sayso):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sayso-e2e-pipe-")).resolve()
        self.home, self.project = self.root / "home", self.root / "project"
        policy = self.home / ".config" / "sayso" / "policy.toml"
        policy.parent.mkdir(parents=True)
        self.project.mkdir()
        policy.write_text('extends = ["developer"]\n\n[allow]\ntool = ["mcp:demo/*"]\n')
        self.victim = self.home / "victim.txt"
        self.victim.write_text("as it was")
        self.sayso = self.root / "bin" / "sayso"
        self.sayso.parent.mkdir()
        shutil.copy(sayso, self.sayso)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1"}

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if not failed:
            shutil.rmtree(self.root, ignore_errors=True)

    def talk(self, command, messages, until):
        """Sends messages, and reads until one of the answers is wanted. -> all that was heard"""
        process = subprocess.Popen([str(word) for word in command], cwd=self.project, env=self.environment, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        heard = []
        try:
            for message in messages:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                process.stdin.flush()
            for line in process.stdout:
                heard.append(json.loads(line))
                if until(heard[-1]):
                    break
        finally:
            process.stdin.close()
            process.wait(timeout=30)
        return heard

    def run(self, words, folder):
        return subprocess.run(words, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=60)


def what_an_acp_client_starts_is_held(sayso):
    with Pipe(sayso) as pipe:
        (pipe.project / "Makefile").write_text("evil:\n\techo evil > %s; echo built > built.txt\n" % pipe.victim)
        agent = pipe.root / "agent.py"
        agent.write_text(AGENT)
        heard = pipe.talk([pipe.sayso, "acp", "--", sys.executable, agent], [
            {"id": 1, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {"terminal": True}}},
            {"id": 2, "method": "session/new", "params": {"cwd": str(pipe.project), "mcpServers": []}},
            {"id": 3, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": [],
                                                             "_meta": {"folder": str(pipe.project)}}},
        ], lambda message: message.get("method") == "terminal/create" or "error" in message)
        created = [message for message in heard if message.get("method") == "terminal/create"]
        assert created, heard
        params = created[0]["params"]
        assert params["command"] == str(pipe.sayso) and params["args"][:2] == ["run", "--permit"], params
        assert params["args"][3:] == ["--", "make", "evil"] and params["outputByteLimit"] == 7, params
        done = pipe.run([params["command"], *params["args"]], pipe.project)
        assert pipe.victim.read_text() == "as it was", done
        assert (pipe.project / "built.txt").exists(), done
        again = pipe.run([params["command"], *params["args"]], pipe.project)
        assert again.returncode == 125 and "permit" in again.stderr, again


def an_mcp_server_is_held(sayso):
    for hold in ([], ["--hold"]):
        with Pipe(sayso) as pipe:
            server = pipe.project / "server.py"
            server.write_text(SERVER)
            inside = pipe.project / "inside.txt"
            command = [pipe.sayso, "mcp", "--name", "demo", *hold, "--", sys.executable, server, inside, pipe.victim]
            heard = pipe.talk(command, [
                {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                             "clientInfo": {"name": "x", "version": "1"}}},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/list"},
                {"id": 3, "method": "tools/call", "params": {"name": "put", "arguments": {}}},
            ], lambda message: message.get("id") == 3)
            said = heard[-1]["result"]["content"][0]["text"]
            assert inside.exists() and "wrote %s" % inside in said, heard
            # Without the option it does what it likes: the test would prove nothing otherwise.
            assert (pipe.victim.read_text() == "as it was") == bool(hold), heard


def main():
    sayso = pathlib.Path(sys.argv[1]).resolve()
    nowhere = {**os.environ, "HOME": tempfile.gettempdir()}
    said = subprocess.run([str(sayso), "doctor", "--hold", "--json"], capture_output=True, text=True, env=nowhere)
    level = json.loads(said.stdout)["level"]
    if level != "whole":
        print("not run: this machine holds %s" % level)
        return 0
    failed = 0
    for scenario in (what_an_acp_client_starts_is_held, an_mcp_server_is_held):
        try:
            scenario(sayso)
            print("ok      %s" % scenario.__name__.replace("_", " "), flush=True)
        except Exception:
            failed += 1
            print("FAILED  %s\n%s" % (scenario.__name__.replace("_", " "), traceback.format_exc()), flush=True)
    print("%d passed, %d failed" % (2 - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
