#!/usr/bin/env python3
"""The MCP gateway between real clients and real servers: the official servers, the official conformance suite, and
Claude Code, all offline.

usage: e2e/mcp.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_CACHE: where packages are installed.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import traceback

import offline
from scripted_model import ScriptedModel

HERE = pathlib.Path(__file__).resolve().parent
SERVERS = "2026.8.31"
CONFORMANCE = "0.1.16"
CLAUDE_CODE = "2.1.325"

POLICY = """
[allow]
tool = ["mcp:{files,everything,fixtures,web}/*"]
read = ["./**"]
write = ["./**"]

[ask]
tool = ["mcp:files/create_directory"]

[deny]
read = ["@secrets"]

[[rule]]
id = "keep-denied"
deny = { write = "./denied*" }
because = "Files named denied are not written."

[tools]
hide = ["mcp:files/move_file"]
"""


class Line:
    """A client that speaks lines."""

    def __init__(self, machine, command, capabilities=None, **env):
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=machine.project, env=machine.environment(**env),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.number, self.questions, self.answer = 0, [], None
        self.greeting = self.rpc("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": capabilities or {},
            "clientInfo": {"name": "line", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def rpc(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            assert line, "the other side ended"
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                return message
            if message.get("method") == "elicitation/create":
                self.questions.append(message["params"]["message"])
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.answer})
            elif message.get("method") == "roots/list":
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}})

    def call(self, tool, **arguments):
        """-> whether it ran, and its text"""
        result = self.rpc("tools/call", {"name": tool, "arguments": arguments})["result"]
        return not result.get("isError"), result["content"][0].get("text", "")

    def names(self):
        return [tool["name"] for tool in self.rpc("tools/list", {})["result"]["tools"]]


class Gateway:
    def __init__(self, sayso):
        self.sayso = sayso
        servers = {name: offline.npm_install("@modelcontextprotocol/server-" + name, SERVERS)
                   for name in ("filesystem", "everything")}
        self.filesystem = servers["filesystem"] / "mcp-server-filesystem"
        self.everything = servers["everything"] / "mcp-server-everything"
        self.suite = offline.npm_install("@modelcontextprotocol/conformance", CONFORMANCE)
        self.node = offline.node(22)
        self.claude = offline.npm_install("@anthropic-ai/claude-code", CLAUDE_CODE) / "claude"
        self.modules = self.suite.parent.parent
        self.fixtures = [self.node, HERE / "mcp_fixtures.mjs"]

    def machine(self, name):
        machine = offline.Machine("mcp-" + name)
        policy = machine.home / ".config" / "sayso" / "policy.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        (machine.project / "a.txt").write_text("plain words\n")
        (machine.project / ".env").write_text("PASSWORD=hunter2\n")
        return machine

    def through(self, *more):
        return [self.sayso, "mcp", *more]

    def log(self, machine):
        lines = machine.run([self.sayso, "log", "--json"]).stdout.splitlines()
        return [json.loads(line) for line in lines]

    # Scenarios.

    def the_filesystem_server_is_judged_and_otherwise_the_same(self):
        with self.machine("filesystem") as machine:
            server = [self.node, self.filesystem, machine.project]
            with Line(machine, server) as direct, \
                    Line(machine, self.through("--name", "files", "--", *server), {"elicitation": {}}) as line:
                assert line.greeting["result"] == direct.greeting["result"]
                ours, theirs = line.rpc("tools/list", {}), direct.rpc("tools/list", {})
                theirs["result"]["tools"] = [t for t in theirs["result"]["tools"] if t["name"] != "move_file"]
                assert ours["result"] == theirs["result"]
                for path in ("a.txt", "nowhere.txt"):
                    path = str(machine.project / path)
                    assert line.rpc("tools/call", {"name": "read_text_file", "arguments": {"path": path}})["result"] == \
                        direct.rpc("tools/call", {"name": "read_text_file", "arguments": {"path": path}})["result"]
                ran, told = line.call("read_text_file", path=str(machine.project / ".env"))
                assert not ran and "hunter2" not in told and "secrets" in told, told
                ran, told = line.call("write_file", path=str(machine.project / "denied.txt"), content="x")
                assert not ran and "keep-denied" in told and not (machine.project / "denied.txt").exists(), told
                ran, told = line.call("read_text_file", path=7)
                assert not ran and "mcp-arguments" in told, told
                line.answer = {"action": "decline"}
                assert not line.call("create_directory", path=str(machine.project / "d"))[0]
                line.answer = {"action": "accept", "content": {"answer": "once"}}
                assert line.call("create_directory", path=str(machine.project / "d"))[0]
                assert (machine.project / "d").is_dir() and len(line.questions) == 2, line.questions
            answers = [record["answer"] for record in self.log(machine) if record.get("way_in") == "mcp files"]
            assert answers.count("deny") >= 3 and answers.count("allow") == 2, answers

    def the_everything_server_runs_through_pipe_and_http(self):
        with self.machine("everything") as machine:
            server = [self.node, self.everything]
            with Line(machine, server) as direct, \
                    Line(machine, self.through("--name", "everything", "--", *server)) as line:
                self.compare(direct, line)
            with serving(machine, [*server, "streamableHttp"], "PORT") as port:
                url = "http://127.0.0.1:%d/mcp" % port
                with Line(machine, self.through("--name", "everything", "--url", url)) as line, \
                        Line(machine, server) as direct:
                    self.compare(direct, line)

    def compare(self, direct, line):
        assert line.names() == direct.names() and len(line.names()) >= 5
        for method in ("prompts/list", "resources/templates/list"):
            assert line.rpc(method, {})["result"] == direct.rpc(method, {})["result"], method
        for tool, arguments in (("echo", {"message": "é\u2028\"x"}), ("get-sum", {"a": 2, "b": 40}), ("get-tiny-image", {})):
            call = {"name": tool, "arguments": arguments}
            assert line.rpc("tools/call", call)["result"] == direct.rpc("tools/call", call)["result"], tool
        assert "mcp-arguments" in line.call("get-sum", a="two")[1]

    def several_servers_stand_behind_one(self):
        with self.machine("several") as machine, \
                serving(machine, [*self.fixtures, "http", "PORT"], None, MCP_MODULES=str(self.modules)) as port:
            config = machine.root / "servers.json"
            config.write_text(json.dumps({"mcpServers": {
                "files": {"command": str(self.node), "args": [str(self.filesystem), str(machine.project)]},
                "web": {"url": "http://127.0.0.1:%d/mcp" % port, "headers": {"X-Key": "${KEY}"}},
            }}))
            with Line(machine, self.through("--config", config), {"elicitation": {}, "sampling": {}}, KEY="k") as line:
                names = line.names()
                assert "files__read_text_file" in names and "web__test_simple_text" in names, names
                assert "files__move_file" not in names
                assert line.call("files__read_text_file", path=str(machine.project / "a.txt"))[1] == "plain words\n"
                assert not line.call("files__read_text_file", path=str(machine.project / ".env"))[0]
                assert line.call("web__test_simple_text")[1].startswith("This is a simple")
                assert line.rpc("prompts/get", {"name": "web__test_simple_prompt"})["result"]["messages"]
                assert line.rpc("resources/list", {})["result"]["resources"]
                read = line.rpc("resources/read", {"uri": "test://static-text"})
                assert read["result"]["contents"][0]["uri"] == "test://static-text", read
                # A question of a server's own reaches the user, and the answer that very server.
                line.answer = {"action": "accept", "content": {"response": "hi"}}
                assert "hi" in line.call("web__test_elicitation", message="Who?")[1] and line.questions == ["Who?"]

    def the_conformance_suite_says_the_same_of_server_and_gateway(self):
        with self.machine("conformance") as machine:
            env = {"MCP_MODULES": str(self.modules)}
            with serving(machine, [*self.fixtures, "http", "PORT"], None, **env) as port:
                url = "http://127.0.0.1:%d/mcp" % port
                direct = self.conformance(machine, port)
                assert len(direct) >= 30, direct
                wrong = {scenario: checks for scenario, checks in direct.items() if "FAILURE" in str(checks)}
                assert not wrong, wrong
                gateway = self.through("--name", "fixtures", "--listen", "127.0.0.1:PORT", "--url", url)
                with serving(machine, gateway, None) as through:
                    same(direct, self.conformance(machine, through), "http to http")
            gateway = self.through("--name", "fixtures", "--env", "MCP_MODULES", "--listen", "127.0.0.1:PORT",
                                   "--", *self.fixtures, "stdio")
            with serving(machine, gateway, None, **env) as through:
                same(direct, self.conformance(machine, through), "http to lines")

    def conformance(self, machine, port):
        """-> the checks of each scenario, with their status"""
        results = machine.root / ("results-%d" % port)
        machine.run([self.node, self.suite / "conformance", "server", "--url", "http://localhost:%d/mcp" % port,
                     "--suite", "all", "-o", results], check=False, timeout=300)
        checks = {}
        for file in results.rglob("checks.json"):
            name = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
            found = [(check["id"], check["status"]) for check in json.loads(file.read_text()) if check["status"] != "INFO"]
            checks.setdefault(name, []).extend(found)
        return checks

    def claude_works(self, machine, turns, *more):
        """Lets Claude Code work through a script. -> the model, with what it was told"""
        with ScriptedModel(turns) as model:
            done = machine.run(
                [self.claude, "-p", "Do what the script says.", "--output-format", "json",
                 "--allowedTools", "mcp__files", *more],
                ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", DISABLE_AUTOUPDATER="1",
                DISABLE_TELEMETRY="1", DISABLE_ERROR_REPORTING="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
                MCP_TIMEOUT="60000")
        assert json.loads(done.stdout)["result"] == "done", done.stdout
        return model

    def install_puts_the_gateway_in_front_of_a_clients_servers(self):
        with self.machine("install") as machine:
            server = {"command": str(self.node), "args": [str(self.filesystem), str(machine.project)], "env": {"A": "b"}}
            listed = machine.home / ".claude.json"
            before = json.dumps({"mcpServers": {"files": server}}, indent=1)
            listed.write_text(before)
            machine.run([self.sayso, "install", "mcp", "--yes"])
            now = json.loads(listed.read_text())["mcpServers"]["files"]
            assert now["command"] == str(self.sayso) and now["args"][0] == "mcp", now
            machine.run([self.sayso, "uninstall", "mcp", "--yes"])
            assert listed.read_text() == before
            machine.run([self.sayso, "install", "mcp", "--yes"])
            model = self.claude_works(machine, [
                [("mcp__files__read_text_file", {"path": str(machine.project / "a.txt")})],
                [("mcp__files__read_text_file", {"path": str(machine.project / ".env")})],
                "done",
            ])
            assert "plain words" in model.result(0) and "secrets" in model.result(1), model.results
            # Claude Code has written its own things into the file meanwhile; only what is Sayso's goes.
            machine.run([self.sayso, "uninstall", "mcp", "--yes"])
            assert json.loads(listed.read_text())["mcpServers"]["files"] == server, listed.read_text()

    def claude_code_uses_a_server_through_the_gateway(self):
        with self.machine("claude") as machine:
            gateway = [str(word) for word in self.through("--name", "files", "--agent", "claude-code", "--",
                                                          self.node, self.filesystem, machine.project)]
            config = machine.root / "mcp.json"
            config.write_text(json.dumps({"mcpServers": {"files": {"command": gateway[0], "args": gateway[1:]}}}))
            answers = machine.root / "answer.sh"
            answers.write_text("#!/bin/sh\ncat >/dev/null\ncat %s/answer.json\n" % machine.root)
            answers.chmod(0o755)
            settings = machine.home / ".claude" / "settings.json"
            settings.parent.mkdir()
            settings.write_text(json.dumps({"hooks": {"Elicitation": [
                {"matcher": "*", "hooks": [{"type": "command", "command": str(answers)}]}]}}))

            def work(turns, answer):
                told = {"hookSpecificOutput": {"hookEventName": "Elicitation", **answer}}
                (machine.root / "answer.json").write_text(json.dumps(told))
                return self.claude_works(machine, turns, "--mcp-config", config)

            project = machine.project
            model = work([
                [("mcp__files__read_text_file", {"path": str(project / "a.txt")})],
                [("mcp__files__read_text_file", {"path": str(project / ".env")})],
                [("mcp__files__write_file", {"path": str(project / "denied.md"), "content": "x"})],
                [("mcp__files__create_directory", {"path": str(project / "yes")})],
                "done",
            ], {"action": "accept", "content": {"answer": "once"}})
            assert "mcp__files__move_file" not in model.offered, model.offered
            assert "plain words" in model.result(0), model.results
            assert "hunter2" not in json.dumps(list(model.results.values())) and "secrets" in model.result(1), model.results
            assert "keep-denied" in model.result(2) and not (project / "denied.md").exists(), model.results
            assert (project / "yes").is_dir(), model.results
            model = work([[("mcp__files__create_directory", {"path": str(project / "no")})], "done"],
                         {"action": "decline"})
            assert not (project / "no").exists() and "Sayso: deny" in model.result(0), model.results
            records = [record for record in self.log(machine) if record.get("way_in") == "mcp files" and "answer" in record]
            assert {record["answer"] for record in records} == {"allow", "deny", "ask"}, records
            assert all(record["actor"]["agent"] == "claude-code" for record in records), records


class serving:
    """A server that listens while this is used. `PORT` in its command, or a variable, tells it where."""

    def __init__(self, machine, command, variable, **env):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        env = dict(env, **({variable: str(self.port)} if variable else {}))
        self.process = subprocess.Popen(
            [str(word).replace("PORT", str(self.port)) if not variable else str(word) for word in command],
            cwd=machine.project, env=machine.environment(**env), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        until = time.time() + 30
        while time.time() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self.port
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


def same(direct, through, how):
    differ = {name: (direct.get(name), through.get(name)) for name in {*direct, *through}
              if direct.get(name) != through.get(name)}
    assert not differ, (how, differ)


def main():
    gateway = Gateway(pathlib.Path(sys.argv[1]).resolve())
    offline.enter()
    scenarios = [
        gateway.the_filesystem_server_is_judged_and_otherwise_the_same,
        gateway.the_everything_server_runs_through_pipe_and_http,
        gateway.several_servers_stand_behind_one,
        gateway.the_conformance_suite_says_the_same_of_server_and_gateway,
        gateway.claude_code_uses_a_server_through_the_gateway,
        gateway.install_puts_the_gateway_in_front_of_a_clients_servers,
    ]
    wanted = [one for one in scenarios if not sys.argv[2:] or any(word in one.__name__ for word in sys.argv[2:])]
    failed = 0
    for scenario in wanted:
        name = scenario.__name__.replace("_", " ")
        try:
            scenario()
            print("ok      mcp: %s" % name, flush=True)
        except Exception:
            failed += 1
            print("FAILED  mcp: %s" % name, flush=True)
            traceback.print_exc()
    print("%d passed, %d failed" % (len(wanted) - failed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
