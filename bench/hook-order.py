#!/usr/bin/env python3
"""Finds the functions that a hook uses and writes crates/sayso/hook.ld, which lays them side by side.

    cargo build --release && cp target/release/sayso-hook target/release/sayso /tmp
    cargo bench --no-run && bench/hook-order.py target/release/sayso-hook /tmp/sayso-hook target/release/sayso /tmp/sayso
    bench/hook-order.py --check target/release/sayso-hook

With --check nothing is written: it tells how many of the functions that a hook uses the script names, and fails if that is
less than nine in ten, by their size.

A hook lives for a millisecond, and a third of that went into mapping the pages of a large program that its few hundred
functions are spread over. The linker script gathers them: first by their full names, whose hashes tell the used one of
many functions of one name; then, where hashes differ, by their names without them. Hashes are the same until the
compiler, a version or a feature changes: benchmarks are built with features of their own, so both builds are looked at, and
`sayso-hook`, which agents start, comes first: what is inlined there is not what is inlined in `sayso`.
A function that is renamed is merely not gathered. Run it again when
`cargo bench -- hook` counts more page faults than docs/benchmarks.md says. Needs valgrind and nm.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = [os.path.join(HERE, "../target/release", name) for name in ("sayso-hook", "sayso")]
CHECK = sys.argv[1:2] == ["--check"]
BINARIES = [os.path.abspath(path) for path in sys.argv[2 if CHECK else 1:] or BUILT]
SCRIPT = os.path.join(HERE, "../crates/sayso/hook.ld")

POLICIES = {
    "own": 'default = "deny"\n[allow]\nrun = ["git {status,log}", "re:^make"]\nread = ["./**"]\n[deny]\nrun = ["sudo"]\n',
    "preset": 'extends = ["developer"]\n',
}
# What only compiling a policy uses, should a run have done that.
COMPILING = "toml|winnow|12sayso_policy4text|12sayso_policy7compile"
# No Ask among them: that opens the store, which takes far longer than a few pages.
CALLS = [
    ("Bash", {"command": "git log --oneline -n 10 src"}),
    ("Read", {"file_path": "@/src/a.rs"}),
    ("Edit", {"file_path": "@/a.rs", "old_string": "a", "new_string": "b"}),
    ("Bash", {"command": "cargo test 2>&1 | tail -20 && git push --force origin main"}),
    ("Bash", {"command": "cd src && for f in *.rs; do sed -i s/a/b/ \"$f\"; done"}),
]


# A hook cannot do with less; whoever finds fewer has looked at a program without names.
FEWEST = 200
# Where the way of every call begins and ends. Without them the runs were something else than hooks.
SURELY = ["sayso_agents4hook", "sayso_gate4gate", "sayso_policy5index"]


def open_hashes(symbol):
    symbol = re.sub(r"Cs[0-9A-Za-z]*_", "Cs*_", without_suffix(symbol))
    return re.sub(r"17h[0-9a-f]{16}E$", "17h*", symbol)


def without_suffix(symbol):
    return re.sub(r"[.]llvm[.][0-9]+$", "", symbol)


def used(binary, folder):
    """The functions of all runs, those that the most runs use first."""
    project = os.path.join(folder, "project")
    os.mkdir(project)
    homes = {name: os.path.join(folder, name) for name in POLICIES}
    for name, home in homes.items():
        os.makedirs(os.path.join(home, ".config/sayso"))
        with open(os.path.join(home, ".config/sayso/policy.toml"), "w") as file:
            file.write(POLICIES[name])
    time.sleep(2.5)  # younger policies are not kept compiled
    found = {}
    for home in homes.values():
        for at, (tool, arguments) in enumerate([CALLS[0], *CALLS]):
            arguments = {key: value.replace("@", project) for key, value in arguments.items()}
            event = {"session_id": "order", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": tool,
                     "tool_input": arguments, "tool_use_id": "1"}
            out = os.path.join(folder, "calls")
            hook = ["valgrind", "--tool=callgrind", "--demangle=no", "--callgrind-out-file=" + out, binary,
                    "hook", "claude-code", "--home", home]
            for _ in range(5):  # on a busy machine it may be late, and blocks
                done = subprocess.run(hook, input=json.dumps(event).encode(), capture_output=True)
                if done.returncode == 0:
                    break
            done.check_returncode()
            if at == 0:
                continue  # this one has compiled the policy
            with open(out) as file:
                for line in file:
                    name = re.match(r"c?fn=\(\d+\) ([^\s']+)", line)
                    if name and re.match("_ZN|_R", name[1]) and not re.search(COMPILING, name[1]):
                        found.setdefault(name[1], set()).add((home, at))
    return sorted(found, key=lambda name: -len(found[name]))


def look(binary):
    """The used functions of a binary, and the patterns that their names make."""
    sizes = {}
    for line in subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "tTwW":
            sizes[parts[3]] = int(parts[1], 16)
    if not any(re.match("_ZN|_R", name) for name in sizes):
        sys.exit(f"{binary} has no names of Rust functions: is it stripped?")
    with tempfile.TemporaryDirectory() as folder:
        functions = used(binary, folder)
    if len(functions) < FEWEST:
        sys.exit(f"only {len(functions)} functions were seen in {binary}: does callgrind see its names?")
    for part in SURELY:
        if not any(part in function for function in functions):
            sys.exit(f"no function of {part} was seen in {binary}: it did not judge as a hook")
    unknown = [function for function in functions if function not in sizes and without_suffix(function) not in sizes]
    if len(unknown) * 20 > len(functions):
        sys.exit(f"{len(unknown)} of {len(functions)} functions are not among the symbols of {binary}: {unknown[:3]}")
    if CHECK:
        check(binary, functions, sizes)
        return [], []
    meant, matched = {}, {}
    for function in functions:
        meant[open_hashes(function)] = meant.get(open_hashes(function), 0) + sizes.get(function, 0)
    for symbol, size in sizes.items():
        matched[open_hashes(symbol)] = matched.get(open_hashes(symbol), 0) + size
    # Names that used functions share with unused ones (another type's `from_iter`) come last, so as not to spread the
    # others.
    own = [name for name, size in meant.items() if size * 3 >= matched.get(name, 0)]
    patterns = own + [name for name in meant if name not in own]
    gathered = sum(matched.get(name, 0) for name in patterns)
    exact = sum(sizes.get(function, 0) for function in functions)
    print(f"{len(functions)} functions of {exact // 1024} KiB, {len(patterns)} names, {gathered // 1024} KiB gathered",
          file=sys.stderr)
    return [without_suffix(function) + "*" for function in functions], patterns


def check(binary, functions, sizes):
    """How much of what is used the script lays side by side, by full names: others spread it."""
    with open(SCRIPT) as file:
        named = set(re.findall(r"\(\.text\.(\S+)\* ", file.read()))
    size = lambda some: sum(sizes.get(function, 0) for function in some)
    found = [function for function in functions if without_suffix(function) in named]
    print(f"{binary}: {len(found)} of {len(functions)} functions that a hook uses are in hook.ld by their full names, "
          f"{size(found) // 1024} of {size(functions) // 1024} KiB")
    if size(found) * 10 < size(functions) * 9:
        sys.exit("hook.ld is not about this program: make it anew")


def main():
    looked = [look(binary) for binary in BINARIES]
    if CHECK:
        return
    names = dict.fromkeys(name for exact, _ in looked for name in exact)
    names.update(dict.fromkeys(name for _, patterns in looked for name in patterns))
    with open(SCRIPT, "w") as file:
        file.write("/* What a hook uses, side by side. Made by bench/hook-order.py. */\n")
        file.write("SECTIONS {\n  .text.hook : {\n")
        file.writelines(f"    *(.text.{name} .text.unlikely.{name})\n" for name in names)
        file.write("  }\n}\nINSERT BEFORE .text;\n")


main()
