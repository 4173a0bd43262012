// Agents of LangChain with thresh. The variable THRESH names the program.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";
import { mock, test } from "node:test";
import { AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { compress } from "@thresh-dev/client";
import { thresh } from "@thresh-dev/langchain";
import { createAgent } from "langchain";
import { newAgent } from "../example.mjs";

process.env.HOME = mkdtempSync(`${tmpdir()}/t`);
process.env.PATH = `${dirname(process.env.THRESH)}${delimiter}${process.env.PATH}`;
const limit = 8000;
const file = (path) => `package ${path}\n${`// a line of the file ${path}\n`.repeat(60)}`;

const tools = [
  tool(({ path }) => file(path), {
    name: "read_file", description: "reads a file",
    schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  }),
];

// A model that reads a number of files and then answers.
function reader(files) {
  const model = fakeModel();
  for (let n = 1; n <= files; n++) {
    const tool_calls = [{ id: `c${n}`, name: "read_file", args: { path: `f${n}.go` }, type: "tool_call" }];
    const additional_kwargs = { signature: n };
    model.respond(new AIMessage({ id: `m${n}`, content: `Reading file ${n}.`, tool_calls, additional_kwargs }));
  }
  return model.respond(new AIMessage("All files were read."));
}

// What a provider refuses.
function judge(messages) {
  let open = [];
  for (const message of messages) {
    if (message.getType() === "tool") {
      assert.ok(open.includes(message.tool_call_id), `a result of no call: ${message.tool_call_id}`);
      open = open.filter((id) => id !== message.tool_call_id);
    } else assert.deepEqual(open, [], "calls without their results");
    if (message.getType() === "ai") open = message.tool_calls.map(({ id }) => id);
  }
  assert.deepEqual(open, [], "calls without their results");
}

// As thresh counts what messages say.
async function tokens(messages) {
  const all = messages.map(({ text, tool_calls = [] }) => text + JSON.stringify(tool_calls.map(({ args }) => args)));
  return (await compress([{ role: "user", content: all.join("\n") }])).tokensBefore;
}

async function most(calls) {
  return Math.max(...(await Promise.all(calls.map(({ messages }) => tokens(messages)))));
}

for (const strategy of ["distill", "high-density", "top-down-truncation"]) {
  test(`an agent stays under the limit with ${strategy}`, async () => {
    const model = reader(40);
    const middleware = [thresh({ contextLimit: limit, strategy })];
    const agent = createAgent({ model, tools, middleware, systemPrompt: "You read files." });
    const end = await agent.invoke({ messages: [new HumanMessage("Read all files.")] }, { recursionLimit: 200 });
    const calls = model.calls;
    calls.forEach(({ messages }) => judge(messages));
    assert.equal(calls.length, 41);
    const longest = await most(calls);
    assert.ok(longest < limit, `the longest request has ${longest} tokens`);
    assert.ok((await tokens(end.messages)) > 2 * limit);
    assert.equal(end.messages.length, 82);
    // What was said last is sent as it was, and what the prompt cache has is sent again.
    const sent = calls.at(-1).messages;
    assert.equal(sent.at(-2), end.messages.at(-3));
    assert.deepEqual(sent.at(-2).additional_kwargs, { signature: 40 });
    const last = (i) => calls[i - 1].messages.map((one) => one.text);
    const goesOn = ({ messages }, i) => i > 0 && last(i).every((one, j) => one === messages[j]?.text);
    const warm = calls.filter(goesOn).length;
    assert.ok(warm >= 20, `${warm} requests of 40 begin with all of the one before`);
    assert.equal(sent[0].text, "You read files.");
    if (strategy !== "top-down-truncation") assert.equal(sent[1].text, "Read all files.");
  });
}

test("the agent of the page", async () => {
  const model = reader(20);
  const question = { messages: [new HumanMessage("Read all files.")] };
  const end = await newAgent(model, tools, limit).invoke(question, { recursionLimit: 99 });
  assert.equal(end.messages.at(-1).text, "All files were read.");
  assert.ok((await most(model.calls)) < limit && (await tokens(end.messages)) > limit);
});

// Everything that the framework has in a message.
const rich = [
  new HumanMessage({ content: "hello", name: "ann", additional_kwargs: { a: 1 } }),
  new HumanMessage({
    content: [
      { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      { type: "image", source_type: "base64", mime_type: "image/png", data: "aGk=" },
      { type: "hologram", beam: 1 },
    ],
  }),
  new SystemMessage("Answer in French."),
  new ChatMessage({ role: "observer", content: "hm" }),
  new AIMessage({
    content: [
      { type: "thinking", thinking: "hm", signature: "s" }, { type: "text", text: "I look." },
      { type: "tool_use", id: "d", name: "look", input: {} },
    ],
    tool_calls: [{ id: "d", name: "look", args: {}, type: "tool_call" }],
    invalid_tool_calls: [{ id: "e", name: "look", args: "{", error: "no JSON", type: "invalid_tool_call" }],
    response_metadata: { model: "m" },
  }),
  new ToolMessage({ content: "denied", tool_call_id: "d", name: "look", status: "error", artifact: { a: 1 } }),
  new ToolMessage({ content: [{ type: "image_url", image_url: { url: "https://e.org/a.png" } }], tool_call_id: "e" }),
  new AIMessage("I see."),
];

function reads(n) {
  const ids = [1, 2].map((i) => `${n}.${i}`);
  return [
    new AIMessage({ content: "", tool_calls: ids.map((id) => ({ id, name: "read_file", args: { path: id } })) }),
    ...ids.map((id) => new ToolMessage({ content: file(id), tool_call_id: id, artifact: { id }, id: `t${id}` })),
  ];
}

async function sentOf(messages, options) {
  let sent;
  const { wrapModelCall } = thresh({ contextLimit: 100_000, ...options });
  await wrapModelCall({ messages, tools, model: { model: "gpt-5" } }, (request) => (sent = request.messages));
  return sent;
}

test("what is not changed is the same object", async () => {
  const messages = [...rich, ...reads(1), new HumanMessage("And now?")];
  const sent = await sentOf(messages);
  assert.equal(sent.length, messages.length);
  assert.ok(sent.every((message, i) => message === messages[i]));
});

test("a shortened result keeps all that is next to it", async () => {
  const messages = [...rich, ...Array.from({ length: 30 }, (_, n) => reads(n)).flat()];
  const sent = await sentOf(messages, { strategy: "high-density", contextLimit: 48_000 });
  judge(sent.filter((message) => !rich.includes(message)));
  assert.ok(rich.slice(0, 4).every((message) => sent.includes(message)), "what people and the system said");
  const changed = sent.filter((message) => !messages.includes(message));
  assert.ok(changed.length > 0);
  for (const message of changed) {
    const was = messages.find(({ id }) => id === message.id);
    assert.ok(message instanceof ToolMessage && message.text.length < 500);
    const { content, ...rest } = message.toJSON().kwargs;
    assert.deepEqual({ ...rest, content: was.content }, was.toJSON().kwargs);
  }
});

test("an answer that goes leaves a line where it stood", async () => {
  const people = ["First.", "Second."].map((text) => new HumanMessage({ content: text, id: text }));
  const end = [new AIMessage("Yes."), new HumanMessage("So?")];
  const messages = [people[0], new AIMessage("word ".repeat(7000)), people[1], ...end];
  const sent = await sentOf(messages, { strategy: "high-density", contextLimit: limit });
  assert.ok(sent[1] instanceof AIMessage);
  assert.match(JSON.stringify(sent[1].content), /\[1 assistant reply was removed here\]/);
  assert.deepEqual([sent[0], ...sent.slice(2)], [...people, ...end]);
});

test("without thresh the messages are sent as they are, with a warning", async () => {
  const warned = mock.method(console, "warn", () => {});
  const sent = await sentOf(rich, { address: "unix:/nowhere/s" });
  warned.mock.restore();
  assert.equal(sent, rich);
  assert.match(warned.mock.calls[0].arguments[0], /^thresh: the messages are sent as they are: .*ENOENT/);
});

test("a wrong option is an error", async () => {
  await assert.rejects(sentOf(rich, { strategy: "none" }), /unknown strategy "none"/);
});
