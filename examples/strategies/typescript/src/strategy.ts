// Long tool results keep their beginning and their end, and where that is not enough, the oldest entries go.

import { clip, fewestCharacters } from "./clip";
import { Answer, pinned, type Block, type Call, type Entry, type Info } from "./protocol";
import { pinnedExchanges, safeCut } from "./turns";

export const info: Info = {
  name: "clip-results",
  version: "0.1.0",
  description: "clips long tool results to their beginning and end; needs no LLM",
  trigger: { mode: "TRIGGER_MODE_CONTINUOUS", defaultThreshold: 0.85 },
  config: [
    {
      key: "maxCharacters",
      type: "CONFIG_TYPE_INTEGER",
      defaultValue: Buffer.from("6000"),
      description: "how many characters of a result are kept; a quarter of that when the history is compressed",
      minimum: fewestCharacters * 4,
    },
    {
      key: "keepRecent",
      type: "CONFIG_TYPE_INTEGER",
      defaultValue: Buffer.from("4"),
      description: "how many of the newest results stay as they came",
      minimum: 0,
    },
  ],
};

/** Clips all results except the newest. It removes no entry. */
export async function optimize(call: Call): Promise<Answer> {
  return clipResults(call, call.settings["maxCharacters"] as number);
}

/**
 * Clips to a quarter of the usual length. If the history is still over the target, it removes the oldest entries, but
 * never what the user said.
 */
export async function compress(call: Call): Promise<Answer> {
  const { history, target } = call;
  const answer = await clipResults(call, Math.floor((call.settings["maxCharacters"] as number) / 4));
  const stays = staying(history);
  const tokens = await call.counts(answer);
  let rest = sum(tokens);
  let cut = 0;
  while (cut < history.length && rest > target) {
    rest -= stays[cut] ? 0 : tokens[cut]!;
    cut++;
  }
  cut = safeCut(history, cut);
  const old = history.map((_, i) => i).filter((i) => i < cut && !stays[i]);
  if (cut < history.length) { // else only what the user said would be left
    old.forEach((i) => answer.removed.add(i));
  }
  if (sum(tokens.filter((_, i) => !answer.removed.has(i))) >= sum(history.map((entry) => Number(entry.tokens)))) {
    return new Answer();
  }
  answer.counts["resultsClipped"] = answer.changed.size;
  answer.counts["entriesDropped"] = answer.removed.size;
  return answer;
}

async function clipResults(call: Call, max: number): Promise<Answer> {
  const answer = new Answer();
  const isResult = (block: Block) => !!block.toolResponse;
  let left = sum(call.history.map(({ content }) => content.blocks.filter(isResult).length)); // before the newest
  left -= call.settings["keepRecent"] as number;
  for (const [index, entry] of call.history.entries()) {
    await call.breathe();
    entry.content.blocks.forEach((block, at) => {
      const old = isResult(block) && left-- > 0;
      const shorter = old && !pinned(entry) ? clipBlock(block, max) : undefined;
      if (shorter) {
        answer.change(index, at, shorter);
      }
    });
  }
  return answer;
}

/** Returns the block with its result clipped, undefined if there is nothing to clip. */
function clipBlock(block: Block, max: number): Block | undefined {
  const result = block.toolResponse?.result;
  if (!result || result.length <= max || result[0] !== 0x22) {
    return undefined; // short, or structured JSON: changing its text could break it
  }
  const text = JSON.parse(Buffer.from(result).toString()) as string; // a host sends valid JSON
  const short = clip(text, max);
  if (short === text) {
    return undefined;
  }
  // Everything else in the response and the block stays, unknown fields included.
  return { ...block, toolResponse: { ...block.toolResponse!, result: Buffer.from(JSON.stringify(short)) } };
}

/**
 * Says of each entry whether it is kept however old it is: what the user said, entries of unknown speakers, and pinned
 * ones.
 */
function staying(history: Entry[]): boolean[] {
  const exchanges = pinnedExchanges(history);
  return history.map(({ content }, i) => (content.speaker !== "ai" && content.speaker !== "tool") || exchanges.has(i));
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
