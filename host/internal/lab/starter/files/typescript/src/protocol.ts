// What a host brings to a strategy, and what the strategy returns: messages of thresh/proto/thresh/v1.
//
// A strategy is a module with info, the fields of GetInfoResponse, and compress(call), which returns an Answer. If its
// trigger is TRIGGER_MODE_CONTINUOUS, it also has optimize(call).

import { setImmediate } from "node:timers/promises";

import { status } from "@grpc/grpc-js";

/** How long a strategy may work before other calls get their turn, in milliseconds. */
const longestTurn = 10;
/** With less room than this for a text, in tokens, nothing worth reading comes of it. */
const leastRoom = 512;

export type Bytes = Uint8Array;

/** The answer to GetInfo. It must not change while the file does not. */
export interface Info {
  name: string;
  version: string;
  description: string;
  trigger: {
    mode: "TRIGGER_MODE_THRESHOLD" | "TRIGGER_MODE_CONTINUOUS";
    defaultThreshold: number;
    earlyThreshold?: number;
  };
  /** Whether a compress asks the host's model. */
  requiresLlm?: boolean;
  config?: {
    key: string;
    type: "CONFIG_TYPE_BOOLEAN" | "CONFIG_TYPE_INTEGER" | "CONFIG_TYPE_NUMBER" | "CONFIG_TYPE_STRING";
    /** JSON. */
    defaultValue: Bytes;
    description: string;
    allowed?: string[];
    minimum?: number;
    maximum?: number;
  }[];
}

export interface Strategy {
  info: Info;
  compress(call: Call): Promise<Answer>;
  optimize?(call: Call): Promise<Answer>;
}

export interface Entry {
  id: string;
  tokens: { toString(): string };
  content: Content;
}

export interface Content {
  /** human, ai or tool. */
  speaker: string;
  blocks: Block[];
  /** A JSON object, or empty. */
  metadata?: Bytes;
}

/** A block has one of these, or is of another kind. */
export interface Block {
  text?: { text: string } | null;
  toolCall?: { id: string; name: string; parameters: Bytes } | null;
  /** The result is JSON. */
  toolResponse?: { callId: string; toolName: string; result: Bytes; error: string } | null;
}

/** What becomes of the history. An entry or block that is not named stays; an answer without changes is a no-op. */
export class Answer {
  /** The positions of entries that are removed. */
  readonly removed = new Set<number>();
  /** By the position of an entry: by the position of a block, what takes its place, or undefined. */
  readonly changed = new Map<number, Map<number, Block | undefined>>();
  /** By the position of an entry: new entries before it. Of a compress alone, and so are counts. */
  readonly added = new Map<number, Content[]>();
  /** Counters for people. */
  readonly counts: Record<string, number> = {};

  /** Puts a copy that was changed in the place of a block; undefined removes it. */
  change(entry: number, block: number, by: Block | undefined): void {
    if (!this.changed.has(entry)) this.changed.set(entry, new Map());
    this.changed.get(entry)!.set(block, by);
  }

  /** Puts a new entry before that at a position, or at the end. */
  insert(before: number, content: Content): void {
    this.added.set(before, [...(this.added.get(before) ?? []), content]);
  }
}

/** What a host does for a compress. In a test, write what the strategy uses. */
export interface Host {
  /** Counts entries with the host's tokenizer. */
  estimateTokens(contents: Content[]): Promise<number[]>;
  resolvePrompt(name: string): Promise<string>;
  /** Asks the model. Entries hold text alone. They, the system prompt and the answer must fit its window. */
  generate(request: { system: string; contents: Content[]; maxOutputTokens: number }): Promise<string>;
}

/** What is known of the model behind a host. Limits are in tokens. */
export interface Model {
  contextLimit: number;
  maxOutput: number;
}

/** A request of a host. In a test, make one of a history. */
export class Call {
  /** How many tokens a compressed history should have. */
  readonly target: number;
  private readonly host: Partial<Host>;
  /** Not there if the host has none for this strategy. */
  readonly model?: Model;
  /** Whether the model was asked. */
  asked = false;
  private readonly signal?: AbortSignal;
  private since = performance.now();

  constructor(
    /** Entries with their tokens; never change them. */
    readonly history: Entry[],
    /** With the defaults. */
    readonly settings: Record<string, unknown>,
    more: { target?: number; host?: Partial<Host>; model?: Model; signal?: AbortSignal } = {},
  ) {
    this.model = more.model;
    this.target = more.target ?? 0;
    this.host = more.host ?? {};
    this.signal = more.signal;
  }

  /** Lets other calls have their turn, and throws if this one was cancelled. Node has one thread: await it in loops. */
  async breathe(): Promise<void> {
    if (performance.now() - this.since > longestTurn) {
      await setImmediate();
      this.since = performance.now();
      this.signal?.throwIfAborted();
    }
  }

  /** Counts what an answer leaves, with the host's tokenizer. In a compress alone. */
  async tokens(answer: Answer): Promise<number> {
    return (await this.counts(answer)).reduce((sum, n) => sum + n, 0);
  }

  /** The same for each entry of the history, 0 for those that are removed, and then for each new one. */
  async counts(answer: Answer): Promise<number[]> {
    const counts = this.history.map(({ tokens }, i) => (answer.removed.has(i) ? 0 : Number(tokens)));
    const changed = [...answer.changed.keys()].filter((i) => !answer.removed.has(i));
    const uncounted = changed.map((i) => {
      const { content } = this.history[i]!;
      return { ...content, blocks: remaining(answer, i, content).map((b) => b.block ?? content.blocks[b.keep]!) };
    });
    uncounted.push(...[...answer.added.values()].flat());
    const found = uncounted.length > 0 ? await this.host.estimateTokens!(uncounted) : [];
    changed.forEach((i, n) => (counts[i] = found[n]!));
    return [...counts, ...found.slice(changed.length)];
  }

  /** Returns the prompt of a name that is in force, such as "compression": the user's own, or the one that ships. */
  prompt(name: string): Promise<string> {
    return this.host.resolvePrompt!(name);
  }

  /** Has the host's model follow a prompt on a text. The middle of a text that is too long for it is left out. */
  async ask(system: string, text: string): Promise<string> {
    if (!this.model) {
      throw new Failure(status.FAILED_PRECONDITION, "the host has no model for this strategy");
    }
    const { contextLimit, maxOutput } = this.model;
    const maxOutputTokens = Math.min(maxOutput || contextLimit, Math.floor(contextLimit / 4));
    const room = contextLimit * 0.95 - maxOutputTokens; // the model's tokenizer is not the host's
    // Half of a character, where a text was cut, becomes a replacement character.
    const said = (text: string): Content => {
      return { speaker: "human", blocks: [{ text: { text: Buffer.from(text).toString() } }] };
    };
    for (let length = Math.floor(room * 8); ; ) {
      const contents = [said(clipped(text, length))];
      const [fixed, tokens] = (await this.host.estimateTokens!([said(system), ...contents])) as [number, number];
      if (fixed + tokens <= room) {
        this.asked = true;
        return await this.host.generate!({ system, contents, maxOutputTokens });
      }
      if (room - fixed < leastRoom) {
        const left = `the prompt leaves less than ${leastRoom} tokens of the model's ${contextLimit}`;
        throw new Failure(status.FAILED_PRECONDITION, left);
      }
      length = Math.floor((Math.min(length, text.length) * 0.9 * (room - fixed)) / tokens);
    }
  }

  /** Writes to the host's log; never text of the conversation. */
  log(level: Level, message: string, fields: Record<string, unknown> = {}): void {
    if (this.signal) log(level, message, fields); // not in a test
  }
}

/** Says whether an entry must stay as it is. */
export function pinned({ content }: Entry): boolean {
  return !!content.metadata?.length && JSON.parse(Buffer.from(content.metadata).toString()).pinned === true;
}

/** Leaves out the middle of a text that is longer than length. */
function clipped(text: string, length: number): string {
  const half = Math.floor(length / 2);
  return text.length <= length ? text : `${text.slice(0, half)}\n[…]\n${text.slice(text.length - half)}`;
}

export type BlockPiece = { keep: number; block?: undefined } | { block: Block };

/** Returns the blocks of an entry that stays. */
export function remaining(answer: Answer, index: number, content: Content): BlockPiece[] {
  const changed = answer.changed.get(index);
  return content.blocks.flatMap((_, keep): BlockPiece[] => {
    if (!changed?.has(keep)) return [{ keep }];
    const block = changed.get(keep);
    return block ? [{ block }] : [];
  });
}

/** Ends a call with a gRPC status. The message is a sentence for people, without text of the conversation. */
export class Failure extends Error {
  constructor(readonly code: status, message: string) {
    super(message);
  }
}

export const broken = (message: string) => new Failure(status.INVALID_ARGUMENT, message);

const levels = ["trace", "debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];
let least: Level = "debug";

/** Sets the least severe level that the host keeps. */
export function setLevel(level: string): void {
  least = levels.find((l) => l === level) ?? least;
}

export function log(level: Level, message: string, fields: Record<string, unknown>): void {
  if (levels.indexOf(level) >= levels.indexOf(least)) {
    const timestamp = new Date().toISOString().replace("Z", "000Z"); // six digits of fractions
    process.stderr.write(JSON.stringify({ "@level": level, "@message": message, "@timestamp": timestamp, ...fields }) + "\n");
  }
}
