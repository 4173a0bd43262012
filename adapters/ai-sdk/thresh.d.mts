import type { Options } from "@thresh-dev/client/fit";
import type { LanguageModel, ModelMessage } from "ai";

/** What versions 6 and 7 tell of a step. */
interface Step {
  messages: ModelMessage[];
  model: LanguageModel;
  steps: readonly unknown[];
}

/** Returns a prepareStep, which may serve many agents at the same time. */
export declare function thresh(options?: Options): (step: Step) => Promise<{ messages: ModelMessage[] }>;
