#!/usr/bin/env python3
"""The agent loop of ../embedding in Python, on `thresh run`: JSON-RPC 2.0, one message a line, no dependencies.

    make build && python3 examples/stdio/agent.py bin/thresh
"""

import itertools
import json
import subprocess
import sys


class Thresh:
    """The host as a child process. Every call waits for its reply."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids = itertools.count(1)

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("thresh ended; what it said is on standard error")
        reply = json.loads(line)
        if "error" in reply:
            # error["data"]["kind"] says what it was; the history is as it was
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def close(self):
        self.process.stdin.close()  # the end of input ends the host and every plugin
        return self.process.wait()


def model(step, history):
    """Stands in for a language model: it reads and edits a file in turns, and is done after twelve steps."""
    if step > 12:
        return None, "Done: the function is renamed everywhere."
    if step % 2:
        return ("read_file", {"file_path": "server.go"}), None
    return ("replace", {"file_path": "server.go", "old_string": f"handle{step}", "new_string": "serve"}), None


def tool(name):
    """Stands in for the agent's tools."""
    if name == "replace":
        return "replaced 1 occurrence"
    return "func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n" * 40


def main():
    host = Thresh(sys.argv[1:] + ["run"] if len(sys.argv) > 1 else ["bin/thresh", "run"])
    settings = {"compression.strategy": "high-density", "model.name": "gpt-4o", "model.contextLimit": 8000}
    session = host.call("session.open", settings=settings)["session"]

    def add(speaker, *blocks):
        host.call("history.add", session=session, entries=[{"speaker": speaker, "blocks": list(blocks)}])

    add("human", {"type": "text", "text": "Rename the function in server.go step by step."})
    for step in itertools.count(1):
        ready = host.call("window.prepare", session=session, pendingTokens=500)
        pruned = ready["outcome"]["optimize"]
        print(f"step {step:2}: send {len(ready['history']):2} entries, {ready['tokens']:4} tokens"
              f" (removed {pruned['removed']} entries, changed {pruned['replaced']})")
        call, text = model(step, ready["history"])
        if call is None:
            print("the model says:", text)
            add("ai", {"type": "text", "text": text})
            break
        name, parameters = call
        add("ai", {"type": "tool_call", "id": f"call-{step}", "name": name, "parameters": parameters})
        add("tool", {"type": "tool_response", "callId": f"call-{step}", "toolName": name, "result": tool(name)})
    host.call("session.close", session=session)
    return host.close()


if __name__ == "__main__":
    sys.exit(main())
