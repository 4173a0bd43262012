// Keeps the agents of LangChain under their model's context limit: a middleware for createAgent. A message that no
// strategy changes is the same object, and the agent's own state keeps all of them.

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { fit } from "@thresh-dev/client/fit";
import { createMiddleware } from "langchain";

/** Returns a middleware, which may serve many agents at the same time. The last one sees what the model is sent. */
export function thresh(options = {}) {
  return createMiddleware({
    name: "thresh",
    wrapModelCall: async (request, handler) => {
      const { model, tools, systemMessage } = request;
      const schemas = JSON.stringify(tools.map((tool) => (tool.lc_namespace ? convertToOpenAITool(tool) : tool)));
      const head = [{ role: "system", content: `${systemMessage?.text ?? ""}\n${schemas}` }];
      const name = model.model ?? model.modelName;
      const messages = await fit(request.messages, { write, change }, { model: name, head, ...options });
      return handler({ ...request, messages });
    },
  });
}

const list = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
const text = (content) => list(content).map((block) => block.text ?? JSON.stringify(block)).join("\n");

function write(message) {
  const { content, name } = message;
  switch (message.getType()) {
    case "human": {
      const blocks = list(content).map((block, part) => ({ ...input(block), part }));
      return blocks.length > 0 ? [{ role: "user", content: blocks, ...(name && { name }) }] : [];
    }
    case "ai":
      return [answer(message)];
    case "tool": {
      const blocks = list(content).map(input);
      const plain = blocks.every((block) => block.type === "text");
      const failed = message.status === "error" && JSON.stringify({ error: text(content) });
      const said = failed || (plain ? text(content) : blocks);
      return [{ role: "tool", tool_call_id: message.tool_call_id, content: said }];
    }
    default: // instructions, and roles that are not known: they stay
      return [{ role: "system", content: text(content) }];
  }
}

// An attachment counts by what it is; its data stay here. A block that is not known stays.
function input(block) {
  if (block.type === "text") return { type: "text", text: block.text };
  const [kind, of = ""] = (block.mimeType ?? block.mime_type ?? block.source?.media_type ?? "").split("/");
  if (block.type.startsWith("image") || kind === "image") return { type: "image_url" };
  if (block.type.includes("audio") || kind === "audio") return { type: "input_audio" };
  return of || block.type === "file" || block.type === "document" ? { type: "file" } : block;
}

// What the model says goes as a whole. Its calls are among its blocks too.
const calling = ["tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "functionCall", "function_call"];

function answer({ content, tool_calls = [], invalid_tool_calls = [] }) {
  const blocks = list(content).filter(({ type, text }) => !calling.includes(type) && text !== "");
  const said = blocks.map((block) => {
    const shown = input(block);
    return shown === block ? { type: "text", text: JSON.stringify(block) } : shown;
  });
  const calls = [...tool_calls, ...invalid_tool_calls].map(({ id, name, args }) => ({
    id, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}) },
  }));
  return {
    role: "assistant", content: said.length > 0 ? said : null, ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function change(role, parts) {
  const { was } = parts.find((part) => part.was) ?? {};
  if (role === "tool") return having(was, parts[0].text);
  const without = parts.flatMap((part) => part.without ?? []);
  const stays = ({ id }) => !without.includes(id);
  const content = parts.flatMap(({ was, part, text }) => {
    if (!was) return { type: "text", text };
    const all = list(was.content).filter((block) => !calling.includes(block.type) || stays(block));
    if (part === undefined) return all;
    return text === undefined ? all[part] : { ...all[part], text };
  });
  if (was && without.length === 0) return having(was, content);
  if (was) return calls(having(was, content), stays);
  return role === "user" ? new HumanMessage({ content }) : new AIMessage({ content });
}

// The message with another content, and all else that it has.
function having(message, content) {
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content });
}

// The message with those of its calls that stay.
function calls(message, stays) {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  return Object.assign(message, {
    tool_calls: tool_calls.filter(stays), invalid_tool_calls: invalid_tool_calls.filter(stays),
  });
}
