// What the types allow, and what they do not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

for (const config of ["tsconfig.json", "tsconfig-7.json"]) {
  test(`the types with ${config}`, () => {
    const args = [path("../node_modules/typescript/bin/tsc"), "-p", path(config)];
    assert.equal(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout, "");
  });
}
