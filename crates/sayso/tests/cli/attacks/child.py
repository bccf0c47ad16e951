"""A program that was allowed to run, under the user's own account, tries to say yes to itself.

`owner` starts the server at a terminal, as a person does, puts a question, and starts `child`, which knows what every
program of this user can find out, and tries whatever it can. Prints what came of it as JSON.
"""
import base64, ctypes, fcntl, http.client, json, os, pty, re, socket, struct, subprocess, sys, termios, threading

CALL = {"tool": "web_search", "args": {"query": "x"}, "wait": 0, "cwd": "/", "context": {"agent": "coder"}}
PTRACE_ATTACH, SYS_PIDFD_GETFD = 16, 438


def send(port, method, path, body=None, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
    headers = {"Content-Type": "application/json", **dict(headers)}
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if text.startswith(b"{") else {}


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("sayso", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


def over_socket(path, method, address, body, headers=()):
    connection = Socket(path)
    connection.request(method, address, json.dumps(body), {"Content-Type": "application/json", **dict(headers)})
    return connection.getresponse().status


def at_own_terminal(arguments, typed):
    """A command at a terminal that this program made, typing what it likes whenever it is asked."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(arguments[0], arguments)
    shown, said = "", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece.decode(errors="replace")
        if not said and ("as you type): " in shown or "to continue: " in shown):
            said = True
            os.write(terminal, typed.encode() + b"\n")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def tried(attempt):
    """What an attempt came to: the system's word for why not, or what it got."""
    try:
        return attempt()
    except OSError as error:
        return os.strerror(error.errno) if error.errno else str(error)


def child(sayso, home, port, question):
    state = os.path.join(home, ".local/state/sayso")
    path = os.path.join(state, "sayso.sock")
    answer, yes = f"/v1/approvals/{question}/answer", {"verdict": "allow"}
    probe = socket.socket(socket.AF_UNIX)
    probe.connect(path)
    server = struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    probe.close()
    got, seen = {}, bytearray()

    # The command.
    run = lambda *arguments, **more: subprocess.run([sayso, *arguments], capture_output=True, **more).returncode
    got["command"] = run("approvals", "answer", question, "allow", input=b"y\n1234\n")
    got["command at a terminal of its own"] = at_own_terminal([sayso, "approvals", "answer", question, "allow"], "7Q4F-K2MX")
    reading, writing = os.pipe()
    os.write(writing, b"7Q4F-K2MX\n")
    os.close(writing)
    got["command with a guessed key"] = run(
        "approvals", "answer", question, "allow", "--key-fd", str(reading), pass_fds=[reading])
    got["mode off"] = at_own_terminal([sayso, "mode", "off", "--for", "1h", "--because", "x"], "1234")
    got["token of its own"] = at_own_terminal([sayso, "token", "create", "me", "--role", "admin"], "1234")

    # The socket and HTTP.
    got["socket"] = over_socket(path, "POST", answer, yes)
    got["HTTP"] = send(port, "POST", answer, yes)[0]
    got["HTTP as the page"] = send(port, "POST", answer, yes, {"Origin": f"http://127.0.0.1:{port}", "Cookie": "token=1"})[0]
    got["HTTP by a GET"] = send(port, "GET", answer + "?verdict=allow")[0]
    got["guessed key"] = send(port, "POST", "/v1/session", {"key": "0000-0000"})[0]
    got["guessed link"] = send(port, "POST", "/v1/links/answer", {"link": "0" * 64, "verdict": "allow"})[0]
    got["asked as its approver"] = send(port, "POST", answer, yes, {"X-Forwarded-User": "root", "Forwarded": "for=::1"})[0]
    sign_up = {"name": "me", "role": "admin", "hash": "0" * 64, "created_ms": 0, "expires_ms": 2**62}
    with open(os.path.join(state, "tokens.json"), "w") as file:
        json.dump([sign_up], file)
    got["hash of a token as the token"] = over_socket(path, "POST", answer, yes, {"Authorization": "Bearer sayso_" + "0" * 64})

    # The server's process.
    for name in ["environ", "maps", "mem", "auxv", "stack", "syscall", "io"]:
        def look(name=name):
            with open(f"/proc/{server}/{name}", "rb") as file:
                seen.extend(file.read(1 << 20))
            return "read"
        got["proc " + name] = tried(look)
    with open(f"/proc/{server}/cmdline", "rb") as file:
        seen.extend(file.read())
    got["proc fd"] = tried(lambda: "listed" if os.listdir(f"/proc/{server}/fd") else "empty")
    system = ctypes.CDLL(None, use_errno=True)
    long = ctypes.c_long
    came_to = lambda code: "done" if code >= 0 else os.strerror(ctypes.get_errno())
    got["debugger"] = came_to(system.ptrace(long(PTRACE_ATTACH), long(server), None, None))
    buffer = ctypes.create_string_buffer(64)
    here = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
    there = (ctypes.c_size_t * 2)(0x400000, 64)
    got["its memory"] = came_to(
        system.process_vm_readv(long(server), ctypes.byref(here), long(1), ctypes.byref(there), long(1), long(0)))
    got["its descriptors"] = came_to(system.syscall(long(SYS_PIDFD_GETFD), long(os.pidfd_open(server)), long(1), long(0)))

    # The server's terminal: a device of this user, which it may open. What was shown there cannot be read back.
    with open(f"/proc/{server}/stat") as file:
        device = int(file.read().rsplit(")", 1)[1].split()[4])
    terminal = f"/dev/pts/{(device & 0xFF) | ((device >> 12) & 0xFFF00)}"

    def listen():
        descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            seen.extend(os.read(descriptor, 65536))
        except BlockingIOError:
            pass
        os.write(descriptor, f"approve {question}? y\r\n".encode())
        for letter in b"y\n":
            try:
                fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([letter]))
            except OSError:
                pass  # newer systems take no letters from elsewhere
        return "opened"
    got["the server's terminal"] = tried(listen)

    # Every file: there is no key file to be found.
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    seen.extend(file.read())
            except OSError:
                pass
    print(json.dumps({"got": got, "seen": base64.b64encode(bytes(seen)).decode()}))


def owner(sayso, home):
    pid, master = pty.fork()
    if pid == 0:
        os.execv(sayso, [sayso, "serve", "--port", "0"])
    shown, told = bytearray(), threading.Condition()

    def read():
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                piece = b""
            with told:
                shown.extend(piece)
                told.notify_all()
            if not piece:
                return
    threading.Thread(target=read, daemon=True).start()
    with told:
        assert told.wait_for(lambda: b"Next:" in shown, 60), bytes(shown)
        text = shown.decode(errors="replace")
    port = re.search(r"127\.0\.0\.1:(\d+)", text)[1]
    key = re.search(r"#k=([0-9A-Z]{4}-[0-9A-Z]{4})", text)[1]
    question = send(port, "POST", "/v1/decisions", CALL)[1]["approval"]
    attack = subprocess.run([sys.executable, __file__, "child", sayso, home, port, question], capture_output=True, text=True)
    assert attack.returncode == 0, attack.stderr
    attack = json.loads(attack.stdout)
    seen = base64.b64decode(attack["seen"])
    spellings = [key, key.replace("-", ""), key.lower(), key.lower().replace("-", "")]
    result = {
        "got": attack["got"],
        "looked through": len(seen) > 1000,
        "key found": any(spelling.encode() in seen for spelling in spellings),
        "standing": send(port, "GET", f"/v1/approvals/{question}")[1]["standing"],
        "verdict": send(port, "POST", "/v1/decisions", CALL)[1]["verdict"],
    }
    # The person who has the key says yes, after all of that.
    signed = send(port, "POST", "/v1/session", {"key": key})
    token = {"Authorization": "Bearer " + signed[1].get("token", "")}
    result["owner"] = send(port, "POST", f"/v1/approvals/{question}/answer", {"verdict": "allow"}, token)[1].get("standing")
    os.kill(pid, 15)
    os.waitpid(pid, 0)
    print(json.dumps(result))


{"owner": owner, "child": child}[sys.argv[1]](*sys.argv[2:])
