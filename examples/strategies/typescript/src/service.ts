// StrategyService: reads the requests, calls the strategy, writes the answers.

import { setImmediate } from "node:timers/promises";

import type * as grpc from "@grpc/grpc-js";

import { Broker, Host } from "./broker";
import { invalid, precondition, toStatus } from "./errors";
import { Reader, chunks } from "./framing";
import { log, setLevel } from "./log";
import { edits, entries, pieces } from "./protocol";
import type { CallHeader, Codec, CompressHeader, Entry, OptimizeHeader } from "./protocol";
import { compress, info, optimize, parseSettings, type Breathe } from "./strategy";

interface ConfigureRequest {
  hostServiceId: number;
  config: Uint8Array;
  logLevel: string;
}

type Request<H> = { part?: "header" | "chunk"; header?: H; chunk?: Uint8Array };
type Stream<H> = grpc.ServerDuplexStream<Request<H>, { header: object } | { chunk: Uint8Array }>;

/** What a call comes to: a header and the messages that follow it. */
interface Answer<M> {
  header: object;
  codec: Codec<M>;
  messages: M[];
}

/** A history compressed to this share of the threshold leaves room until the next time. */
const targetShare = 0.6;

/** How long the strategy may think before other calls get their turn, in milliseconds. */
const longestThought = 10;

export class Service {
  private configured = false;
  private host: Host | undefined;

  constructor(private readonly broker: Broker) {}

  readonly implementation = {
    getInfo: (_: unknown, done: grpc.sendUnaryData<object>) => done(null, info),

    configure: (call: grpc.ServerUnaryCall<ConfigureRequest, object>, done: grpc.sendUnaryData<object>) => {
      this.configure(call.request).then(
        () => done(null, {}),
        (e: unknown) => done(toStatus(e)),
      );
    },

    optimize: (stream: Stream<OptimizeHeader>) =>
      this.serve(stream, (h) => h.call, async (header, history, breathe) => {
        const found = await optimize(history, parseSettings(header.call.config), breathe);
        return { header: { revision: header.call.revision, metadata: {}, edits: found.length }, codec: edits, messages: found };
      }),

    compress: (stream: Stream<CompressHeader>) =>
      this.serve(stream, (h) => h.call, async (header, history, breathe, signal) => {
        const { call } = header;
        const target = header.threshold * Number(header.contextLimit) * targetShare;
        const count = this.host?.counter(call.callId, signal);
        const noServices = () => Promise.reject(precondition("this host offers no services, and no entry can be counted"));
        const r = await compress(history, target, parseSettings(call.config), count ?? noServices, breathe);
        log("info", "compressed", { session: call.sessionId, entries: history.length, noop: r.noopReason, ...r.counts });
        const metadata = { llmCallMade: false, targetMissed: r.targetMissed, counts: r.counts };
        const result = { revision: call.revision, noopReason: r.noopReason, metadata, pieces: r.pieces.length };
        return { header: result, codec: pieces, messages: r.pieces };
      }),
  };

  private async configure(request: ConfigureRequest): Promise<void> {
    if (this.configured) {
      throw precondition("Configure was called twice");
    }
    parseSettings(request.config);
    setLevel(request.logLevel);
    if (request.hostServiceId !== 0) {
      this.host = new Host(await this.broker.address(request.hostServiceId));
    }
    this.configured = true;
  }

  /** Runs one call: header, chunks, half-close; then the strategy; then header, chunks, OK. */
  private serve<H, M>(
    stream: Stream<H>,
    callOf: (header: H) => CallHeader,
    run: (header: H, history: Entry[], breathe: Breathe, signal: AbortSignal) => Promise<Answer<M>>,
  ): void {
    const abort = new AbortController();
    stream.on("cancelled", () => abort.abort());
    const answer = async () => {
      if (!this.configured) {
        throw precondition("called before Configure");
      }
      const { header, history } = await receive(stream, callOf);
      if (Number(callOf(header).base?.length ?? 0) !== 0) {
        stream.write({ header: { revision: callOf(header).revision, resync: true } });
        return;
      }
      const result = await run(header, history, breather(abort.signal), abort.signal);
      await send(stream, { header: result.header }, abort.signal);
      for (const chunk of chunks(result.codec, result.messages)) {
        await send(stream, { chunk }, abort.signal);
      }
    };
    answer().then(
      () => stream.end(),
      (e: unknown) => stream.emit("error", toStatus(e)), // this is how a handler of grpc-js ends a call with a status
    );
  }
}

/** Reads the whole request. */
function receive<H>(stream: Stream<H>, callOf: (header: H) => CallHeader): Promise<{ header: H; history: Entry[] }> {
  return new Promise((resolve, reject) => {
    let header: H | undefined;
    let reader: Reader<Entry> | undefined;
    const read = (request: Request<H>) => {
      if (request.part === "header" && !reader) {
        header = request.header!;
        reader = new Reader(entries, Number(callOf(header).entries));
      } else if (request.part === "chunk" && reader) {
        reader.add(request.chunk!);
      } else {
        throw invalid("a request is one header, then chunks");
      }
    };
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (e) {
        reject(e as Error);
      }
    };
    stream.on("data", (request: Request<H>) => attempt(() => read(request)));
    stream.on("end", () =>
      attempt(() => {
        if (!header || !reader) {
          throw invalid("the stream ended before its header");
        }
        resolve({ header, history: reader.end() });
      }),
    );
    stream.on("cancelled", () => reject(new DOMException("cancelled", "AbortError")));
    stream.on("error", reject);
  });
}

/** Writes a message, and waits while the host is slow to read. */
async function send<H>(stream: Stream<H>, message: { header: object } | { chunk: Uint8Array }, signal: AbortSignal) {
  signal.throwIfAborted();
  if (!stream.write(message)) {
    await new Promise<void>((resolve) => {
      stream.once("drain", resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/**
 * Returns a function that yields to other calls after some milliseconds of work. Node has one thread: without yielding,
 * other calls would wait, and a cancellation would not be noticed.
 */
function breather(signal: AbortSignal): Breathe {
  let since = performance.now();
  return async () => {
    if (performance.now() - since > longestThought) {
      await setImmediate();
      since = performance.now();
      signal.throwIfAborted();
    }
  };
}
