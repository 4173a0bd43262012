import { thresh } from "@thresh-dev/langchain";
import { createAgent } from "langchain";

// The agent stays under the limit, which leaves room for the answer. Its state keeps the whole conversation.
export function newAgent(model, tools, contextLimit = 100_000) {
  return createAgent({ model, tools, middleware: [thresh({ contextLimit })] });
}
