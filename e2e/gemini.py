#!/usr/bin/env python3
"""The real Gemini CLI, offline, against a scripted model, guarded by Sayso.

usage: e2e/gemini.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_GEMINI: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import os

import guarded
import offline
from guarded import Guarded

SETTINGS = """{
  // as people have it
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
"""


class Gemini(Guarded):
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

    def start(self, machine, model):
        return machine.run(
            [self.also, self.programs / "gemini", "--yolo", "-o", "json", "-p", "Do what the script says."],
            GEMINI_API_KEY="not-a-key", GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_CLI_TRUST_WORKSPACE="true",
            GEMINI_TELEMETRY_ENABLED="false", GEMINI_CLI_NO_RELAUNCH="true",
        )

    def an_ask_that_nobody_answers_does_not_run(self):
        """Gemini CLI ends the run there, and the model is told nothing."""
        with self.machine("ask") as machine:
            self.install(machine)
            model = self.ask(machine, [[self.shell("mkdir asked")], "done"])
            assert not (machine.project / "asked").exists(), model.results
            assert self.decisions(machine)["mkdir asked"]["verdict"] == "ask", self.log(machine)

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
        "an_ask_waits_and_goes_on_when_answered",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "without_a_hook_the_call_runs",
        "doctor_sees_the_guard_hold",
        "reconcile_finds_calls_without_a_decision",
        "uninstall_leaves_nothing_behind",
    ])
