// Serves a strategy to a thresh host, as PROTOCOL.md of thresh describes it, version 1.

import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

import * as grpc from "@grpc/grpc-js";
import type { Type } from "protobufjs";

import { Reader, chunks, contents, edits, entries, pieces, service } from "./messages";
import {
  Call, Failure, broken, log, remaining, setLevel, type Bytes, type Entry, type Host, type Info, type Strategy,
} from "./protocol";

/** Says that a host started this process. */
const cookie = "b1f0c4d2e97a46538c20d8e15f7a93be";
const options = { "grpc.max_receive_message_length": 64 << 20 };
/** A history compressed to this share of the threshold leaves room until the next time. */
const targetShare = 0.6;

const { FAILED_PRECONDITION, CANCELLED, UNAVAILABLE, UNIMPLEMENTED, UNKNOWN } = grpc.status;

interface Header {
  call: { callId: string; revision: string; base: { length: string } | null; entries: string; config: Bytes };
  // Of a compress.
  contextLimit?: string;
  completionBudget?: string;
  pendingTokens?: string;
  threshold?: number;
  model?: { contextLimit: string; maxOutput: string } | null;
}

type Request = { part?: "header" | "chunk"; header?: Header; chunk?: Bytes };
type Stream = grpc.ServerDuplexStream<Request, { header: object } | { chunk: Bytes }>;

interface Result {
  header: object;
  type: Type;
  messages: object[];
}

class Services {
  private configured = false;
  private host: HostClient | undefined;
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
      const host: unknown = new HostService(`unix:${this.addresses.get(id)}`, grpc.credentials.createInsecure(), options);
      this.host = host as HostClient;
    }
    this.configured = true;
  }

  private async compress(call: Call): Promise<Result> {
    const answer = await this.strategy.compress(call);
    if (call.history.length === 0 || answer.changed.size + answer.removed.size + answer.added.size === 0) {
      return { header: { noopReason: call.history.length === 0 ? "empty-history" : "no-gain" }, type: pieces, messages: [] };
    }
    const messages: object[] = [];
    let range: { from: number; to: number } | undefined;
    for (let index = 0; index <= call.history.length; index++) {
      for (const entry of answer.added.get(index) ?? []) {
        messages.push({ entry });
        range = undefined;
      }
      const entry = call.history[index];
      if (!entry || answer.removed.has(index)) continue;
      if (answer.changed.has(index)) {
        messages.push({ edited: { index, blocks: remaining(answer, index, entry.content) } });
      } else if (range?.to === index) {
        range.to++;
      } else {
        range = { from: index, to: index + 1 };
        messages.push({ keep: range });
      }
    }
    const counts = Object.entries(answer.counts).map(([key, value]) => ({ key, value })); // a map has this form in protobuf
    const metadata = { llmCallMade: call.asked, counts, targetMissed: (await call.tokens(answer)) > call.target };
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
      const model = header.model && {
        contextLimit: Number(header.model.contextLimit) || Number(header.contextLimit),
        maxOutput: Number(header.model.maxOutput),
      };
      const host = this.services(callId, signal);
      const result = await run(new Call(history, settings, { target, host, model: model ?? undefined, signal }));
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

  /** The services of the host, for one call, with which they end. */
  private services(callId: string, signal: AbortSignal): Host {
    const request = <T>(begin: (host: HostClient, done: Done<T>) => { cancel(): void }) =>
      new Promise<T>((resolve, reject) => {
        signal.throwIfAborted();
        if (!this.host) {
          throw new Failure(FAILED_PRECONDITION, "this host offers no services");
        }
        const made = begin(this.host, (err, answer) => {
          signal.removeEventListener("abort", cancel);
          if (err) reject(err);
          else resolve(answer!);
        });
        const cancel = () => made.cancel();
        signal.addEventListener("abort", cancel);
      });
    return {
      estimateTokens: async (entries) => {
        const { tokens } = await request<{ tokens: string[] }>((host, done) => {
          const stream = host.estimateTokens(done);
          stream.write({ callId });
          for (const chunk of chunks(contents, entries)) stream.write({ chunk });
          stream.end();
          return stream;
        });
        return tokens.map(Number);
      },
      resolvePrompt: async (name) =>
        (await request<{ text: string }>((host, done) => host.resolvePrompt({ callId, name }, done))).text,
      generate: ({ system, contents: entries, maxOutputTokens }) =>
        request<string>((host, done) => {
          const stream = host.generate();
          let text = "";
          let ended = false;
          stream.on("data", (piece: { part: "text" | "end"; text: string }) => {
            if (piece.part === "text") text += piece.text;
            ended ||= piece.part === "end";
          });
          stream.on("error", (e: grpc.ServiceError) => done(e));
          stream.on("end", () => done(ended ? null : new Failure(UNAVAILABLE, "the model's answer broke off"), text));
          stream.write({ header: { callId, system, maxOutputTokens } });
          for (const chunk of chunks(contents, entries)) stream.write({ chunk });
          stream.end();
          return stream;
        }),
    };
  }
}

type Done<T> = (err: Error | null, answer?: T) => void;

interface HostClient {
  estimateTokens(done: Done<{ tokens: string[] }>): grpc.ClientWritableStream<object>;
  resolvePrompt(request: object, done: Done<{ text: string }>): grpc.ClientUnaryCall;
  generate(): grpc.ClientDuplexStream<object, { part: "text" | "end"; text: string }>;
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
