// For adapters of agent frameworks: messages are made small, and those that stay as they were are the same objects.

import { compress } from "./alone.mjs";

/**
 * Returns the messages to send of a framework's. It has
 *
 *   write(message)          what it says, in messages of Chat Completions; none if it goes with the one before it
 *   change(role, parts)     the message that was made of parts: { was, part, text, without }
 *
 * A message to write has a part: which of the framework's message it is. The content of a person's is a list, whose
 * elements have one. In change, was is the framework's message, absent if text is new, and text is absent if it is as
 * it was. The calls whose ids are in without are no longer in a message of the model.
 *
 * Without thresh the messages are sent as they are, with a warning, because a lost turn costs more than a large
 * request. What is wrong in the options is an error.
 */
export async function fit(messages, { write, change }, { head = [], ...options }) {
  const written = messages.map((message, i) => write(message).map((one) => marked(one, i)));
  if (!written.some((all) => all.length > 0)) return messages;
  let made;
  try {
    made = await compress([...head, ...written.flat()], { ...options, format: "openai-chat" });
  } catch (error) {
    const mine = error.kind === "request" && !error.field.startsWith("messages");
    if (mine || error.kind === "strategy" || !error.kind) throw error;
    console.warn(`thresh: the messages are sent as they are: ${error.message}`);
    return messages;
  }
  const silent = (after) => {
    let end = after + 1;
    while (end < messages.length && written[end].length === 0) end++;
    return messages.slice(after + 1, end);
  };
  const out = silent(-1);
  for (const { role, parts } of runs(made.messages.slice(head.length), messages, written)) {
    const { was } = parts.find((part) => part.was) ?? {};
    const whole = parts.every((part) => part.was === was && part.text === undefined && !part.without);
    const same = whole && parts.length === count(written[parts[0].at]);
    out.push(same ? was : change(role, parts));
    if (was) out.push(...silent(Math.max(...parts.map((part) => part.at ?? -1))));
  }
  return out;
}

// Members that thresh does not know come back, so that "at" says which of the framework's messages it was.
function marked({ part, ...message }, i) {
  if (message.role !== "user") return { ...message, at: part === undefined ? [i] : [i, part] };
  return { ...message, content: message.content.map(({ part, ...one }) => ({ ...one, at: [i, part] })) };
}

const pieces = (message) => (message.role === "user" ? message.content : [message]);
const count = (written) => written.flatMap(pieces).length;

// What is one message of the framework. The results of one stand behind each other.
function runs(made, messages, written) {
  const before = new Map(written.flat().flatMap(pieces).map((one) => [String(one.at), one]));
  const out = [];
  for (const message of made) {
    const parts = pieces(message).flatMap((now) => {
      const was = before.get(String(now.at));
      if (!was) return now.content ? list(now.content).map(({ text }) => ({ text })) : { text: now.text };
      const [at, part] = now.at;
      const kept = { was: messages[at], at, part };
      const without = gone(was, now);
      if (without.length > 0) kept.without = without;
      if (now.role !== "assistant") return changed(was, now) ? { ...kept, text: now.text ?? now.content } : kept;
      return [...added(was, now).map(({ text }) => ({ text })), kept];
    });
    const last = out.at(-1);
    if (message.role === "tool" && last?.role === "tool" && last.parts[0].at === parts[0].at) last.parts.push(...parts);
    else out.push({ role: message.role, parts });
  }
  return out;
}

// The ids of the calls that a message of the model has no longer.
function gone(was, now) {
  const left = new Set((now.tool_calls ?? []).map(({ id }) => id));
  return (was.tool_calls ?? []).map(({ id }) => id).filter((id) => !left.has(id));
}

const changed = (was, now) => was.text !== now.text || JSON.stringify(was.content) !== JSON.stringify(now.content);
const list = (content) => (typeof content === "string" ? [{ text: content }] : content ?? []);

// Words that were put into a message of the model: its own are never changed.
function added(was, now) {
  const own = new Set(list(was.content).map((one) => JSON.stringify(one)));
  return list(now.content).filter((one) => !own.has(JSON.stringify(one)));
}
