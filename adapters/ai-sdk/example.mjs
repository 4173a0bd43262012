import { thresh } from "@thresh-dev/ai-sdk";
import { stepCountIs, ToolLoopAgent } from "ai";

// The agent stays under the limit, which leaves room for its tools and the answer.
export function newAgent(model, tools, contextLimit = 100_000) {
  return new ToolLoopAgent({ model, tools, stopWhen: stepCountIs(100), prepareStep: thresh({ contextLimit }) });
}
