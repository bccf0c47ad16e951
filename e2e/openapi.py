"""Whatever the description of the API allows, and much that it does not, sent to a real `sayso serve` by schemathesis: no
request makes the server fail, and every answer is one that the description names.

    python3 e2e/openapi.py path/to/sayso path/to/schemathesis
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from terminal import Terminal  # noqa: E402

# A fixed seed, a bounded number of examples and of seconds: a run next year is the run of today.
SEED, EXAMPLES, SECONDS = 7, 12, 40
# Nothing waits for a person: every question of a dry run is answered at once.
POLICY = 'default = "ask"\n[allow]\ntool = ["web_search"]\n[limits.session]\ncalls = 100000\n[mode]\nrun = "dry-run"\n'


def signed_in(base, key):
    """-> a token for the key that the terminal showed"""
    request = urllib.request.Request(
        base + "/v1/session", json.dumps({"key": key}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]


def main():
    sayso, schemathesis = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="sayso-openapi-") as folder:
        home = pathlib.Path(folder)
        (home / ".config/sayso").mkdir(parents=True)
        (home / ".config/sayso/policy.toml").write_text(POLICY)
        environment = {"HOME": folder, "PATH": os.environ["PATH"], "TERM": "dumb"}
        with Terminal([sayso, "serve", "--port", "0"], folder, environment) as serving:
            found = serving.read_until(r"http://127\.0\.0\.1:(\d+)/#k=(\S{9})")
            serving.read_until("Next:")
            base = "http://127.0.0.1:" + found.group(1)
            token = signed_in(base, found.group(2))
            command = [
                schemathesis, "run", base + "/v1/openapi.json", "--header", "Authorization: Bearer " + token,
                "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
                            "response_schema_conformance",
                "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED),
                "--max-time", str(SECONDS), "--request-timeout", "20", "--no-color"]
            # The stream never ends. What puts another policy or mode in force comes later and alone, since calls may wait or
            # be denied by it, and what signs out comes last: nothing that carries the token is let in afterwards.
            changes, last = ["/v1/policy/activate", "/v1/policy/rollback", "/v1/mode"], ["/v1/session"]
            but = [word for path in ["/v1/stream", *changes, *last] for word in ("--exclude-path", path)]
            only = [[word for path in paths for word in ("--include-path", path)] for paths in (changes, last)]
            runs = [subprocess.run(
                command + which, cwd=folder, env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False) for which in (but, *only)]
            print("\n".join(run.stdout for run in runs))
            with urllib.request.urlopen(base + "/v1/health") as answer:
                assert json.load(answer)["status"] == "ok"
    good = sum(int(found) for run in runs if run.returncode == 0 for found in re.findall(r"Tested: (\d+)", run.stdout))
    bad = sum(run.returncode != 0 for run in runs)
    print("%d passed, %d failed" % (good, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
