#!/usr/bin/env python3
"""The agent loop of ../embedding in Python, on `thresh run`: JSON-RPC 2.0, one message a line, no dependencies.

The agent holds messages as its provider has them, here those of OpenAI's chat API. With FORM = "anthropic" or
"openai-responses" it would add what these give. What window.prepare returns can be sent as it is.

    make build && python3 examples/stdio/agent.py bin/thresh
"""

import itertools
import json
import subprocess
import sys

FORM = "openai-chat"


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


def model(step, messages):
    """Stands in for client.chat.completions.create(messages=messages): the model reads and edits a file in turns, and is
    done after twelve steps."""
    if step > 12:
        return {"role": "assistant", "content": "Done: the function is renamed everywhere."}
    if step % 2:
        name, arguments = "read_file", {"file_path": "server.go"}
    else:
        name, arguments = "replace", {"file_path": "server.go", "old_string": f"handle{step}", "new_string": "serve"}
    call = {"id": f"call-{step}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tool(name):
    """Stands in for the agent's tools."""
    if name == "replace":
        return "replaced 1 occurrence"
    return "func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n" * 40


def main():
    host = Thresh(sys.argv[1:] + ["run"] if len(sys.argv) > 1 else ["bin/thresh", "run"])
    settings = {"compression.strategy": "high-density", "model.name": "gpt-4o", "model.contextLimit": 8000}
    session = host.call("session.open", settings=settings)["session"]

    def add(*messages):
        host.call("history.add", session=session, format=FORM, messages=list(messages))

    add({"role": "system", "content": "You rename functions."},  # no strategy ever touches it
        {"role": "user", "content": "Rename the function in server.go step by step."})
    for step in itertools.count(1):
        ready = host.call("window.prepare", session=session, pendingTokens=500, format=FORM)
        pruned = ready["outcome"]["optimize"]
        print(f"step {step:2}: send {len(ready['messages']):2} messages, {ready['tokens']:4} tokens"
              f" (removed {pruned['removed']} entries, changed {pruned['replaced']})")
        answer = model(step, ready["messages"])
        add(answer)
        if not answer.get("tool_calls"):
            print("the model says:", answer["content"])
            break
        for call in answer["tool_calls"]:
            add({"role": "tool", "tool_call_id": call["id"], "content": tool(call["function"]["name"])})
    host.call("session.close", session=session)
    return host.close()


if __name__ == "__main__":
    sys.exit(main())
