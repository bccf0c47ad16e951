#!/usr/bin/env python3
"""What a hook costs in a project of a hundred thousand files: bench/large-project.py [SAYSO-HOOK]

Makes the project in a temporary folder, lets the hook judge commands there from spawn to exit, policy loaded and decision
recorded, and prints a table for docs/benchmarks.md. Every line is a median, and was measured in turns with a hook that
allows `ls`: the ratio is to that one, so that a machine that is slow for a minute does not count.
Needs cc. SAYSO-HOOK is target/release/sayso-hook unless it is named.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
# What is judged, and the budget as a multiple of `ls`.
COMMANDS = [
    ("allows", "ls", None),
    ("asks", "terraform apply", 10),
    ("asks", "npm run build", 10),
    ("searches all", "rg foo", 10),
    ("searches all", "grep -rn foo src", 10),
    ("searches all, ignored files too", "grep -rn foo .", 10),
    ("lists", "find . -name '*.ts' | xargs wc -l", 10),
    ("expands", "sed -i s/a/b/ src/*/*/*.ts", 10),
    ("names the root", "ln -s / x", 10),
    ("names a home", "cppcheck --plist-output=/root src", 10),
    ("3 KiB of patterns", "cat " + " ".join(f"*/*{at}*/*/*" for at in range(240)), None),
    ("3 KiB of functions", "; ".join(f"f{at}() {{ f{at + 1}; f{at + 1}; }}" for at in range(120)) + "; f0", None),
]


def make(root):
    """105,000 files: sources, dependencies that git ignores, and one large folder."""
    count = 0

    def put(path, text="x\n"):
        nonlocal count
        path.write_text(text)
        count += 1

    for area in range(40):
        for part in range(40):
            folder = root / "src" / f"area{area:02}" / f"part{part:02}"
            folder.mkdir(parents=True)
            for module in range(40):
                put(folder / f"module_{module:02}.ts")
    for package in range(600):
        for inner in ("lib", "dist", "types", "src", "test", "bin"):
            folder = root / "node_modules" / f"package-{package:03}" / inner
            folder.mkdir(parents=True)
            for file in range(10):
                put(folder / f"index{file}.js")
    (root / "data").mkdir()
    for record in range(5000):
        put(root / "data" / f"record-{record:05}.json")
    put(root / "package.json", '{"name": "large", "scripts": {"build": "tsc"}}\n')
    put(root / ".gitignore", "node_modules/\n.env\n")
    put(root / ".env", "KEY=1\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return count


def main():
    hook = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "target/release/sayso-hook").resolve()
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary).resolve()
        project, home = temporary / "project", temporary / "home"
        project.mkdir()
        count = make(project)
        (home / ".config/sayso").mkdir(parents=True)
        (home / ".config/sayso/policy.toml").write_text('extends = ["developer"]\n')
        installed, spawn = temporary / hook.name, temporary / "spawn"
        shutil.copy(hook, installed)
        source = TOP / "crates/sayso/benches/spawn.c"
        subprocess.run(["cc", "-O2", "-o", str(spawn), str(source)], check=True)

        def event(command):
            told = {
                "session_id": "bench",
                "cwd": str(project),
                "permission_mode": "default",
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": command},
                "tool_use_id": "toolu_1",
            }
            path = temporary / f"{abs(hash(command))}.json"
            path.write_text(json.dumps(told))
            return str(path)

        def measure(times, *commands):
            """Wall and CPU time of each, in milliseconds, in turns."""
            registered = [str(installed), "hook", "claude-code", "--home", str(home), "--shell", "bash"]
            words = [str(spawn), str(times), event(commands[0])]
            for at, command in enumerate(commands):
                words += (["--"] if at else []) + ["+" + event(command), *registered]
            environment = dict(os.environ, CLAUDECODE="1")
            out = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
            lines = [[float(number) for number in line.split()] for line in out.stdout.splitlines()]
            return [(line[0] / 1000, line[1] / 1000) for line in lines]

        floor = COMMANDS[0][1]
        # Folders that changed just now are listed each time; what is kept is kept once they are at rest.
        [(young, _)] = measure(1, "rg foo")
        time.sleep(3)
        [(first, _)] = measure(1, "rg foo")
        measure(1, "grep -rn foo .")
        print(f"| hook among {count:,} files | measured | budget | ratio |")
        print("|---|---|---|---|")
        beside = None
        for what, command, budget in COMMANDS:
            measure(1, command)
            [(once, _)] = measure(1, command)
            [(beside, _), (wall, cpu)] = measure(5 if once > 100 else 101, floor, command)
            shown = (command if len(command) < 60 else command[:36] + " ...").replace("|", "\\|")
            allowed = f"{budget} x" if budget else ("50 ms" if command != floor else "")
            print(f"| {what}: `{shown}` | {wall:.2f} ms, {cpu:.2f} ms of CPU | {allowed} | {wall / beside:.2f} x |")
        print(f"| the first `rg foo`, nothing known yet | {first:.2f} ms | | {first / beside:.2f} x |")
        print(f"| `rg foo` where every folder has just changed | {young:.2f} ms | | {young / beside:.2f} x |")


if __name__ == "__main__":
    main()
