// The strategy itself: long tool results keep their beginning and their end. It knows nothing of gRPC or processes.

import { clip, fewestCharacters } from "./clip";
import { invalid } from "./errors";
import { isPinned, pinnedExchanges, safeCut } from "./pairs";
import type { Block, BlockPiece, Content, Edit, Entry, Piece } from "./protocol";

/** The answer to GetInfo. It must not change while the file does not. */
export const info = {
  name: "clip-results",
  version: "0.1.0",
  description: "clips long tool results to their beginning and end; needs no LLM",
  trigger: { mode: "TRIGGER_MODE_CONTINUOUS", defaultThreshold: 0.85 },
  requiresLlm: false,
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
  features: {},
  sdk: "",
};

export interface Settings {
  maxCharacters: number;
  keepRecent: number;
}

/** Reads the settings of the process or of a session. The host has checked them; checking again makes a bug in a host visible. */
export function parseSettings(json: Uint8Array): Settings {
  let given: unknown = {};
  try {
    given = json.length > 0 ? JSON.parse(Buffer.from(json).toString()) : {};
  } catch {
    given = null; // reported below; the parser's message could quote the settings
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid("the settings are not a JSON object");
  }
  const settings: Settings = { maxCharacters: 6000, keepRecent: 4, ...given };
  for (const key of ["maxCharacters", "keepRecent"] as const) {
    const least = key === "keepRecent" ? 0 : fewestCharacters * 4;
    if (!Number.isInteger(settings[key]) || settings[key] < least) {
      throw invalid(`${key} must be an integer of at least ${least}`);
    }
  }
  return settings;
}

/** Yields to other calls, and throws if this call was cancelled. */
export type Breathe = () => Promise<void>;

/** Counts entries with the host's tokenizer. */
export type EstimateTokens = (entries: Content[]) => Promise<number[]>;

/** Clips all results except the newest. It removes no entry. */
export async function optimize(history: Entry[], settings: Settings, breathe: Breathe): Promise<Edit[]> {
  const changed = await clipResults(history, settings.maxCharacters, settings.keepRecent, breathe);
  return [...changed].map(([index, blocks]) => ({ index, replace: { blocks } }));
}

export interface Compressed {
  noopReason: string;
  pieces: Piece[];
  targetMissed: boolean;
  counts: Record<string, number>;
}

/**
 * Clips to a quarter of the usual length. If the history is still over the target, it removes the oldest entries, but
 * never what the user said.
 */
export async function compress(
  history: Entry[],
  target: number,
  settings: Settings,
  estimateTokens: EstimateTokens,
  breathe: Breathe,
): Promise<Compressed> {
  const changed = await clipResults(history, Math.floor(settings.maxCharacters / 4), settings.keepRecent, breathe);
  const tokens = history.map((entry) => Number(entry.tokens));
  const before = sum(tokens);
  const positions = [...changed.keys()];
  if (positions.length > 0) {
    const counts = await estimateTokens(positions.map((i) => rewritten(history[i]!, changed.get(i)!)));
    positions.forEach((i, n) => (tokens[i] = counts[n]!));
  }
  const stays = staying(history);
  const { cut, total } = oldest(history, tokens, target, stays);
  const noop = (noopReason: string) => ({ noopReason, pieces: [], targetMissed: false, counts: {} });
  if (history.length === 0) {
    return noop("empty-history");
  }
  if (total >= before) {
    return noop("no-gain");
  }
  const dropped = history.slice(0, cut).filter((_, i) => !stays[i]).length;
  return {
    noopReason: "",
    pieces: newHistory(history, changed, cut, stays),
    targetMissed: total > target,
    counts: { resultsClipped: changed.size, entriesDropped: dropped },
  };
}

/** Returns the new blocks of every entry that has results to clip, by position. */
async function clipResults(history: Entry[], max: number, keepRecent: number, breathe: Breathe) {
  let results = 0;
  for (const { content } of history) {
    results += content?.blocks.filter((b) => b.toolResponse).length ?? 0;
  }
  const changed = new Map<number, BlockPiece[]>();
  let seen = 0;
  for (const [index, entry] of history.entries()) {
    await breathe();
    const { content } = entry;
    const pinned = isPinned(entry);
    let clipped = false;
    const blocks = (content?.blocks ?? []).map((block, keep): BlockPiece => {
      const recent = block.toolResponse && ++seen > results - keepRecent;
      const shorter = recent || pinned ? undefined : clipBlock(block, max);
      clipped ||= shorter !== undefined;
      return shorter ? { block: shorter } : { keep };
    });
    if (clipped) {
      changed.set(index, blocks);
    }
  }
  return changed;
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

/** Returns an entry with its new blocks, to be counted. */
function rewritten(entry: Entry, blocks: BlockPiece[]): Content {
  const was = entry.content!;
  return { ...was, blocks: blocks.map((p) => ("keep" in p ? was.blocks[p.keep]! : p.block)) };
}

/**
 * Returns the position before which entries are removed, except those that stay, so that the rest has at most target
 * tokens; and the tokens of that rest. A cut of 0 means that nothing is removed.
 */
function oldest(history: Entry[], tokens: number[], target: number, stays: boolean[]) {
  const total = sum(tokens);
  let rest = total;
  let cut = 0;
  while (cut < history.length && rest > target) {
    rest -= stays[cut] ? 0 : tokens[cut]!;
    cut++;
  }
  cut = safeCut(history, cut);
  if (cut === history.length) {
    cut = 0; // only what the user said would be left
  }
  return { cut, total: total - sum(tokens.slice(0, cut).filter((_, i) => !stays[i])) };
}

/**
 * Says of each entry whether it is kept however old it is: what the user said, entries of unknown speakers, and pinned
 * ones.
 */
function staying(history: Entry[]): boolean[] {
  const pinned = pinnedExchanges(history);
  return history.map(({ content }, i) => (content?.speaker !== "ai" && content?.speaker !== "tool") || pinned.has(i));
}

/** Names what is kept instead of repeating it: ranges of unchanged entries, and entries with changed blocks. */
function newHistory(history: Entry[], changed: Map<number, BlockPiece[]>, cut: number, stays: boolean[]): Piece[] {
  const out: Piece[] = [];
  let range: { from: number; to: number } | undefined;
  history.forEach((_, index) => {
    if (index < cut && !stays[index]) {
      return;
    }
    const blocks = changed.get(index);
    if (blocks) {
      out.push({ edited: { index, blocks } });
    } else if (range?.to === index) {
      range.to++;
    } else {
      range = { from: index, to: index + 1 };
      out.push({ keep: range });
    }
  });
  return out;
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
