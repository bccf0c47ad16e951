#!/usr/bin/env python3
"""The programs in docs/embedding.md, taken from the page as they stand there, against a real `sayso serve`.

usage: e2e/embedding.py PATH-TO-SAYSO [SCENARIO...]
SAYSO_TEST_CACHE: where npm packages are (typescript, @types/node).
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

from terminal import Terminal

HERE = pathlib.Path(__file__).resolve().parent
POLICY = """
default = "deny"

[allow]
run = ["touch"]
write = ["./**"]
tool = ["mcp:github/get_issue"]

[ask]
run = ["mkdir"]

[[rule]]
id = "no-pushes"
deny = { run = "git push" }
because = "Pushes are for people."

[tools]
hide = ["mcp:github/delete_repo"]

[limits.session]
calls = 3
"""


def programs():
    """The programs of the page, by their names."""
    text = (HERE.parent / "docs" / "embedding.md").read_text()
    return dict(re.findall(r"```\w+ ([\w.]+)\n(.*?)```", text, re.DOTALL))


def until(what, test, patience=30):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = test()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain for " + what)


class System:
    """A server, a token, and the folder of a system that asks it."""

    def __init__(self, sayso):
        self.folder = tempfile.TemporaryDirectory(prefix="sayso-embedding-")
        root = pathlib.Path(self.folder.name)
        self.home, self.work, self.app = root / "home", root / "work", root / "app"
        for folder in (self.home / ".config/sayso", self.work / "steps", self.app):
            folder.mkdir(parents=True, mode=0o700)
        (self.home / ".config/sayso/policy.toml").write_text(POLICY)
        for name, text in programs().items():
            (self.work / name).write_text(text)
        with Terminal([sayso, "token", "create", "pipeline"], self.work, {**os.environ, "HOME": str(self.home)}) as terminal:
            terminal.type(terminal.read_until(r"Type (\d+)").group(1))
            self.token = terminal.read_until(r"(sayso_\w{20,})\r?\n").group(1)
        self.server = subprocess.Popen(
            [sayso, "serve", "--port", "0", "--home", str(self.home)], cwd=self.app, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": str(self.home), "NO_COLOR": "1"},
        )
        printed = ""
        while "Next:" not in printed:
            line = self.server.stdout.readline()
            assert line, printed
            printed += line
        self.url = re.search(r"http://127\.0\.0\.1:\d+", printed).group(0)
        self.owner = self.post("/v1/session", {"key": re.search(r"#k=(\S+)", printed).group(1)})["token"]
        self.env = {**os.environ, "SAYSO_URL": self.url, "SAYSO_TOKEN": self.token}

    def post(self, path, body, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request(self.url + path, data=json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def step(self, name, command):
        step = {"command": command, "cwd": str(self.app), "context": {"session": "run-7", "agent": "deployer"}}
        (self.work / "steps" / (name + ".json")).write_text(json.dumps(step))

    def queue(self):
        return subprocess.run(["bash", "queue.sh"], cwd=self.work, env=self.env, capture_output=True, text=True, timeout=60)

    def worker(self, step):
        return subprocess.run(
            [sys.executable, "worker.py", str(step)], cwd=self.work, env=self.env, capture_output=True, text=True, timeout=60)

    def answer(self, approval, answer):
        self.post(f"/v1/approvals/{approval}/answer", {"verdict": answer}, self.owner)

    def in_folder(self, name):
        return sorted((self.work / name).glob("*.json"))

    def close(self):
        self.server.terminate()
        self.server.wait(timeout=30)
        self.folder.cleanup()


def a_queue_dispatches_parks_and_refuses(system):
    system.step("a", "touch a")
    system.step("b", "mkdir b")
    system.step("c", "git push")
    done = system.queue()
    assert done.returncode == 0, done.stderr
    assert [step.name for step in system.in_folder("ready")] == ["a.json"], done
    assert (system.work / "refused/c.txt").read_text() == "Pushes are for people.\n"
    [parked] = system.in_folder("parked")
    system.answer(parked.stem, "allow")
    assert system.queue().returncode == 0
    assert not system.in_folder("parked")
    for step in system.in_folder("ready"):
        done = system.worker(step)
        assert done.returncode == 0, done
    assert (system.app / "a").exists() and (system.app / "b").is_dir()
    # The yes was for one call.
    system.step("again", "mkdir b2 b")
    system.step("b", "mkdir b")
    system.queue()
    assert len(system.in_folder("parked")) == 2


def what_the_queue_does_not_run_is_not_counted(system):
    for name in "abcdef":
        system.step(name, "touch " + name)
    assert system.queue().returncode == 0
    assert len(system.in_folder("ready")) == 6, system.in_folder("refused")
    codes = [system.worker(step).returncode for step in system.in_folder("ready")]
    assert codes == [0, 0, 0, 77, 77, 77], codes


def an_answer_queues_the_step_again(system):
    system.step("b", "mkdir b")
    system.step("c", "mkdir c")
    system.queue()
    by_command = {json.loads(step.read_text())["command"]: step.stem for step in system.in_folder("parked")}
    follower = subprocess.Popen([sys.executable, "answers.py"], cwd=system.work, env=system.env, stdout=subprocess.PIPE, text=True)
    try:
        system.answer(by_command["mkdir b"], "allow")
        assert follower.stdout.readline() == f"ready: {by_command['mkdir b']}.json\n"
        # While it is away another question is answered; it comes back and misses nothing.
        follower.kill()
        follower.wait()
        system.answer(by_command["mkdir c"], "deny")
        follower = subprocess.Popen([sys.executable, "answers.py"], cwd=system.work, env=system.env, stdout=subprocess.PIPE, text=True)
        assert follower.stdout.readline() == f"refused: {by_command['mkdir c']}.json\n"
    finally:
        follower.kill()
        follower.wait()
    [ready] = system.in_folder("ready")
    assert system.worker(ready).returncode == 0
    assert (system.app / "b").is_dir()


def a_worker_waits_for_the_answer(system):
    step = system.work / "one.json"
    step.write_text(json.dumps({"command": "mkdir one", "cwd": str(system.app), "context": {"session": "w"}}))
    waiting = subprocess.Popen([sys.executable, "worker.py", str(step)], cwd=system.work, env=system.env)

    def asked():
        request = urllib.request.Request(system.url + "/v1/approvals", headers={"Authorization": "Bearer " + system.owner})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["approvals"]

    [question] = until("the question", asked)
    assert waiting.poll() is None and not (system.app / "one").exists()
    # Whoever asked cannot answer.
    try:
        system.post(f"/v1/approvals/{question['id']}/answer", {"verdict": "allow"}, system.token)
        raise AssertionError("the pipeline answered itself")
    except urllib.error.HTTPError as error:
        assert error.code == 403, error
    system.answer(question["id"], "allow")
    assert waiting.wait(timeout=30) == 0
    assert (system.app / "one").is_dir()


def without_a_server_nothing_runs(system):
    system.step("a", "touch a")
    step = system.work / "steps" / "a.json"
    system.env = {**system.env, "SAYSO_URL": "http://127.0.0.1:9"}
    done = system.queue()
    assert done.returncode == 0 and "no answer" in done.stderr and step.exists(), done
    done = system.worker(step)
    assert done.returncode == 77 and "could not be asked" in done.stderr, done
    system.env = {**system.env, "SAYSO_URL": system.url, "SAYSO_TOKEN": "wrong"}
    assert system.worker(step).returncode == 77
    assert not (system.app / "a").exists()


def a_router_shows_and_passes_on_what_may_run(system):
    cache = pathlib.Path(os.environ["SAYSO_TEST_CACHE"])
    (system.work / "package.json").write_text('{"type": "module"}')
    (system.work / "node_modules").symlink_to(cache / "node_modules")
    compiled = subprocess.run(
        ["node", str(cache / "node_modules/typescript/bin/tsc"), "--strict", "--target", "es2022", "--module", "nodenext",
         "--types", "node", "router.ts"], cwd=system.work, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stdout

    def route(*words):
        return subprocess.run(
            ["node", "router.js", *words], cwd=system.work, env=system.env, capture_output=True, text=True, timeout=60)

    done = route("github", "get_issue", '{"number": 1}')
    assert done.stdout == "visible: mcp__github__get_issue\nresult: the server's answer\n", done
    done = route("github", "delete_repo")
    assert done.returncode != 0 and "visible: \n" in done.stdout and "may not run" in done.stderr, done


def main():
    scenarios = [
        a_queue_dispatches_parks_and_refuses,
        what_the_queue_does_not_run_is_not_counted,
        an_answer_queues_the_step_again,
        a_worker_waits_for_the_answer,
        without_a_server_nothing_runs,
        a_router_shows_and_passes_on_what_may_run,
    ]
    wanted = [one for one in scenarios if not sys.argv[2:] or any(word in one.__name__ for word in sys.argv[2:])]
    failed = 0
    for scenario in wanted:
        name = scenario.__name__.replace("_", " ")
        system = None
        try:
            system = System(os.path.abspath(sys.argv[1]))
            scenario(system)
            print("ok      embedding: %s" % name, flush=True)
        except Exception:
            failed += 1
            print("FAILED  embedding: %s" % name, flush=True)
            traceback.print_exc()
        finally:
            if system:
                system.close()
    print("%d passed, %d failed" % (len(wanted) - failed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
