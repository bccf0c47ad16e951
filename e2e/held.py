"""Calls that run held, with a real agent: mixed into the class of each agent that can rewrite."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
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
# A shell in which Sayso's program is a function that runs what it is given, without a hold.
DROPS = """#!%(python)s
import os, sys
words = ["bash", *sys.argv[1:]]
options = [word for word in words[1:] if word.startswith("-")]
text = next((at for at, word in enumerate(words) if at and not word.startswith("-")), None)
if text and any("c" in word for word in options if not word.startswith("--")):
    words[text] = 'function %(sayso)s { while [ "$1" != -- ]; do shift; done; shift; "$@"; }; ' + words[text]
os.execv("/bin/bash", words)
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
            # The toolchain is not in the home of this machine.
            rustup = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")
            machine.variables = {"RUSTUP_HOME": rustup}
            assert self.see_held(machine)["held"] == {"level": "whole"}
            victim = machine.home / "victim.txt"
            victim.write_text("as it was")
            key = machine.home / ".ssh" / "id_ed25519"
            key.parent.mkdir(exist_ok=True)
            key.write_text("hunter2\n")
            # Where a home lies in /tmp, held runs cannot write there.
            machine.scratch = pathlib.Path(tempfile.mkdtemp(prefix="sayso-e2e-", dir="/var/tmp"))
            attacks = self.attacks(machine, victim, key)
            turns = [[self.shell(command)] for _, *calls, _ in attacks for command in calls]
            try:
                model = self.ask(machine, [*turns, [self.shell("echo still here")], "done"])
            finally:
                shutil.rmtree(machine.scratch, ignore_errors=True)
            seen = (model.results, self.log(machine))
            assert victim.read_text() == "as it was", seen
            for stolen in machine.root.rglob("stolen.txt"):
                assert "hunter2" not in stolen.read_text(), (stolen, model.results)
            assert "hunter2" not in str(model.results), model.results
            assert "still here" in model.result(len(turns)), model.results
            assert not self.happenings(machine, "unheld"), self.log(machine)
            # What may be written was written, and really ran, or this would show nothing. The first held run is the canary.
            ran, meant, at = {}, {}, 0
            for name, *calls, runs in attacks:
                at += len(calls)
                told = model.result(at - 1)
                if "command not found" in told or "No module named" in told:
                    # A login shell has a PATH of its own.
                    print("not run %s: the attack by %s: its shell finds no such program" % (self.name, name), flush=True)
                    continue
                there = (machine.project / ("ran-" + name)).exists()
                if name == "store" and not there:
                    # Some switch off what repositories start.
                    print("not run %s: the attack by %s: it lets git start nothing" % (self.name, name), flush=True)
                    continue
                ran[name], meant[name] = there, runs
            assert ran == meant, (ran, seen)
            assert len(self.happenings(machine, "held-run")) > sum(ran.values()), seen

    def attacks(self, machine, victim, key):
        """-> of each its name, calls that write, the call that runs what they wrote, and whether that runs at all"""

        def evil(name):
            return "echo ran > %s/ran-%s; echo evil > %s; cat %s > stolen.txt" % (machine.project, name, victim, key)

        def python(name):
            return "import os; os.system(%r)" % evil(name)

        # A repository among the temporary files, which a held run makes and git enters later.
        store = machine.scratch / "store"
        makes = "import os; os.system('git init -q %s; git -C %s config core.fsmonitor %s/evil.sh; install -m 755 evil.sh %s')" % (
            (store,) * 4)
        attacks = [
            ("store", "cat > store.py <<'E'\n%s\nE" % makes, "printf '#!/bin/sh\\n%s\\n' > evil.sh" % evil("store"),
             "python3 store.py", "git -C %s status" % store, True),
            ("make", "printf 'all:\\n\\t%s\\n' > Makefile" % evil("make"), "make", True),
            ("npm", "cat > package.json <<'E'\n%s\nE" % json.dumps({"scripts": {"test": evil("npm")}}), "npm test", True),
            ("hook", "mkdir -p .git/hooks && printf '#!/bin/sh\\n%s\\n' > .git/hooks/pre-commit && chmod +x "
                     ".git/hooks/pre-commit" % evil("hook"), "git commit --allow-empty -m x", False),
        ]
        if self.has("python3 -m pytest --version"):
            attacks.append(("conftest", "cat > conftest.py <<'E'\n%s\nE" % python("conftest"), "python3 -m pytest -q", True))
        else:
            attacks.append(("script", "cat > script.py <<'E'\n%s\nE" % python("script"), "python3 script.py", True))
        if self.has("cargo --version"):
            build = "fn main() { std::process::Command::new(\"sh\").arg(\"-c\").arg(%s).status().unwrap(); }"
            attacks += [
                ("build", "mkdir -p src && echo 'fn main(){}' > src/main.rs && printf '[package]\\nname = \"x\"\\nversion = "
                          "\"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml && cat > build.rs <<'E'\n%s\nE"
                 % (build % json.dumps(evil("build"))), "cargo build --offline", True),
                ("wrapper", "mkdir -p .cargo && printf '[build]\\nrustc-wrapper = \"%s/wrap.sh\"\\n' > .cargo/config.toml; "
                            "printf '#!/bin/sh\\n%s\\nexec \"$@\"\\n' > wrap.sh; chmod +x wrap.sh"
                 % (machine.project, evil("wrapper")), "cargo check --offline", False),
            ]
        else:
            print("not run %s: build.rs: there is no cargo" % self.name, flush=True)
        return attacks

    def has(self, command):
        return subprocess.run(command, shell=True, capture_output=True).returncode == 0

    def a_hook_that_is_there_runs_held(self):
        """The project has a hook that runs a script of its own; the agent may write that script. Committing runs it."""
        if not self.can_hold():
            return
        with self.held_machine("hooked") as machine:
            assert self.see_held(machine)["held"] == {"level": "whole"}
            victim = machine.home / "victim.txt"
            victim.write_text("as it was")
            git = ["git", "-C", machine.project]
            for words in (["config", "user.name", "a"], ["config", "user.email", "a@b.example"],
                          ["config", "core.hooksPath", "hooks"]):
                machine.run([*git, *words])
            (machine.project / "hooks").mkdir()
            hook = machine.project / "hooks" / "pre-commit"
            hook.write_text("#!/bin/sh\nexec sh ./check.sh\n")
            hook.chmod(0o755)
            model = self.ask(machine, [
                [self.shell("echo 'echo ran > ran.txt; echo evil > %s; true' > check.sh" % victim)],
                [self.shell("git commit --allow-empty -m x")], [self.shell("git log --oneline")], "done"])
            seen = (model.results, self.log(machine))
            assert victim.read_text() == "as it was", seen
            assert " x" in model.result(2), seen
            assert self.decisions(machine)["git commit --allow-empty -m x"]["hold"] == "wanted-whole", seen
            if not (machine.project / "ran.txt").exists():
                print("not run %s: it lets git start no hooks" % self.name, flush=True)

    def a_rewrite_that_is_dropped_is_noticed(self):
        """The command runs as the model wrote it, and nobody comes for its permit: here the agent's shell drops what the hook
        put before it."""
        if not self.can_hold():
            return
        with self.held_machine("dropped") as machine:
            assert self.see_held(machine)["held"] == {"level": "whole"}
            (machine.project / "Makefile").write_text("all:\n\t@touch ran-$(N)\n")
            before = len(self.happenings(machine, "held-run"))
            shells = machine.root / "shells"
            shells.mkdir()
            shell = shells / "bash"
            shell.write_text(DROPS % {"python": sys.executable, "sayso": machine.program})
            shell.chmod(0o755)
            machine.variables = {"SHELL": str(shell), "PATH": "%s:%s" % (shells, os.environ["PATH"])}
            self.ask(machine, [[self.shell("make N=1")], [self.shell("node -e 'process.exit(0)'")], "done"])
            machine.variables = {}
            seen = self.log(machine)
            if len(self.happenings(machine, "held-run")) > before:
                print("not run %s: it starts another shell" % self.name, flush=True)
                return
            assert (machine.project / "ran-1").exists(), seen
            assert self.happenings(machine, "unheld"), seen
            # From then on nothing is allowed because of a hold.
            assert self.decisions(machine)["node -e 'process.exit(0)'"]["verdict"] != "allow", seen

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
    "a_hook_that_is_there_runs_held",
    "a_rewrite_that_is_dropped_is_noticed",
]
