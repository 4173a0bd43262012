// Agents of the AI SDK with thresh, of both versions. The variable THRESH names the program.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";
import { mock, test } from "node:test";
import { thresh } from "@thresh-dev/ai-sdk";
import { compress } from "@thresh-dev/client";
import { newAgent } from "../example.mjs";

process.env.HOME = mkdtempSync(`${tmpdir()}/t`);
process.env.PATH = `${dirname(process.env.THRESH)}${delimiter}${process.env.PATH}`;
const limit = 8000;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const file = (path) => `package ${path}\n${`// a line of the file ${path}\n`.repeat(60)}`;

// A model that reads a number of files and then answers. It judges each request as a provider does.
function reader({ simulateReadableStream }, { MockLanguageModelV3 }, files, seen) {
  const answer = async ({ prompt }) => {
    seen.push(prompt);
    judge(prompt);
    const n = seen.length;
    const text = { type: "text", text: n > files ? "All files were read." : `Reading file ${n}.` };
    const call = { type: "tool-call", toolCallId: `c${n}`, toolName: "read_file", input: `{"path":"f${n}.go"}` };
    const thought = { type: "reasoning", text: "hm", providerMetadata: { mock: { signature: `s${n}` } } };
    const unified = n > files ? "stop" : "tool-calls";
    return { content: [thought, text, ...(n > files ? [] : [call])], finishReason: { unified }, usage, warnings: [] };
  };
  const parts = ({ type, ...one }, id) =>
    type === "tool-call" ? [{ type, ...one }]
      : [{ type: `${type}-start`, id }, { type: `${type}-delta`, id, delta: one.text }, { type: `${type}-end`, id }];
  const doStream = async (options) => {
    const { content, ...end } = await answer(options);
    const chunks = [...content.flatMap((one, i) => parts(one, String(i))), { type: "finish", ...end }];
    return { stream: simulateReadableStream({ chunks }) };
  };
  return new MockLanguageModelV3({ doGenerate: answer, doStream });
}

function judge(prompt) {
  let open = [];
  for (const { role, content } of prompt) {
    const ids = (type) => content.filter?.((part) => part.type === type).map((part) => part.toolCallId) ?? [];
    if (role === "tool") {
      assert.deepEqual(ids("tool-result").filter((id) => !open.includes(id)), [], "results of no call");
      open = open.filter((id) => !ids("tool-result").includes(id));
    } else assert.deepEqual(open, [], "calls without their results");
    if (role === "assistant") open = ids("tool-call");
  }
  assert.deepEqual(open, [], "calls without their results");
}

// As thresh counts what a prompt says.
async function tokens(prompt) {
  const said = ({ text, input, output }) => text ?? JSON.stringify(output?.value ?? input ?? "");
  const all = prompt.flatMap(({ content }) => (typeof content === "string" ? content : content.map(said)));
  return (await compress([{ role: "user", content: all.join("\n") }])).tokensBefore;
}

async function most(prompts) {
  return Math.max(...(await Promise.all(prompts.map(tokens))));
}

const list = (content) => (typeof content === "string" ? [] : content);

const tools = ({ tool, jsonSchema }) => ({
  read_file: tool({
    description: "reads a file",
    inputSchema: jsonSchema({ type: "object", properties: { path: { type: "string" } } }),
    execute: async ({ path }) => file(path),
  }),
});

for (const name of ["ai", "ai-7"]) {
  const ai = await import(name);
  const testing = await import(`${name}/test`);
  for (const strategy of ["distill", "high-density", "top-down-truncation"]) {
    for (const run of ["generateText", "streamText"]) {
      test(`${name}: ${run} stays under the limit with ${strategy}`, async () => {
        const seen = [];
        const result = ai[run]({
          model: reader(ai, testing, 40, seen), tools: tools(ai), stopWhen: ai.stepCountIs(100),
          prompt: "Read all files.", prepareStep: thresh({ contextLimit: limit, strategy }),
        });
        const { text } = await result;
        assert.equal(await text, "All files were read.");
        assert.equal(seen.length, 41);
        const longest = await most(seen);
        assert.ok(longest < limit, `the longest request has ${longest} tokens`);
        // What was said last is sent as it was, and what the prompt cache has is sent again.
        const [, last] = seen.at(-1).filter(({ role }) => role === "assistant").at(-1).content;
        assert.equal(last.text, "Reading file 40.");
        // A call that lost its result is not sent, and neither is the other way round.
        for (const prompt of seen) {
          const of = (type) => prompt.flatMap(({ content }) => list(content)).filter((one) => one.type === type);
          const ids = (type) => of(type).map(({ toolCallId }) => toolCallId);
          assert.deepEqual(ids("tool-call"), ids("tool-result"));
        }
        const begins = (all, with_) => JSON.stringify(all.slice(0, with_.length)) === JSON.stringify(with_);
        const warm = seen.filter((prompt, i) => i > 0 && begins(prompt, seen[i - 1])).length;
        assert.ok(warm >= 20, `${warm} requests of 40 begin with all of the one before`);
        if (strategy !== "top-down-truncation") assert.equal(seen.at(-1)[0].content[0].text, "Read all files.");
      });
    }
  }
}

test("the agent of the page", async () => {
  const [ai, testing] = [await import("ai"), await import("ai/test")];
  const seen = [];
  const agent = newAgent(reader(ai, testing, 20, seen), tools(ai), limit);
  const { text } = await agent.generate({ prompt: "Read all files." });
  assert.equal(text, "All files were read.");
  assert.ok((await most(seen)) < limit && (await tokens([{ content: file("f") }])) * 20 > limit);
});

// Everything that the framework has in a message, before results that are too long.
const rich = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "hello", providerOptions: { mock: { cache: true } } },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?", providerOptions: { mock: { id: 1 } } },
      { type: "image", image: new Uint8Array(9) },
      { type: "file", data: new URL("https://example.com/a.png"), mediaType: "image/png" },
      { type: "hologram", beam: 1 },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: { mock: { signature: "s" } } },
      { type: "tool-call", toolCallId: "w", toolName: "web", input: { q: "x" }, providerExecuted: true },
      { type: "tool-result", toolCallId: "w", toolName: "web", output: { type: "json", value: ["y"] } },
      { type: "file", data: "aGk=", mediaType: "image/png" },
      { type: "tool-call", toolCallId: "d", toolName: "delete", input: {} },
      { type: "tool-approval-request", approvalId: "a", toolCallId: "d" },
    ],
  },
  { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a", approved: false }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "d", toolName: "delete", output: { type: "execution-denied" } }],
  },
  { role: "assistant", content: "I see." },
];

function reads(n) {
  const providerOptions = { mock: { n } };
  const part = (type, i, rest) => ({ type, toolCallId: `${n}.${i}`, toolName: "read_file", ...rest, providerOptions });
  const output = (i) => ({ type: "content", value: [{ type: "text", text: file(`${i}/f${n}.go`) }], providerOptions });
  return [
    { role: "assistant", content: [1, 2].map((i) => part("tool-call", i, { input: { path: `${i}/f${n}.go` } })) },
    { role: "tool", content: [1, 2].map((i) => part("tool-result", i, { output: output(i) })) },
  ];
}

function step(messages, options) {
  return thresh({ contextLimit: limit, ...options })({ messages, model: "gpt-5", steps: [] });
}

test("what is not changed is the same object", async () => {
  const messages = [...rich, ...reads(1), { role: "user", content: "And now?" }];
  const sent = (await step(messages, { contextLimit: 100_000 })).messages;
  assert.equal(sent.length, messages.length);
  assert.ok(sent.every((message, i) => message === messages[i]));
});

test("a shortened result keeps its place, and all that is next to it", async () => {
  const messages = [...rich, ...Array.from({ length: 30 }, (_, n) => reads(n)).flat()];
  const sent = (await step(messages, { strategy: "high-density", contextLimit: 48_000 })).messages;
  const same = sent.filter((message) => messages.includes(message));
  const changed = sent.filter((message) => !messages.includes(message));
  assert.ok(rich.slice(0, 3).every((message) => same.includes(message)), "what people and the system said");
  assert.ok(changed.length > 0);
  for (const { role, content } of changed) {
    if (role === "assistant") {
      assert.match(JSON.stringify(content), /\[\d+ .* removed here\]/); // where answers went
      continue;
    }
    const was = messages.find((one) => one.role === "tool" && one.content[0].toolCallId === content[0].toolCallId);
    assert.equal(role, "tool");
    assert.deepEqual(content.map(({ output, ...rest }) => rest), was.content.map(({ output, ...rest }) => rest));
    assert.deepEqual(content[0].output.providerOptions, was.content[0].output.providerOptions);
    assert.ok(content.some(({ output }) => output.type === "text" && output.value.length < 500));
  }
});

test("an answer that goes leaves a line where it stood", async () => {
  const people = ["First.", "Second."].map((text) => ({ role: "user", content: text }));
  const said = { role: "assistant", content: "word ".repeat(7000) };
  const end = [{ role: "assistant", content: "Yes." }, { role: "user", content: "So?" }];
  const messages = [people[0], said, people[1], ...end];
  const sent = (await step(messages, { strategy: "high-density" })).messages;
  assert.equal(sent[1].role, "assistant");
  assert.match(JSON.stringify(sent[1].content), /\[1 assistant reply was removed here\]/);
  assert.deepEqual([sent[0], ...sent.slice(2)], [...people, ...end]);
});

test("without thresh the messages are sent as they are, with a warning", async () => {
  const warned = mock.method(console, "warn", () => {});
  const sent = (await step(rich, { address: "unix:/nowhere/s" })).messages;
  warned.mock.restore();
  assert.equal(sent, rich);
  assert.match(warned.mock.calls[0].arguments[0], /^thresh: the messages are sent as they are: .*ENOENT/);
});

test("a wrong option is an error", async () => {
  await assert.rejects(step(rich, { strategy: "none" }), /unknown strategy "none"/);
  await assert.rejects(step(rich, { contextLimit: -1 }), /"contextLimit" must be above 0/);
  await assert.rejects(step(rich, { address: "ftp://a" }), /address "ftp:\/\/a": want HOST:PORT/);
});
