#!/usr/bin/env python3
"""The real Claude Code, offline, against a scripted model, guarded by Sayso.

usage: e2e/claude_code.py PATH-TO-SAYSO
SAYSO_E2E_CLAUDE_CODE: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import json
import os
import pathlib
import sys
import traceback

import offline
from scripted_model import ScriptedModel

VERSION = os.environ.get("SAYSO_E2E_CLAUDE_CODE", "2.1.325")

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


def main():
    sayso = pathlib.Path(sys.argv[1]).resolve()
    programs = offline.npm_install("@anthropic-ai/claude-code", VERSION)
    offline.enter()
    guarded = Guarded(sayso, programs / "claude")
    scenarios = [
        guarded.allowed_calls_run_and_denied_ones_do_not,
        guarded.one_deny_holds_for_every_tool,
        guarded.an_ask_that_nobody_answers_does_not_run,
        guarded.a_vanished_hook_blocks,
        guarded.uninstall_puts_the_settings_back,
    ]
    failed = 0
    for scenario in scenarios:
        name = scenario.__name__.replace("_", " ")
        try:
            scenario()
            print("ok      claude-code %s: %s" % (VERSION, name), flush=True)
        except Exception:
            failed += 1
            print("FAILED  claude-code %s: %s" % (VERSION, name), flush=True)
            traceback.print_exc()
    print("%d passed, %d failed" % (len(scenarios) - failed, failed))
    sys.exit(1 if failed else 0)


class Guarded:
    def __init__(self, sayso, claude):
        self.sayso, self.claude = sayso, claude

    def machine(self, name, settings=None):
        machine = offline.Machine(name)
        policy = machine.home / ".config" / "sayso" / "policy.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        if settings is not None:
            (machine.home / ".claude").mkdir()
            (machine.home / ".claude" / "settings.json").write_text(settings)
        return machine

    def install(self, machine):
        return machine.run([self.sayso, "install", "claude-code", "--yes"])

    def ask(self, machine, turns):
        """Lets the agent work through a script. -> the model, with what it was told"""
        with ScriptedModel(turns) as model:
            done = machine.run(
                [self.claude, "-p", "Do what the script says.", "--output-format", "json"],
                ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", DISABLE_AUTOUPDATER="1",
                DISABLE_TELEMETRY="1", DISABLE_ERROR_REPORTING="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            )
        assert not model.unknown_tools, "the agent does not offer %s" % model.unknown_tools
        assert json.loads(done.stdout)["result"] == "done", done.stdout
        return model

    def log(self, machine):
        lines = machine.run([self.sayso, "log", "--json"]).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def allowed_calls_run_and_denied_ones_do_not(self):
        with self.machine("verdicts") as machine:
            self.install(machine)
            model = self.ask(machine, [[bash("touch allowed.txt")], [bash("touch denied.txt")], "done"])
            assert (machine.project / "allowed.txt").exists(), model.results
            assert not (machine.project / "denied.txt").exists()
            told = model.result(1)
            assert "keep-denied" in told and "Files named denied are not written." in told, told
            records = {record["command"]: record for record in self.log(machine)}
            assert records["touch allowed.txt"]["verdict"] == "allow", records
            denied = records["touch denied.txt"]
            assert denied["verdict"] == denied["answer"] == "deny", denied
            assert denied["reasons"][0]["code"] == "keep-denied", denied
            assert denied["actor"]["agent"] == "claude-code" and denied["workspace"] == str(machine.project), denied

    def one_deny_holds_for_every_tool(self):
        with self.machine("tools") as machine:
            secret = machine.project / ".env"
            secret.write_text("PASSWORD=hunter2\n")
            (machine.project / "plain.txt").write_text("plain words\n")
            self.install(machine)
            model = self.ask(machine, [
                [bash("cat .env")],
                [("Read", {"file_path": str(secret)})],
                [("Read", {"file_path": str(machine.project / "plain.txt")})],
                [("Write", {"file_path": str(machine.project / "denied.md"), "content": "x"})],
                [("Write", {"file_path": str(machine.project / "fine.md"), "content": "x"})],
                "done",
            ])
            assert "hunter2" not in json.dumps(model.results), model.results
            assert "plain words" in model.result(2), model.results
            assert not (machine.project / "denied.md").exists()
            assert (machine.project / "fine.md").exists(), model.results
            verdicts = [record["verdict"] for record in reversed(self.log(machine))]
            assert sorted(verdicts) == ["allow", "allow", "deny", "deny", "deny"], verdicts

    def an_ask_that_nobody_answers_does_not_run(self):
        with self.machine("ask") as machine:
            self.install(machine)
            model = self.ask(machine, [[bash("mkdir asked")], "done"])
            assert not (machine.project / "asked").exists()
            assert "Sayso: ask" in model.result(0), model.results
            assert {record["verdict"] for record in self.log(machine)} == {"ask"}

    def a_vanished_hook_blocks(self):
        with self.machine("vanished") as machine:
            self.install(machine)
            settings = machine.home / ".claude" / "settings.json"
            settings.write_text(settings.read_text().replace(str(self.sayso), "/nonexistent/sayso"))
            model = self.ask(machine, [[bash("touch allowed.txt")], "done"])
            assert not (machine.project / "allowed.txt").exists(), model.results

    def uninstall_puts_the_settings_back(self):
        before = '{ "cleanupPeriodDays": 30,\n "env": {"A":"b"} }\n'
        with self.machine("uninstall", settings=before) as machine:
            settings = machine.home / ".claude" / "settings.json"
            shown = machine.run([self.sayso, "install", "claude-code", "--dry-run"]).stdout
            assert "+" in shown and settings.read_text() == before, shown
            self.install(machine)
            assert "onFailure" in settings.read_text()
            machine.run([self.sayso, "uninstall", "claude-code", "--yes"])
            assert settings.read_text() == before, settings.read_text()


def bash(command):
    return ("Bash", {"command": command, "description": "scripted"})


if __name__ == "__main__":
    main()
