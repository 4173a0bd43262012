// The agent loop of agent.py for Node, with messages in Anthropic's form.
//
//   node examples/service/agent.mjs http://127.0.0.1:7440 ~/.local/state/thresh/token chat-2 6

import { readFileSync } from "node:fs";
import { Client } from "../../clients/typescript/thresh.mjs";

// Stands in for client.messages.create({ system, messages }).
function model(step, system, messages) {
  const input = { file_path: "server.go", ...(step % 2 ? {} : { old_string: `handle${step}`, new_string: "serve" }) };
  const use = { type: "tool_use", id: `call-${step}`, name: step % 2 ? "read_file" : "replace", input };
  return { role: "assistant", content: [use] };
}

// Stands in for the agent's tools.
function tool(name) {
  if (name === "replace") return "replaced 1 occurrence";
  return "func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n".repeat(40);
}

const [address, tokenFile, name, steps] = process.argv.slice(2);
if (!steps) {
  console.error("usage: agent.mjs ADDRESS TOKEN_FILE SESSION STEPS");
  process.exit(2);
}
const token = address.startsWith("unix:") ? "" : readFileSync(tokenFile, "utf8").trim();
const thresh = new Client(address, { token });
const settings = { "model.name": "claude-sonnet-4-5", "model.contextLimit": "8000" };
const session = await thresh.open(name, { settings, system: "You rename functions." });
const blocks = (await session.history()).flatMap((entry) => entry.blocks);
const last = blocks.findLast((block) => block.type === "tool_call");
if (session.state.entries === 0) {
  await session.addMessages("anthropic", [{ role: "user", content: "Rename the function in server.go." }]);
}
const done = last ? Number(last.id.slice("call-".length)) : 0;
for (let step = done + 1; step <= done + Number(steps); step++) {
  const ready = await session.prepare({ form: "anthropic", pendingTokens: 500 });
  const count = String(ready.messages.length).padStart(2);
  console.log(`node,   step ${String(step).padStart(2)}: send ${count} messages, ${String(ready.tokens).padStart(4)} tokens`);
  const answer = model(step, ready.system, ready.messages);
  const [use] = answer.content;
  const result = { type: "tool_result", tool_use_id: use.id, content: tool(use.name) };
  await session.addMessages("anthropic", [answer, { role: "user", content: [result] }]);
}
thresh.disconnect();
