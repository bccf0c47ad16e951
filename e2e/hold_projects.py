#!/usr/bin/env python3
"""Builds and tests small projects inside a hold, as they are built without one.

    python3 e2e/hold_projects.py target/debug/sayso-hold [NAME...]

Every project is prepared without a hold (that is where caches are filled, which may need the network), then built and
tested held, offline, with the caches as copies. It passes if the held run does what the project wants and the caches
are byte for byte what they were. A project whose tools this machine lacks is told as `not run` and counts for nothing.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

CACHE = pathlib.Path(os.environ.get("SAYSO_TEST_CACHE", pathlib.Path.home() / ".cache/sayso-test")) / "hold"
AT_LEAST = 18
PROJECTS = []


class NotRun(Exception):
    pass


def project(function):
    PROJECTS.append(function)
    return function


class Room:
    """A folder for one project, with a home of its own."""

    def __init__(self, hold, name):
        CACHE.mkdir(parents=True, exist_ok=True)
        self.base = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=CACHE)).resolve()
        self.hold, self.ws, self.home = hold, self.base / "ws", self.base / "home"
        self.ws.mkdir()
        self.home.mkdir()
        self.caches, self.options = [], []
        real = pathlib.Path.home()
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("CARGO", "npm_", "PYTHON", "GIT_"))},
            "HOME": str(self.home),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(real / ".rustup")),
            "CARGO_HOME": str(self.home / ".cargo"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
            "XDG_CACHE_HOME": str(self.home / ".cache"),
        }

    def write(self, name, text):
        path = self.ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())

    def cache(self, *names):
        for name in names:
            (self.home / name).mkdir(parents=True, exist_ok=True)
            self.caches.append(self.home / name)

    def plain(self, script, need=True):
        done = subprocess.run(["bash", "-c", script], cwd=self.ws, env=self.env, capture_output=True, text=True, timeout=900)
        if done.returncode and need:
            raise NotRun("preparing it failed: " + last(done))
        return done

    def held(self, script, *options, want="", session=None, env=None):
        words = [self.hold, "--write", self.ws, "--write", "/tmp", *self.options, *options]
        if (self.ws / ".git").is_dir():
            words += ["--git", self.ws / ".git"]
        for number, cache in enumerate(self.caches):
            words += ["--copy", f"{cache}={self.base / 'copies' / str(number)}"]
        if session:
            words += ["--session", session]
        words += ["--", "bash", "-c", script]
        done = subprocess.run(
            list(map(str, words)), cwd=self.ws, env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise AssertionError(f"exit {done.returncode}: {last(done)}")
        if want not in done.stdout + done.stderr:
            raise AssertionError(f"no {want!r} in: {last(done)}")
        return done

    def state(self):
        """Every file of every cache: name, permissions, time, contents."""
        seen = {}
        for cache in self.caches:
            for folder, folders, files in os.walk(cache):
                for name in folders + files:
                    path = pathlib.Path(folder, name)
                    data = path.lstat()
                    body = ""
                    if path.is_symlink():
                        body = os.readlink(path)
                    elif path.is_file():
                        body = hashlib.sha256(path.read_bytes()).hexdigest()
                    seen[str(path)] = (data.st_mode, data.st_size if path.is_file() else 0, data.st_mtime_ns, body)
        return seen


def last(done):
    lines = [line for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    held = [line for line in lines if line.startswith("held back:")]
    return " / ".join((held or lines)[-3:])[:300]


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise NotRun(f"{program} is not installed")


@project
def make_and_gcc(room):
    need("make", "cc")
    room.write("Makefile", """
        test: prog
        \t./prog | grep -q 42 && echo tested
        prog: a.o b.o
        \tcc -o $@ $^
        clean:
        \trm -f *.o prog
        """.replace("        ", ""))
    room.write("a.c", "#include <stdio.h>\nint b(void);\nint main(void) { printf(\"%d\\n\", b()); }\n")
    room.write("b.c", "int b(void) { return 42; }\n")
    room.held("make -j2 test && make clean", want="tested")


@project
def cmake_and_ctest(room):
    need("cmake", "ctest", "cc")
    room.write("CMakeLists.txt", """
        cmake_minimum_required(VERSION 3.10)
        project(p C)
        enable_testing()
        add_executable(p p.c)
        add_test(NAME runs COMMAND p)
        """)
    room.write("p.c", "int main(void) { return 0; }\n")
    room.held("cmake -S . -B build && cmake --build build && ctest --test-dir build", want="100% tests passed")


@project
def configure_and_make(room):
    need("make", "cc")
    room.write("configure", """
        #!/bin/sh
        t=$(mktemp) && echo 'int main(void){return 0;}' > conftest.c && cc conftest.c -o conftest && ./conftest && rm -f conftest* "$t"
        printf 'all:\\n\\tcc -o p p.c\\ncheck: all\\n\\t./p && echo checked\\n' > Makefile
        """)
    room.write("p.c", "int main(void) { return 0; }\n")
    room.held("sh configure && make && make check", want="checked")


@project
def ccache_twice(room):
    need("ccache", "cc")
    room.cache(".cache/ccache")
    room.env["CCACHE_DIR"] = str(room.home / ".cache/ccache")
    room.write("p.c", "int main(void) { return 0; }\n")
    room.plain("ccache cc -c p.c -o p.o && rm p.o")
    room.held("ccache cc -c p.c -o p.o && ccache cc -DX -c p.c -o q.o && ccache cc -DX -c p.c -o q.o && ccache -s", want="Hits")


@project
def cargo_without_dependencies(room):
    need("cargo")
    room.write("Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n')
    room.write("build.rs", 'fn main() { std::fs::write(std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("n.rs"), "pub const N: u32 = 42;").unwrap(); }\n')
    room.write("src/lib.rs", 'include!(concat!(env!("OUT_DIR"), "/n.rs"));\n#[test]\nfn n() { assert_eq!(N, 42); }\n')
    room.held("cargo test --offline", want="1 passed")


@project
def cargo_with_a_dependency(room):
    need("cargo")
    room.cache(".cargo")
    room.write("Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n')
    room.write("src/lib.rs", '#[test]\nfn n() { assert_eq!(itoa::Buffer::new().format(42), "42"); }\n')
    room.plain("cargo fetch")
    room.held("cargo test --offline", want="1 passed")


@project
def cargo_workspace_and_doc(room):
    need("cargo")
    room.write("Cargo.toml", '[workspace]\nmembers = ["a", "b"]\nresolver = "2"\n')
    for name, deps in [("a", ""), ("b", 'a = { path = "../a" }\n')]:
        room.write(f"{name}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n{deps}')
        room.write(f"{name}/src/lib.rs", "/// Adds.\npub fn f() -> u32 { 1 }\n")
    room.held("cargo build --offline --workspace && cargo doc --offline --no-deps", want="Generated")


@project
def npm_ci_and_test(room):
    need("npm", "node")
    room.cache(".npm")
    room.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"left-pad": "1.3.0"}}\n')
    room.write("test.js", "if (require('left-pad')('x', 3) !== '  x') process.exit(1); console.log('tested')\n")
    room.plain("npm install --no-audit --no-fund && rm -rf node_modules")
    room.held("npm ci --offline --no-audit --no-fund && npm test", want="tested")


@project
def node_test_runner(room):
    need("node")
    room.write("a.test.mjs", "import test from 'node:test'; import http from 'node:http';\ntest('serves', (t, done) => { const s = http.createServer((q, r) => r.end('hi')).listen(0, '127.0.0.1', () => http.get(s.address(), r => { r.resume(); s.close(); done(); })); });\n")
    room.held("node --test", want="pass 1")


@project
def typescript(room):
    need("npm", "node")
    room.cache(".npm")
    room.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"build": "tsc -p ."}, "devDependencies": {"typescript": "5.9.3"}}\n')
    room.write("tsconfig.json", '{"compilerOptions": {"outDir": "out", "strict": true}, "include": ["a.ts"]}\n')
    room.write("a.ts", "const n: number = 42; console.log(n)\n")
    room.plain("npm install --no-audit --no-fund && rm -rf node_modules")
    room.held("npm ci --offline --no-audit --no-fund && npm run build && node out/a.js", want="42")


def tool(room, package, program):
    """A package manager from the registry, outside the project."""
    need("npm")
    folder = CACHE / "tools" / package.replace("@", "-")
    if not (folder / "node_modules/.bin" / program).exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), package], capture_output=True, text=True)
        if done.returncode:
            raise NotRun(f"{package} cannot be fetched")
    room.env["PATH"] = f"{folder / 'node_modules/.bin'}:{room.env['PATH']}"


@project
def pnpm_install_and_test(room):
    tool(room, "pnpm@9", "pnpm")
    room.cache(".local/share/pnpm", ".cache/pnpm")
    room.env["PNPM_HOME"] = str(room.home / ".local/share/pnpm")
    room.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"left-pad": "1.3.0"}}\n')
    room.write("test.js", "if (require('left-pad')('x', 3) !== '  x') process.exit(1); console.log('tested')\n")
    store = room.home / ".local/share/pnpm/store"
    room.plain(f"pnpm install --store-dir {store} && rm -rf node_modules")
    room.held(f"pnpm install --offline --frozen-lockfile --store-dir {store} && pnpm test", want="tested")


@project
def yarn_install_and_test(room):
    tool(room, "yarn@1.22.22", "yarn")
    room.cache(".cache/yarn")
    room.env["YARN_CACHE_FOLDER"] = str(room.home / ".cache/yarn")
    room.write("package.json", '{"name": "p", "version": "1.0.0", "license": "MIT", "scripts": {"test": "node test.js"}, "dependencies": {"left-pad": "1.3.0"}}\n')
    room.write("test.js", "if (require('left-pad')('x', 3) !== '  x') process.exit(1); console.log('tested')\n")
    room.plain("yarn install && rm -rf node_modules")
    room.held("yarn install --offline --frozen-lockfile && yarn test", want="tested")


@project
def go_test(room):
    need("go")
    room.cache(".cache/go-build", "go")
    room.env.update(GOCACHE=str(room.home / ".cache/go-build"), GOPATH=str(room.home / "go"), GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
    room.write("go.mod", "module example.org/p\n\ngo 1.18\n")
    room.write("p.go", "package p\n\nfunc N() int { return 42 }\n")
    room.write("p_test.go", 'package p\n\nimport "testing"\n\nfunc TestN(t *testing.T) {\n\tif N() != 42 {\n\t\tt.Fatal()\n\t}\n}\n')
    room.plain("go build ./...")
    room.held("go vet ./... && go test ./... && go build ./...", want="ok")


@project
def go_server_test(room):
    need("go")
    room.cache(".cache/go-build")
    room.env.update(GOCACHE=str(room.home / ".cache/go-build"), GOPATH=str(room.home / "go"), GOTOOLCHAIN="local")
    room.write("go.mod", "module example.org/s\n\ngo 1.18\n")
    room.write("s_test.go", '''
        package s

        import (
        \t"net/http"
        \t"net/http/httptest"
        \t"testing"
        )

        func TestS(t *testing.T) {
        \ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
        \tdefer s.Close()
        \tif _, err := http.Get(s.URL); err != nil {
        \t\tt.Fatal(err)
        \t}
        }
        ''')
    room.held("go test ./...", want="ok")


def venv(room, *packages):
    need("python3")
    room.plain(f"python3 -m venv {room.base / 'venv'}")
    room.plain(f"{room.base / 'venv'}/bin/pip install --quiet --disable-pip-version-check {' '.join(packages)}")
    room.env["PATH"] = f"{room.base / 'venv' / 'bin'}:{room.env['PATH']}"


@project
def pytest_suite(room):
    venv(room, "pytest")
    room.write("test_a.py", "def test_a(tmp_path):\n    (tmp_path / 'x').write_text('42')\n    assert (tmp_path / 'x').read_text() == '42'\n")
    room.write("conftest.py", "import pytest\n")
    room.held("pytest -q", want="1 passed")


@project
def python_unittest(room):
    need("python3")
    room.write("test_a.py", "import multiprocessing, sqlite3, unittest\ndef f(x): return x * 2\nclass T(unittest.TestCase):\n    def test(self):\n        with multiprocessing.Pool(2) as p: self.assertEqual(p.map(f, [21]), [42])\n        sqlite3.connect('a.db').execute('create table t (x)')\n")
    room.held("python3 -m unittest", want="OK")


@project
def pip_editable_install(room):
    venv(room, "setuptools", "wheel")
    room.write("pyproject.toml", '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "p"\nversion = "0.1"\n')
    room.write("p/__init__.py", "N = 42\n")
    room.held("python3 -m venv --system-site-packages env >/dev/null; pip wheel --no-index --no-build-isolation --no-deps -q -w dist . && ls dist", want="p-0.1")


@project
def uv_project(room):
    venv(room, "uv")
    room.cache(".cache/uv")
    room.env["UV_CACHE_DIR"] = str(room.home / ".cache/uv")
    room.write("pyproject.toml", '[project]\nname = "p"\nversion = "0.1"\nrequires-python = ">=3.8"\ndependencies = ["iniconfig"]\n')
    room.write("t.py", "import iniconfig; print('tested')\n")
    room.plain("uv sync -q --no-python-downloads --no-install-project && rm -rf .venv")
    room.held("uv sync -q --offline --no-python-downloads --no-install-project && uv run --offline --no-sync python t.py", want="tested")


@project
def maven_offline(room):
    need("mvn", "javac")
    room.cache(".m2")
    room.write("pom.xml", """
        <project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
        <groupId>org.example</groupId><artifactId>p</artifactId><version>1</version>
        <properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>
        """)
    room.write("src/main/java/P.java", "public class P { public static int n() { return 42; } }\n")
    settings = pathlib.Path.home() / ".m2/settings.xml"
    if settings.exists():
        shutil.copy(settings, room.home / ".m2/settings.xml")
    local = f"-Dmaven.repo.local={room.home / '.m2/repository'}"
    room.plain(f"mvn -q {local} compile && rm -rf target")
    room.held(f"mvn -o {local} compile", want="BUILD SUCCESS")


@project
def gradle_offline(room):
    need("gradle", "javac")
    room.cache(".gradle")
    room.env["GRADLE_USER_HOME"] = str(room.home / ".gradle")
    room.write("settings.gradle", "rootProject.name = 'p'\n")
    room.write("build.gradle", "apply plugin: 'java'\n")
    room.write("src/main/java/P.java", "public class P { public static int n() { return 42; } }\n")
    room.plain("gradle --no-daemon -q compileJava && rm -rf build .gradle")
    room.held("gradle --offline --no-daemon compileJava", want="BUILD SUCCESSFUL")


@project
def java_by_hand(room):
    need("javac", "java")
    room.write("P.java", "public class P { public static void main(String[] a) { System.out.println(6 * 7); } }\n")
    room.held("javac P.java && java P", want="42")


@project
def git_commit_and_worktree(room):
    need("git")
    room.plain("git init -q -b main . && git config user.name a && git config user.email a@example.org && echo a > a && git add . && git commit -qm one")
    room.held("echo b > b && git add b && git commit -qm two && git switch -qc side && git worktree add -q wt main && "
              "git -C wt log --oneline && git worktree remove wt && git gc -q && git fsck && git status --porcelain && git log --oneline", want="two")
    if room.plain("git status --porcelain && git log --oneline | wc -l").stdout.split() != ["2"]:
        raise AssertionError("git status is not clean afterwards")


@project
def perl_tests(room):
    need("prove")
    room.write("t/a.t", "use Test::More tests => 1; is(6 * 7, 42);\n")
    room.held("prove", want="Result: PASS")


@project
def dev_server_and_curl(room):
    need("python3", "curl")
    room.write("index.html", "hello from the server\n")
    session = room.base / "run/session"
    try:
        room.held("python3 -m http.server 8123 --bind 127.0.0.1 >server.log 2>&1 & for i in $(seq 100); do curl -s -o /dev/null localhost:8123 && break; sleep 0.1; done", session=session)
        room.held("curl -s localhost:8123/index.html", want="hello from the server", session=session)
    finally:
        subprocess.run([room.hold, "end-session", str(session)], check=False)


@project
def headless_browser(room):
    browser = os.environ.get("CHROMIUM") or next((b for b in ["chromium", "chromium-browser", "google-chrome"] if shutil.which(b)), None)
    if not browser:
        raise NotRun("chromium is not installed")
    room.write("a.html", "<p id=x></p><script>document.getElementById('x').textContent = 6 * 7</script>\n")
    room.held(f"{browser} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=$PWD/profile --dump-dom file://$PWD/a.html", want="42</p>")


def main():
    hold = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    probe = subprocess.run([hold, "--write", "/tmp", "--", "true"], capture_output=True, text=True)
    if probe.returncode:
        print("not run: this machine cannot hold a run:", probe.stderr.strip())
        return 1 if os.environ.get("SAYSO_HOLD_REQUIRED") else 0
    passed, failed, missing = 0, 0, 0
    for run in PROJECTS:
        name = run.__name__
        if wanted and name not in wanted:
            continue
        room = Room(hold, name)
        try:
            before = None
            held = room.held

            def watched(*words, **more):
                nonlocal before
                if before is None:
                    before = room.state()
                return held(*words, **more)

            room.held = watched
            run(room)
            if before is not None and room.state() != before:
                raise AssertionError("a shared cache was changed")
            passed += 1
            print(f"ok        {name}", flush=True)
        except NotRun as why:
            missing += 1
            print(f"not run   {name}: {why}", flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as why:
            failed += 1
            print(f"FAILED    {name}: {why}", flush=True)
        finally:
            subprocess.run(["chmod", "-R", "u+rwX", str(room.base)], check=False, stderr=subprocess.DEVNULL)
            shutil.rmtree(room.base, ignore_errors=True)
    print(f"{missing} not run")
    print(f"{passed} passed, {failed} failed")
    enough = wanted or passed >= AT_LEAST
    if not enough:
        print(f"fewer than {AT_LEAST} projects could be built and tested")
    return 0 if enough and failed <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
