import assert from "node:assert/strict";
import { test } from "node:test";

import { clip } from "../src/clip";

test("a text that is short enough stays", () => {
  assert.equal(clip("x".repeat(200), 200), "x".repeat(200));
});

test("a long text keeps its beginning and its end", () => {
  const got = clip("a".repeat(500) + "b".repeat(500), 200);
  assert.equal(got, "a".repeat(94) + "\n[… 860 characters left out …]\n" + "b".repeat(46));
});

test("lines that are not long stay whole", () => {
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i}\n`);
  const got = clip(lines.join(""), 300);
  const kept = got.split("\n").filter((line) => !line.startsWith("["));
  assert.ok(kept.length > 20 && got.length <= 300, got);
  assert.deepEqual(kept.filter((line) => line !== "" && !lines.includes(`${line}\n`)), []);
});

test("no character is cut in half, and nothing changes a second time", () => {
  for (const prefix of ["", "x"]) {
    for (let max = 200; max < 210; max++) {
      const got = clip(prefix + "🙂".repeat(100_000), max);
      assert.equal(Buffer.from(got).toString(), got, `${max}`);
      assert.ok(got.length <= max, `${got.length} > ${max}`);
      assert.equal(clip(got, max), got);
    }
  }
});
