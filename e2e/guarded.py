"""A real agent guarded by Sayso, and what must hold for every agent."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import time
import traceback

import offline
from scripted_model import ScriptedModel
from terminal import Terminal

POLICY = """
[allow]
run = ["touch", "cat"]
write = ["./**"]
read = ["./**"]

[ask]
run = ["mkdir"]

[deny]
read = ["@secrets"]

[[rule]]
id = "keep-denied"
deny = { write = "./denied*" }
because = "Files named denied are not written."
"""

# In the place of Sayso: what may become of a program.
BROKEN = {
    "crashes": "exit 1",
    "is killed": "kill -9 $$",
    "hangs": "sleep 300",
    "says half a sentence": "cat >/dev/null; printf '{\"hookSpecificOutput\": {\"permissionDe'; exit 0",
}


# An MCP server that writes down that it was called.
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {}
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "demo", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    elif message.get("method") == "tools/call":
        open(sys.argv[1], "w").close()
        result = {"content": [{"type": "text", "text": "called"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Guarded:
    """What an agent's own class fills in: name, package, version, program, `shell`, `start`, and where it is told."""

    name = package = version = program = None

    def __init__(self, sayso, programs):
        self.sayso, self.programs = sayso, programs

    # For each agent.

    def shell(self, command):
        """A call of the agent's shell tool."""
        raise NotImplementedError

    def start(self, machine, model):
        """Runs the agent through a conversation with the model, allowing by itself all that it can."""
        raise NotImplementedError

    def settings(self, machine):
        """The file in which Sayso's command is registered."""
        raise NotImplementedError

    # For all.

    def machine(self, name):
        machine = offline.Machine("%s-%s" % (self.name, name))
        policy = machine.home / ".config" / "sayso" / "policy.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        # A program of this machine's own: it may break or vanish.
        machine.program = machine.root / "bin" / "sayso"
        machine.program.parent.mkdir()
        try:
            os.link(self.sayso, machine.program)
        except OSError:
            shutil.copy(self.sayso, machine.program)
        return machine

    def install(self, machine):
        return machine.run([machine.program, "install", self.name, "--yes"])

    def ask(self, machine, turns):
        """Lets the agent work through a script. -> the model, with what it was told"""
        with ScriptedModel(turns) as model:
            self.start(machine, model)
        assert not model.unknown_tools, "the agent does not offer %s but %s" % (model.unknown_tools, model.offered)
        assert model.requests, "the agent never spoke to the model"
        return model

    def log(self, machine):
        lines = machine.run([self.sayso, "log", "--json"]).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def decisions(self, machine):
        """The records of calls, by command."""
        return {record["command"]: record for record in self.log(machine) if record.get("command")}

    def replace_program(self, machine, script):
        """Puts another program in the place of Sayso's, or none. The registration stays as it is."""
        machine.program.unlink()
        if script is not None:
            machine.program.write_text("#!/bin/sh\n%s\n" % script)
            machine.program.chmod(0o755)

    def impatient(self, machine):
        """Registered time-outs are too long for a test."""
        settings = self.settings(machine)
        text = settings.read_text()
        for long, short in (("600000", "6000"), ("30000", "6000"), ("600", "6"), ("595", "3"), ("30", "6"), ("25", "3")):
            text = re.sub(r"(?<=[ \"])%s(?=[ ,\n\"])" % long, short, text)
        settings.write_text(text)

    # What holds everywhere.

    def allowed_calls_run_and_denied_ones_do_not(self):
        with self.machine("verdicts") as machine:
            self.install(machine)
            model = self.ask(machine, [[self.shell("touch allowed.txt")], [self.shell("touch denied.txt")], "done"])
            assert (machine.project / "allowed.txt").exists(), model.results
            assert not (machine.project / "denied.txt").exists()
            told = model.result(1)
            assert "keep-denied" in told and "Files named denied are not written." in told, told
            records = self.decisions(machine)
            assert records["touch allowed.txt"]["verdict"] == "allow", records
            denied = records["touch denied.txt"]
            assert denied["verdict"] == denied["answer"] == "deny", denied
            assert denied["reasons"][0]["code"] == "keep-denied", denied
            assert denied["actor"]["agent"] == self.name and denied["workspace"] == str(machine.project), denied

    def an_ask_that_nobody_answers_does_not_run(self):
        with self.machine("ask") as machine:
            self.install(machine)
            model = self.ask(machine, [[self.shell("mkdir asked")], "done"])
            assert not (machine.project / "asked").exists(), model.results
            asked = self.decisions(machine)["mkdir asked"]
            assert asked["verdict"] == "ask" or asked["reasons"][0]["code"] == "unanswered", asked
            told = model.result(0)
            assert "Sayso" in told and "mkdir" in told, told

    def an_ask_waits_and_goes_on_when_answered(self):
        with self.machine("answered") as machine:
            self.install(machine)
            environment = machine.environment()
            serve = [machine.program, "serve", "--port", "0"]
            watch = [machine.program, "approvals", "watch"]
            with Terminal(serve, machine.project, environment) as serving:
                serving.read_until("Next:")
                with Terminal(watch, machine.project, environment) as watching, \
                        concurrent.futures.ThreadPoolExecutor(1) as beside:
                    watching.sign_in(serving, 0)
                    watching.read_until("Watching as")
                    turns = [[self.shell("mkdir asked")], [self.shell("mkdir refused")], "done"]
                    agent = beside.submit(self.ask, machine, turns)
                    self.answer(machine, environment, (serving, 1), "mkdir asked", "allow")
                    self.answer(machine, environment, (serving, 2), "mkdir refused", "deny")
                    model = agent.result(timeout=200)
            assert (machine.project / "asked").exists(), model.results
            assert not (machine.project / "refused").exists(), model.results
            assert "Sayso: deny" in model.result(1), model.results
            answers = {record["command"]: record["answer"] for record in self.log(machine) if record.get("command")}
            assert answers == {"mkdir asked": "allow", "mkdir refused": "deny"}, self.log(machine)

    def answer(self, machine, environment, serving, command, verdict):
        """Waits for the question, and answers it at a terminal as a person does: with the key that the server shows."""
        until = time.time() + 100
        while time.time() < until:
            listed = machine.run([self.sayso, "approvals", "list", "--json"]).stdout.splitlines()
            waiting = [json.loads(line) for line in listed if command in line]
            if waiting:
                break
            time.sleep(0.3)
        else:
            raise AssertionError("no question about %s: %s" % (command, listed))
        question = waiting[0].get("id") or waiting[0]["question"]["id"]
        command = [machine.program, "approvals", "answer", question, verdict]
        with Terminal(command, machine.project, environment) as terminal:
            terminal.sign_in(*serving)
            assert terminal.ended() == 0, terminal.shown

    def a_vanished_program_blocks(self):
        with self.machine("vanished") as machine:
            self.install(machine)
            self.replace_program(machine, None)
            model = self.ask(machine, [[self.shell("touch allowed.txt")], "done"])
            assert not (machine.project / "allowed.txt").exists(), model.results
            assert model.result(0) is not None

    def broken(self, how):
        with self.machine("broken") as machine:
            self.install(machine)
            self.impatient(machine)
            self.replace_program(machine, BROKEN[how])
            model = self.ask(machine, [[self.shell("touch allowed.txt")], "done"])
            return (machine.project / "allowed.txt").exists(), model

    def a_program_that_crashes_blocks(self):
        ran, model = self.broken("crashes")
        assert not ran, model.results

    def a_program_that_is_killed_blocks(self):
        ran, model = self.broken("is killed")
        assert not ran, model.results

    def a_program_that_hangs_blocks(self):
        ran, model = self.broken("hangs")
        assert not ran, model.results

    def without_a_hook_the_call_runs(self):
        """The other tests would prove nothing if the agent refused by itself."""
        with self.machine("unguarded") as machine:
            model = self.ask(machine, [[self.shell("touch denied.txt")], "done"])
            assert (machine.project / "denied.txt").exists(), model.results

    # What `doctor --live` needs in its environment to find and start the agent.
    environment = {}

    def doctor(self, machine, *more):
        path = "%s:%s" % (self.programs, os.environ["PATH"])
        if getattr(self, "also", None):
            path = "%s:%s" % (self.also.parent, path)
        said = machine.run([machine.program, "doctor", self.name, "--json", *more], check=False, timeout=200,
                           PATH=path, **self.environment)
        report = json.loads(said.stdout or "null")
        assert report, said.stderr
        return said.returncode, report["agents"][0]

    def doctor_sees_the_guard_hold(self):
        with self.machine("doctor") as machine:
            code, agent = self.doctor(machine)
            assert code == 1 and not agent["guarded"], agent
            self.install(machine)
            code, agent = self.doctor(machine, "--live")
            assert code == 0 and agent["guarded"] and agent["level"] == "tripwire", agent
            assert agent["version"] in (self.version, None) and agent["live"]["result"] == "denied", agent
            left = [path.name for path in (machine.home / ".local" / "state" / "sayso").glob("live-*")]
            assert not left, left

    def reconcile_finds_calls_without_a_decision(self):
        with self.machine("reconcile") as machine:
            self.ask(machine, [[self.shell("touch before.txt")], "done"])
            self.install(machine)
            self.ask(machine, [[self.shell("touch allowed.txt")], [self.shell("touch denied.txt")], "done"])
            said = machine.run([self.sayso, "reconcile", self.name, "--json"], check=False)
            report = json.loads(said.stdout)
            calls = [json.dumps(call) for call in report["uncovered"]]
            assert len(calls) == 1 and "touch before.txt" in calls[0], report
            assert said.returncode != 0 and report["covered"] == 2, report

    # A call that starts a subagent with this task.
    def subagent(self, task):
        raise NotImplementedError

    def a_subagent_starts_and_its_calls_are_judged(self):
        """Under the preset for developers, where starting one asks nobody."""
        with self.machine("subagent") as machine:
            policy = machine.home / ".config" / "sayso" / "policy.toml"
            policy.write_text('extends = ["developer"]\n' + POLICY.replace('"cat"]', '"cat", "sleep"]'))
            self.install(machine)
            inside = ("INNER TASK", [[self.shell("touch inner.txt")], [self.shell("touch denied.txt")], "done inside"])
            turns = [[self.subagent("INNER TASK")], [self.shell("sleep 5; touch outer.txt")], "done"]
            with ScriptedModel(turns, inside) as model:
                self.start(machine, model)
            assert not model.unknown_tools, "the agent does not offer %s but %s" % (model.unknown_tools, model.offered)
            assert (machine.project / "inner.txt").exists(), (model.results, self.log(machine))
            assert not (machine.project / "denied.txt").exists(), model.results
            said = machine.run([self.sayso, "reconcile", self.name, "--json"], check=False)
            report = json.loads(said.stdout)
            assert not report["uncovered"], report
            sessions = {record["actor"].get("session") for record in self.log(machine) if record.get("command")}
            assert len(sessions) == 1, self.log(machine)

    def its_own_program_is_not_replaced(self):
        """Whatever else is allowed."""
        with self.machine("replaced") as machine:
            (machine.home / ".config" / "sayso" / "policy.toml").write_text('default = "allow"\n')
            self.install(machine)
            before = machine.program.read_bytes()
            turns = [[self.shell(command % machine.program)] for command in (
                "cp /bin/true %s", "rm -f %s", "chmod -x %s", "ln -sf /bin/true %s", "cd $(dirname %s) && echo x > sayso")]
            model = self.ask(machine, [*turns, [self.shell("touch ran.txt")], "done"])
            assert machine.program.read_bytes() == before and os.access(machine.program, os.X_OK), model.results
            assert (machine.project / "ran.txt").exists(), model.results
            machine.program.unlink()
            machine.program.write_text("#!/bin/sh\necho sayso 0.1.0\n")
            machine.program.chmod(0o755)
            said = machine.run([self.sayso, "doctor", self.name, "--json"], check=False)
            assert said.returncode == 1 and "other-content" in said.stdout, said.stdout

    def uninstall_leaves_nothing_behind(self):
        with self.machine("uninstall") as machine:
            before = self.files(machine)
            self.install(machine)
            assert self.files(machine) != before
            machine.run([machine.program, "uninstall", self.name, "--yes"])
            assert self.files(machine) == before, self.files(machine)

    @staticmethod
    def files(machine):
        own = machine.home / ".local"
        return {path: path.read_bytes() for path in machine.root.rglob("*")
                if path.is_file() and own not in path.parents}


def main(kind, scenarios):
    """Runs an agent's scenarios, two at a time, and counts them."""
    sayso = pathlib.Path(sys.argv[1]).resolve()
    also = kind.needs() if hasattr(kind, "needs") else None
    programs = offline.npm_install(kind.package, kind.version)
    offline.enter()
    guarded = kind(sayso, programs)
    if also is not None:
        guarded.also = also
    chosen = sys.argv[2:] or scenarios

    def run(scenario):
        began = time.time()
        try:
            getattr(guarded, scenario)()
            return scenario, None, time.time() - began
        except Exception:
            return scenario, traceback.format_exc(), time.time() - began

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SAYSO_E2E_AT_ONCE", "2"))) as pool:
        for scenario, error, seconds in pool.map(run, chosen):
            word = "FAILED" if error else "ok"
            failed += bool(error)
            print("%-7s %s %s: %s (%.0f s)" % (word, kind.name, kind.version, scenario.replace("_", " "), seconds))
            print(error or "", end="", flush=True)
    print("%d passed, %d failed" % (len(chosen) - failed, failed))
    sys.exit(1 if failed else 0)
