import assert from "node:assert/strict";
import { test } from "node:test";

import { safeCut } from "../src/pairs";
import type { Block, Content, Edit, Entry } from "../src/protocol";
import { compress, optimize, parseSettings } from "../src/strategy";

const long = "x".repeat(10_000);
const breathe = async () => {};
const estimate = async (contents: Content[]) => contents.map(() => 10);

const entry = (content: Content): Entry => ({ id: "", tokens: 100, content });
const said = (): Entry => entry({ speaker: "human", blocks: [{}] });
const call = (id: string): Entry => entry({ speaker: "ai", blocks: [{ toolCall: { id, name: "sh" } }] });
const result = (callId: string, value: unknown = long): Entry =>
  entry({
    speaker: "tool",
    blocks: [{ toolResponse: { callId, toolName: "sh", result: Buffer.from(JSON.stringify(value)), error: "" }, extra: ["kept"] }],
  });
const rounds = (n: number) => Array.from({ length: n }, (_, i) => [call(`c${i}`), result(`c${i}`)]).flat();

/** The one block that an edit puts into its entry, and which must be new. */
function newBlock(edit: Edit): Block {
  assert.ok("replace" in edit && edit.replace.blocks.length === 1);
  const [piece] = edit.replace.blocks;
  assert.ok(piece && "block" in piece);
  return piece.block;
}

test("a session's settings come over the defaults", () => {
  assert.deepEqual(parseSettings(Buffer.from('{"keepRecent":1}')), { maxCharacters: 6000, keepRecent: 1 });
  assert.deepEqual(parseSettings(Buffer.alloc(0)), { maxCharacters: 6000, keepRecent: 4 });
  for (const bad of ["{", "null", "[]", "1"]) {
    assert.throws(() => parseSettings(Buffer.from(bad)), /the settings are not a JSON object/, bad);
  }
  for (const bad of ['{"keepRecent":"1"}', '{"keepRecent":-1}', '{"keepRecent":1.5}', '{"keepRecent":null}']) {
    assert.throws(() => parseSettings(Buffer.from(bad)), /keepRecent must be/, bad);
  }
  assert.throws(() => parseSettings(Buffer.from('{"maxCharacters":799}')), /at least 800/);
});

test("optimize clips all but the newest results and keeps everything else", async () => {
  const history = [said(), ...rounds(3), call("s"), result("s", { stdout: long })];
  const found = await optimize(history, { maxCharacters: 800, keepRecent: 2 }, breathe);
  assert.deepEqual(found.map((e) => e.index), [2, 4]);
  const block = newBlock(found[0]!);
  assert.ok(JSON.parse(String(block.toolResponse!.result)).length <= 800);
  assert.deepEqual(block.extra, ["kept"]);

  // On its own result there is nothing left to do.
  history[2]!.content!.blocks = [block];
  const again = await optimize(history, { maxCharacters: 800, keepRecent: 2 }, breathe);
  assert.deepEqual(again.map((e) => e.index), [4]);
});

test("compress clips, and names what it keeps", async () => {
  const r = await compress([said(), ...rounds(2)], 330, { maxCharacters: 800, keepRecent: 0 }, estimate, breathe);
  assert.deepEqual(r.counts, { resultsClipped: 2, entriesDropped: 0 });
  assert.deepEqual(r.pieces.map((p) => ("keep" in p ? p.keep : p.edited.index)), [{ from: 0, to: 2 }, 2, { from: 3, to: 4 }, 4]);
  assert.equal(r.targetMissed, false);
});

test("compress then drops the oldest, but not what people said, and parts no pair", async () => {
  const r = await compress([said(), ...rounds(3), said()], 400, { maxCharacters: 1e9, keepRecent: 0 }, estimate, breathe);
  assert.deepEqual(r.pieces, [{ keep: { from: 0, to: 1 } }, { keep: { from: 5, to: 8 } }]);
  assert.equal(r.counts["entriesDropped"], 4);
});

test("compress says why there is nothing to do", async () => {
  const settings = { maxCharacters: 1e9, keepRecent: 0 };
  assert.equal((await compress([], 1, settings, estimate, breathe)).noopReason, "empty-history");
  assert.equal((await compress([said()], 1, settings, estimate, breathe)).noopReason, "no-gain");
});

test("a response belongs to the nearest preceding unanswered call with its id", () => {
  const history = [call("a"), call("a"), result("a"), said(), result("a"), said()];
  assert.equal(safeCut(history, 1), 5);
  assert.equal(safeCut([call("a"), result("a"), call("a"), result("a")], 1), 2);
  assert.equal(safeCut([result("a")], 0), 0);
});
