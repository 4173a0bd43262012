import type { Options } from "@thresh-dev/client/fit";
import type { AgentMiddleware } from "langchain";

/** Returns a middleware for createAgent, which may serve many agents at the same time. It belongs at the end of them. */
export declare function thresh(options?: Options): AgentMiddleware;
