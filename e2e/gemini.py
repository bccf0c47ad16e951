#!/usr/bin/env python3
"""The real Gemini CLI, offline, against a scripted model, guarded by Sayso.

usage: e2e/gemini.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_GEMINI: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import json
import os
import sys

import guarded
import held
import offline
from guarded import SERVER, Guarded
from held import Held

SETTINGS = """{
  // as people have it
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
"""


class Gemini(Held, Guarded):
    name, package, version = "gemini", "@google/gemini-cli", os.environ.get("SAYSO_E2E_GEMINI", "0.61.0")

    @staticmethod
    def needs():
        """A node that is new enough."""
        return offline.node(22)

    def machine(self, name):
        machine = super().machine(name)
        settings = self.settings(machine)
        settings.parent.mkdir()
        settings.write_text(SETTINGS)
        return machine

    def shell(self, command):
        return ("run_shell_command", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".gemini" / "settings.json"

    def subagent(self, task):
        return ("invoke_agent", {"agent_name": "generalist", "prompt": task})

    def start(self, machine, model):
        return machine.run(
            [self.also, self.programs / "gemini", "--yolo", "-o", "json", "-p", "Do what the script says."],
            GEMINI_API_KEY="not-a-key", GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_CLI_TRUST_WORKSPACE="true",
            GEMINI_TELEMETRY_ENABLED="false", GEMINI_CLI_NO_RELAUNCH="true",
        )

    def server(self, machine, trust):
        """An MCP server that writes down that it was called."""
        program = machine.root / "server.py"
        program.write_text(SERVER)
        called = machine.root / "called"
        settings = json.loads(self.settings(machine).read_text().replace("// as people have it", ""))
        entry = {"command": sys.executable, "args": [str(program), str(called)], "trust": trust}
        settings["mcpServers"] = {"demo": entry}
        self.settings(machine).write_text(json.dumps(settings))
        return called

    def an_ask_neither_runs_nor_hangs_where_gemini_would_not_ask(self):
        """Its own prompt is not certain to come: for trusted servers, for what goes by rules of its own, and without a
        person while an MCP server is configured."""
        for trust in (True, False):
            with self.machine("uncertain") as machine:
                called = self.server(machine, trust)
                (machine.home / ".config" / "sayso" / "policy.toml").write_text('default = "ask"\n')
                self.install(machine)
                model = self.ask(machine, [
                    [("mcp_demo_echo", {"text": "x"})],
                    [("invoke_agent", {"agent_name": "generalist", "prompt": "do nothing"})],
                    [("activate_skill", {"name": "skill-creator"})],
                    [("enter_plan_mode", {"reason": "r"})],
                    [self.shell("touch asked.txt")],
                    [("write_file", {"file_path": str(machine.project / "asked.md"), "content": "x"})],
                    "done",
                ])
                assert not called.exists() and not list(machine.project.glob("asked*")), model.results
                told = [model.result(turn) for turn in range(6)]
                assert all(text and "Sayso: deny" in text and "sayso approvals" in text for text in told), told

    def one_deny_holds_for_every_tool(self):
        with self.machine("tools") as machine:
            secret = machine.project / ".env"
            secret.write_text("PASSWORD=hunter2\n")
            (machine.project / "plain.txt").write_text("plain words\n")
            self.install(machine)
            model = self.ask(machine, [
                [self.shell("cat .env")],
                [("read_file", {"file_path": str(machine.project / "plain.txt")})],
                [("write_file", {"file_path": str(machine.project / "denied.md"), "content": "x"})],
                [("write_file", {"file_path": str(machine.project / "fine.md"), "content": "x"})],
                "done",
            ])
            assert "hunter2" not in str(model.results), model.results
            assert "plain words" in model.result(1), model.results
            assert not (machine.project / "denied.md").exists()
            assert (machine.project / "fine.md").exists(), model.results


if __name__ == "__main__":
    guarded.main(Gemini, [
        "allowed_calls_run_and_denied_ones_do_not",
        "one_deny_holds_for_every_tool",
        "an_ask_that_nobody_answers_does_not_run",
        "an_ask_neither_runs_nor_hangs_where_gemini_would_not_ask",
        "an_ask_waits_and_goes_on_when_answered",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "without_a_hook_the_call_runs",
        "doctor_sees_the_guard_hold",
        "reconcile_finds_calls_without_a_decision",
        "a_subagent_starts_and_its_calls_are_judged",
        "its_own_program_is_not_replaced",
        "uninstall_leaves_nothing_behind",
        *held.SCENARIOS,
        "another_hook_voids_the_proof",
    ])
