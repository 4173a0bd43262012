import assert from "node:assert/strict";
import { test } from "node:test";

import type { Entry } from "../src/protocol";
import { pinnedExchanges, safeCut } from "../src/turns";

const entry = (speaker: string, block: object): Entry => ({ id: "", tokens: 1, content: { speaker, blocks: [block] } });
const said = () => entry("human", { text: { text: "go on" } });
const call = (id: string) => entry("ai", { toolCall: { id, name: "sh" } });
const result = (callId: string) => entry("tool", { toolResponse: { callId, toolName: "sh" } });

test("a response belongs to the nearest preceding unanswered call with its id", () => {
  const history = [call("a"), call("a"), result("a"), said(), result("a"), said()];
  assert.equal(safeCut(history, 1), 5);
  assert.equal(safeCut([call("a"), result("a"), call("a"), result("a")], 1), 2);
  assert.equal(safeCut([result("a")], 0), 0);
});

test("a pinned call stays with its response", () => {
  const history = [call("a"), result("a"), call("b"), result("b")];
  history[2]!.content.metadata = Buffer.from('{"pinned": true}');
  assert.deepEqual([...pinnedExchanges(history)], [2, 3]);
});
