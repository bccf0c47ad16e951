#!/usr/bin/env python3
"""What `sayso hook` costs in a project of a hundred thousand files: bench/large-project.py [SAYSO]

Makes the project in a temporary folder, lets the hook judge commands there from spawn to exit, policy loaded and decision
recorded, and prints a table for docs/benchmarks.md. Every line is a median; ratios are against a hook that allows `ls`.
Needs cc. SAYSO is target/release/sayso unless it is named.
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
    sayso = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "target/release/sayso").resolve()
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary).resolve()
        project, home = temporary / "project", temporary / "home"
        project.mkdir()
        count = make(project)
        (home / ".config/sayso").mkdir(parents=True)
        (home / ".config/sayso/policy.toml").write_text('extends = ["developer"]\n')
        installed, spawn = temporary / "sayso", temporary / "spawn"
        shutil.copy(sayso, installed)
        source = TOP / "crates/sayso/benches/spawn.c"
        subprocess.run(["cc", "-O2", "-o", str(spawn), str(source)], check=True)

        def measure(command, times):
            event = {
                "session_id": "bench",
                "cwd": str(project),
                "permission_mode": "default",
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": command},
                "tool_use_id": "toolu_1",
            }
            (temporary / "input").write_text(json.dumps(event))
            words = [str(spawn), str(times), str(temporary / "input")]
            words += [str(installed), "hook", "claude-code", "--home", str(home)]
            environment = dict(os.environ, CLAUDECODE="1")
            out = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
            wall, cpu, *_ = map(float, out.stdout.split())
            return wall / 1000, cpu / 1000

        # Folders that changed just now are listed each time; what is kept is kept once they are at rest.
        young, _ = measure("rg foo", 1)
        time.sleep(3)
        first, _ = measure("rg foo", 1)
        measure("grep -rn foo .", 1)
        print(f"| `sayso hook` among {count:,} files | measured | budget | ratio |")
        print("|---|---|---|---|")
        floor = None
        for what, command, budget in COMMANDS:
            measure(command, 1)
            once, _ = measure(command, 1)
            wall, cpu = measure(command, 5 if once > 100 else 101)
            floor = floor or wall
            shown = (command if len(command) < 60 else command[:36] + " ...").replace("|", "\\|")
            allowed = f"{budget} x" if budget else ("50 ms" if floor != wall else "")
            print(f"| {what}: `{shown}` | {wall:.2f} ms, {cpu:.2f} ms of CPU | {allowed} | {wall / floor:.2f} x |")
        print(f"| the first `rg foo`, nothing known yet | {first:.2f} ms | | {first / floor:.2f} x |")
        print(f"| `rg foo` where every folder has just changed | {young:.2f} ms | | {young / floor:.2f} x |")


if __name__ == "__main__":
    main()
