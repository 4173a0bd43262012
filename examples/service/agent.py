#!/usr/bin/env python3
"""An agent loop in Python on `thresh serve`, with messages in the form of OpenAI's chat API.

    thresh serve &
    python3 examples/service/agent.py http://127.0.0.1:7440 ~/.local/state/thresh/token chat-1 6

It goes on where the session is, for as many steps as it is told: ended and started again, it continues.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients" / "python"))
from thresh import Client  # noqa: E402


def model(step, messages):
    """Stands in for client.chat.completions.create(messages=messages)."""
    name, arguments = ("read_file", {}) if step % 2 else ("replace", {"old_string": f"handle{step}", "new_string": "serve"})
    function = {"name": name, "arguments": json.dumps({"file_path": "server.go", **arguments})}
    call = {"id": f"call-{step}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tool(name):
    """Stands in for the agent's tools."""
    if name == "replace":
        return "replaced 1 occurrence"
    return "func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n" * 40


def main(address, token_file, name, steps):
    token = "" if address.startswith("unix:") else pathlib.Path(token_file).read_text().strip()
    with Client(address, token) as thresh:
        session = thresh.open(name, {"model.name": "gpt-4o", "model.contextLimit": "8000"}, "You rename functions.")
        calls = [block for entry in session.history() for block in entry["blocks"] if block["type"] == "tool_call"]
        if session.state.entries == 0:
            session.add_messages("openai-chat", [{"role": "user", "content": "Rename the function in server.go."}])
        done = int(calls[-1]["id"].removeprefix("call-")) if calls else 0
        for step in range(done + 1, done + steps + 1):
            ready = session.prepare("openai-chat", pending_tokens=500)
            print(f"python, step {step:2}: send {len(ready.messages):2} messages, {ready.tokens:4} tokens", flush=True)
            answer = model(step, ready.messages)
            call = answer["tool_calls"][0]
            result = {"role": "tool", "tool_call_id": call["id"], "content": tool(call["function"]["name"])}
            session.add_messages("openai-chat", [answer, result])


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: agent.py ADDRESS TOKEN_FILE SESSION STEPS")
    main(*sys.argv[1:4], int(sys.argv[4]))
