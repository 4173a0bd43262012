"""A client of `thresh serve`, with nothing but the standard library.

    from thresh import Client

    with Client("http://127.0.0.1:7440", token=open(...).read().strip()) as thresh:
        session = thresh.open("chat-1", settings={"model.contextLimit": 32000})
        session.add_messages("openai-chat", [{"role": "user", "content": "fix main.go"}])
        ready = session.prepare("openai-chat", pending_tokens=500)
        answer = my_model(ready.messages)
        session.add_messages("openai-chat", [answer])

Addresses are http://HOST:PORT, https://HOST:PORT or unix:PATH; HOST:PORT is http on this machine, else https. A client
is used by one thread at a time; make one for each thread. The methods are those of proto/thresh/v1/session.proto.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import struct
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional
from urllib.parse import urlsplit

JSON = dict[str, Any]


class ThreshError(Exception):
    """What a method returned in place of an answer. `kind` says what it is about, as in docs/service.md."""

    def __init__(self, code: str, message: str, detail: JSON):
        super().__init__(message)
        self.code = code
        self.kind: str = detail.get("kind", "")
        self.retryable: bool = detail.get("retryable", False)
        # It may have had its effect all the same. An addition is then made again with its key.
        self.maybe_applied: bool = detail.get("maybeApplied", False)
        self.plugin: str = detail.get("plugin", "")
        self.entry: Optional[int] = detail.get("entry")
        self.limit: str = detail.get("limit", "")


@dataclass
class State:
    """The size of a history. `entries` is known after open and get."""

    revision: int
    tokens: int
    entries: int = 0


@dataclass
class Prepared:
    """What may be sent: entries, or messages in the form that was asked for."""

    history: list[JSON]
    messages: list[JSON]
    system: Any
    instructions: str
    notes: list[str]
    tokens: int
    revision: int
    outcome: JSON


@dataclass
class _Kept:
    """The last answer, so that the next one need only say what is new."""

    form: str = ""
    revision: Optional[int] = None
    items: list[JSON] = field(default_factory=list)


_LOCAL = re.compile(r"(localhost|127(\.\d+){3}|\[::1\])(:|$)")


def _url(address: str) -> str:
    """Nobody's token leaves the machine in the clear unless the address says http://."""
    if "://" not in address:
        address = ("http://" if _LOCAL.match(address) else "https://") + address
    if not re.match("https?://.", address):
        raise ValueError(f"address {address!r}: want HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH")
    return address


class Client:
    def __init__(self, address: str, token: str = "", timeout: float = 600, context: Optional[ssl.SSLContext] = None):
        self._token, self._context, self._timeout = token, context, timeout
        self._unix = address.removeprefix("unix:") if address.startswith("unix:") else ""
        self._url = urlsplit("http://localhost" if self._unix else _url(address))
        self._connection: Optional[http.client.HTTPConnection] = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Closes the connection. Sessions stay as they are."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def open(self, session: str = "", settings: Optional[JSON] = None, system: str = "") -> "Session":
        """Opens a session, or goes on with one."""
        # The service takes the values of settings as text.
        values = {k: v if isinstance(v, str) else json.dumps(v) for k, v in (settings or {}).items()}
        request: JSON = {"session": session, "settings": values}
        if system:
            request["system"] = {"text": system}
        answer = self.call("Open", request)
        return Session(self, answer["session"], _state(answer))

    def sessions(self) -> Iterator[JSON]:
        """The sessions of the token."""
        after = ""
        while True:
            answer = self.call("List", {"after": after})
            yield from answer.get("sessions", [])
            if not answer.get("more"):
                return
            after = answer["sessions"][-1]["session"]

    def delete(self, session: str) -> None:
        """Removes a session, whether it is open or not."""
        self.call("Delete", {"session": session})

    def describe(self) -> JSON:
        return self.call("Describe", {})

    def call(self, method: str, request: JSON, service: str = "SessionService") -> JSON:
        """Calls any method by its name in the .proto file."""
        status, body = self._post(service, method, "application/json", json.dumps(request).encode())
        answer = self._parse(status, body)
        if status != 200:
            raise _error(answer)
        return answer

    def stream(self, method: str, request: JSON) -> Iterator[JSON]:
        """Calls a method that answers in parts. Leaving the loop ends the call."""
        text = json.dumps(request).encode()
        connection = self._connect()  # its own: a stream that is left open has to be cut
        try:
            connection.request("POST", f"/thresh.v1.SessionService/{method}", struct.pack(">BI", 0, len(text)) + text,
                               self._headers("application/connect+json"))
            response = connection.getresponse()
            if response.status != 200:
                raise _error(self._parse(response.status, response.read()))
            while head := response.read(5):
                flags, length = struct.unpack(">BI", head)
                part = json.loads(response.read(length))
                if flags & 2:  # the end, with the error if there is one
                    if "error" in part:
                        raise _error(part["error"])
                    return
                yield part
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._unix:
            return _UnixConnection(self._unix, self._timeout)
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _parse(self, status: int, body: bytes) -> JSON:
        try:
            return json.loads(body)
        except ValueError:
            where = "unix:" + self._unix if self._unix else self._url.geturl()
            message = f"{where} answered with HTTP status {status} and no JSON: is that a thresh service?"
            raise ThreshError("unknown", message, {}) from None

    def _headers(self, kind: str) -> dict[str, str]:
        headers = {"Content-Type": kind, "Connect-Protocol-Version": "1"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        return headers

    def _post(self, service: str, method: str, kind: str, body: bytes) -> tuple[int, bytes]:
        # Made once: after an error of the connection it may have had its effect. Session._add has a key, and goes on.
        if self._connection is None:
            self._connection = self._connect()
        try:
            self._connection.request("POST", f"/thresh.v1.{service}/{method}", body, self._headers(kind))
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self.disconnect()  # the next request gets a new one
            raise


class Session:
    """One conversation."""

    def __init__(self, client: Client, id: str, state: State):
        self.client, self.id, self.state = client, id, state
        self._kept = _Kept()

    def add(self, *entries: JSON, opaque: bool = False, key: str = "") -> State:
        """Appends entries in the native form, all or none. It is tried for some seconds, and takes place once. To try
        longer, choose a key: the same call again, with the same key, adds nothing twice."""
        return self._add(key, entries=[json.dumps(e) for e in entries], opaque=opaque)

    def add_messages(self, form: str, messages: list[JSON], system: str = "", key: str = "") -> State:
        """Appends messages as the provider has them: "anthropic", "openai-chat" or "openai-responses"."""
        more = {"system": {"text": system}} if system else {}
        return self._add(key, format=form, messages=[json.dumps(m) for m in messages], **more)

    def _add(self, key: str, **request: Any) -> State:
        request["key"] = key or str(uuid.uuid4())
        until, pause = time.monotonic() + 5, 0.05
        while True:
            try:
                return _state(self._call("Add", **request))
            except (ThreshError, OSError, http.client.HTTPException) as e:
                if isinstance(e, ThreshError) and not e.retryable or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1)

    def prepare(self, form: str = "", pending_tokens: int = 0) -> Prepared:
        """Makes the history fit the model. To be called before every model call. Only what is new is transferred."""
        request: JSON = {"format": form, "pendingTokens": pending_tokens}
        if self._kept.revision is not None and self._kept.form == form:
            request["since"] = str(self._kept.revision)
        answer = self._call("Prepare", **request)
        items = [json.loads(item) for item in answer.get("messages" if form else "history", [])]
        items = self._kept.items[: answer.get("keep", 0)] + items
        revision = int(answer.get("revision", 0))
        self._kept = _Kept(form, revision, items)
        return Prepared(
            history=[] if form else list(items), messages=list(items) if form else [],
            system=json.loads(answer.get("system") or "null"), instructions=answer.get("instructions", ""),
            notes=answer.get("notes", []), tokens=answer.get("tokens", 0), revision=revision,
            outcome=json.loads(answer["outcome"]))

    def compress(self) -> JSON:
        """Compresses now, and returns the outcome."""
        return json.loads(self._call("CompressHistory")["outcome"])

    def report_usage(self, prompt_tokens: int) -> None:
        self._call("ReportUsage", promptTokens=prompt_tokens)

    def set(self, key: str, value: Optional[str]) -> None:
        """Overrides a setting; None removes the override."""
        self._call("Set", key=key, **({} if value is None else {"value": value}))

    def set_system(self, text: str) -> None:
        self._call("SetSystem", **({"system": {"text": text}} if text else {}))

    def set_todos(self, todos: list[JSON]) -> None:
        self._call("SetTodos", todos=todos)

    def get(self) -> State:
        return _state(self._call("Get"))

    def history(self) -> list[JSON]:
        """The owned history, also what is not sent to a model."""
        parts = self.client.stream("GetHistory", {"session": self.id})
        return [json.loads(entry) for part in parts for entry in part.get("history", [])]

    def recorded(self, id: str) -> list[JSON]:
        """Entries as they were added, by the id of an entry or of a tool call."""
        return [json.loads(entry) for entry in self._call("GetRecorded", id=id).get("entries", [])]

    def explain(self, id: str = "") -> list[JSON]:
        """What became of an entry, by its id or that of a tool call, and why; without an id, of all entries."""
        parts = self.client.stream("Explain", {"session": self.id, "id": id})
        return [json.loads(change) for part in parts for change in part.get("changes", [])]

    def watch(self) -> Iterator[JSON]:
        """Turns from now on. The first element has no session: the watch has begun."""
        for event in self.client.stream("Watch", {"session": self.id}):
            if "outcome" in event:
                event["outcome"] = json.loads(event["outcome"])
            yield event

    def close(self) -> None:
        self._call("Close")

    def _call(self, method: str, **request: Any) -> JSON:
        return self.client.call(method, {"session": self.id, **request})


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _state(answer: JSON) -> State:
    # 64-bit numbers are text in the JSON form of protobuf, and a 0 is left out.
    return State(int(answer.get("revision", 0)), answer.get("tokens", 0), answer.get("entries", 0))


def _error(answer: JSON) -> ThreshError:
    details = answer.get("details") or [{}]
    return ThreshError(answer.get("code", "unknown"), answer.get("message", ""), details[0].get("debug", {}))
