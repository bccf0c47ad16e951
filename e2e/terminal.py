"""A program at a terminal of its own, and a person who reads and types there."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


# What programs ask a terminal before they draw: its colours, where the cursor is, what it is.
ANSWERS = (
    (b"\x1b]10;?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?1;2c"),
    (b"\x1b[?u", b"\x1b[?0u"),
)


class Terminal:
    """Runs a program with a terminal that it controls, while used as a context manager."""

    def __init__(self, command, folder, environment):
        self.shown = ""
        self.child, self.descriptor = pty.fork()
        if self.child == 0:
            try:
                os.chdir(folder)
                os.execve(str(command[0]), [str(word) for word in command], environment)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        except OSError:
            pass
        os.close(self.descriptor)

    def read_until(self, pattern, seconds=20):
        """Waits until the screen shows this. -> the match"""
        until = time.time() + seconds
        while time.time() < until:
            found = re.search(pattern, self.shown)
            if found:
                return found
            if select.select([self.descriptor], [], [], 0.2)[0]:
                try:
                    text = os.read(self.descriptor, 4096)
                except OSError:  # the program is gone
                    text = b""
                if not text:
                    break
                self.shown += text.decode("utf-8", "replace")
        raise AssertionError("never shown: %s\n%s" % (pattern, self.shown))

    def drawn(self, seconds):
        """What a program that draws its whole screen shows within this time: words without colours and places."""
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        os.kill(self.child, signal.SIGWINCH)
        until = time.time() + seconds
        while time.time() < until:
            if not select.select([self.descriptor], [], [], 0.2)[0]:
                continue
            try:
                text = os.read(self.descriptor, 65536)
            except OSError:  # the program is gone
                break
            self.shown += text.decode("utf-8", "replace")
            for question, answer in ANSWERS:
                if question in text:
                    os.write(self.descriptor, answer)
        return " ".join(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", self.shown).split())

    def type(self, text):
        os.write(self.descriptor, text.encode() + b"\n")

    def sign_in(self, serving, used):
        """Types the key that the terminal of `sayso serve` shows after so many were used."""
        self.read_until(r"as you type\): ")
        self.type(serving.read_until(r"(?s)(?:#k=.*?){%d}#k=(\S{9})" % used).group(1))

    def ended(self):
        """Waits for its end. -> the exit code"""
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
