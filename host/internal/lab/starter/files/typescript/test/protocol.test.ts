import assert from "node:assert/strict";
import { test } from "node:test";

import { Reader, chunks, edits, entries, maxChunk } from "../src/messages";
import { Call, type Content, type Entry, type Host } from "../src/protocol";

// The two entries that PROTOCOL.md spells out.
const documented = Buffer.from(
  [
    "17 0a026531 1003 1a0f 0a0568756d616e 1206 0a04 0a026869",
    "1c 0a026532 1009 1a14 0a026169 120e 120c 0a026331 12026c73 1a027b7d",
  ].join("").replaceAll(" ", ""),
  "hex",
);

test("entries are read wherever the sequence is cut", () => {
  for (let size = 1; size <= documented.length; size++) {
    const reader = new Reader(entries, 2);
    for (let at = 0; at < documented.length; at += size) {
      reader.add(documented.subarray(at, at + size));
      reader.add(Buffer.alloc(0));
    }
    const [first, second] = reader.end() as Entry[];
    assert.equal(first!.id, "e1");
    assert.equal(Number(first!.tokens), 3);
    assert.equal(first!.content.speaker, "human");
    assert.equal(second!.content.blocks[0]!.toolCall!.name, "ls");
  }
});

test("a broken sequence is refused", () => {
  const read = (announced: number, ...parts: Uint8Array[]) => () => {
    const reader = new Reader(entries, announced);
    parts.forEach((p) => reader.add(p));
    reader.end();
  };
  const cases: [string, () => void, RegExp][] = [
    ["ends early", read(2, documented.subarray(0, -1)), /ended after 1 of 2/],
    ["ends between entries", read(2, documented.subarray(0, 24)), /ended after 1 of 2/],
    ["holds more than was announced", read(1, documented), /continues after the 1/],
    ["holds a message without end", read(1, Buffer.from("ffffffff7f", "hex")), /is longer than/],
    ["holds a length without end", read(1, Buffer.alloc(20, 0x80)), /is longer than/],
    ["holds what is no entry", read(1, Buffer.from("014f", "hex")), /cannot be read/],
    ["comes in too large chunks", read(1, Buffer.alloc(maxChunk + 1)), /a chunk has/],
  ];
  for (const [name, attempt, says] of cases) {
    assert.throws(attempt, says, name);
  }
});

test("answers are cut into chunks", () => {
  const hex = (it: Iterable<Uint8Array>) => Buffer.concat([...it]).toString("hex");
  assert.equal(hex(chunks(edits, [{ index: 1, remove: {} }])), "0408011200");
  const replaced = { index: 1, replace: { blocks: [{ keep: 0 }, { block: Object({ text: { text: "ok" } }) }] } };
  assert.equal(hex(chunks(edits, [replaced])), "1208011a0e0a0208000a0812060a040a026f6b");

  const sizes = [...chunks(edits, Array(300_000).fill({ index: 1, remove: {} }))].map((c) => c.length);
  assert.equal(sizes.reduce((a, b) => a + b), 300_000 * 5);
  assert.deepEqual([...new Set(sizes.slice(0, -1))], [maxChunk]);
});

test("what the model is asked fits its window, with the answer", async () => {
  const size = ({ blocks }: Content) => blocks[0]!.text!.text.length;
  let sent = 0;
  const host: Partial<Host> = {
    estimateTokens: async (contents) => contents.map(size),
    generate: async ({ system, contents, maxOutputTokens }) => {
      sent = system.length + contents.map(size).reduce((a, b) => a + b) + maxOutputTokens;
      return "done";
    },
  };
  const call = new Call([], {}, { host, model: { contextLimit: 4000, maxOutput: 8000 } });
  assert.equal(await call.ask("summarise", "🙂".repeat(50_000)), "done");
  assert.ok(sent > 3000 && sent <= 4000, `${sent}`);
  await assert.rejects(call.ask("x".repeat(3000), "a"), /less than 512 tokens/);
  await assert.rejects(new Call([], {}, { host }).ask("summarise", "a"), /no model/);
});
