#!/usr/bin/env python3
"""The real Copilot CLI, offline, against a scripted model, guarded by Sayso.

usage: e2e/copilot.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_COPILOT: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import os

import guarded
from guarded import Guarded


class Copilot(Guarded):
    name, package, version = "copilot", "@github/copilot", os.environ.get("SAYSO_E2E_COPILOT", "1.0.102")

    def shell(self, command):
        return ("bash", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".copilot" / "hooks" / "sayso.json"

    def start(self, machine, model):
        return machine.run(
            [self.programs / "copilot", "-p", "Do what the script says.", "--allow-all-tools", "--no-auto-update"],
            COPILOT_PROVIDER_BASE_URL=model.url + "/v1", COPILOT_PROVIDER_API_KEY="not-a-key",
            COPILOT_MODEL="scripted", COPILOT_OFFLINE="true", COPILOT_AUTO_UPDATE="false",
        )

    def one_deny_holds_for_every_tool(self):
        with self.machine("tools") as machine:
            (machine.project / ".env").write_text("PASSWORD=hunter2\n")
            (machine.project / "plain.txt").write_text("plain words\n")
            self.install(machine)
            model = self.ask(machine, [
                [self.shell("cat .env")],
                [("view", {"path": str(machine.project / ".env")})],
                [("view", {"path": str(machine.project / "plain.txt")})],
                [("create", {"path": str(machine.project / "denied.md"), "file_text": "x"})],
                [("create", {"path": str(machine.project / "fine.md"), "file_text": "x"})],
                "done",
            ])
            assert "hunter2" not in str(model.results), model.results
            assert "plain words" in model.result(2), model.results
            assert not (machine.project / "denied.md").exists()
            assert (machine.project / "fine.md").exists(), model.results


if __name__ == "__main__":
    guarded.main(Copilot, [
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
