// A client of `thresh serve` for Node, without dependencies. thresh.d.mts has the types, for TypeScript.
//
//   import { Client } from "@thresh-dev/client";
//
//   const thresh = new Client("http://127.0.0.1:7440", { token });
//   const session = await thresh.open("chat-1", { settings: { "model.contextLimit": 32000 } });
//   await session.addMessages("anthropic", [{ role: "user", content: "fix main.go" }]);
//   const ready = await session.prepare({ form: "anthropic", pendingTokens: 500 });
//   const answer = await myModel(ready.system, ready.messages);
//   await session.addMessages("anthropic", [answer]);
//
// Addresses are http://HOST:PORT, https://HOST:PORT or unix:PATH; HOST:PORT is http on this machine, else https. The
// methods are those of proto/thresh/v1/session.proto.

import { randomUUID } from "node:crypto";
import http from "node:http";
import https from "node:https";

/** What a method returned in place of an answer. */
export class ThreshError extends Error {
  constructor(answer) {
    super(answer.message ?? "");
    this.name = "ThreshError";
    this.code = answer.code ?? "unknown";
    const detail = answer.details?.[0]?.debug ?? {};
    this.kind = detail.kind ?? "";
    this.retryable = detail.retryable ?? false;
    this.maybeApplied = detail.maybeApplied ?? false;
    this.plugin = detail.plugin ?? "";
    this.entry = detail.entry;
    this.limit = detail.limit ?? "";
  }
}

// Nobody's token leaves the machine in the clear unless the address says http://.
function urlOf(address) {
  const local = /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/.test(address);
  const url = address.includes("://") ? address : `${local ? "http" : "https"}://${address}`;
  try {
    if (/^https?:/.test(url)) return new URL(url);
  } catch {
    // The error below says what is wrong.
  }
  throw new TypeError(`address "${address}": want HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH`);
}

export class Client {
  #target;
  #headers;
  #agent;

  constructor(address, { token = "", ca } = {}) {
    if (address.startsWith("unix:")) {
      this.#target = { module: http, socketPath: address.slice("unix:".length), host: "localhost" };
    } else {
      const url = urlOf(address);
      const module = url.protocol === "https:" ? https : http;
      this.#target = { module, host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || undefined };
    }
    this.#agent = new this.#target.module.Agent({ keepAlive: true, ca });
    this.#headers = { "Connect-Protocol-Version": "1", ...(token && { Authorization: `Bearer ${token}` }) };
  }

  /** Closes the connections. Sessions stay as they are. */
  disconnect() {
    this.#agent.destroy();
  }

  /** Opens a session, or goes on with one. */
  async open(session = "", { settings = {}, system } = {}) {
    // The service takes the values of settings as text.
    const values = Object.fromEntries(Object.entries(settings).map(([k, v]) => [k, String(v)]));
    const request = { session, settings: values, ...(system && { system: { text: system } }) };
    const answer = await this.call("Open", request);
    return new Session(this, answer.session, state(answer));
  }

  /** The sessions of the token. */
  async *sessions() {
    for (let after = "", more = true; more; ) {
      const answer = await this.call("List", { after });
      yield* answer.sessions ?? [];
      more = answer.more ?? false;
      after = answer.sessions?.at(-1)?.session ?? "";
    }
  }

  /** Removes a session, whether it is open or not. */
  async delete(session) {
    await this.call("Delete", { session });
  }

  describe() {
    return this.call("Describe", {});
  }

  /** Calls any method by its name in the .proto file. */
  async call(method, request, service = "SessionService") {
    const body = Buffer.from(JSON.stringify(request));
    const response = await this.#post(`/thresh.v1.${service}/${method}`, "application/json", body);
    const answer = this.#parse(response.statusCode, await text(response));
    if (response.statusCode !== 200) throw new ThreshError(answer);
    return answer;
  }

  /** Calls a method that answers in parts. Leaving the loop ends the call. */
  async *stream(method, request) {
    const body = Buffer.from(JSON.stringify(request));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(body.length, 1);
    const path = `/thresh.v1.SessionService/${method}`;
    const response = await this.#post(path, "application/connect+json", Buffer.concat([head, body]));
    try {
      if (response.statusCode !== 200) throw new ThreshError(this.#parse(response.statusCode, await text(response)));
      let rest = Buffer.alloc(0);
      for await (const chunk of response) {
        rest = Buffer.concat([rest, chunk]);
        while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
          const end = 5 + rest.readUInt32BE(1);
          const part = JSON.parse(rest.subarray(5, end).toString());
          const last = (rest[0] & 2) !== 0; // the end, with the error if there is one
          rest = rest.subarray(end);
          if (last && part.error) throw new ThreshError(part.error);
          if (last) return;
          yield part;
        }
      }
    } finally {
      response.destroy();
    }
  }

  #parse(status, body) {
    try {
      return JSON.parse(body);
    } catch {
      const { socketPath, host, port } = this.#target;
      const where = socketPath ? `unix:${socketPath}` : port ? `${host}:${port}` : host;
      throw new ThreshError({
        message: `${where} answered with HTTP status ${status} and no JSON: is that a thresh service?`,
      });
    }
  }

  #post(path, kind, body) {
    const { module, ...target } = this.#target;
    const headers = { ...this.#headers, "Content-Type": kind, "Content-Length": body.length };
    return new Promise((resolve, reject) => {
      const request = module.request({ ...target, agent: this.#agent, method: "POST", path, headers }, resolve);
      // Made once: after an error of the connection it may have had its effect. Session.#add has a key, and goes on.
      request.on("error", reject);
      request.end(body);
    });
  }
}

/** One conversation. */
export class Session {
  #kept = { form: undefined, revision: undefined, items: [] };

  constructor(client, id, state) {
    this.client = client;
    this.id = id;
    this.state = state;
  }

  /**
   * Appends entries in the native form, all or none. It is tried for some seconds, and takes place once. To try longer,
   * choose a key: the same call again, with the same key, adds nothing twice.
   */
  async add(entries, { opaque = false, key } = {}) {
    return this.#add({ entries: entries.map((e) => JSON.stringify(e)), opaque, key });
  }

  /** Appends messages as the provider has them: "anthropic", "openai-chat" or "openai-responses". */
  async addMessages(form, messages, { system, key } = {}) {
    const request = { format: form, messages: messages.map((m) => JSON.stringify(m)), key };
    return this.#add({ ...request, ...(system && { system: { text: system } }) });
  }

  async #add({ key = randomUUID(), ...request }) {
    const until = Date.now() + 5000;
    for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
      try {
        return state(await this.#call("Add", { ...request, key }));
      } catch (error) {
        const final = error instanceof ThreshError && !error.retryable;
        if (final || Date.now() + pause > until) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Makes the history fit the model. To be called before every model call. Only what is new is transferred. */
  async prepare({ form = "", pendingTokens = 0 } = {}) {
    const kept = this.#kept;
    const since = kept.form === form ? { since: kept.revision } : {};
    const answer = await this.#call("Prepare", { format: form, pendingTokens, ...since });
    const fresh = (form ? answer.messages : answer.history) ?? [];
    const items = [...kept.items.slice(0, answer.keep ?? 0), ...fresh.map((text) => JSON.parse(text))];
    this.#kept = { form, revision: answer.revision ?? "0", items };
    return {
      history: form ? [] : [...items],
      messages: form ? [...items] : [],
      system: answer.system ? JSON.parse(answer.system) : undefined,
      instructions: answer.instructions ?? "",
      notes: answer.notes ?? [],
      tokens: answer.tokens ?? 0,
      revision: Number(answer.revision ?? 0),
      outcome: JSON.parse(answer.outcome),
    };
  }

  /** Compresses now, and returns the outcome. */
  async compress() {
    return JSON.parse((await this.#call("CompressHistory")).outcome);
  }

  async reportUsage(promptTokens) {
    await this.#call("ReportUsage", { promptTokens });
  }

  /** Overrides a setting; null removes the override. */
  async set(key, value) {
    await this.#call("Set", { key, ...(value !== null && { value }) });
  }

  async setSystem(text) {
    await this.#call("SetSystem", text ? { system: { text } } : {});
  }

  async setTodos(todos) {
    await this.#call("SetTodos", { todos });
  }

  async get() {
    return state(await this.#call("Get"));
  }

  /** The owned history, also what is not sent to a model. */
  async history() {
    const entries = [];
    for await (const part of this.client.stream("GetHistory", { session: this.id })) {
      for (const entry of part.history ?? []) entries.push(JSON.parse(entry));
    }
    return entries;
  }

  /** Entries as they were added, by the id of an entry or of a tool call. */
  async recorded(id) {
    return ((await this.#call("GetRecorded", { id })).entries ?? []).map((entry) => JSON.parse(entry));
  }

  /** What became of an entry, by its id or that of a tool call, and why; without an id, of all entries. */
  async explain(id = "") {
    const changes = [];
    for await (const part of this.client.stream("Explain", { session: this.id, id })) {
      for (const change of part.changes ?? []) changes.push(JSON.parse(change));
    }
    return changes;
  }

  /** Turns from now on. The first element has no session: the watch has begun. */
  async *watch() {
    for await (const event of this.client.stream("Watch", { session: this.id })) {
      yield event.outcome ? { ...event, outcome: JSON.parse(event.outcome) } : event;
    }
  }

  async close() {
    await this.#call("Close");
  }

  #call(method, request = {}) {
    return this.client.call(method, { session: this.id, ...request });
  }
}

async function text(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

// 64-bit numbers are text in the JSON form of protobuf, and a 0 is left out.
function state(answer) {
  return { revision: Number(answer.revision ?? 0), tokens: answer.tokens ?? 0, entries: answer.entries ?? 0 };
}
