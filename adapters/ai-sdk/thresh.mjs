// Keeps the agents of the AI SDK, version 6 or 7, under their model's context limit: a prepareStep for generateText,
// streamText and ToolLoopAgent. A message or a part that no strategy changes is the same object.

import { fit } from "@thresh-dev/client/fit";

/** Returns a prepareStep, which may serve many agents at the same time. */
export function thresh(options = {}) {
  const runs = new WeakMap(); // by the list of a run's steps
  return async ({ messages, model, instructions, steps }) => {
    // Version 7 goes on with what it was given for the step before; what counts is all that was said.
    const last = runs.get(steps);
    const goesOn = last?.sent.every((message, i) => message === messages[i]);
    const all = goesOn ? [...last.all, ...messages.slice(last.sent.length)] : messages;
    const head = list(instructions ?? []).map((one) => ({ role: "system", content: one.content ?? one.text }));
    const sent = await fit(all, { write, change }, { model: model.modelId ?? model, head, ...options });
    runs.set(steps, { all, sent });
    return { messages: sent };
  };
}

const list = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : [content].flat());

function write({ role, content }) {
  switch (role) {
    case "user":
      return content.length > 0 ? [{ role, content: list(content).map((one, part) => ({ ...input(one), part })) }] : [];
    case "assistant":
      return [answer(list(content))];
    case "tool":
      return content.flatMap((one, part) =>
        one.type === "tool-result" ? [{ role, tool_call_id: one.toolCallId, content: result(one.output), part }] : [],
      );
    default: // instructions, which stay
      return [{ role: "system", content: String(content) }];
  }
}

// An attachment counts by what it is; its data stay here. A part that is not known stays.
function input(part) {
  const { type, text, mediaType } = part;
  if (type === "text") return { type, text };
  if (type === "image" || mediaType?.startsWith("image")) return { type: "image_url" };
  if (mediaType?.startsWith("audio/")) return { type: "input_audio" };
  return mediaType ? { type: "file" } : part;
}

// What the model says goes as a whole, or loses its calls. Tools that the provider ran are words of it, and stay if their result is in
// another message.
function answer(parts) {
  const calls = parts.filter((part) => part.type === "tool-call" && !part.providerExecuted);
  const own = parts.filter((part) => ["tool-call", "tool-result"].includes(part.type) && !calls.includes(part));
  const paired = (part) => own.some((one) => one.toolCallId === part.toolCallId && one.type !== part.type);
  const content = parts.flatMap((part) => {
    if (calls.includes(part) || part.type === "tool-approval-request") return [];
    if (own.includes(part)) return { type: paired(part) ? "text" : "provider-executed", text: JSON.stringify(part) };
    if (part.text !== undefined) return { type: "text", text: part.text };
    return input(part);
  });
  return {
    role: "assistant",
    content: content.length > 0 ? content : null,
    ...(calls.length > 0 && { tool_calls: calls.map(call) }),
  };
}

function call({ toolCallId, toolName, input }) {
  return { id: toolCallId, type: "function", function: { name: toolName, arguments: JSON.stringify(input ?? {}) } };
}

function result(output) {
  switch (output.type) {
    case "text":
      return output.value;
    case "content":
      return output.value.map((part) => (part.type === "text" ? { type: "text", text: part.text } : input(part)));
    case "json":
      return JSON.stringify(output.value);
    default: // an error, or a tool that was not to run
      return JSON.stringify({ error: output.value ?? output.reason ?? output.type });
  }
}

function change(role, parts) {
  const was = Object.assign({}, ...parts.map((part) => part.was)); // people's messages may have become one
  if (role === "tool") return { ...was, content: was.content.flatMap((one, i) => answered(one, i, parts)) };
  const content = parts.flatMap(({ was, part, text, without = [] }) => {
    if (!was) return { type: "text", text };
    const all = list(was.content).filter((one) => one.type !== "tool-call" || !without.includes(one.toolCallId));
    if (part === undefined) return all;
    return text === undefined ? all[part] : { ...all[part], text };
  });
  return { role, ...was, content };
}

function answered(one, i, parts) {
  if (one.type !== "tool-result") return one;
  const now = parts.find(({ part }) => part === i);
  if (now?.text === undefined) return now ? one : [];
  const type = one.output.type.startsWith("error") ? "error-text" : "text";
  const { providerOptions } = one.output;
  return { ...one, output: { type, value: now.text, ...(providerOptions && { providerOptions }) } };
}
