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
            run = subprocess.run(
                [schemathesis, "run", base + "/v1/openapi.json", "--header", "Authorization: Bearer " + token,
                 "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
                             "response_schema_conformance",
                 "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED),
                 "--max-time", str(SECONDS),
                 # It never ends.
                 "--exclude-path", "/v1/stream",
                 "--request-timeout", "20", "--no-color"],
                cwd=folder, env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            print(run.stdout)
            with urllib.request.urlopen(base + "/v1/health") as answer:
                assert json.load(answer)["status"] == "ok"
    tested = re.search(r"Tested: (\d+)", run.stdout)
    good = int(tested.group(1)) if tested and run.returncode == 0 else 0
    print("%d passed, %d failed" % (good, 0 if run.returncode == 0 else 1))
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
