#!/usr/bin/env python3
"""The real OpenCode, offline, against a scripted model, guarded by Sayso.

usage: e2e/opencode.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_OPENCODE: another version.  SAYSO_E2E_CACHE: where it is installed.
"""

import json
import os
import re

import guarded
import held
from guarded import Guarded
from held import Held


class OpenCode(Held, Guarded):
    name, package, version = "opencode", "opencode-ai", os.environ.get("SAYSO_E2E_OPENCODE", "1.18.33")

    environment = {"npm_config_fetch_retries": "0", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def shell(self, command):
        return ("bash", {"command": command, "description": "scripted"})

    def settings(self, machine):
        return machine.home / ".config" / "opencode" / "plugins" / "sayso.js"

    def impatient(self, machine):
        plugin = self.settings(machine)
        plugin.write_text(re.sub(r"PATIENCE_MS = \d+", "PATIENCE_MS = 3000", plugin.read_text()))

    def subagent(self, task):
        return ("task", {"description": "d", "prompt": task, "subagent_type": "general"})

    def start(self, machine, model, **more):
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": model.url + "/v1", "apiKey": "not-a-key"},
            "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 8000}}},
        }
        config = {
            "autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
            "enabled_providers": ["scripted"], "provider": {"scripted": provider},
        }
        # It fetches a package for its plugin folder at every start; without retries it finds out soon that it cannot.
        return machine.run(
            [self.programs / "opencode", "run", "--format", "json", "Do what the script says."],
            OPENCODE_CONFIG_CONTENT=json.dumps(config), OPENCODE_DISABLE_AUTOUPDATE="1",
            OPENCODE_DISABLE_MODELS_FETCH="1", OPENCODE_DISABLE_LSP_DOWNLOAD="1", OPENCODE_DISABLE_SHARE="1",
            OPENCODE_DISABLE_DEFAULT_PLUGINS="1", npm_config_fetch_retries="0", **more,
        )

    def one_deny_holds_for_every_tool(self):
        with self.machine("tools") as machine:
            (machine.project / "private.pem").write_text("hunter2\n")
            (machine.project / "plain.txt").write_text("plain words\n")
            self.install(machine)
            model = self.ask(machine, [
                [self.shell("cat private.pem")],
                [("read", {"filePath": str(machine.project / "private.pem")})],
                [("read", {"filePath": str(machine.project / "plain.txt")})],
                [("write", {"filePath": str(machine.project / "denied.md"), "content": "x"})],
                [("write", {"filePath": str(machine.project / "fine.md"), "content": "x"})],
                "done",
            ])
            assert "hunter2" not in str(model.results), model.results
            assert "plain words" in model.result(2), model.results
            assert not (machine.project / "denied.md").exists()
            assert (machine.project / "fine.md").exists(), model.results

    def a_program_that_says_half_a_sentence_blocks(self):
        ran, model = self.broken("says half a sentence")
        assert not ran, model.results

    def without_plugins_there_is_no_guard(self):
        """What the documentation warns of."""
        with self.machine("pure") as machine:
            self.install(machine)
            from scripted_model import ScriptedModel
            with ScriptedModel([[self.shell("touch denied.txt")], "done"]) as model:
                self.start(machine, model, OPENCODE_PURE="1")
            assert (machine.project / "denied.txt").exists(), model.results


if __name__ == "__main__":
    guarded.main(OpenCode, [
        "allowed_calls_run_and_denied_ones_do_not",
        "one_deny_holds_for_every_tool",
        "an_ask_that_nobody_answers_does_not_run",
        "an_ask_waits_and_goes_on_when_answered",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "a_program_that_says_half_a_sentence_blocks",
        "without_a_hook_the_call_runs",
        "doctor_sees_the_guard_hold",
        "reconcile_finds_calls_without_a_decision",
        "without_plugins_there_is_no_guard",
        "a_subagent_starts_and_its_calls_are_judged",
        "its_own_program_is_not_replaced",
        "uninstall_leaves_nothing_behind",
        *held.SCENARIOS,
    ])
