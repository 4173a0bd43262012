// The strategy itself: long tool results keep their beginning and their end.

import { clip, fewestCharacters } from "./clip";
import { invalid } from "./errors";
import { safeCut } from "./pairs";
import type { Block, BlockPiece, Content, Edit, Entry, Piece } from "./protocol";

/** What GetInfo answers. */
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
      description: "how many characters of a result are left; a quarter of that when the history is compressed",
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

/** Reads the settings of the process or of a session. A host has checked them; a bug in one should be seen. */
export function parseSettings(json: Uint8Array): Settings {
  let given: unknown = {};
  try {
    given = json.length > 0 ? JSON.parse(Buffer.from(json).toString()) : {};
  } catch {
    given = null; // said below; the parser's words could quote what stands there
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

/** Lets other calls have their turn, and throws if nobody waits for the answer any more. */
export type Breathe = () => Promise<void>;

/** Counts entries with the host's tokenizer. */
export type EstimateTokens = (entries: Content[]) => Promise<number[]>;

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

/** Clips harder; if the rest is still over the target, the oldest entries go, but for those of people. */
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
  const { cut, total } = oldest(history, tokens, target);
  const noop = (noopReason: string) => ({ noopReason, pieces: [], targetMissed: false, counts: {} });
  if (history.length === 0) {
    return noop("empty-history");
  }
  if (total >= before) {
    return noop("no-gain");
  }
  const dropped = history.slice(0, cut).filter((entry) => !stays(entry)).length;
  return {
    noopReason: "",
    pieces: newHistory(history, changed, cut),
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
  for (const [index, { content }] of history.entries()) {
    await breathe();
    let clipped = false;
    const blocks = (content?.blocks ?? []).map((block, keep): BlockPiece => {
      const recent = block.toolResponse && ++seen > results - keepRecent;
      const shorter = recent ? undefined : clipBlock(block, max);
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
    return undefined; // short, or structured: its text is not ours to change
  }
  const text = JSON.parse(Buffer.from(result).toString()) as string; // hosts send no broken JSON
  const short = clip(text, max);
  if (short === text) {
    return undefined;
  }
  // Everything else of the response and the block stays, unknown fields included.
  return { ...block, toolResponse: { ...block.toolResponse!, result: Buffer.from(JSON.stringify(short)) } };
}

function rewritten(entry: Entry, blocks: BlockPiece[]): Content {
  const was = entry.content!;
  return { ...was, blocks: blocks.map((p) => ("keep" in p ? was.blocks[p.keep]! : p.block)) };
}

/** How many of the oldest entries must go, so that the rest counts no more than target, and what it then counts. */
function oldest(history: Entry[], tokens: number[], target: number) {
  const total = sum(tokens);
  let rest = total;
  let cut = 0;
  while (cut < history.length && rest > target) {
    rest -= stays(history[cut]!) ? 0 : tokens[cut]!;
    cut++;
  }
  cut = safeCut(history, cut);
  if (cut === history.length) {
    cut = 0; // nothing but what people said would be left
  }
  return { cut, total: total - sum(tokens.slice(0, cut).filter((_, i) => !stays(history[i]!))) };
}

/** What people said stays however old it is, and so does what nobody here understands. */
function stays({ content }: Entry): boolean {
  return content?.speaker !== "ai" && content?.speaker !== "tool";
}

/** Names what stays of the history: ranges of entries as they came, and entries with other blocks. */
function newHistory(history: Entry[], changed: Map<number, BlockPiece[]>, cut: number): Piece[] {
  const out: Piece[] = [];
  let range: { from: number; to: number } | undefined;
  history.forEach((entry, index) => {
    if (index < cut && !stays(entry)) {
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
