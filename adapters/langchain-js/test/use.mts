import { thresh } from "@thresh-dev/langchain";
import { createAgent } from "langchain";

createAgent({ model: "m", tools: [], middleware: [thresh({ contextLimit: 8000, strategy: "distill" })] });
thresh();

// @ts-expect-error: a limit is a number
thresh({ contextLimit: "8000" });
// @ts-expect-error: an option that does not exist
thresh({ limit: 8000 });
