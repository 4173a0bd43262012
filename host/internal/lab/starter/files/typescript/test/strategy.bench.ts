// The time for each entry should be the same for a long history as for a short one.

import { Call } from "../src/protocol";
import { compress } from "../src/strategy";
import { session } from "./session";

async function bench(): Promise<void> {
  for (const rounds of [100, 10_000]) {
    const history = session(rounds);
    const began = performance.now();
    await compress(new Call(history, { keep: 3 }));
    const each = ((performance.now() - began) / history.length) * 1000;
    console.log(`${String(rounds).padStart(6)} calls: ${each.toFixed(2)} µs for each entry`);
  }
}

void bench();
