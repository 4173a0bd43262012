import json
import sys
import unittest

sys.path.insert(0, "src")
import strategy
from protocol import Call, Entry


def session(n):
    """A question, and n tool calls with long results."""
    history = [Entry(tokens=10, content={"speaker": "human", "blocks": [{"text": {"text": "What is in here?"}}]})]
    for i in range(n):
        call = {"id": f"call{i}", "name": "ls", "parameters": b"{}"}
        result = {"call_id": f"call{i}", "tool_name": "ls", "result": json.dumps("main.py\n" * 40).encode()}
        history.append(Entry(tokens=10, content={"speaker": "ai", "blocks": [{"tool_call": call}]}))
        history.append(Entry(tokens=100, content={"speaker": "tool", "blocks": [{"tool_response": result}]}))
    return history


class Host:
    def estimate_tokens(self, contents):
        return [8] * len(contents)


class TestStrategy(unittest.TestCase):
    def test_the_newest_results_stay(self):
        history = session(10)
        call = Call(history, {"keep": 2}, host=Host())
        answer = strategy.compress(call)
        self.assertEqual(sorted(answer.changed), list(range(2, 17, 2)))
        self.assertEqual(answer.counts, {"resultsCleared": 8})
        self.assertEqual(answer.changed[2][0].tool_response.result, strategy.CLEARED)
        self.assertEqual(call.tokens(answer), 10 + 10 * 10 + 8 * 8 + 2 * 100)

    def test_pinned_and_short_results_stay(self):
        history = session(3)
        history[2].content.metadata = b'{"pinned": true}'
        history[4].content.blocks[0].tool_response.result = b'"ok"'
        self.assertEqual(sorted(strategy.compress(Call(history, {"keep": 0})).changed), [6])


if __name__ == "__main__":
    unittest.main()
