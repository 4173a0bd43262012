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
// Addresses are http://HOST:PORT, https://HOST:PORT or unix:PATH; HOST:PORT is http on this machine, else https.
// docs/api.md describes the methods. A request is repeated for some seconds if the host could not be reached or was
// about to end, so that a restart goes unnoticed. An addition is repeated after any error that a retry may mend, and
// takes place once.

import { randomUUID } from "node:crypto";
import http from "node:http";
import https from "node:https";

export { compress, retrieve } from "./alone.mjs";

// A request is tried again for as long as a host takes to restart, in milliseconds.
const tryFor = 5000;
const firstPause = 50;
const mostPause = 1000;

/** What a method returned in place of an answer. */
export class ThreshError extends Error {
  /** The host did not take the request. */
  #untaken;

  constructor(error, { cause, untaken = error.kind === "shutdown" } = {}) {
    super(error.message ?? "", { cause });
    this.name = "ThreshError";
    this.kind = error.kind ?? "";
    this.retryable = error.retryable ?? false;
    this.maybeApplied = error.maybeApplied ?? false;
    this.field = error.field ?? "";
    this.entry = error.entry;
    this.part = error.part;
    this.plugin = error.plugin ?? "";
    this.missingTokens = error.missingTokens ?? 0;
    this.largest = error.largest ?? [];
    this.limit = error.limit ?? "";
    this.prepared = error.prepared && prepared(error.prepared);
    this.#untaken = untaken;
  }

  static _again(error, key) {
    return error instanceof ThreshError && (error.#untaken || (error.retryable && Boolean(key)));
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
    this.#headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  }

  /** Closes the connections. Sessions stay as they are. */
  disconnect() {
    this.#agent.destroy();
  }

  /** What the host can do, and what the token may. Calling it is optional. */
  initialize() {
    return this.call("initialize", {});
  }

  /** Opens a session, or goes on with one. */
  async open(session = "", { settings = {}, system } = {}) {
    const answer = await this.call("session.open", { id: session, settings, ...(system && { system }) });
    return new Session(this, answer.session, answer);
  }

  /** The sessions of the token. */
  async *sessions() {
    for (let after = "", more = true; more; ) {
      const answer = await this.call("session.list", { after });
      yield* answer.sessions;
      more = answer.more;
      after = answer.sessions.at(-1)?.session ?? "";
    }
  }

  /** Removes a session, whether it is open or not. */
  async delete(session) {
    await this.call("session.delete", { session });
  }

  /**
   * Turns from now on, of one session or of all that the token has. An element without a session says that the watch has
   * begun, or begun again after the connection broke: turns before it are missing.
   */
  async *watch(session = "", { signal } = {}) {
    for (let until = Date.now() + tryFor; ; ) {
      try {
        for await (const turn of this.stream("session.watch", { session }, { signal })) {
          until = Date.now() + tryFor;
          yield turn;
        }
      } catch (error) {
        if (!error.retryable || Date.now() > until) throw error;
        await wait(firstPause);
      }
    }
  }

  /** The tokens of each entry, as the host counts them. */
  async count(entries) {
    return (await this.call("tokens.count", { entries })).each;
  }

  /** Every plugin that was found. Starts those that do not run. */
  async plugins() {
    return (await this.call("plugins.list", {})).plugins;
  }

  /** Takes a plugin out of quarantine; false if it was never started. For the local user. */
  async resetPlugin(name) {
    return (await this.call("plugins.reset", { name })).reset;
  }

  /** Accepts the files of plugins as they are now, and returns which. For the local user. */
  async lockPlugins(names = []) {
    return (await this.call("plugins.lock", { names })).names;
  }

  /** Calls any method of docs/api.md by its name. The host ends with it when the time is over, in milliseconds. */
  async call(method, request, options = {}) {
    const until = Date.now() + tryFor;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, mostPause)) {
      try {
        const response = await this.#post(method, request, options);
        const body = await text(response).catch((cause) => {
          throw broken(cause);
        });
        const answer = this.#parse(response.statusCode, body);
        if (response.statusCode !== 200) throw this.#error(response.statusCode, answer);
        return answer;
      } catch (error) {
        if (!ThreshError._again(error, request.key) || Date.now() + pause > until) throw error;
      }
      await wait(pause);
    }
  }

  /** Calls a method whose result comes in lines. Leaving the loop ends the call. */
  async *stream(method, request, options = {}) {
    const response = await this.#post(method, request, options);
    try {
      if (response.statusCode !== 200) {
        throw this.#error(response.statusCode, this.#parse(response.statusCode, await text(response)));
      }
      for await (const line of lines(response)) {
        const part = this.#parse(response.statusCode, line);
        if (part.error && !part.session) throw this.#error(response.statusCode, part);
        yield part;
      }
    } finally {
      response.destroy();
    }
  }

  #parse(status, body) {
    try {
      const answer = JSON.parse(body);
      if (answer && typeof answer === "object") return answer;
    } catch {
      // The error below says what is wrong.
    }
    throw this.#stranger(status);
  }

  #error(status, answer) {
    return answer.error?.kind ? new ThreshError(answer.error) : this.#stranger(status);
  }

  #stranger(status) {
    const { socketPath, host, port } = this.#target;
    const where = socketPath ? `unix:${socketPath}` : port ? `${host}:${port}` : host;
    const message = `${where} answered with HTTP status ${status} and no JSON of thresh: is that a thresh service?`;
    return new ThreshError({ message, kind: "connection", retryable: status >= 500, maybeApplied: status >= 500 });
  }

  #post(method, params, { timeout, signal }) {
    const { module, ...target } = this.#target;
    const body = Buffer.from(JSON.stringify(params));
    const headers = { ...this.#headers, "Content-Length": body.length };
    if (timeout !== undefined) headers["X-Thresh-Timeout-Ms"] = String(Math.max(1, Math.ceil(timeout)));
    const options = { ...target, agent: this.#agent, method: "POST", path: `/v1/${method}`, headers, signal };
    return new Promise((resolve, reject) => {
      const request = module.request(options, resolve);
      request.on("error", (cause) => reject(broken(cause, ["ECONNREFUSED", "ENOENT"].includes(cause.code))));
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
  async add(entries, { opaque = false, key = randomUUID() } = {}) {
    return this.#call("history.add", { entries, opaque, key });
  }

  /** Appends messages as the provider has them: "anthropic", "openai-chat" or "openai-responses". */
  async addMessages(form, messages, { system, key = randomUUID() } = {}) {
    return this.#call("history.add", { format: form, messages, key, ...(system && { system }) });
  }

  /**
   * Makes the history fit the model. To be called before every model call. Only what is new is transferred. If it fails,
   * the error's prepared has the history as it is. recall: the model has the tool thresh_recall, and shortened results
   * get an id for it.
   */
  async prepare({ form = "", pendingTokens = 0, recall = false, ...options } = {}) {
    const kept = this.#kept;
    const since = kept.form === form ? { since: kept.revision } : {};
    this.#kept = { form: undefined, revision: undefined, items: [] }; // after an error, the next one gets everything
    const answer = await this.#call("window.prepare", { format: form, pendingTokens, recall, ...since }, options);
    const name = form ? "messages" : "history";
    answer[name] = [...kept.items.slice(0, answer.keep ?? 0), ...answer[name]];
    this.#kept = { form, revision: answer.revision, items: answer[name] };
    return prepared(answer);
  }

  /** Compresses now, and returns the outcome. */
  async compress(options = {}) {
    return (await this.#call("history.compress", {}, options)).outcome;
  }

  async reportUsage(promptTokens) {
    await this.#call("usage.report", { promptTokens });
  }

  /** Overrides a setting; null removes the override. */
  async set(key, value) {
    await this.#call("session.set", { key, value });
  }

  /** Sets the system prompt, and returns its tokens; "" removes it. */
  async setSystem(system) {
    return (await this.#call("session.setSystem", { system })).tokens;
  }

  async setTodos(todos) {
    await this.#call("todos.set", { todos });
  }

  async get() {
    return this.#call("session.get");
  }

  /** The owned history, also what is not sent to a model. */
  async history() {
    const entries = [];
    for await (const part of this.#stream("history.get")) entries.push(...part.history);
    return entries;
  }

  /** Entries as they were added, by the id of an entry or of a tool call. */
  async recorded(id) {
    return (await this.#call("history.recorded", { id })).entries;
  }

  /**
   * Passages of what was removed or shortened, by words, the best first: at most limit (3), with at most so many tokens
   * together (500). What stands in "double quotes" must occur exactly so.
   */
  async search(query, { limit, tokens } = {}) {
    return (await this.#call("history.search", { query, limit, tokens })).passages;
  }

  /** Lines of what was added, such as more around a passage. Those that exist are returned. */
  async lines({ entry, block, line, lines }) {
    return (await this.#call("history.search", { place: { entry, block, line, lines } })).passages[0];
  }

  /** What became of an entry, by its id or that of a tool call, and why; without an id, of all entries. */
  async explain(id = "") {
    const changes = [];
    for await (const part of this.#stream("history.explain", { id })) changes.push(...part.changes);
    return changes;
  }

  /** The session's turns from now on, as Client.watch reports them. */
  watch(options = {}) {
    return this.client.watch(this.id, options);
  }

  async close() {
    await this.#call("session.close");
  }

  #call(method, request = {}, options = {}) {
    return this.client.call(method, { session: this.id, ...request }, options);
  }

  #stream(method, request = {}) {
    return this.client.stream(method, { session: this.id, ...request });
  }
}

function broken(cause, untaken = false) {
  const error = { message: cause.message || cause.code, kind: "connection", retryable: cause.name !== "AbortError" };
  return new ThreshError({ ...error, maybeApplied: !untaken }, { cause, untaken });
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function text(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

// A connection that breaks in the middle of a line is an error of the connection.
async function* lines(response) {
  let chunks = [];
  try {
    for await (const chunk of response) {
      let from = 0;
      for (let end; (end = chunk.indexOf(10, from)) >= 0; from = end + 1) {
        chunks.push(chunk.subarray(from, end));
        yield Buffer.concat(chunks).toString();
        chunks = [];
      }
      chunks.push(chunk.subarray(from));
    }
  } catch (cause) {
    throw cause instanceof ThreshError ? cause : broken(cause);
  }
}

function prepared(answer) {
  return {
    history: [...(answer.history ?? [])],
    messages: [...(answer.messages ?? [])],
    system: answer.system,
    instructions: answer.instructions,
    notes: answer.notes ?? [],
    tokens: answer.tokens,
    systemTokens: answer.systemTokens ?? 0,
    revision: answer.revision,
    outcome: answer.outcome,
  };
}
