"""Tests of the client against a real server: the variable THRESH names the program.

    THRESH=bin/thresh python3 -m unittest discover -s clients/python/tests
"""

import dataclasses
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import thresh  # noqa: E402
from thresh import Client, ThreshError, compress, retrieve  # noqa: E402


def say(text, speaker="human"):
    return {"speaker": speaker, "blocks": [{"type": "text", "text": text}]}


class Server:
    """thresh serve on a socket in a directory of its own."""

    def __init__(self, dir):
        self.address = f"unix:{dir}/s"
        self._args = [os.environ["THRESH"], "serve", "--set", "serve.listen=" + self.address,
                      "--set", f"sessions.store=sqlite:{dir}/sessions.db", "--strategy", "top-down-truncation",
                      "--set", "model.contextLimit=2000"]
        self._env = {"PATH": os.environ["PATH"], "HOME": str(dir), "TMPDIR": str(dir)}
        self.start()

    def start(self):
        self._process = subprocess.Popen(self._args, env=self._env, cwd=self._env["HOME"], stderr=subprocess.PIPE,
                                         text=True)
        for line in self._process.stderr:
            if "serving at" in line:
                break
        else:
            raise AssertionError("it does not serve")
        self._reader = threading.Thread(target=self._process.stderr.read)
        self._reader.start()

    def stop(self):
        self._process.terminate()
        self._reader.join()
        self._process.wait()
        self._process.stderr.close()


class TestClient(unittest.TestCase):
    def setUp(self):
        self._dir = tempfile.TemporaryDirectory(prefix="t")
        self.addCleanup(self._dir.cleanup)
        self.server = Server(self._dir.name)
        self.addCleanup(lambda: self.server.stop())
        self.client = Client(self.server.address)
        self.addCleanup(self.client.disconnect)

    def test_a_conversation(self):
        session = self.client.open("chat", settings={"model.contextLimit": 32000}, system="be brief")
        state = session.add_messages("openai-chat", [{"role": "user", "content": "hi"}])
        self.assertEqual(state.revision, 1)
        first = session.prepare("openai-chat", pending_tokens=10)
        self.assertEqual([m["role"] for m in first.messages], ["system", "user"])
        session.add(say("hello", "ai"))
        second = session.prepare("openai-chat")  # only what is new is transferred
        self.assertEqual([m["role"] for m in second.messages], ["system", "user", "assistant"])
        self.assertEqual(len(first.messages), 2)
        session.report_usage(50)
        session.set("compression.threshold", 0.5)
        session.set("compression.threshold", None)
        session.set_todos([{"id": "1", "content": "write", "status": "pending"}])
        self.assertGreater(session.set_system([{"type": "text", "text": "be long"}]), 0)
        state = session.get()
        self.assertEqual((state.session, state.entries, state.system), ("chat", 2, [{"type": "text", "text": "be long"}]))
        session.set_system("")
        self.assertEqual((session.get().system, session.get().system_tokens), ([], 0))
        self.assertEqual(len(session.history()), 2)
        self.assertEqual(session.recorded("e1")[0]["speaker"], "human")
        self.assertEqual([s["session"] for s in self.client.sessions()], ["chat"])
        session.close()
        self.client.delete("chat")
        self.assertEqual(list(self.client.sessions()), [])

    def test_compressing_and_why(self):
        session = self.client.open()
        session.add(*[say(f"{i}" + " word" * 100) for i in range(20)])
        ready = session.prepare()
        self.assertLess(len(ready.history), 20)
        self.assertEqual(ready.outcome["compress"]["kind"], "applied")
        changes = [(c["entry"], c["kind"]) for c in session.explain()]
        self.assertEqual(changes[:3], [("e20", "kept"), ("e21", "added"), ("e1", "removed")])
        self.assertIn("compress", session.compress())

    def test_what_was_removed_is_found(self):
        session = self.client.open()
        lines = "\n".join(f"line {i} of needle" for i in range(30))
        session.add(say("the first " + lines), *[say("words " * 200) for _ in range(12)])
        self.assertEqual(session.search("needle"), [])  # all of it is sent
        session.prepare()
        found = session.search('"line 17 of needle"', limit=5, tokens=1000)
        self.assertEqual([(p.entry, p.speaker, p.kind, p.turn, p.of) for p in found], [("e1", "human", "text", 1, 30)])
        around = session.lines(found[0].entry, found[0].block, found[0].line - 5, found[0].lines + 10)
        self.assertIn(found[0].text, around.text)
        self.assertGreater(around.lines, found[0].lines)
        with self.assertRaises(ThreshError) as refused:
            session.search("?!")
        self.assertEqual((refused.exception.kind, refused.exception.field), ("request", "query"))

    def test_what_is_about_no_session(self):
        self.assertIn("window.prepare", self.client.initialize()["methods"])
        self.assertEqual(len(self.client.count(say("a"), say("b"))), 2)
        self.assertIn("top-down-truncation", [p["name"] for p in self.client.plugins()])
        self.assertIsInstance(self.client.reset_plugin("distill"), bool)

    def test_errors(self):
        session = self.client.open("s")
        with self.assertRaises(ThreshError) as refused:
            session.add(say("fine"), {"speaker": "robot"})
        e = refused.exception
        self.assertEqual((e.kind, e.entry, e.field, e.retryable), ("entry", 1, "entries[1].speaker", False))
        with self.assertRaises(ThreshError) as missing:
            self.client.call("session.get", {"session": "none"})
        self.assertEqual(missing.exception.kind, "session")
        session.add(say("words " * 3000))
        with self.assertRaises(ThreshError) as over:
            session.prepare()
        self.assertEqual(over.exception.kind, "overflow")
        self.assertGreater(over.exception.missing_tokens, 0)
        self.assertEqual(over.exception.largest[0]["entry"], "e1")
        self.assertEqual(len(over.exception.prepared.history), 1)
        with self.assertRaises(ThreshError) as gone:
            Client("unix:/nowhere/s").call("initialize", {})
        self.assertEqual((gone.exception.kind, gone.exception.maybe_applied), ("connection", False))

    def test_what_answers_is_no_service(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<html>hello</html>")

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as other:
            threading.Thread(target=other.serve_forever).start()
            address = f"127.0.0.1:{other.server_port}"
            with self.assertRaisesRegex(ThreshError, f"http://{address} answered with HTTP status 200 and no JSON"):
                Client(address).open("s")
            other.shutdown()

    def test_an_addition_takes_place_once(self):
        session = self.client.open("s")
        for _ in range(2):
            self.assertEqual(session.add(say("hi"), key="k").revision, 1)

    def test_a_restart_goes_unnoticed(self):
        session = self.client.open("s")
        session.add(say("hi"))
        watch = session.watch()
        self.assertNotIn("session", next(watch))
        self.server.stop()
        again = threading.Timer(0.2, self.server.start)
        again.start()
        self.assertEqual(session.add(say("again")).revision, 2)
        again.join()
        self.assertNotIn("session", next(watch))  # it has begun again
        session.prepare()
        turn = next(watch)
        self.assertEqual((turn["session"], turn["method"]), ("s", "prepare"))
        watch.close()

    def test_messages_are_made_small_without_a_session(self):
        os.environ["PATH"] = os.path.dirname(os.environ["THRESH"]) + os.pathsep + os.environ["PATH"]
        messages = [{"role": "user", "content": "read them all"}]
        for i in range(12):
            call = {"id": f"c{i}", "type": "function", "function": {"name": "read", "arguments": '{"n": %d}' % i}}
            messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                         {"role": "tool", "tool_call_id": f"c{i}", "content": f"file {i} " * 200}]
        for address in self.server.address, "":  # and by a child
            with self.subTest(address):
                asked = dict(model="gpt-5", strategy="top-down-truncation", context_limit=3000, address=address)
                made = compress(messages, **asked)
                self.assertLess(made.tokens_after, made.tokens_before / 2)
                self.assertEqual(made.messages[-1], messages[-1])
                part = next(p for p in made.removed if p["kind"] == "tool_response")
                self.assertEqual(retrieve(part["id"], address=address), messages[part["message"]]["content"])
                self.assertEqual(compress(messages, **asked), made)
                with self.assertRaises(ThreshError) as failed:
                    compress([{"role": "robot", "content": "hi"}], address=address)
                self.assertEqual((failed.exception.kind, failed.exception.field), ("request", "messages[0]"))


class TestContract(unittest.TestCase):
    """What the client returns has the members of openapi.json, and no others."""

    def test_the_members(self):
        path = pathlib.Path(__file__).parents[3] / "host/internal/service/openapi.json"
        schemas = json.loads(path.read_text())["components"]["schemas"]
        for kind, name, left_out in [
            (thresh.Added, "AddAnswer", []), (thresh.Opened, "OpenAnswer", []), (thresh.State, "StateAnswer", []),
            (thresh.Prepared, "PrepareAnswer", ["keep"]), (thresh.Passage, "Passage", []),
            (thresh.Compressed, "CompressedMessages", []),
        ]:
            with self.subTest(name):
                members = sorted(thresh._named(f.name) for f in dataclasses.fields(kind))
                self.assertEqual(members, sorted(set(schemas[name]["properties"]) - set(left_out)))
        error = ThreshError("", {})
        members = sorted(thresh._named(name) for name in vars(error) if not name.startswith("_"))
        self.assertEqual(members, sorted(set(schemas["Failure"]["properties"]) - {"message"}))


if __name__ == "__main__":
    unittest.main()
