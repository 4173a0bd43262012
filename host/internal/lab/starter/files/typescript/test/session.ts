import type { Block, Entry } from "../src/protocol";

const entry = (speaker: string, tokens: number, block: Block): Entry => ({
  id: "",
  tokens,
  content: { speaker, blocks: [block] },
});

/** A question, and n tool calls with long results. */
export function session(n: number): Entry[] {
  const history = [entry("human", 10, { text: { text: "What is in here?" } })];
  const result = Buffer.from(JSON.stringify("main.ts\n".repeat(40)));
  for (let i = 0; i < n; i++) {
    history.push(entry("ai", 10, { toolCall: { id: `call${i}`, name: "ls", parameters: Buffer.from("{}") } }));
    history.push(entry("tool", 100, { toolResponse: { callId: `call${i}`, toolName: "ls", result, error: "" } }));
  }
  return history;
}
