import sys
import types
import unittest

sys.path.insert(0, "src")
from protocol import Call, Entry, Failure, delimited, undelimited
from turns import pinned_exchanges, safe_cut

# The two entries that PROTOCOL.md spells out.
DOCUMENTED = bytes.fromhex("17 0a026531 1003 1a0f 0a0568756d616e 1206 0a04 0a026869"
                           "1c 0a026532 1009 1a14 0a026169 120e 120c 0a026331 12026c73 1a027b7d")


def entries(*kinds):
    """Calls ("a"), responses ("-a") and words of a person ("")."""
    history = []
    for kind in kinds:
        if kind.startswith("-"):
            content = {"speaker": "tool", "blocks": [{"tool_response": {"call_id": kind[1:]}}]}
        else:
            content = {"speaker": "ai", "blocks": [{"tool_call": {"id": kind}}]} if kind else {"speaker": "human"}
        history.append(Entry(tokens=1, content=content))
    return history


class TestProtocol(unittest.TestCase):
    def test_messages_are_written_and_read(self):
        found = undelimited(Entry, DOCUMENTED, 2)
        self.assertEqual([entry.id for entry in found], ["e1", "e2"])
        self.assertEqual(b"".join(delimited(found)), DOCUMENTED)

    def test_a_broken_sequence_is_refused(self):
        for text, announced in [(DOCUMENTED[:-1], 2), (DOCUMENTED[:24], 2), (DOCUMENTED, 1), (b"\x01\x4f", 1),
                                (b"\xff\xff\xff\xff\x7f", 1), (b"\x80" * 20, 1)]:
            with self.assertRaises(Failure):
                undelimited(Entry, text, announced)

    def test_what_the_model_is_asked_fits_its_window_with_the_answer(self):
        sent = []

        class Host:
            def estimate_tokens(self, contents):
                return [len(content.blocks[0].text.text) for content in contents]

            def generate(self, system, contents, answer):
                sent.append(len(system) + sum(self.estimate_tokens(contents)) + answer)
                return "done"

        host = Host()
        call = Call([], {}, host=host, model=types.SimpleNamespace(context_limit=4000, max_output=8000))
        self.assertEqual(call.ask("summarise", "x" * 100_000), "done")
        self.assertTrue(3000 < sent[0] <= 4000, sent)
        with self.assertRaisesRegex(Failure, "less than 512 tokens"):
            call.ask("x" * 3000, "a")
        with self.assertRaisesRegex(Failure, "no model"):
            Call([], {}, host=host).ask("summarise", "a")


class TestTurns(unittest.TestCase):
    def test_a_response_belongs_to_the_nearest_preceding_unanswered_call(self):
        self.assertEqual(safe_cut(entries("a", "a", "-a", "", "-a", ""), 1), 5)
        self.assertEqual(safe_cut(entries("a", "-a", "a", "-a"), 1), 2)
        self.assertEqual(safe_cut(entries("-a"), 0), 0)

    def test_a_pinned_call_stays_with_its_response(self):
        history = entries("a", "-a", "b", "-b")
        history[2].content.metadata = b'{"pinned": true}'
        self.assertEqual(pinned_exchanges(history), {2, 3})


if __name__ == "__main__":
    unittest.main()
