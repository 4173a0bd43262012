// Serves a strategy to a thresh host: the protocol that PROTOCOL.md of thresh describes, version 1.
//
// A strategy is a module with info, the fields of GetInfoResponse, and compress(call), which returns an Answer. If its
// trigger is TRIGGER_MODE_CONTINUOUS, it also has optimize(call). What calls bring and return are messages of
// thresh/proto/thresh/v1. To ask the host's model, add HostService.Generate; to write new entries, add them to Answer.

import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import * as grpc from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor";

import contract from "./protocol.binpb";

/** Says that a host started this process. */
const cookie = "b1f0c4d2e97a46538c20d8e15f7a93be";
/** The most bytes of a chunk, and of a message in chunks. */
const maxChunk = 1 << 20;
const maxMessage = 256 << 20;
const options = { "grpc.max_receive_message_length": 64 << 20 };
/** A history compressed to this share of the threshold leaves room until the next time. */
const targetShare = 0.6;
/** How long a strategy may work before other calls get their turn, in milliseconds. */
const longestTurn = 10;

const { INVALID_ARGUMENT, FAILED_PRECONDITION, CANCELLED, UNIMPLEMENTED, UNKNOWN } = grpc.status;

type Bytes = Uint8Array;

/** The answer to GetInfo. It must not change while the file does not. */
export interface Info {
  name: string;
  version: string;
  description: string;
  trigger: {
    mode: "TRIGGER_MODE_THRESHOLD" | "TRIGGER_MODE_CONTINUOUS";
    defaultThreshold: number;
    coldThreshold?: number;
  };
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

/** What becomes of the history. An entry or block that is not named stays; one without changes is a no-op. */
export class Answer {
  /** The positions of entries that are removed. */
  readonly removed = new Set<number>();
  /** By the position of an entry: by the position of a block, what takes its place, or undefined. */
  readonly changed = new Map<number, Map<number, Block | undefined>>();
  /** Counters for people; of a compress alone. */
  readonly counts: Record<string, number> = {};

  /** Puts a copy that was changed in the place of a block; undefined removes it. */
  change(entry: number, block: number, by: Block | undefined): void {
    if (!this.changed.has(entry)) this.changed.set(entry, new Map());
    this.changed.get(entry)!.set(block, by);
  }
}

/** A request of a host. In a test, make one of a history. */
export class Call {
  private since = performance.now();

  constructor(
    /** Entries with their tokens; never change them. */
    readonly history: Entry[],
    /** With the defaults. */
    readonly settings: Record<string, unknown>,
    /** How many tokens a compressed history should have. */
    readonly target = 0,
    private readonly estimate: (contents: Content[]) => Promise<number[]> = async () => [],
    private readonly signal?: AbortSignal,
  ) {}

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
    let total = 0;
    const changed: Content[] = [];
    for (const [i, { content, tokens }] of this.history.entries()) {
      if (answer.removed.has(i)) continue;
      if (!answer.changed.has(i)) total += Number(tokens);
      else changed.push({ ...content, blocks: remaining(answer, i, content).map((b) => b.block ?? content.blocks[b.keep]!) });
    }
    return changed.length === 0 ? total : (await this.estimate(changed)).reduce((sum, n) => sum + n, total);
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

type BlockPiece = { keep: number; block?: undefined } | { block: Block };

/** Returns the blocks of an entry that stays. */
function remaining(answer: Answer, index: number, content: Content): BlockPiece[] {
  const changed = answer.changed.get(index);
  return content.blocks.flatMap((_, keep): BlockPiece[] => {
    if (!changed?.has(keep)) return [{ keep }];
    const block = changed.get(keep);
    return block ? [{ block }] : [];
  });
}

// Messages.

const described = (protobuf.Root as unknown as { fromDescriptor(bytes: Bytes): protobuf.Root }).fromDescriptor(contract);
// Fields have the names of the .proto files there: tool_response becomes toolResponse.
const camelCase = (_: string, name: string) => `"${protobuf.util.camelCase(name)}"`;
const root = protobuf.Root.fromJSON(JSON.parse(JSON.stringify(described).replace(/"([a-z]+_[a-z_]+)"/g, camelCase)));
protobuf.parse(
  `syntax = "proto3";
  package plugin;
  message ConnInfo { uint32 service_id = 1; string network = 2; string address = 3; }
  service GRPCBroker { rpc StartStream(stream ConnInfo) returns (stream ConnInfo); }`,
  root,
);
root.resolveAll();

// 64-bit numbers are strings, so that a revision comes back with every digit.
const services = loader.fromJSON(root.toJSON(), { longs: String, enums: String, oneofs: true, defaults: true });
const service = (name: string) => services[name] as grpc.ServiceDefinition;

const entries = root.lookupType("thresh.v1.Entry");
const contents = root.lookupType("thresh.v1.Content");
const edits = root.lookupType("thresh.v1.Edit");
const pieces = root.lookupType("thresh.v1.Piece");

/** Ends a call with a gRPC status. The message is a sentence for people, without text of the conversation. */
class Failure extends Error {
  constructor(readonly code: grpc.status, message: string) {
    super(message);
  }
}

const broken = (message: string) => new Failure(INVALID_ARGUMENT, message);

/** Reads messages, each behind its length, from chunks. Each is joined once, however many chunks it fills. */
class Reader {
  readonly messages: unknown[] = [];
  private length = 0; // of the message that is being read
  private lengthBytes = 0; // how many bytes of its length were read; -1: all of them
  private parts: Bytes[] = [];
  private held = 0; // bytes in parts

  constructor(private readonly type: protobuf.Type, private readonly announced: number) {}

  add(chunk: Bytes): void {
    if (chunk.length > maxChunk) {
      throw broken(`a chunk has ${chunk.length} bytes, at most ${maxChunk} are allowed`);
    }
    for (let at = 0; at < chunk.length; ) {
      if (this.lengthBytes >= 0) {
        this.addLength(chunk[at++]!);
      } else {
        const part = chunk.subarray(at, at + this.length - this.held);
        this.parts.push(part);
        this.held += part.length;
        at += part.length;
      }
      if (this.lengthBytes < 0 && this.held === this.length) {
        this.finish();
      }
    }
  }

  /** Returns the messages. It throws unless there are as many as the header announced. */
  end(): unknown[] {
    if (this.lengthBytes !== 0 || this.messages.length !== this.announced) {
      throw broken(`the stream ended after ${this.messages.length} of ${this.announced} messages`);
    }
    return this.messages;
  }

  private addLength(byte: number): void {
    if (this.messages.length === this.announced) {
      throw broken(`the stream continues after the ${this.announced} messages that were announced`);
    }
    this.length += (byte & 0x7f) * 2 ** (7 * this.lengthBytes++);
    if (this.length > maxMessage || this.lengthBytes > 5) {
      throw broken(`message ${this.messages.length} is longer than ${maxMessage} bytes`);
    }
    if (byte < 0x80) {
      this.lengthBytes = -1;
    }
  }

  private finish(): void {
    try {
      this.messages.push(this.type.decode(this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts)));
    } catch (e) {
      throw broken(`message ${this.messages.length} cannot be read: ${(e as Error).message}`);
    }
    this.parts = [];
    this.length = this.lengthBytes = this.held = 0;
  }
}

/** Writes messages, each behind its length, into chunks. */
function* chunks(type: protobuf.Type, messages: object[]): Generator<Bytes> {
  let parts: Bytes[] = [];
  let held = 0;
  for (const message of messages) {
    let rest: Bytes = type.encodeDelimited(message).finish();
    while (rest.length > 0) {
      const part = rest.subarray(0, maxChunk - held);
      parts.push(part);
      held += part.length;
      rest = rest.subarray(part.length);
      if (held === maxChunk) {
        yield Buffer.concat(parts);
        parts = [];
        held = 0;
      }
    }
  }
  if (held > 0) {
    yield Buffer.concat(parts);
  }
}

// The services of a plugin.

interface Header {
  call: { callId: string; revision: string; base: { length: string } | null; entries: string; config: Bytes };
  // Of a compress.
  contextLimit?: string;
  completionBudget?: string;
  pendingTokens?: string;
  threshold?: number;
}

type Request = { part?: "header" | "chunk"; header?: Header; chunk?: Bytes };
type Stream = grpc.ServerDuplexStream<Request, { header: object } | { chunk: Bytes }>;

interface Result {
  header: object;
  type: protobuf.Type;
  messages: object[];
}

class Services {
  private configured = false;
  private host: grpc.Client | undefined;
  private readonly addresses = new Map<number, string>();
  private waiting: (() => void) | undefined;

  constructor(private readonly strategy: Strategy) {}

  /** Remembers where the host's services are. The stream stays open for as long as the host wants. */
  readonly broker = {
    startStream: (stream: grpc.ServerDuplexStream<{ serviceId: number; address: string }, object>) => {
      stream.on("data", ({ serviceId, address }) => {
        this.addresses.set(serviceId, address);
        this.waiting?.();
      });
      stream.on("end", () => stream.end());
      stream.on("error", () => undefined); // the host has ended, and so will this process
    },
  };

  readonly strategyService = {
    getInfo: (_: unknown, done: grpc.sendUnaryData<object>) => done(null, { features: {}, ...this.strategy.info }),
    configure: (
      { request }: grpc.ServerUnaryCall<{ hostServiceId: number; logLevel: string }, object>,
      done: grpc.sendUnaryData<object>,
    ) => {
      this.configure(request.hostServiceId, request.logLevel).then(() => done(null, {}), (e: unknown) => done(status(e)));
    },
    compress: (stream: Stream) => this.serve(stream, (call) => this.compress(call)),
    optimize: (stream: Stream) => this.serve(stream, (call) => this.optimize(call)),
  };

  private async configure(id: number, level: string): Promise<void> {
    if (this.configured) {
      throw new Failure(FAILED_PRECONDITION, "Configure was called twice");
    }
    setLevel(level);
    if (id !== 0) {
      if (!this.addresses.has(id)) {
        await new Promise<void>((resolve, reject) => {
          const missing = new Failure(FAILED_PRECONDITION, `the host did not say where its services (id ${id}) are`);
          const timer = setTimeout(() => reject(missing), 5_000);
          this.waiting = () => {
            if (this.addresses.has(id)) {
              clearTimeout(timer);
              resolve();
            }
          };
        });
      }
      const HostService = grpc.makeClientConstructor(service("thresh.v1.HostService"), "HostService");
      this.host = new HostService(`unix:${this.addresses.get(id)}`, grpc.credentials.createInsecure(), options);
    }
    this.configured = true;
  }

  private async compress(call: Call): Promise<Result> {
    const answer = await this.strategy.compress(call);
    if (call.history.length === 0 || (answer.changed.size === 0 && answer.removed.size === 0)) {
      return { header: { noopReason: call.history.length === 0 ? "empty-history" : "no-gain" }, type: pieces, messages: [] };
    }
    const messages: object[] = [];
    let range: { from: number; to: number } | undefined;
    for (const [index, { content }] of call.history.entries()) {
      if (answer.removed.has(index)) continue;
      if (answer.changed.has(index)) {
        messages.push({ edited: { index, blocks: remaining(answer, index, content) } });
      } else if (range?.to === index) {
        range.to++;
      } else {
        range = { from: index, to: index + 1 };
        messages.push({ keep: range });
      }
    }
    const counts = Object.entries(answer.counts).map(([key, value]) => ({ key, value })); // a map has this form in protobuf
    const metadata = { counts, targetMissed: (await call.tokens(answer)) > call.target };
    return { header: { metadata, pieces: messages.length }, type: pieces, messages };
  }

  private async optimize(call: Call): Promise<Result> {
    if (!this.strategy.optimize) {
      throw new Failure(UNIMPLEMENTED, "the strategy has no optimize");
    }
    const answer = await this.strategy.optimize(call);
    const messages: object[] = [...answer.removed].map((index) => ({ index, remove: {} }));
    for (const index of answer.changed.keys()) {
      if (answer.removed.has(index)) continue;
      messages.push({ index, replace: { blocks: remaining(answer, index, call.history[index]!.content) } });
    }
    return { header: { metadata: {}, edits: messages.length }, type: edits, messages };
  }

  /** Runs one call: a header and chunks come, the strategy works, a header and chunks go. */
  private serve(stream: Stream, run: (call: Call) => Promise<Result>): void {
    const abort = new AbortController();
    const { signal } = abort;
    stream.on("cancelled", () => abort.abort());
    const answer = async () => {
      if (!this.configured) {
        throw new Failure(FAILED_PRECONDITION, "called before Configure");
      }
      const { header, history } = await receive(stream, signal);
      const { callId, config, base, revision } = header.call;
      if (Number(base?.length ?? 0) !== 0) {
        stream.write({ header: { revision, resync: true } }); // this plugin keeps no mirrors
        return;
      }
      const settings = config.length > 0 ? JSON.parse(Buffer.from(config).toString()) : {};
      const room = Number(header.contextLimit ?? 0) - Number(header.completionBudget ?? 0);
      const target = ((header.threshold ?? 0) * room - Number(header.pendingTokens ?? 0)) * targetShare;
      const estimate = (contents: Content[]) => this.estimate(callId, contents, signal);
      const result = await run(new Call(history, settings, target, estimate, signal));
      await send(stream, { header: { revision, ...result.header } }, signal);
      for (const chunk of chunks(result.type, result.messages)) {
        await send(stream, { chunk }, signal);
      }
    };
    answer().then(
      () => stream.end(),
      (e: unknown) => stream.emit("error", status(e)), // this is how a handler of grpc-js ends a call with a status
    );
  }

  private async estimate(callId: string, changed: Content[], signal: AbortSignal): Promise<number[]> {
    const host = this.host as unknown as {
      estimateTokens(done: (e: grpc.ServiceError | null, answer: { tokens: string[] }) => void): grpc.ClientWritableStream<object>;
    } | undefined;
    if (!host) {
      throw new Failure(FAILED_PRECONDITION, "this host offers no services");
    }
    signal.throwIfAborted();
    let cancel = () => {};
    try {
      return await new Promise<number[]>((resolve, reject) => {
        const stream = host.estimateTokens((err, answer) => (err ? reject(err) : resolve(answer.tokens.map(Number))));
        cancel = () => stream.cancel();
        signal.addEventListener("abort", cancel);
        stream.write({ callId });
        for (const chunk of chunks(contents, changed)) {
          stream.write({ chunk });
        }
        stream.end();
      });
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }
}

/** Reads a whole request. */
function receive(stream: Stream, signal: AbortSignal): Promise<{ header: Header; history: Entry[] }> {
  return new Promise((resolve, reject) => {
    let header: Header | undefined;
    let reader: Reader | undefined;
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (e) {
        reject(e as Error);
      }
    };
    stream.on("data", ({ part, header: first, chunk }: Request) =>
      attempt(() => {
        if (part === "header" && !reader) {
          header = first!;
          reader = new Reader(entries, Number(header.call.entries));
        } else if (part === "chunk" && reader) {
          reader.add(chunk!);
        } else {
          throw broken("a request is one header, then chunks");
        }
      }),
    );
    stream.on("end", () =>
      attempt(() => {
        if (!header || !reader) {
          throw broken("the stream ended before its header");
        }
        resolve({ header, history: reader.end() as Entry[] });
      }),
    );
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    stream.on("error", reject);
  });
}

/** Writes a message, and waits while the host is slow to read. */
async function send(stream: Stream, message: { header: object } | { chunk: Bytes }, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!stream.write(message)) {
    await new Promise<void>((resolve) => {
      stream.once("drain", resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/** Returns the status to end a call with. Errors of the host's services keep their code. */
function status(e: unknown): { code: grpc.status; details: string } {
  const { code, details } = e as Partial<grpc.ServiceError>;
  if (e instanceof Failure) {
    return { code: e.code, details: e.message };
  }
  if (typeof code === "number" && typeof details === "string") {
    return { code, details };
  }
  if (e instanceof Error && e.name === "AbortError") {
    return { code: CANCELLED, details: "the call was cancelled" };
  }
  return { code: UNKNOWN, details: e instanceof Error ? e.message : String(e) };
}

// The process.

const levels = ["trace", "debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];
let least: Level = "debug";

function setLevel(level: string): void {
  least = levels.find((l) => l === level) ?? least;
}

function log(level: Level, message: string, fields: Record<string, unknown>): void {
  if (levels.indexOf(level) >= levels.indexOf(least)) {
    const timestamp = new Date().toISOString().replace("Z", "000Z"); // six digits of fractions
    process.stderr.write(JSON.stringify({ "@level": level, "@message": message, "@timestamp": timestamp, ...fields }) + "\n");
  }
}

/** Serves a strategy until the host ends it. Started by a person, it says what it is. */
export function main(strategy: Strategy): void {
  if (process.env["THRESH_STRATEGY_PLUGIN"] !== cookie) {
    process.exitCode = byHand(strategy.info, process.argv.slice(2));
    return;
  }
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => undefined); // Ctrl-C reaches every process of a terminal; the host decides
  const lifeline = process.env["THRESH_LIFELINE_FD"];
  if (lifeline) {
    // Only the host holds the other end of this pipe, which ends with it, however that happens.
    const pipe = new Socket({ fd: Number(lifeline), readable: true, writable: false });
    pipe.on("end", () => process.exit(0));
    pipe.on("error", () => process.exit(0));
    pipe.resume();
  }
  const services = new Services(strategy);
  const server = new grpc.Server(options);
  server.addService(service("plugin.GRPCBroker"), services.broker);
  server.addService(service("thresh.v1.StrategyService"), services.strategyService);
  const path = join(process.env["PLUGIN_UNIX_SOCKET_DIR"] ?? "", "strategy.sock");
  server.bindAsync(`unix:${path}`, grpc.ServerCredentials.createInsecure(), (err) => {
    if (err) {
      log("error", "cannot listen", { path, error: err.message });
      process.exit(1);
    }
    writeSync(1, `1|1|unix|${path}|grpc\n`); // the handshake line, before anything else
  });
}

function byHand(info: Info, args: string[]): number {
  const usage = `${info.name} is a strategy for thresh, which starts it. Options: --describe, --version, --help`;
  const config = info.config?.map((f) => ({ ...f, defaultValue: JSON.parse(Buffer.from(f.defaultValue).toString()) as unknown }));
  const shown = new Map([
    ["--describe", JSON.stringify({ ...info, config }, null, 2)],
    ["--version", `${info.name} ${info.version}`],
    ["--help", usage],
  ]);
  const text = args.length === 1 ? shown.get(args[0]!) : undefined;
  if (text !== undefined) {
    console.log(text);
    return 0;
  }
  console.error(usage);
  return args.length > 0 ? 2 : 1;
}
