"""A client of `thresh serve`, with nothing but the standard library.

    from thresh import Client

    with Client("http://127.0.0.1:7440", token=open(...).read().strip()) as thresh:
        session = thresh.open("chat-1", settings={"model.contextLimit": 32000})
        session.add_messages("openai-chat", [{"role": "user", "content": "fix main.go"}])
        ready = session.prepare("openai-chat", pending_tokens=500)
        answer = my_model(ready.messages)
        session.add_messages("openai-chat", [answer])

Addresses are http://HOST:PORT, https://HOST:PORT or unix:PATH; HOST:PORT is http on this machine, else https. A client
is used by one thread at a time; make one for each thread. docs/api.md describes the methods.

A request is repeated for some seconds if the host could not be reached or was about to end, so that a restart goes
unnoticed. An addition is repeated after any error that a retry may mend, and takes place once.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
import uuid
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Type, TypeVar, Union
from urllib.parse import urlsplit

__all__ = ["Client", "Session", "Added", "Opened", "State", "Prepared", "Passage", "ThreshError", "Compressed", "compress", "retrieve"]

JSON = Dict[str, Any]

# A request is tried again for as long as a host takes to restart, in seconds.
_TRY_FOR, _FIRST_PAUSE, _MOST_PAUSE = 5.0, 0.05, 1.0


class ThreshError(Exception):
    """What a method returned in place of an answer. `kind` says what it is about, as in docs/api.md, or is "connection"
    if the host could not be reached or did not answer."""

    def __init__(self, message: str, error: JSON):
        super().__init__(message)
        self.kind: str = error.get("kind", "")
        self.retryable: bool = error.get("retryable", False)
        # It may have had its effect all the same. An addition is then made again with its key.
        self.maybe_applied: bool = error.get("maybeApplied", False)
        # The wrong parameter, such as entries[1].speaker.
        self.field: str = error.get("field", "")
        self.entry: Optional[int] = error.get("entry")
        self.part: Optional[int] = error.get("part")
        self.plugin: str = error.get("plugin", "")
        self.missing_tokens: int = error.get("missingTokens", 0)
        self.largest: List[JSON] = error.get("largest", [])
        self.limit: str = error.get("limit", "")
        # Of prepare: the history as it is, which may be sent at your own risk.
        self.prepared: Optional[Prepared] = _prepared(error["prepared"]) if "prepared" in error else None
        self._untaken = self.kind == "shutdown"  # the host did not take the request


@dataclass
class Added:
    """The revision and the tokens of a history after an addition."""

    revision: int
    tokens: int


@dataclass
class Opened:
    """A session's id, and the size of its history."""

    session: str
    revision: int
    tokens: int
    entries: int


@dataclass
class State:
    """The system prompt and the size of a history."""

    session: str
    system: List[JSON]
    system_tokens: int
    entries: int
    tokens: int
    revision: int


@dataclass
class Prepared:
    """What may be sent: entries, or messages in the form that was asked for."""

    history: List[JSON]
    messages: List[JSON]
    system: Any
    instructions: Any
    notes: List[str]
    tokens: int
    system_tokens: int
    revision: int
    outcome: JSON


@dataclass
class Passage:
    """Lines of what was added: in which block of which entry, from which line on (from 1), of how many. `turn` is how
    many messages of people there were until then; `tool`, `argument` and `call` are a call's, or a result's. `also` is
    where much the same stood earlier; `result` is where a call's result is, and its ends."""

    entry: str
    block: int
    line: int
    lines: int
    of: int
    turn: int
    speaker: str
    kind: str
    text: str
    tokens: int
    tool: str = ""
    argument: str = ""
    call: str = ""
    also: List[JSON] = field(default_factory=list)
    result: Optional[JSON] = None


@dataclass
class _Kept:
    """The last answer, so that the next one need only say what is new."""

    form: str = ""
    revision: Optional[int] = None
    items: List[JSON] = field(default_factory=list)


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
        self._unix = address[len("unix:"):] if address.startswith("unix:") else ""
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

    def initialize(self) -> JSON:
        """What the host can do, and what the token may. Calling it is optional."""
        return self.call("initialize", {})

    def open(self, session: str = "", settings: Optional[JSON] = None, system: Union[str, List[JSON]] = "") -> "Session":
        """Opens a session, or goes on with one."""
        request: JSON = {"id": session, "settings": settings or {}}
        if system:
            request["system"] = system
        answer = self.call("session.open", request)
        return Session(self, answer["session"], _of(Opened, answer))

    def sessions(self) -> Iterator[JSON]:
        """The sessions of the token."""
        after, more = "", True
        while more:
            answer = self.call("session.list", {"after": after})
            yield from answer["sessions"]
            more = answer["more"]
            after = answer["sessions"][-1]["session"] if answer["sessions"] else ""

    def delete(self, session: str) -> None:
        """Removes a session, whether it is open or not."""
        self.call("session.delete", {"session": session})

    def watch(self, session: str = "") -> Iterator[JSON]:
        """Turns from now on, of one session or of all that the token has. An element without a session says that the
        watch has begun, or begun again after the connection broke: turns before it are missing."""
        until = time.monotonic() + _TRY_FOR
        while True:
            try:
                for turn in self.stream("session.watch", {"session": session}):
                    until = time.monotonic() + _TRY_FOR
                    yield turn
            except ThreshError as e:
                if not e.retryable or time.monotonic() > until:
                    raise

    def count(self, *entries: JSON) -> List[int]:
        """The tokens of each entry, as the host counts them."""
        each: List[int] = self.call("tokens.count", {"entries": list(entries)})["each"]
        return each

    def plugins(self) -> List[JSON]:
        """Every plugin that was found. Starts those that do not run."""
        found: List[JSON] = self.call("plugins.list", {})["plugins"]
        return found

    def reset_plugin(self, name: str) -> bool:
        """Takes a plugin out of quarantine; False if it was never started. For the local user."""
        return bool(self.call("plugins.reset", {"name": name})["reset"])

    def lock_plugins(self, names: Sequence[str] = ()) -> List[str]:
        """Accepts the files of plugins as they are now, and returns which. For the local user."""
        locked: List[str] = self.call("plugins.lock", {"names": list(names)})["names"]
        return locked

    def call(self, method: str, request: JSON, timeout: Optional[float] = None) -> JSON:
        """Calls any method of docs/api.md by its name. The host ends with it when the time is over, in seconds."""
        until, pause = time.monotonic() + _TRY_FOR, _FIRST_PAUSE
        while True:
            try:
                status, body = self._post(method, request, timeout)
                answer = self._parse(status, body)
                if status != 200:
                    raise self._error(status, answer)
                return answer
            except ThreshError as e:
                again = e._untaken or e.retryable and bool(request.get("key"))
                if not again or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _MOST_PAUSE)

    def stream(self, method: str, request: JSON) -> Iterator[JSON]:
        """Calls a method whose result comes in lines. Leaving the loop ends the call."""
        connection = self._connect()  # its own: a stream that is left open has to be cut
        try:
            response = self._send(connection, method, request, None)
            if response.status != 200:
                raise self._error(response.status, self._parse(response.status, response.read()))
            while line := response.readline():
                part = self._parse(response.status, line)
                if "error" in part and "session" not in part:
                    raise self._error(response.status, part)
                yield part
        except (OSError, http.client.HTTPException) as e:
            raise _broken(e) from e
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
            answer = json.loads(body)
            if isinstance(answer, dict):
                return answer
        except ValueError:
            pass
        raise self._stranger(status)

    def _stranger(self, status: int) -> ThreshError:
        where = "unix:" + self._unix if self._unix else self._url.geturl()
        message = f"{where} answered with HTTP status {status} and no JSON of thresh: is that a thresh service?"
        return ThreshError(message, {"kind": "connection", "retryable": status >= 500, "maybeApplied": status >= 500})

    def _error(self, status: int, answer: JSON) -> ThreshError:
        error = answer.get("error")
        if not isinstance(error, dict) or not error.get("kind"):
            return self._stranger(status)
        return ThreshError(error.get("message", ""), error)

    def _send(self, connection: http.client.HTTPConnection, method: str, request: JSON,
              timeout: Optional[float]) -> http.client.HTTPResponse:
        if connection.sock is None:
            try:
                connection.connect()
            except ssl.SSLError:
                raise
            except OSError as e:
                error = _broken(e)
                error.maybe_applied, error._untaken = False, True
                raise error from e
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        if timeout is not None:
            headers["X-Thresh-Timeout-Ms"] = str(max(1, int(timeout * 1000)))
        connection.request("POST", "/v1/" + method, json.dumps(request).encode(), headers)
        return connection.getresponse()

    def _post(self, method: str, request: JSON, timeout: Optional[float]) -> Tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        try:
            response = self._send(self._connection, method, request, timeout)
            return response.status, response.read()
        except ThreshError:
            self.disconnect()
            raise
        except (OSError, http.client.HTTPException) as e:
            self.disconnect()  # the next request gets a new one
            raise _broken(e) from e


class Session:
    """One conversation."""

    def __init__(self, client: Client, id: str, state: Opened):
        self.client, self.id, self.state = client, id, state
        self._kept = _Kept()

    def add(self, *entries: JSON, opaque: bool = False, key: str = "") -> Added:
        """Appends entries in the native form, all or none. It is tried for some seconds, and takes place once. To try
        longer, choose a key: the same call again, with the same key, adds nothing twice."""
        return self._add(key, entries=list(entries), opaque=opaque)

    def add_messages(self, form: str, messages: List[JSON], system: Union[str, List[JSON]] = "", key: str = "") -> Added:
        """Appends messages as the provider has them: "anthropic", "openai-chat" or "openai-responses"."""
        more = {"system": system} if system else {}
        return self._add(key, format=form, messages=messages, **more)

    def _add(self, key: str, **request: Any) -> Added:
        return _of(Added, self._call("history.add", key=key or str(uuid.uuid4()), **request))

    def prepare(self, form: str = "", pending_tokens: int = 0, timeout: Optional[float] = None,
                recall: bool = False) -> Prepared:
        """Makes the history fit the model. To be called before every model call. Only what is new is transferred. If it
        fails, the error's `prepared` has the history as it is. recall: the model has the tool thresh_recall, and
        shortened results get an id for it."""
        request: JSON = {"session": self.id, "format": form, "pendingTokens": pending_tokens, "recall": recall}
        if self._kept.revision is not None and self._kept.form == form:
            request["since"] = self._kept.revision
        kept, self._kept = self._kept, _Kept()  # after an error, the next one gets everything
        answer = self.client.call("window.prepare", request, timeout)
        name = "messages" if form else "history"
        answer[name] = kept.items[: answer.get("keep", 0)] + answer[name]
        self._kept = _Kept(form, answer["revision"], answer[name])
        return _prepared(answer)

    def compress(self, timeout: Optional[float] = None) -> JSON:
        """Compresses now, and returns the outcome."""
        outcome: JSON = self.client.call("history.compress", {"session": self.id}, timeout)["outcome"]
        return outcome

    def report_usage(self, prompt_tokens: int) -> None:
        self._call("usage.report", promptTokens=prompt_tokens)

    def set(self, key: str, value: Any) -> None:
        """Overrides a setting; None removes the override."""
        self._call("session.set", key=key, value=value)

    def set_system(self, system: Union[str, List[JSON]]) -> int:
        """Sets the system prompt, and returns its tokens; "" removes it."""
        return int(self._call("session.setSystem", system=system)["tokens"])

    def set_todos(self, todos: List[JSON]) -> None:
        self._call("todos.set", todos=todos)

    def get(self) -> State:
        return _of(State, self._call("session.get"))

    def history(self) -> List[JSON]:
        """The owned history, also what is not sent to a model."""
        return [entry for part in self._stream("history.get") for entry in part["history"]]

    def recorded(self, id: str) -> List[JSON]:
        """Entries as they were added, by the id of an entry or of a tool call."""
        entries: List[JSON] = self._call("history.recorded", id=id)["entries"]
        return entries

    def search(self, query: str, limit: int = 0, tokens: int = 0) -> List[Passage]:
        """Passages of what was removed or shortened, by words, the best first: at most `limit` (0 is 3), with at most
        `tokens` together (0 is 500). What stands in "double quotes" must occur exactly so."""
        return self._search(query=query, limit=limit, tokens=tokens)

    def lines(self, entry: str, block: int, line: int, lines: int) -> Passage:
        """Lines of what was added, such as more around a passage. Those that exist are returned."""
        return self._search(place={"entry": entry, "block": block, "line": line, "lines": lines})[0]

    def _search(self, **request: Any) -> List[Passage]:
        return [_of(Passage, found) for found in self._call("history.search", **request)["passages"]]

    def explain(self, id: str = "") -> List[JSON]:
        """What became of an entry, by its id or that of a tool call, and why; without an id, of all entries."""
        return [change for part in self._stream("history.explain", id=id) for change in part["changes"]]

    def watch(self) -> Iterator[JSON]:
        """The session's turns from now on, as Client.watch reports them."""
        return self.client.watch(self.id)

    def close(self) -> None:
        self._call("session.close")

    def _call(self, method: str, **request: Any) -> JSON:
        return self.client.call(method, {"session": self.id, **request})

    def _stream(self, method: str, **request: Any) -> Iterator[JSON]:
        return self.client.stream(method, {"session": self.id, **request})


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _broken(e: Exception) -> ThreshError:
    return ThreshError(str(e) or type(e).__name__, {"kind": "connection", "retryable": True, "maybeApplied": True})


_T = TypeVar("_T")


def _of(kind: Type[_T], answer: JSON) -> _T:
    """The members of an answer that a dataclass has, by their names in Python."""
    known = {_named(f.name): f.name for f in fields(kind)}  # type: ignore[arg-type]
    return kind(**{known[name]: value for name, value in answer.items() if name in known})


def _named(name: str) -> str:
    """The name in JSON."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _prepared(a: JSON) -> Prepared:
    return Prepared(
        history=list(a.get("history") or []), messages=list(a.get("messages") or []), system=a.get("system"),
        instructions=a.get("instructions"), notes=a.get("notes", []), tokens=a["tokens"],
        system_tokens=a.get("systemTokens", 0), revision=a["revision"], outcome=a["outcome"])


from .alone import Compressed, compress, retrieve  # noqa: E402
