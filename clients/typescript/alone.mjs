// Messages without a session: one call, and nothing to keep.
//
//   import { compress } from "@thresh-dev/client";
//
//   const { messages } = await compress(all, { model: "gpt-5" });
//
// Without an address, `thresh run` is started as a child for the process: the program of the package @thresh-dev/thresh,
// or the one in PATH.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Client, ThreshError } from "./thresh.mjs";

/**
 * Makes a whole conversation small, as the caller holds it: not what an earlier call returned. It is recognised by its
 * content, so that what was sent before is sent again, and the provider's prompt cache is read. With recall false, the
 * model cannot ask for a removed result, and no id stands in its place.
 */
export function compress(messages, { model, format, strategy, contextLimit, recall, ...where } = {}) {
  return call("messages.compress", { messages, model, format, strategy, contextLimit, recall }, where);
}

/** The text of a removed part. */
export async function retrieve(id, where = {}) {
  return (await call("messages.retrieve", { id }, where)).content;
}

async function call(method, request, { address, token }) {
  if (!address) return ask(method, request);
  const client = new Client(address, { token });
  try {
    return await client.call(method, request);
  } finally {
    client.disconnect();
  }
}

function program() {
  try {
    const platform = `@thresh-dev/thresh-${process.platform}-${process.arch}`;
    return createRequire(import.meta.url).resolve(`${platform}/bin/thresh`);
  } catch {
    return "thresh";
  }
}

// `thresh run`, from the first call to the end of the process, which it does not keep from ending. One that has ended is
// started again.
let child;
let lastID = 0;

function start() {
  const started = spawn(program(), ["run"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  const ended = (cause) => {
    if (child?.started === started) child = undefined;
    const error = { message: `thresh run: ${cause.message}`, kind: "connection", retryable: true };
    for (const { reject } of waiting.values()) reject(new ThreshError(error, { cause }));
    waiting.clear();
  };
  started.on("error", (cause) => ended(cause.code === "ENOENT" ? new Error(missing, { cause }) : cause));
  started.stdin.on("error", ended);
  started.on("exit", (status) => ended(new Error(`it ended with status ${status}, after what it has printed`)));
  createInterface({ input: started.stdout }).on("line", (line) => {
    const { id, result, error } = parsed(line) ?? {};
    if (!id) {
      ended(new Error(`it printed ${JSON.stringify(line.slice(0, 80))}: is that thresh?`));
      started.kill();
      return;
    }
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (waiting.size === 0) hold("unref");
    if (error) reject?.(new ThreshError({ kind: "request", ...error.data, message: error.message }));
    else resolve?.(result);
  });
  const hold = (how) => [started, started.stdin, started.stdout].forEach((one) => one[how]());
  return { started, waiting, hold };
}

const missing = "the program is not in PATH: install it, or give the address of a host";

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function ask(method, params) {
  child ??= start();
  const { started, waiting, hold } = child;
  const id = ++lastID;
  hold("ref");
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    started.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  });
}
