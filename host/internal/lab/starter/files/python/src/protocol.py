"""Serves a strategy to a thresh host: the protocol that PROTOCOL.md of thresh describes, version 1.

A strategy is a module with INFO, the fields of GetInfoResponse, and compress(call), which returns an Answer. If its
trigger is TRIGGER_MODE_CONTINUOUS, it also has optimize(call). What calls bring and return are messages of
thresh/proto/thresh/v1.
"""

import itertools
import json
import os
import pkgutil
import signal
import sys
import threading
from concurrent import futures
from datetime import datetime, timezone

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

COOKIE = "b1f0c4d2e97a46538c20d8e15f7a93be"  # a host started this process
CHUNK = 1 << 20  # the most bytes of a chunk
OPTIONS = [("grpc.max_receive_message_length", 64 << 20)]
LEVELS = ["trace", "debug", "info", "warn", "error"]
TARGET = 0.6  # of the threshold: what is left until the next time
LEAST = 512  # with less room than this for a text, in tokens, nothing worth reading comes of it

_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(pkgutil.get_data(__name__, "protocol.binpb")).file:
    _pool.Add(_file)
_text, _number, _one = (descriptor_pb2.FieldDescriptorProto.TYPE_STRING, descriptor_pb2.FieldDescriptorProto.TYPE_UINT32,
                        descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL)
_pool.Add(descriptor_pb2.FileDescriptorProto(
    name="broker.proto", package="plugin", syntax="proto3",
    message_type=[descriptor_pb2.DescriptorProto(name="ConnInfo", field=[
        descriptor_pb2.FieldDescriptorProto(name=name, number=number, type=kind, label=_one)
        for number, name, kind in [(1, "service_id", _number), (2, "network", _text), (3, "address", _text)]])]))


def _message(name):
    found = _pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(_pool).GetPrototype(found)  # protobuf before 4.22


_services = {name: _pool.FindServiceByName("thresh.v1." + name) for name in ["StrategyService", "HostService"]}
Entry, Content, Block, Edit, Piece, ConnInfo, Info, ConfigureResponse, EstimateTokensRequest = map(_message, [
    "thresh.v1.Entry", "thresh.v1.Content", "thresh.v1.Block", "thresh.v1.Edit", "thresh.v1.Piece", "plugin.ConnInfo",
    "thresh.v1.GetInfoResponse", "thresh.v1.ConfigureResponse", "thresh.v1.EstimateTokensRequest"])
GenerateRequest, ResolvePromptRequest = map(_message, ["thresh.v1.GenerateRequest", "thresh.v1.ResolvePromptRequest"])


class Failure(Exception):
    """Ends a call with a gRPC status. The message is a sentence for people, without text of the conversation."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Answer:
    """What becomes of the history. An entry or block that is not named stays; an answer without changes is a no-op."""

    def __init__(self):
        self.removed = set()  # positions of entries
        self.changed = {}  # by the position of an entry: by the position of a block, what takes its place, or None
        self.added = {}  # by the position of an entry: new entries before it; of a compress alone, and so are counts
        self.counts = {}  # counters for people

    def change(self, entry, block, new):
        """Puts a copy that was changed in the place of a block; None removes it."""
        self.changed.setdefault(entry, {})[block] = new

    def insert(self, before, content):
        """Puts a new entry before that at a position, or at the end."""
        self.added.setdefault(before, []).append(content)

    def blocks(self, index, entry):
        """Returns the new blocks of an entry that stays, each as a position or a block."""
        changed = self.changed.get(index, {})
        return [b for b in (changed.get(j, j) for j in range(len(entry.content.blocks))) if b is not None]


class Call:
    """A request of a host. In a test, make one of a history."""

    def __init__(self, history, settings, target=0.0, host=None, model=None, active=lambda: True,
                 log=lambda *_, **__: None):
        self.history = history  # entries with their tokens; never change them
        self.settings = settings  # with the defaults
        self.target = target  # how many tokens a compressed history should have
        self.model = model  # its name, context_limit and max_output; None if the host has none for this strategy
        self.asked = False  # whether the model was asked
        self.log = log  # log(level, message, **fields); never text of the conversation
        self._host, self._active = host, active

    def check(self):
        """Raises if the host has cancelled the call. Call it in each round of a loop over the history."""
        if not self._active():
            raise Failure(grpc.StatusCode.CANCELLED, "the call was cancelled")

    def tokens(self, answer):
        """Counts what an answer leaves, with the host's tokenizer. In a compress alone."""
        total, changed = 0, []
        for i, entry in enumerate(self.history):
            if i in answer.changed and i not in answer.removed:
                content = Content()
                content.CopyFrom(entry.content)
                del content.blocks[:]
                content.blocks.extend(entry.content.blocks[b] if isinstance(b, int) else b for b in answer.blocks(i, entry))
                changed.append(content)
            elif i not in answer.removed:
                total += entry.tokens
        changed += itertools.chain.from_iterable(answer.added.values())
        return total + sum(self._host.estimate_tokens(changed) if changed else [])

    def prompt(self, name):
        """Returns the prompt of a name, such as "compression": the user's own, or the one that ships."""
        return self._host.resolve_prompt(name)

    def ask(self, system, text):
        """Has the host's model follow a prompt on a text. The middle of a text that is too long for it is left out."""
        if self.model is None:
            raise Failure(grpc.StatusCode.FAILED_PRECONDITION, "the host has no model for this strategy")
        window = self.model.context_limit
        answer = min(self.model.max_output or window, window // 4)
        room = window * 0.95 - answer  # the model's tokenizer is not the host's
        length = int(room * 8)
        while True:
            self.check()
            length = min(length, len(text))
            half = length // 2
            part = text if length == len(text) else f"{text[:half]}\n[…]\n{text[len(text) - half:]}"
            fixed, tokens = self._host.estimate_tokens([said(system), said(part)])
            if fixed + tokens <= room:
                self.asked = True
                return self._host.generate(system, [said(part)], answer)
            if room - fixed < LEAST:
                raise Failure(grpc.StatusCode.FAILED_PRECONDITION,
                              f"the prompt leaves less than {LEAST} tokens of the model's {window}")
            length = int(length * 0.9 * (room - fixed) / tokens)


def said(text):
    """An entry of a person. What is no text in UTF-8 becomes a question mark."""
    return Content(speaker="human", blocks=[{"text": {"text": text.encode(errors="replace").decode()}}])


def pinned(entry):
    """Says whether an entry must stay as it is."""
    return bool(entry.content.metadata) and json.loads(entry.content.metadata).get("pinned") is True


def delimited(messages):
    """Writes messages, each behind its length, into chunks."""
    held = bytearray()
    for message in messages:
        text = message.SerializeToString()
        size = len(text)
        while size > 127:
            held.append(size & 127 | 128)
            size >>= 7
        held.append(size)
        held += text
        whole = len(held) - len(held) % CHUNK
        for at in range(0, whole, CHUNK):
            yield bytes(held[at:at + CHUNK])
        del held[:whole]
    if held:
        yield bytes(held)


def undelimited(kind, text, announced):
    """Reads as many messages as were announced. An error is a Failure."""
    messages, at = [], 0
    while at < len(text):
        size = shift = 0
        while True:
            if at == len(text) or shift > 28:
                raise broken(f"the length of message {len(messages)} is broken")
            byte, at = text[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if at + size > len(text):
            raise broken(f"message {len(messages)} is cut off")
        try:
            messages.append(kind.FromString(text[at:at + size]))
        except Exception as e:
            raise broken(f"message {len(messages)} cannot be read") from e
        at += size
    if len(messages) != announced:
        raise broken(f"{announced} messages were announced, {len(messages)} came")
    return messages


def broken(message):
    return Failure(grpc.StatusCode.INVALID_ARGUMENT, message)


class Host:
    """What a host does for a compress, with which its calls end. In a test, write what the strategy uses."""

    def __init__(self, methods, call_id, context):
        self.methods, self.call_id, self.context = methods, call_id, context

    def begin(self, name, request):
        if not self.methods:
            raise Failure(grpc.StatusCode.FAILED_PRECONDITION, "this host offers no services")
        method = self.methods[name]
        made = method(request) if name == "Generate" else method.future(request)
        if not self.context.add_callback(made.cancel):
            made.cancel()
        return made

    def estimate_tokens(self, contents):
        """Counts entries with the host's tokenizer."""
        chunks = (EstimateTokensRequest(chunk=c) for c in delimited(contents))
        requests = itertools.chain([EstimateTokensRequest(call_id=self.call_id)], chunks)
        return self.begin("EstimateTokens", requests).result().tokens

    def resolve_prompt(self, name):
        return self.begin("ResolvePrompt", ResolvePromptRequest(call_id=self.call_id, name=name)).result().text

    def generate(self, system, contents, max_output_tokens):
        """Asks the model. Entries hold text alone. They, the system prompt and the answer must fit its window."""
        header = {"call_id": self.call_id, "system": system, "max_output_tokens": max_output_tokens}
        chunks = (GenerateRequest(chunk=c) for c in delimited(contents))
        pieces = list(self.begin("Generate", itertools.chain([GenerateRequest(header=header)], chunks)))
        if not pieces or not pieces[-1].HasField("end"):
            raise Failure(grpc.StatusCode.UNAVAILABLE, "the model's answer broke off")
        return "".join(piece.text for piece in pieces)


class Server:
    """The services of a plugin."""

    def __init__(self, strategy):
        self.strategy = strategy
        self.info = Info(**strategy.INFO)
        self.configured = False
        self.host = {}  # its methods, by their names
        self.least = LEVELS.index("debug")
        self.known = threading.Condition()
        self.addresses = {}

    def start(self, directory):
        # A call takes a thread for as long as it lasts, and so does the broker's stream.
        self.server = grpc.server(futures.ThreadPoolExecutor(128), options=OPTIONS)
        methods = {"GetInfo": lambda request, context: self.info, "Configure": self.configure,
                   "Compress": self.compress, "Optimize": self.optimize}
        handlers = {}
        for method in _services["StrategyService"].methods:
            if method.name in methods:
                streams = method.name in ("Compress", "Optimize")
                make = grpc.stream_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
                handlers[method.name] = make(methods[method.name], _message(method.input_type.full_name).FromString,
                                             _message(method.output_type.full_name).SerializeToString)
        broker = {"StartStream": grpc.stream_stream_rpc_method_handler(
            self.broker, ConnInfo.FromString, ConnInfo.SerializeToString)}
        self.server.add_generic_rpc_handlers([
            grpc.method_handlers_generic_handler("thresh.v1.StrategyService", handlers),
            grpc.method_handlers_generic_handler("plugin.GRPCBroker", broker)])
        path = os.path.join(directory, "strategy.sock")
        self.server.add_insecure_port("unix:" + path)
        self.server.start()
        return path

    def log(self, level, message, **fields):
        if LEVELS.index(level) >= self.least:
            at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            line = {"@level": level, "@message": message, "@timestamp": at, **fields}
            sys.stderr.write(json.dumps(line) + "\n")

    def broker(self, requests, context):
        """Remembers where the host's services are."""
        for conn in requests:
            with self.known:
                self.addresses[conn.service_id] = conn.address
                self.known.notify_all()
        return
        yield

    def configure(self, request, context):
        if self.configured:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "Configure was called twice")
        self.least = LEVELS.index(request.log_level) if request.log_level in LEVELS else self.least
        if request.host_service_id:
            with self.known:
                if not self.known.wait_for(lambda: request.host_service_id in self.addresses, timeout=5):
                    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the host did not say where its services are")
            channel = grpc.insecure_channel("unix:" + self.addresses[request.host_service_id], OPTIONS)
            for method in _services["HostService"].methods:
                make = {"EstimateTokens": channel.stream_unary, "Generate": channel.stream_stream,
                        "ResolvePrompt": channel.unary_unary}.get(method.name)
                if make:
                    self.host[method.name] = make(f"/thresh.v1.HostService/{method.name}",
                                                  _message(method.input_type.full_name).SerializeToString,
                                                  _message(method.output_type.full_name).FromString)
        self.configured = True
        return ConfigureResponse()

    def compress(self, requests, context):
        def run(header, call):
            answer = self.strategy.compress(call)
            result = {"metadata": {"counts": answer.counts, "llm_call_made": call.asked}}
            if not call.history:
                return {"noop_reason": "empty-history"}, []
            if not answer.changed and not answer.removed and not answer.added:
                return {"noop_reason": "no-gain"}, []
            result["metadata"]["target_missed"] = call.tokens(answer) > call.target
            pieces = []
            for i, entry in enumerate([*call.history, None]):
                pieces += [Piece(entry=content) for content in answer.added.get(i, [])]
                if entry is None or i in answer.removed:
                    continue
                if i in answer.changed:
                    pieces.append(Piece(edited={"index": i, "blocks": block_pieces(answer.blocks(i, entry))}))
                elif pieces and pieces[-1].HasField("keep") and pieces[-1].keep.to == i:
                    pieces[-1].keep.to = i + 1
                else:
                    piece = Piece()
                    setattr(piece.keep, "from", i)
                    piece.keep.to = i + 1
                    pieces.append(piece)
            return {**result, "pieces": len(pieces)}, pieces

        return self.serve("Compress", requests, context, run)

    def optimize(self, requests, context):
        def run(header, call):
            if not hasattr(self.strategy, "optimize"):
                raise Failure(grpc.StatusCode.UNIMPLEMENTED, "the strategy has no optimize")
            answer = self.strategy.optimize(call)
            edits = [Edit(index=i, remove={}) for i in sorted(answer.removed)]
            edits += [Edit(index=i, replace={"blocks": block_pieces(answer.blocks(i, call.history[i]))})
                      for i in answer.changed if i not in answer.removed]
            return {"metadata": {}, "edits": len(edits)}, edits

        return self.serve("Optimize", requests, context, run)

    def serve(self, method, requests, context, run):
        """Runs one call: a header and chunks come, the strategy works, a header and chunks go."""
        response = _message(f"thresh.v1.{method}Response")
        try:
            if not self.configured:
                raise Failure(grpc.StatusCode.FAILED_PRECONDITION, "called before Configure")
            header, call = self.receive(requests, context)
            if header.call.base.length:  # a mirror, which this plugin does not keep
                yield response(header={"revision": header.call.revision, "resync": True})
                return
            result, messages = run(header, call)
            yield response(header={"revision": header.call.revision, **result})
            for chunk in delimited(messages):
                call.check()
                yield response(chunk=chunk)
        except Failure as e:
            context.abort(e.code, str(e))
        except grpc.RpcError as e:  # of a service of the host, whose code is passed on; or the call was cancelled
            if isinstance(e, grpc.Call):
                context.abort(e.code(), e.details())
            raise
        except grpc.FutureCancelledError:
            context.abort(grpc.StatusCode.CANCELLED, "the call was cancelled")

    def receive(self, requests, context):
        header, chunks = None, []
        for request in requests:
            part = request.WhichOneof("part")
            if part == "header" and header is None:
                header = request.header
            elif part == "chunk" and header is not None and len(request.chunk) <= CHUNK:
                chunks.append(request.chunk)
            else:
                raise broken("a request is one header, then chunks of at most 1 MiB")
        if header is None:
            raise broken("the stream ended before its header")
        history = [] if header.call.base.length else undelimited(Entry, b"".join(chunks), header.call.entries)
        settings = json.loads(header.call.config or b"{}")
        target, model = 0.0, None
        if hasattr(header, "threshold"):
            room = header.context_limit - header.completion_budget
            target = (header.threshold * room - header.pending_tokens) * TARGET
            if header.HasField("model"):
                model = header.model
                model.context_limit = model.context_limit or header.context_limit
        host = Host(self.host, header.call.call_id, context)
        return header, Call(history, settings, target, host, model, context.is_active, self.log)


def block_pieces(blocks):
    return [{"keep": b} if isinstance(b, int) else {"block": b} for b in blocks]


def watch(lifeline):
    """Ends the process when the host has ended, however that happened: only it holds the other end of the pipe."""
    try:
        while os.read(lifeline, 4096):
            pass
    finally:
        os._exit(0)


def main(strategy):
    """Serves a strategy until the host ends it. Started by a person, it says what it is, and returns the status."""
    info = strategy.INFO
    if os.environ.get("THRESH_STRATEGY_PLUGIN") != COOKIE:
        shown = {"--describe": json_format.MessageToJson(Info(**info)), "--version": f"{info['name']} {info['version']}"}
        usage = f"{info['name']} is a strategy for thresh, which starts it. Options: --describe, --version, --help"
        if len(sys.argv) == 2 and sys.argv[1] in [*shown, "--help"]:
            print(shown.get(sys.argv[1], usage))
            return 0
        print(usage, file=sys.stderr)
        return 2 if len(sys.argv) > 1 else 1
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the host decides
    if os.environ.get("THRESH_LIFELINE_FD"):
        threading.Thread(target=watch, args=[int(os.environ["THRESH_LIFELINE_FD"])], daemon=True).start()
    server = Server(strategy)  # which serves for as long as somebody holds it
    path = server.start(os.environ["PLUGIN_UNIX_SOCKET_DIR"])
    print(f"1|1|unix|{path}|grpc", flush=True)
    while True:
        signal.pause()
