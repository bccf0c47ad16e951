#!/usr/bin/env python3
"""The real Copilot CLI, offline, against a scripted model, guarded by Sayso.

usage: e2e/copilot.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_COPILOT: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import os

import guarded
import held
from guarded import POLICY, Guarded
from held import Held


class Copilot(Held, Guarded):
    name, package, version = "copilot", "@github/copilot", os.environ.get("SAYSO_E2E_COPILOT", "1.0.102")

    def shell(self, command):
        return ("bash", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".copilot" / "hooks" / "sayso.json"

    def subagent(self, task):
        return ("task", {"agent_type": "general-purpose", "name": "helper", "description": "d", "prompt": task})

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


    def a_write_counts_and_is_recorded_once(self):
        """Copilot tells of it twice: before the tool, and for its permission."""
        with self.machine("once") as machine:
            policy = machine.home / ".config" / "sayso" / "policy.toml"
            policy.write_text(POLICY + '\n[limits.session]\ncalls = 4\nat_limit = "deny"\n')
            self.install(machine)
            writes = [("create", {"path": str(machine.project / name), "file_text": "x"}) for name in "abcde"]
            model = self.ask(machine, [*[[write] for write in writes], "done"])
            written = [name for name in "abcde" if (machine.project / name).exists()]
            assert written == list("abcd"), (written, model.results)
            assert len([record for record in self.log(machine) if record.get("tool")]) == 5, self.log(machine)


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
        "a_write_counts_and_is_recorded_once",
        "a_subagent_starts_and_its_calls_are_judged",
        "its_own_program_is_not_replaced",
        "uninstall_leaves_nothing_behind",
        *held.SCENARIOS,
        "another_hook_voids_the_proof",
    ])
