// Tests of the client against a real server: the variable THRESH names the program.
//
//   THRESH=bin/thresh node --test clients/typescript/test/
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, test } from "node:test";
import { Client, compress, retrieve, ThreshError } from "../thresh.mjs";

const say = (text, speaker = "human") => ({ speaker, blocks: [{ type: "text", text }] });

async function collect(all) {
  const list = [];
  for await (const one of all) list.push(one);
  return list;
}

let dir, address, server, thresh;

// thresh serve on a socket in a directory of its own.
async function start() {
  const settings = [`serve.listen=${address}`, `sessions.store=sqlite:${dir}/s.db`, "model.contextLimit=2000"];
  const args = ["serve", "--strategy", "top-down-truncation", ...settings.flatMap((one) => ["--set", one])];
  const env = { PATH: process.env.PATH, HOME: dir, TMPDIR: dir };
  server = spawn(process.env.THRESH, args, { env, cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
  const log = createInterface({ input: server.stderr });
  for await (const line of log) if (line.includes("serving at")) break;
  server.stderr.resume();
}

async function stop() {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
}

beforeEach(async () => {
  dir = mkdtempSync(`${tmpdir()}/t`);
  address = `unix:${dir}/s`;
  await start();
  thresh = new Client(address);
});

afterEach(async () => {
  thresh.disconnect();
  await stop();
  rmSync(dir, { recursive: true });
});

test("a conversation", async () => {
  const session = await thresh.open("chat", { settings: { "model.contextLimit": 32000 }, system: "be brief" });
  const added = await session.addMessages("anthropic", [{ role: "user", content: "hi" }]);
  assert.equal(added.revision, 1);
  const first = await session.prepare({ form: "anthropic", pendingTokens: 10 });
  assert.deepEqual([first.messages.length, first.system[0].text], [1, "be brief"]);
  await session.add([say("hello", "ai")]);
  const second = await session.prepare({ form: "anthropic" }); // only what is new is transferred
  assert.deepEqual(second.messages.map((m) => m.role), ["user", "assistant"]);
  assert.equal(first.messages.length, 1);
  await session.reportUsage(50);
  await session.set("compression.threshold", 0.5);
  await session.set("compression.threshold", null);
  await session.setTodos([{ id: "1", content: "write", status: "pending" }]);
  assert.ok((await session.setSystem("be long")) > 0);
  const state = await session.get();
  assert.deepEqual([state.entries, state.system.length, state.session], [2, state.systemTokens > 0 ? 1 : 0, session.id]);
  assert.equal((await session.history()).length, 2);
  assert.equal((await session.recorded("e1"))[0].speaker, "human");
  assert.deepEqual((await collect(thresh.sessions())).map((s) => s.session), ["chat"]);
  await session.close();
  await thresh.delete("chat");
  assert.deepEqual(await collect(thresh.sessions()), []);
});

test("compressing, and why", async () => {
  const session = await thresh.open();
  await session.add(Array.from({ length: 20 }, (_, i) => say(i + " word".repeat(100))));
  const ready = await session.prepare();
  assert.ok(ready.history.length < 20);
  assert.equal(ready.outcome.compress.kind, "applied");
  const changes = (await session.explain()).slice(0, 3).map((c) => [c.entry, c.kind]);
  assert.deepEqual(changes, [["e20", "kept"], ["e21", "added"], ["e1", "removed"]]);
  assert.ok((await session.compress()).compress);
});

test("what was removed is found", async () => {
  const session = await thresh.open();
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i} of needle`).join("\n");
  await session.add([say(`the first ${lines}`), ...Array.from({ length: 12 }, () => say("words ".repeat(200)))]);
  assert.deepEqual(await session.search("needle"), []); // all of it is sent
  await session.prepare();
  const [found, ...others] = await session.search('"line 17 of needle"', { limit: 5, tokens: 1000 });
  const { entry, speaker, kind, turn, of } = found;
  assert.deepEqual([others.length, entry, speaker, kind, turn, of], [0, "e1", "human", "text", 1, 30]);
  const around = await session.lines({ ...found, line: found.line - 5, lines: found.lines + 10 });
  assert.ok(around.text.includes(found.text) && around.lines > found.lines);
  await assert.rejects(session.search("?!"), { kind: "request", field: "query" });
});

test("what is about no session", async () => {
  assert.ok((await thresh.initialize()).methods.includes("window.prepare"));
  assert.equal((await thresh.count([say("a"), say("b")])).length, 2);
  assert.ok((await thresh.plugins()).some((p) => p.name === "top-down-truncation"));
  assert.equal(typeof (await thresh.resetPlugin("distill")), "boolean");
});

test("errors", async () => {
  const session = await thresh.open("s");
  await assert.rejects(session.add([say("fine"), { speaker: "robot" }]), (e) => {
    assert.ok(e instanceof ThreshError);
    assert.deepEqual([e.kind, e.entry, e.field, e.retryable], ["entry", 1, "entries[1].speaker", false]);
    return true;
  });
  await assert.rejects(thresh.call("session.get", { session: "none" }), { kind: "session" });
  await session.add([say("words ".repeat(3000))]);
  await assert.rejects(session.prepare(), (e) => {
    assert.equal(e.kind, "overflow");
    assert.ok(e.missingTokens > 0);
    assert.equal(e.prepared.history.length, 1);
    return true;
  });
  await assert.rejects(new Client("unix:/nowhere/s").initialize(), { kind: "connection", maybeApplied: false });
});

test("what answers is no service", async (t) => {
  const other = createServer((_, response) => response.end("<html>hello</html>")).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const client = new Client(`127.0.0.1:${other.address().port}`);
  await assert.rejects(client.open("s"), /^ThreshError: 127.0.0.1:\d+ answered with HTTP status 200 and no JSON/);
  client.disconnect();
});

test("an addition takes place once", async () => {
  const session = await thresh.open("s");
  for (let i = 0; i < 2; i++) assert.equal((await session.add([say("hi")], { key: "k" })).revision, 1);
});

test("a restart goes unnoticed", async () => {
  const session = await thresh.open("s");
  await session.add([say("hi")]);
  const watch = session.watch();
  assert.equal((await watch.next()).value.session, undefined);
  await stop();
  const added = session.add([say("again")]);
  await start();
  assert.equal((await added).revision, 2);
  assert.equal((await watch.next()).value.session, undefined); // it has begun again
  await session.prepare();
  const { value } = await watch.next();
  assert.deepEqual([value.session, value.method], ["s", "prepare"]);
  await watch.return();
});

test("messages are made small without a session", async () => {
  process.env.PATH = `${dirname(process.env.THRESH)}${delimiter}${process.env.PATH}`;
  const all = [{ role: "user", content: "read them all" }];
  for (let i = 0; i < 12; i++) {
    const calls = [{ id: `c${i}`, type: "function", function: { name: "read", arguments: `{"n": ${i}}` } }];
    all.push({ role: "assistant", content: null, tool_calls: calls });
    all.push({ role: "tool", tool_call_id: `c${i}`, content: `file ${i} `.repeat(200) });
  }
  for (const where of [{ address }, {}]) {
    const asked = { model: "gpt-5", strategy: "top-down-truncation", contextLimit: 3000, ...where };
    const made = await compress(all, asked);
    assert.ok(made.tokensAfter < made.tokensBefore / 2);
    assert.deepEqual(made.messages.at(-1), all.at(-1));
    const part = made.removed.find((one) => one.kind === "tool_response");
    assert.equal(await retrieve(part.id, where), all[part.message].content);
    assert.deepEqual(await compress(all, asked), made);
    const wrong = compress([{ role: "robot", content: "hi" }], where);
    await assert.rejects(wrong, (e) => e instanceof ThreshError && e.kind === "request" && e.field === "messages[0]");
  }
});

const copy = (n) => import(`../alone.mjs?${n}`); // with a child of its own

test("many calls at once get their own answers", async () => {
  const { compress } = await copy(1);
  const said = (text) => [{ role: "user", content: text }, { role: "assistant", content: "Hm." }];
  const all = Array.from({ length: 50 }, (_, i) => `question ${i} ${"word ".repeat(5000 * (i % 3))}`);
  for (const where of [{}, { address }]) {
    const made = await Promise.all(all.map((text) => compress(said(text), { ...where, contextLimit: 100_000 })));
    assert.deepEqual(made.map(({ messages }) => messages[0].content), all);
  }
});

test("a child that is not there, is something else, or dies", async () => {
  const { compress } = await copy(2);
  const { PATH } = process.env;
  const all = [{ role: "user", content: "hi" }];
  for (const [script, wrong] of [
    [undefined, /^thresh run: the program is not in PATH: install it/],
    ["echo hello; cat", /^thresh run: it printed "hello": is that thresh\?$/],
    ["read line; kill -9 $$", /^thresh run: /],
  ]) {
    if (script) writeFileSync(`${dir}/thresh`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    process.env.PATH = script ? `${dir}${delimiter}${PATH}` : dir;
    await Promise.all([compress(all), compress(all)].map((call) => assert.rejects(call, (e) => {
      assert.deepEqual([e.kind, e.retryable], ["connection", true]);
      return wrong.test(e.message) || assert.fail(e.message);
    })));
  }
  process.env.PATH = `${dirname(process.env.THRESH)}${delimiter}${PATH}`;
  assert.deepEqual((await compress(all)).messages, all); // it is started again
});
