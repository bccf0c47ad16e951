"""Where a real agent runs in tests: a network with nothing but loopback, a home of its own, a project of its own."""

import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

INSIDE = "SAYSO_E2E_INSIDE"
BRING_UP = 0x8914  # SIOCSIFFLAGS


def cache():
    """Where agents are installed once."""
    given = os.environ.get("SAYSO_E2E_CACHE")
    return pathlib.Path(given) if given else pathlib.Path.home() / ".cache" / "sayso-e2e"


def npm_install(package, version):
    """Installs a package into the cache, unless it is there. -> its folder of programs"""
    folder = cache() / ("%s-%s" % (package.split("/")[-1], version))
    programs = folder / "node_modules" / ".bin"
    done = folder / "installed"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        spec = "%s@%s" % (package, version)
        print("installing %s from npm to %s (once)" % (spec, folder), flush=True)
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", spec],
            cwd=folder, check=True, stdout=sys.stderr,
        )
        done.write_text(spec)
    return programs


def node(at_least):
    """A node of at least this version: the system's, or one from npm."""
    found = shutil.which("node")
    if found:
        said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
        if int(said.strip().lstrip("v").split(".")[0] or 0) >= at_least:
            return pathlib.Path(found)
    return npm_install("node", {22: "22.23.3", 24: "24.21.0"}[at_least]) / "node"


def enter():
    """Starts this script again in a network namespace of its own, and brings loopback up there."""
    if os.environ.get(INSIDE) != "1":
        unshare = shutil.which("unshare")
        if unshare is None:
            sys.exit("e2e: `unshare` (util-linux) is needed to run an agent offline")
        os.environ[INSIDE] = "1"
        os.execv(unshare, [unshare, "--map-root-user", "--net", "--", sys.executable, *sys.argv])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, BRING_UP, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
    interfaces = [name for _, name in socket.if_nameindex()]
    assert interfaces == ["lo"], "not offline: %s" % interfaces


class Machine:
    """A home folder and a project in a temporary folder."""

    def __init__(self, name):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sayso-e2e-%s-" % name)).resolve()
        self.home, self.project = self.root / "home", self.root / "project"
        # Variables that everything here has.
        self.variables = {}
        self.home.mkdir()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            print("kept for a look: %s" % self.root, file=sys.stderr)
        else:
            shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, **more):
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "LC_ALL", "TERM") if key in os.environ}
        return {**kept, "HOME": str(self.home), "NO_COLOR": "1", "CI": "1", **self.variables, **more}

    def run(self, command, check=True, timeout=120, **more):
        done = subprocess.run(
            [str(word) for word in command], cwd=self.project, env=self.environment(**more),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
        )
        if check and done.returncode != 0:
            raise AssertionError("%s: exit %d\n%s%s" % (command, done.returncode, done.stdout, done.stderr))
        return done
