"""An ACP client: enough of an editor to start an agent, prompt it and answer what it asks."""

import json
import queue
import subprocess
import threading


class Client:
    """Speaks with an agent over its standard input and output. `answer` is the kind of option that the person picks."""

    def __init__(self, command, cwd, env, answer="allow_once"):
        self.cwd, self.answer = str(cwd), answer
        self.asked, self.updates = [], []
        self.waiting, self.count, self.lock = {}, 0, threading.Lock()
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=self.cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, bufsize=1,
        )
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(20)

    def send(self, message):
        with self.lock:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message and "id" in message:
                self.serve(message)
            elif message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])
            elif message.get("id") in self.waiting:
                self.waiting[message["id"]].put(message)

    def serve(self, message):
        if message["method"] != "session/request_permission":
            error = {"code": -32601, "message": "not here"}
            return self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        self.asked.append(message["params"])
        chosen = [option for option in message["params"]["options"] if option["kind"] == self.answer]
        outcome = {"outcome": "selected", "optionId": chosen[0]["optionId"]} if chosen else {"outcome": "cancelled"}
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})

    def request(self, method, params, timeout=90):
        self.count += 1
        self.waiting[self.count] = answer = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return answer.get(timeout=timeout)

    def session(self):
        """Starts a session. -> its id"""
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        self.request("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        started = self.request("session/new", {"cwd": self.cwd, "mcpServers": []})
        assert "result" in started, started
        return started["result"]["sessionId"]

    def prompt(self, session):
        text = [{"type": "text", "text": "Do what the script says."}]
        done = self.request("session/prompt", {"sessionId": session, "prompt": text})
        assert "result" in done, done
        return done["result"]["stopReason"]
