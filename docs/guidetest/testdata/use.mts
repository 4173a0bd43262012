// What the types of the client allow, and what they do not: an error that does not come is one.
import { Client, ThreshError, type AddAnswer, type Passage, type Prepared } from "../clients/typescript/thresh.mjs";

const thresh = new Client("unix:/run/thresh.sock", { token: "" });
const session = await thresh.open("chat-1", { settings: { "model.contextLimit": 8000 }, system: "be brief" });
const added: AddAnswer = await session.addMessages("anthropic", [{ role: "user", content: "hello" }]);
const ready: Prepared = await session.prepare({ form: "anthropic", pendingTokens: 100 });
const tokens: number = added.tokens + ready.tokens;
await session.reportUsage(tokens);
await session.setTodos([{ id: "1", content: "write", status: "pending" }]);
for await (const turn of session.watch()) console.log(turn.method, turn.error?.message);
const each: number[] = await thresh.count([{ speaker: "human", blocks: [] }]);
for await (const info of thresh.sessions()) console.log(info.session, info.bytes);
const [found]: Passage[] = await session.search("main.go", { limit: 1 });
if (found) console.log((await session.lines({ ...found, lines: 40 })).text, found.tool?.length);
try {
  await session.close();
} catch (error) {
  if (error instanceof ThreshError && error.kind === "limit") console.log(error.limit, error.entry?.toFixed(), error.prepared?.tokens);
}

const { system, revision } = await session.get();
const counted = await thresh.call("tokens.count", { entries: [] });
console.log(system.length, revision, counted.each[0], (await session.compress()).tokens, (await thresh.plugins())[0]?.sha256);
// @ts-expect-error: a method that does not exist
await thresh.call("session.steal", {});
// @ts-expect-error: a parameter that does not exist
await thresh.call("tokens.count", { entry: [] });

// @ts-expect-error: a form that does not exist
await session.prepare({ form: "openai" });
await session.compress({ timeout: each.length, signal: AbortSignal.timeout(1000) });

// @ts-expect-error: messages have a form
await session.addMessages("", []);
// @ts-expect-error: a setting is text, a number or a boolean
await thresh.open("chat-2", { settings: { "model.contextLimit": [8000] } });
// @ts-expect-error: a status that does not exist
await session.setTodos([{ id: "1", content: "write", status: "done" }]);
