import assert from "node:assert/strict";
import { test } from "node:test";

import { Call, type Content, type Entry } from "../src/protocol";
import { compress, optimize } from "../src/strategy";

const long = "x".repeat(10_000);
const host = { estimateTokens: async (contents: Content[]) => contents.map(() => 10) };
const none = { maxCharacters: 1e9, keepRecent: 0 };

const entry = (speaker: string, block: object): Entry => ({ id: "", tokens: 100, content: { speaker, blocks: [block] } });
const said = (): Entry => entry("human", {});
const call = (id: string): Entry => entry("ai", { toolCall: { id, name: "sh" } });
const result = (callId: string, value: unknown = long): Entry =>
  entry("tool", { toolResponse: { callId, toolName: "sh", result: Buffer.from(JSON.stringify(value)), error: "" }, extra: ["kept"] });
const rounds = (n: number) => Array.from({ length: n }, (_, i) => [call(`c${i}`), result(`c${i}`)]).flat();

test("optimize clips all but the newest results and keeps everything else", async () => {
  const history = [said(), ...rounds(3), call("s"), result("s", { stdout: long })];
  const settings = { maxCharacters: 800, keepRecent: 2 };
  const found = await optimize(new Call(history, settings));
  assert.deepEqual([...found.changed.keys()], [2, 4]);
  const block = found.changed.get(2)!.get(0)!;
  assert.ok(JSON.parse(String(block.toolResponse!.result)).length <= 800);
  assert.deepEqual((block as { extra?: string[] }).extra, ["kept"]);

  // On its own result there is nothing left to do.
  history[2]!.content.blocks = [block];
  assert.deepEqual([...(await optimize(new Call(history, settings))).changed.keys()], [4]);
});

test("compress clips first", async () => {
  const answer = await compress(new Call([said(), ...rounds(2)], { maxCharacters: 800, keepRecent: 0 }, { target: 330, host }));
  assert.deepEqual(answer.counts, { resultsClipped: 2, entriesDropped: 0 });
  assert.deepEqual([...answer.changed.keys()], [2, 4]);
});

test("compress then drops the oldest, but not what people said, and parts no pair", async () => {
  const answer = await compress(new Call([said(), ...rounds(3), said()], none, { target: 400, host }));
  assert.deepEqual([...answer.removed], [1, 2, 3, 4]);
  assert.equal(answer.counts["entriesDropped"], 4);
});

test("compress changes nothing if that gains nothing", async () => {
  const answer = await compress(new Call([said()], none, { target: 1, host }));
  assert.equal(answer.removed.size + answer.changed.size, 0);
});
