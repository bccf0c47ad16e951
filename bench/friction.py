#!/usr/bin/env python3
"""How many questions the rules about a session's past add, in a thousand calls.

Reads sessions as JSON lines, in order: {"session": "s1", "command": "..."} or {"session": "s1", "tool": "Write", "args": {...}},
with "cwd" where it is not the folder of --cwd. Judges them with a policy, and with the same policy without these rules, and
prints every call whose verdict differs.

  bench/friction.py sessions.jsonl --cwd ~/src/app
  bench/friction.py sessions.jsonl --preset developer --rules own-build,secrets-stay-here
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile


def judged(sayso, policy, calls):
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    done = subprocess.run([sayso, "check", "--jsonl", "--policy", policy], input=lines, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(calls):
        sys.exit(f"{len(answers)} answers to {len(calls)} calls: {done.stderr[:500]}")
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sessions")
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("--preset", default="developer")
    parser.add_argument("--rules", default="own-build,secrets-stay-here")
    parser.add_argument("--sayso", default="target/debug/sayso")
    wanted = parser.parse_args()
    calls = []
    with open(wanted.sessions, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            read = json.loads(line)
            cwd = read.get("cwd", wanted.cwd)
            call = {"id": number, "cwd": cwd, "workspace": read.get("workspace", cwd)}
            call["context"] = {"agent": "claude-code", "session": str(read.get("session", "one"))}
            call.update({key: read[key] for key in ("command", "tool", "args") if key in read})
            calls.append(call)
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as without:
        rules = ", ".join(json.dumps(rule) for rule in wanted.rules.split(","))
        without.write(f"extends = [{json.dumps(wanted.preset)}]\ndisable = [{rules}]\n")
        without.flush()
        both = zip(calls, judged(wanted.sayso, f"preset:{wanted.preset}", calls), judged(wanted.sayso, without.name, calls))
        more = [(call, said) for call, said, bare in both if said.get("verdict") != bare.get("verdict")]
    for call, said in more:
        what = call.get("command") or json.dumps({"tool": call.get("tool"), "args": call.get("args")})
        print(f"{said.get('verdict')} {[reason['code'] for reason in said.get('reasons', [])]} {what[:160]}")
    print(f"{len(calls)} calls, {len(more)} judged otherwise: {1000 * len(more) / max(len(calls), 1):.2f} in a thousand")


if __name__ == "__main__":
    main()
