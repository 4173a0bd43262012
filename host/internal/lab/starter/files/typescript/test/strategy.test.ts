import assert from "node:assert/strict";
import { test } from "node:test";

import { Call, type Host } from "../src/protocol";
import { cleared, compress } from "../src/strategy";
import { session } from "./session";

test("the newest results stay", async () => {
  const host: Partial<Host> = { estimateTokens: async (contents) => contents.map(() => 8) };
  const call = new Call(session(10), { keep: 2 }, { host });
  const answer = await compress(call);
  assert.deepEqual([...answer.changed.keys()].sort((a, b) => a - b), [2, 4, 6, 8, 10, 12, 14, 16]);
  assert.deepEqual(answer.counts, { resultsCleared: 8 });
  assert.equal(answer.changed.get(2)?.get(0)?.toolResponse?.result, cleared);
  assert.equal(await call.tokens(answer), 10 + 10 * 10 + 8 * 8 + 2 * 100);
});

test("pinned and short results stay", async () => {
  const history = session(3);
  history[2]!.content.metadata = Buffer.from('{"pinned": true}');
  history[4]!.content.blocks[0]!.toolResponse!.result = Buffer.from('"ok"');
  const answer = await compress(new Call(history, { keep: 0 }));
  assert.deepEqual([...answer.changed.keys()], [6]);
});
