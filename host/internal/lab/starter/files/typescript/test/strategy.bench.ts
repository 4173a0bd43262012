// The time for each entry should be the same for a long history as for a short one.

import { Call, type Content } from "../src/protocol";
import { compress, info } from "../src/strategy";
import { session } from "./session";

async function bench(): Promise<void> {
  const fields = (info.config ?? []).map((f) => [f.key, JSON.parse(Buffer.from(f.defaultValue).toString())]);
  const settings = Object.fromEntries(fields);
  const host = { estimateTokens: async (contents: Content[]) => contents.map(() => 10) };
  for (const rounds of [100, 10_000]) {
    const history = session(rounds);
    const began = performance.now();
    await compress(new Call(history, settings, { host }));
    const each = ((performance.now() - began) / history.length) * 1000;
    console.log(`${String(rounds).padStart(6)} calls: ${each.toFixed(2)} µs for each entry`);
  }
}

void bench();
