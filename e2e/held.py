"""Calls that run held, with a real agent: mixed into the class of each agent that can rewrite."""

import json
import os
import re
import shutil
import subprocess
import tempfile

POLICY = """
extends = ["developer"]
"""

# A test that passes, and tries to reach a host that no rule names.
PACKAGE = {"name": "demo", "version": "1.0.0", "private": True, "scripts": {"test": "node test.js"}}
TEST = """
const dns = require('dns')
const fs = require('fs')
fs.writeFileSync('tested.txt', 'yes')
dns.lookup('strange.example', (error) => {
  console.log(error ? 'no strange host' : 'REACHED')
  console.log('tests passed')
})
"""


class Held:
    """What holds for every agent that can hold."""

    def held_machine(self, name):
        machine = self.machine(name)
        (machine.home / ".config" / "sayso" / "policy.toml").write_text(POLICY)
        return machine

    def see_held(self, machine):
        """Installs Sayso, and lets the real agent show that it runs what its hook rewrote."""
        self.install(machine)
        code, agent = self.doctor(machine, "--live")
        assert agent["live"]["result"] == "denied", agent
        return agent

    def can_hold(self):
        """Where the kernel gives a user no namespaces there is nothing to see; that is said, not passed over."""
        nowhere = {**os.environ, "HOME": tempfile.gettempdir()}
        command = [str(self.sayso), "doctor", "--hold", "--json"]
        said = subprocess.run(command, capture_output=True, text=True, env=nowhere)
        level = json.loads(said.stdout or "{}").get("level")
        if level != "whole":
            print("not run %s: this machine holds %s" % (self.name, level), flush=True)
        return level == "whole"

    def happenings(self, machine, what):
        lines = machine.run([self.sayso, "log", "--kind", "happening", "--json"]).stdout.splitlines()
        return [it for it in map(json.loads, lines) if it.get("what") == what]

    def doctor_sees_the_canary_held(self):
        if not self.can_hold():
            return
        with self.held_machine("canary") as machine:
            agent = self.see_held(machine)
            assert agent["held"] == {"level": "whole"}, agent
            _, again = self.doctor(machine)
            assert again["held"] == {"level": "whole"}, again
            left = [str(path) for path in (machine.home / ".local/state/sayso/hold/canary").glob("*")]
            assert not left, left

    def tests_run_held_without_a_question(self):
        if not self.can_hold():
            return
        with self.held_machine("held") as machine:
            assert self.see_held(machine)["held"] == {"level": "whole"}
            (machine.project / "package.json").write_text(json.dumps(PACKAGE))
            (machine.project / "test.js").write_text(TEST)
            (machine.project / "sub").mkdir()
            model = self.ask(machine, [
                [self.shell("npm test")], [self.shell("cd sub && pwd && node -e 'process.exit(0)'")],
                [self.shell("echo still here")], "done"])
            told = model.result(0)
            assert "tests passed" in told and "REACHED" not in told, (told, self.log(machine))
            assert "strange.example" in told and "held back" in told, told
            assert (machine.project / "tested.txt").exists(), told
            assert "/sub" in model.result(1), model.results
            assert "still here" in model.result(2), model.results
            records = self.decisions(machine)
            assert records["npm test"]["verdict"] == "allow", records
            held = self.happenings(machine, "held-run")
            assert any("strange.example" in json.dumps(it) for it in held), held
            assert not self.happenings(machine, "unheld"), self.log(machine)

    def what_a_call_wrote_runs_held(self):
        """Each attack is two calls: one writes what the next one runs. What lies outside of the project stays as it is."""
        if not self.can_hold():
            return
        with self.held_machine("written") as machine:
            assert self.see_held(machine)["held"] == {"level": "whole"}
            victim = machine.home / "victim.txt"
            victim.write_text("as it was")
            key = machine.home / ".ssh" / "id_ed25519"
            key.parent.mkdir(exist_ok=True)
            key.write_text("hunter2\n")
            evil = "echo evil > %s; cat %s > stolen.txt" % (victim, key)
            python = "import os; os.system(%r)" % evil
            attacks = [
                ("printf 'all:\\n\\t%s\\n' > Makefile" % evil, "make"),
                ("cat > conftest.py <<'E'\n%s\nE" % python, "python3 -m pytest -q || python3 conftest.py"),
                ("cat > package.json <<'E'\n%s\nE" % json.dumps({"scripts": {"test": evil}}), "npm test"),
                ("mkdir -p .git/hooks && printf '#!/bin/sh\\n%s\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"
                 % evil, "git commit --allow-empty -m x"),
            ]
            if shutil.which("cargo"):
                attacks += [
                    ("mkdir -p src .cargo && echo 'fn main(){}' > src/main.rs && cat > Cargo.toml <<'E'\n[package]\nname = "
                     "\"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\nE\ncat > build.rs <<'E'\nfn main() { std::process::Command"
                     "::new(\"sh\").arg(\"-c\").arg(%s).status().unwrap(); }\nE" % json.dumps(evil), "cargo build --offline"),
                    ("printf '[build]\\nrustc-wrapper = \"%s/wrap.sh\"\\n' > .cargo/config.toml; printf '#!/bin/sh\\n%s\\nexec \"$@\"\\n' > wrap.sh; "
                     "chmod +x wrap.sh" % (machine.project, evil), "cargo check --offline"),
                ]
            turns = [[self.shell(command)] for pair in attacks for command in pair]
            model = self.ask(machine, [*turns, "done"])
            assert victim.read_text() == "as it was", (model.results, self.log(machine))
            for stolen in machine.root.rglob("stolen.txt"):
                assert "hunter2" not in stolen.read_text(), (stolen, model.results)
            assert "hunter2" not in str(model.results), model.results
            assert not self.happenings(machine, "unheld"), self.log(machine)
            # Not all were refused before they ran, or this would show nothing. The first is the canary.
            assert len(self.happenings(machine, "held-run")) >= 3, (model.results, self.log(machine))

    def another_hook_voids_the_proof(self):
        if not self.can_hold():
            return
        with self.held_machine("voided") as machine:
            assert self.see_held(machine)["held"] == {"level": "whole"}
            self.add_hook(machine)
            _, agent = self.doctor(machine)
            assert agent["held"]["level"] is None, agent
            self.ask(machine, [[self.shell("make -n; node -e 1")], "done"])
            assert not self.happenings(machine, "held-run")[1:], self.log(machine)

    def add_hook(self, machine):
        """Registers another hook beside Sayso's."""
        settings = self.settings(machine)
        text = json.loads(re.sub(r"^ *//.*$", "", settings.read_text(), flags=re.M))
        for event in ("PreToolUse", "BeforeTool", "preToolUse"):
            for entry in text["hooks"].get(event, [])[:1]:
                other = json.loads(json.dumps(entry).replace("sayso", "other"))
                text["hooks"][event].append(other)
        settings.write_text(json.dumps(text))


SCENARIOS = [
    "doctor_sees_the_canary_held",
    "tests_run_held_without_a_question",
    "what_a_call_wrote_runs_held",
]
