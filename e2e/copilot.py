#!/usr/bin/env python3
"""The real Copilot CLI, offline, against a scripted model, guarded by Sayso.

usage: e2e/copilot.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_COPILOT: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import json
import os
import sys

import guarded
import held
from guarded import POLICY, SERVER, Guarded
from held import Held
from scripted_model import ScriptedModel


class Copilot(Held, Guarded):
    name, package, version = "copilot", "@github/copilot", os.environ.get("SAYSO_E2E_COPILOT", "1.0.102")

    def shell(self, command):
        return ("bash", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".copilot" / "hooks" / "sayso.json"

    def subagent(self, task):
        return ("task", {"agent_type": "general-purpose", "name": "helper", "description": "d", "prompt": task})

    def start(self, machine, model, *more):
        return machine.run(
            [self.programs / "copilot", "-p", "Do what the script says.", "--allow-all-tools", "--no-auto-update", *more],
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


    def an_ask_runs_in_no_mode(self):
        """Whatever the tool, with everything allowed that Copilot itself can allow."""
        for more in ([], ["--allow-all"], ["--allow-all", "--mode", "autopilot"], ["--mode", "plan"]):
            with self.machine("mode") as machine:
                (machine.home / ".config" / "sayso" / "policy.toml").write_text('default = "ask"\n')
                program, called = machine.root / "server.py", machine.root / "called"
                program.write_text(SERVER)
                entry = {"type": "local", "command": sys.executable, "args": [str(program), str(called)], "tools": ["*"]}
                servers = json.dumps({"mcpServers": {"demo": entry}})
                (machine.project / "old.md").write_text("old\n")
                self.install(machine)
                turns = [
                    [self.shell("mkdir asked")],
                    [("view", {"path": str(machine.project / "old.md")})],
                    [("create", {"path": str(machine.project / "asked.md"), "file_text": "x"})],
                    [("edit", {"path": str(machine.project / "old.md"), "old_str": "old", "new_str": "asked"})],
                    [("demo-echo", {"text": "x"})],
                    "done",
                ]
                with ScriptedModel(turns) as model:
                    self.start(machine, model, "--additional-mcp-config", servers, *more)
                assert not model.unknown_tools, (more, model.unknown_tools, model.offered)
                assert not called.exists() and not list(machine.project.glob("asked*")), (more, model.results)
                assert (machine.project / "old.md").read_text() == "old\n", (more, model.results)
                told = [model.result(turn) for turn in range(5)]
                assert all(text and "Sayso" in text for text in told), (more, told)

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
        "an_ask_runs_in_no_mode",
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
