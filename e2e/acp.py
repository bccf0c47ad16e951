#!/usr/bin/env python3
"""Real ACP agents, offline, against a scripted model, behind `sayso acp`.

usage: e2e/acp.py PATH-TO-SAYSO [AGENT...]
SAYSO_E2E_CACHE: where they are installed.
"""

import concurrent.futures
import json
import pathlib
import sys
import time
import traceback

import offline
from acp_client import Client
from guarded import POLICY
from scripted_model import ScriptedModel

CODEX = """model = "scripted"
model_provider = "scripted"
approval_policy = "untrusted"
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

[projects."%s"]
trust_level = "trusted"
"""

KIMI = """default_model = "scripted"
default_permission_mode = "manual"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "%s/v1"
api_key = "not-a-key"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
capabilities = ["tool_use"]
"""

GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


def claude(machine, model):
    return dict(
        ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", DISABLE_AUTOUPDATER="1", DISABLE_TELEMETRY="1",
        DISABLE_ERROR_REPORTING="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", IS_SANDBOX="1",
    )


def codex(machine, model):
    folder = machine.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CODEX % (model.url, machine.project))
    return dict(CODEX_HOME=str(folder), SCRIPTED_KEY="not-a-key")


def codex2(machine, model):
    """This one knows no policy that asks about every command: its own sandbox holds those that it does not ask about."""
    environment = codex(machine, model)
    config = machine.home / ".codex" / "config.toml"
    asks = [line for line in config.read_text().splitlines() if not line.startswith(("approval_policy", "sandbox_mode"))]
    config.write_text("\n".join(asks) + "\n")
    return environment


def gemini(machine, model):
    folder = machine.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(GEMINI))
    return dict(
        GEMINI_API_KEY="not-a-key", GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_CLI_TRUST_WORKSPACE="true",
        GEMINI_TELEMETRY_ENABLED="false", GEMINI_CLI_NO_RELAUNCH="true",
    )


def opencode(machine, model):
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": {"baseURL": model.url + "/v1", "apiKey": "not-a-key"},
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 8000}}},
    }
    config = {
        "autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"], "provider": {"scripted": provider}, "permission": {"bash": "ask"},
    }
    return dict(
        OPENCODE_CONFIG_CONTENT=json.dumps(config), OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1",
        OPENCODE_DISABLE_LSP_DOWNLOAD="1", OPENCODE_DISABLE_SHARE="1", OPENCODE_DISABLE_DEFAULT_PLUGINS="1",
        npm_config_fetch_retries="0",
    )


def qwen(machine, model):
    folder = machine.home / ".qwen"
    folder.mkdir()
    settings = dict(GEMINI, security={"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}})
    (folder / "settings.json").write_text(json.dumps(settings))
    return dict(
        OPENAI_API_KEY="not-a-key", OPENAI_BASE_URL=model.url + "/v1", OPENAI_MODEL="scripted",
        QWEN_CODE_NO_RELAUNCH="true",
    )


def copilot(machine, model):
    return dict(
        COPILOT_PROVIDER_BASE_URL=model.url + "/v1", COPILOT_PROVIDER_API_KEY="not-a-key", COPILOT_MODEL="scripted",
        COPILOT_OFFLINE="true", COPILOT_AUTO_UPDATE="false",
    )


def kimi(machine, model):
    folder = machine.home / ".kimi-code"
    folder.mkdir()
    (folder / "config.toml").write_text(KIMI % model.url)
    return dict(KIMI_CODE_HOME=str(folder))


def patch(path):
    return "exec_command", {"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: %s\n+x\n*** End Patch\nEOF" % path}


def write_file(path):
    return "write_file", {"file_path": str(path), "content": "x"}


# name -> package, version, program and arguments, needs node 22, configuration, shell tool, a mode that silences
AGENTS = {
    "claude-agent-acp": (
        "@agentclientprotocol/claude-agent-acp", "0.99.0", ["claude-agent-acp"], True, claude,
        lambda command: ("Bash", {"command": command, "description": "scripted"}), "bypassPermissions"),
    "codex-acp": (
        "@zed-industries/codex-acp", "0.16.0", ["codex-acp"], False, codex,
        lambda command: ("exec_command", {"cmd": command}), "full-access"),
    "gemini": (
        "@google/gemini-cli", "0.61.0", ["gemini", "--acp"], True, gemini,
        lambda command: ("run_shell_command", {"command": command, "description": "scripted"}), "yolo"),
    "opencode": (
        "opencode-ai", "1.18.33", ["opencode", "acp"], False, opencode,
        lambda command: ("bash", {"command": command, "description": "scripted"}), None),
    "codex-acp 2": (
        "@agentclientprotocol/codex-acp", "2.6.0", ["codex-acp"], True, codex2, None, "agent-full-access"),
    "qwen": (
        "@qwen-code/qwen-code", "0.24.4", ["qwen", "--acp"], True, qwen,
        lambda command: ("run_shell_command", {"command": command, "description": "scripted", "is_background": False}),
        "yolo"),
    "copilot": (
        "@github/copilot", "1.0.102", ["copilot", "--acp"], True, copilot,
        lambda command: ("bash", {"command": command, "description": "scripted"}),
        "https://agentclientprotocol.com/protocol/session-modes#autopilot"),
    "kimi": (
        "@moonshot-ai/kimi-code", "2.1.0", ["kimi", "acp"], True, kimi,
        lambda command: ("Bash", {"command": command, "description": "scripted"}), "yolo"),
}

# How an agent writes a file, where that is another tool than its shell.
EDITS = {
    "codex-acp": patch, "codex-acp 2": patch, "gemini": write_file, "qwen": write_file,
    "copilot": lambda path: ("create", {"path": str(path), "file_text": "x"}),
}

# Whose requests hold no input: what was told before is enough to deny a call, not to allow it.
ASKS_ABOUT_ALL = {"kimi"}

# Who writes files of the project without asking.
WRITES = {"kimi": lambda path: ("Write", {"path": str(path), "content": "x"})}


class Behind:
    """One agent behind the proxy."""

    def __init__(self, sayso, name, programs):
        self.sayso, self.name = sayso, name
        _, self.version, program, node, self.configure, self.shell, self.mode = AGENTS[name]
        self.command = ([offline.node(22)] if node else []) + [programs / program[0], *program[1:]]

    def work(self, name, turns, answer, mode=None):
        """Lets the agent work through a script behind the proxy. -> machine, client, model"""
        machine = offline.Machine("acp-%s-%s" % (self.name.replace(" ", "-"), name))
        policy = machine.home / ".config" / "sayso" / "policy.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        with ScriptedModel(turns(machine.project) if callable(turns) else turns) as model:
            environment = machine.environment(**self.configure(machine, model))
            with Client([self.sayso, "acp", "--", *self.command], machine.project, environment, answer) as client:
                session = client.session()
                if mode:
                    refused = client.request("session/set_mode", {"sessionId": session, "modeId": mode})
                    assert refused["error"]["code"] == -32010, refused
                client.prompt(session)
        assert not model.unknown_tools, "the agent does not offer %s but %s" % (model.unknown_tools, model.offered)
        return machine, client, model

    def log(self, machine):
        lines = machine.run([self.sayso, "log", "--json"]).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def allow_runs_and_deny_does_not(self):
        turns = [[self.shell("touch allowed.txt")], [self.shell("touch denied.txt")], "done"]
        machine, client, model = self.work("verdicts", turns, "allow_once")
        with machine:
            assert (machine.project / "allowed.txt").exists(), model.results
            assert not (machine.project / "denied.txt").exists(), model.results
            assert len(client.asked) == (self.name in ASKS_ABOUT_ALL), client.asked
            denied = [record for record in self.log(machine) if "denied.txt" in json.dumps(record.get("arguments"))][0]
            assert denied["answer"] == "deny" and denied["reasons"][0]["code"] == "keep-denied", denied
            assert denied["way_in"] == "acp" and denied["workspace"] == str(machine.project), denied

    def an_ask_reaches_the_editor_and_its_answer_counts_once(self):
        for answer in ("allow_once", "reject_once"):
            turns = [[self.shell("mkdir asked")], "done"]
            machine, client, model = self.work("ask", turns, answer, self.mode)
            with machine:
                ran = (machine.project / "asked").exists()
                assert ran == (answer == "allow_once"), (answer, model.results)
                assert len(client.asked) == 1, client.asked
                kinds = {option["kind"] for option in client.asked[0]["options"]}
                assert kinds == {"allow_once", "reject_once"}, kinds
                assert "Sayso: ask" in json.dumps(client.asked[0]["toolCall"]["content"]), client.asked

    def an_edit_is_judged_by_the_file_that_it_changes(self):
        edit = EDITS[self.name]
        for name, written in (("fine.md", True), ("denied.md", False)):
            turns = lambda project: [[edit(project / name)], "done"]
            machine, client, model = self.work("edit", turns, "allow_once")
            with machine:
                assert (machine.project / name).exists() == written, (name, client.asked, model.results)
                if not written:
                    assert not client.asked, client.asked

    def a_write_that_nobody_was_asked_about_is_told(self):
        turns = lambda project: [[WRITES[self.name](project / "denied.md")], "done"]
        machine, client, model = self.work("write", turns, "allow_once")
        with machine:
            assert not client.asked, client.asked
            told = json.dumps(client.updates)
            assert "without asking, and the policy denies it" in told, told


SCENARIOS = ["allow_runs_and_deny_does_not", "an_ask_reaches_the_editor_and_its_answer_counts_once"]


def main():
    sayso = pathlib.Path(sys.argv[1]).resolve()
    chosen = sys.argv[2:] or list(AGENTS)
    programs = {name: offline.npm_install(*AGENTS[name][:2]) for name in chosen}
    offline.node(22)
    offline.enter()
    work = [(Behind(sayso, name, programs[name]), scenario) for name in chosen for scenario in SCENARIOS
            if AGENTS[name][5]]
    edits = [name for name in chosen if name in EDITS]
    work += [(Behind(sayso, name, programs[name]), "an_edit_is_judged_by_the_file_that_it_changes") for name in edits]
    work += [(Behind(sayso, name, programs[name]), "a_write_that_nobody_was_asked_about_is_told") for name in WRITES
             if name in chosen]

    def run(one):
        began = time.time()
        try:
            getattr(*one)()
            return one, None, time.time() - began
        except Exception:
            return one, traceback.format_exc(), time.time() - began

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (agent, scenario), error, seconds in pool.map(run, work):
            failed += bool(error)
            word = "FAILED" if error else "ok"
            print("%-7s %s %s: %s (%.0f s)" % (word, agent.name, agent.version, scenario.replace("_", " "), seconds))
            print(error or "", end="", flush=True)
    print("%d passed, %d failed" % (len(work) - failed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
