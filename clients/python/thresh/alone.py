"""Messages without a session: one call, and nothing to keep.

    from thresh import compress

    made = compress(messages, model="gpt-5")
    answer = openai.chat.completions.create(model="gpt-5", messages=made.messages)

Without an address, `thresh run` is started as a child for the process: the program in the package, or the one in PATH.
"""

from __future__ import annotations

import atexit
import itertools
import json
import pathlib
import shutil
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from . import Client, ThreshError

JSON = Dict[str, Any]


@dataclass
class Compressed:
    """Messages to send as they are, and what they lack: each part of `removed` has an id for retrieve, and says in which
    of the messages it was. `unchanged` says why nothing was tried, "" if something was."""

    messages: List[JSON]
    format: str
    tokens_before: int
    tokens_after: int
    removed: List[JSON]
    unchanged: str


def compress(messages: List[JSON], model: str = "", format: str = "", strategy: str = "", context_limit: int = 0,
             address: str = "", token: str = "", recall: bool = True) -> Compressed:
    """Makes a whole conversation small, as the caller holds it: not what an earlier call returned. It is recognised by
    its content, so that what was sent before is sent again, and the provider's prompt cache is read.
    Without recall, the model cannot ask for a removed result, and no id stands in its place."""
    request: JSON = {"messages": messages, "model": model, "format": format, "strategy": strategy,
                     "contextLimit": context_limit, "recall": recall}
    a = _call("messages.compress", request, address, token)
    return Compressed(a["messages"], a["format"], a["tokensBefore"], a["tokensAfter"], a["removed"],
                      a.get("unchanged", ""))


def retrieve(id: str, address: str = "", token: str = "") -> str:
    """The text of a removed part."""
    content: str = _call("messages.retrieve", {"id": id}, address, token)["content"]
    return content


def _call(method: str, request: JSON, address: str, token: str) -> JSON:
    if not address:
        return _child.call(method, request)
    with Client(address, token) as client:
        return client.call(method, request)


class _Child:
    """`thresh run`, from the first call to the end of the process. One that has ended is started again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # one call at a time
        self._ids = itertools.count(1)
        self._process: Optional[subprocess.Popen[bytes]] = None

    def call(self, method: str, request: JSON) -> JSON:
        with self._lock:
            try:
                answer = self._answer(method, request)
            except (OSError, ValueError) as e:
                self._end()
                raise ThreshError(f"thresh run: {e}", {"kind": "connection", "retryable": True}) from e
            except BaseException:
                self._end()  # such as an interrupt: its answer would be taken for the next one's
                raise
        if "error" in answer:
            error = answer["error"]
            raise ThreshError(error["message"], error.get("data") or {"kind": "request"})
        result: JSON = answer["result"]
        return result

    def _answer(self, method: str, request: JSON) -> JSON:
        if self._process is None:
            self._process = subprocess.Popen([_program(), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin and self._process.stdout
        call = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": request}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise OSError(f"it ended with status {self._process.wait()}, after what it has printed")
        answer: JSON = json.loads(line)
        return answer

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process and process.stdin and process.stdout:
            try:
                process.stdin.close()  # its end
            except OSError:
                pass
            process.stdout.close()
            process.wait()


def _program() -> str:
    packaged = pathlib.Path(__file__).with_name("bin") / "thresh"
    found = str(packaged) if packaged.exists() else shutil.which("thresh")
    if not found:
        raise FileNotFoundError("the program thresh is not in PATH: install it, or give the address of a host")
    return found


_child = _Child()
atexit.register(_child.close)
