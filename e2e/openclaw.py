#!/usr/bin/env python3
"""The real OpenClaw, offline, against a scripted model, guarded by Sayso.

usage: e2e/openclaw.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_E2E_OPENCLAW: another version.  SAYSO_E2E_CACHE: where it is installed (OpenClaw and its node take 0.8 GB).
"""

import json
import os

import guarded
import offline
from guarded import Guarded


class OpenClaw(Guarded):
    name, package, version = "openclaw", "openclaw", os.environ.get("SAYSO_E2E_OPENCLAW", "2026.9.6")

    @staticmethod
    def needs():
        """A node that is new enough, also while it is installed."""
        node = offline.node(24)
        os.environ["PATH"] = "%s:%s" % (node.parent, os.environ["PATH"])
        return node

    def machine(self, name):
        machine = super().machine(name)
        config = machine.home / ".openclaw" / "openclaw.json"
        config.parent.mkdir()
        config.write_text('{\n  // as people have it\n  "gateway": {"mode": "local"}\n}\n')
        return machine

    def shell(self, command):
        return ("exec", {"command": command})

    def settings(self, machine):
        return machine.home / ".openclaw" / "extensions" / "sayso" / "index.js"

    def impatient(self, machine):
        plugin = self.settings(machine)
        plugin.write_text(plugin.read_text().replace("PATIENCE_MS = 600000", "PATIENCE_MS = 3000"))

    def start(self, machine, model):
        config = machine.home / ".openclaw" / "openclaw.json"
        settings = json.loads(config.read_text().replace("// as people have it", ""))
        model_of = {"id": "scripted", "name": "scripted", "contextWindow": 100000, "maxTokens": 8000, "reasoning": False,
                    "input": ["text"], "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        settings["models"] = {"providers": {"scripted": {
            "baseUrl": model.url + "/v1", "apiKey": "not-a-key", "api": "openai-completions", "models": [model_of]}}}
        settings["agents"] = {"defaults": {"model": {"primary": "scripted/scripted"}, "workspace": str(machine.project)}}
        settings["tools"] = {"exec": {"mode": "full"}}
        config.write_text(json.dumps(settings))
        return machine.run([self.also, self.programs / "openclaw", "agent", "--local", "--session-id", "e2e",
                            "--message", "Do what the script says.", "--json"], timeout=300)

    def an_ask_that_nobody_answers_does_not_run(self):
        """OpenClaw has an approval of its own, and nobody to ask on a command line."""
        with self.machine("ask") as machine:
            self.install(machine)
            model = self.ask(machine, [[self.shell("mkdir asked")], "done"])
            assert not (machine.project / "asked").exists(), model.results
            assert "approval" in model.result(0), model.results
            assert self.decisions(machine)["mkdir asked"]["verdict"] == "ask", self.log(machine)


if __name__ == "__main__":
    guarded.main(OpenClaw, [
        "allowed_calls_run_and_denied_ones_do_not",
        "an_ask_that_nobody_answers_does_not_run",
        "a_vanished_program_blocks",
        "a_program_that_crashes_blocks",
        "a_program_that_is_killed_blocks",
        "a_program_that_hangs_blocks",
        "without_a_hook_the_call_runs",
        "uninstall_leaves_nothing_behind",
    ])
