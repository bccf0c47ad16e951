#!/usr/bin/env python3
"""The real Codex, offline, against a scripted model, guarded by Sayso.

usage: e2e/codex.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_CODEX: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import os
import types

import guarded
import held
from guarded import Guarded
from held import Held
from scripted_model import ScriptedModel
from terminal import Terminal

CONFIG = """# mine
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


class Codex(Held, Guarded):
    name, package, version = "codex", "@openai/codex", os.environ.get("SAYSO_E2E_CODEX", "0.166.0")

    def shell(self, command):
        return ("exec_command", {"cmd": command})

    def settings(self, machine):
        return machine.home / ".codex" / "hooks.json"

    def install(self, machine):
        return machine.run([machine.program, "install", "codex", "--yes", "--trust"])

    def impatient(self, machine):
        """A hook with other time-outs is not trusted any more."""
        super().impatient(machine)
        machine.bypass_trust = True

    def subagent(self, task):
        return ("multi_agent_v1.spawn_agent", {"message": task, "agent_type": "default"})

    def configure(self, machine, model):
        config = machine.home / ".codex" / "config.toml"
        config.parent.mkdir(exist_ok=True)
        text = config.read_text() if config.exists() else ""
        # The address changes with every conversation; what Sayso wrote stays behind it.
        kept = text[text.index("[hooks"):] if "[hooks" in text else ""
        config.write_text(CONFIG % model.url + "\n" + kept)
        return config

    def held_machine(self, name):
        """Codex's own sandbox is part of what it was seen with."""
        machine = super().held_machine(name)
        self.configure(machine, types.SimpleNamespace(url="http://127.0.0.1:9"))
        return machine

    def start(self, machine, model):
        config = self.configure(machine, model)
        more = ["--dangerously-bypass-hook-trust"] if getattr(machine, "bypass_trust", False) else []
        command = [self.programs / "codex", "exec", "--json", "--skip-git-repo-check", *more, "Do what the script says."]
        return machine.run(command, CODEX_HOME=str(config.parent), SCRIPTED_KEY="not-a-key")

    def a_trusted_hook_is_not_new_at_a_terminal(self):
        """Codex compares what it keeps of a hook with what was trusted."""
        for arguments, asked in (["--trust"], False), ([], True):
            with self.machine("terminal") as machine, ScriptedModel(["done"]) as model:
                machine.run([machine.program, "install", "codex", "--yes", *arguments])
                config = self.configure(machine, model)
                trusted = '\n[projects."%s"]\ntrust_level = "trusted"\n' % machine.project
                config.write_text(config.read_text() + trusted)
                environment = machine.environment(CODEX_HOME=str(config.parent), SCRIPTED_KEY="not-a-key", TERM="xterm-256color")
                for name in ("CI", "NO_COLOR"):
                    del environment[name]
                with Terminal([self.programs / "codex"], machine.project, environment) as terminal:
                    shown = terminal.drawn(25)
                assert "Ask Codex to do anything" in shown or asked, shown[-2000:]
                assert ("Hooks need review" in shown) == asked, shown[-2000:]

    def patches_are_judged_by_the_files_they_write(self):
        with self.machine("patch") as machine:
            self.install(machine)
            patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: %s\n+x\n*** End Patch\nEOF"
            model = self.ask(machine, [
                [self.shell(patch % "denied.md")], [self.shell(patch % "fine.md")], "done"])
            assert not (machine.project / "denied.md").exists(), model.results
            assert (machine.project / "fine.md").exists(), model.results

    def a_hook_that_is_not_trusted_is_not_run_and_doctor_says_so(self):
        with self.machine("untrusted") as machine:
            machine.run([machine.program, "install", "codex", "--yes"])
            said = machine.run([self.sayso, "doctor", "codex"], check=False)
            assert said.returncode != 0 and "not trusted" in said.stdout, said.stdout
            self.ask(machine, [[self.shell("touch denied.txt")], "done"])
            assert (machine.project / "denied.txt").exists()


if __name__ == "__main__":
    guarded.main(Codex, [
        "allowed_calls_run_and_denied_ones_do_not",
        "an_ask_that_nobody_answers_does_not_run",
        "an_ask_waits_and_goes_on_when_answered",
        "patches_are_judged_by_the_files_they_write",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "without_a_hook_the_call_runs",
        "a_hook_that_is_not_trusted_is_not_run_and_doctor_says_so",
        "doctor_sees_the_guard_hold",
        "reconcile_finds_calls_without_a_decision",
        "a_trusted_hook_is_not_new_at_a_terminal",
        "a_subagent_starts_and_its_calls_are_judged",
        "its_own_program_is_not_replaced",
        "uninstall_leaves_nothing_behind",
        *held.SCENARIOS,
        "another_hook_voids_the_proof",
    ])
