import { thresh } from "@thresh-dev/ai-sdk";
import { generateText, streamText } from "ai";

const prepareStep = thresh({ contextLimit: 8000, strategy: "distill" });
await generateText({ model: "m", prompt: "hello", prepareStep });
streamText({ model: "m", prompt: "hello", prepareStep: thresh() });

// @ts-expect-error: a limit is a number
thresh({ contextLimit: "8000" });
// @ts-expect-error: an option that does not exist
thresh({ limit: 8000 });
