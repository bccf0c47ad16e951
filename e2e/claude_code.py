#!/usr/bin/env python3
"""The real Claude Code, offline, against a scripted model, guarded by Sayso.

usage: e2e/claude_code.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_CLAUDE_CODE: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import json
import os
import sys

import guarded
import held
from guarded import SERVER, Guarded
from held import Held
from scripted_model import ScriptedModel


class ClaudeCode(Held, Guarded):
    name, package = "claude-code", "@anthropic-ai/claude-code"
    version = os.environ.get("SAYSO_E2E_CLAUDE_CODE", "2.1.325")

    def shell(self, command):
        return ("Bash", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".claude" / "settings.json"

    def subagent(self, task):
        return ("Agent", {"description": "d", "prompt": task, "subagent_type": "general-purpose"})

    def start(self, machine, model, *more):
        done = machine.run(
            [self.programs / "claude", "-p", "Do what the script says.", "--output-format", "json",
             "--allowedTools", "Bash", *more],
            ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", DISABLE_AUTOUPDATER="1",
            DISABLE_TELEMETRY="1", DISABLE_ERROR_REPORTING="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            ENABLE_TOOL_SEARCH="false", IS_SANDBOX="1",
        )
        assert json.loads(done.stdout)["result"] == "done", done.stdout
        return done

    def one_deny_holds_for_every_tool(self):
        with self.machine("tools") as machine:
            secret = machine.project / ".env"
            secret.write_text("PASSWORD=hunter2\n")
            (machine.project / "plain.txt").write_text("plain words\n")
            self.install(machine)
            model = self.ask(machine, [
                [self.shell("cat .env")],
                [("Read", {"file_path": str(secret)})],
                [("Read", {"file_path": str(machine.project / "plain.txt")})],
                [("Write", {"file_path": str(machine.project / "denied.md"), "content": "x"})],
                [("Write", {"file_path": str(machine.project / "fine.md"), "content": "x"})],
                "done",
            ])
            assert "hunter2" not in json.dumps(list(model.results.values())), model.results
            assert "plain words" in model.result(2), model.results
            assert not (machine.project / "denied.md").exists()
            assert (machine.project / "fine.md").exists(), model.results
            verdicts = {record["call_id"]: record["verdict"] for record in self.log(machine) if record.get("call_id")}
            assert sorted(verdicts.values()) == ["allow", "allow", "deny", "deny", "deny"], verdicts

    def an_ask_runs_in_no_permission_mode(self):
        """Whatever the tool: Claude Code's own modes and lists allow all of them."""
        modes = ["bypassPermissions", "default", "acceptEdits", "plan", "auto", "dontAsk"]
        for mode in modes:
            with self.machine("mode") as machine:
                (machine.home / ".config" / "sayso" / "policy.toml").write_text('default = "ask"\n')
                program, called = machine.root / "server.py", machine.root / "called"
                program.write_text(SERVER)
                servers = {"mcpServers": {"demo": {"command": sys.executable, "args": [str(program), str(called)]}}}
                (machine.root / "mcp.json").write_text(json.dumps(servers))
                (machine.project / "old.md").write_text("old\n")
                self.install(machine)
                turns = [
                    [self.shell("mkdir asked")],
                    [("Read", {"file_path": str(machine.project / "old.md")})],
                    [("Write", {"file_path": str(machine.project / "asked.md"), "content": "x"})],
                    [("Edit", {"file_path": str(machine.project / "old.md"), "old_string": "old", "new_string": "asked"})],
                    [("WebFetch", {"url": "https://asked.example/", "prompt": "p"})],
                    [("mcp__demo__echo", {"text": "x"})],
                    "done",
                ]
                with ScriptedModel(turns) as model:
                    self.start(machine, model, "--permission-mode", mode, "--mcp-config", machine.root / "mcp.json",
                               "--allowedTools", "Bash,Read,Write,Edit,WebFetch,mcp__demo__echo")
                assert not model.unknown_tools, (mode, model.unknown_tools, model.offered)
                assert not called.exists() and not list(machine.project.glob("asked*")), (mode, model.results)
                assert (machine.project / "old.md").read_text() == "old\n", (mode, model.results)
                told = [model.result(turn) for turn in range(6)]
                assert all(text and "Sayso" in text for text in told), (mode, told)

    def settings_come_back_byte_for_byte(self):
        before = '{ "cleanupPeriodDays": 30,\n "env": {"A":"b"} }\n'
        with self.machine("settings") as machine:
            settings = self.settings(machine)
            settings.parent.mkdir()
            settings.write_text(before)
            shown = machine.run([machine.program, "install", "claude-code", "--dry-run"]).stdout
            assert "+" in shown and settings.read_text() == before, shown
            self.install(machine)
            assert "onFailure" in settings.read_text()
            machine.run([machine.program, "uninstall", "claude-code", "--yes"])
            assert settings.read_text() == before, settings.read_text()


if __name__ == "__main__":
    guarded.main(ClaudeCode, [
        "allowed_calls_run_and_denied_ones_do_not",
        "one_deny_holds_for_every_tool",
        "an_ask_that_nobody_answers_does_not_run",
        "an_ask_runs_in_no_permission_mode",
        "an_ask_waits_and_goes_on_when_answered",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "without_a_hook_the_call_runs",
        "doctor_sees_the_guard_hold",
        "reconcile_finds_calls_without_a_decision",
        "settings_come_back_byte_for_byte",
        "a_subagent_starts_and_its_calls_are_judged",
        "its_own_program_is_not_replaced",
        "uninstall_leaves_nothing_behind",
        *held.SCENARIOS,
        "another_hook_voids_the_proof",
    ])
