// The part of go-plugin's broker that a strategy needs: the host announces the addresses of its services.

import * as grpc from "@grpc/grpc-js";

import { precondition } from "./errors";
import { chunks } from "./framing";
import { contents, services } from "./protocol";
import type { EstimateTokens } from "./strategy";

interface ConnInfo {
  serviceId: number;
  address: string;
}

/** How long Configure waits for the address of the host's services, in milliseconds. */
const addressTimeout = 5_000;
/** The largest gRPC message that is accepted, in bytes. The host's messages are far smaller. */
const messageLimit = 64 << 20;

/** Remembers the addresses that the host announces. An address may arrive before or after it is asked for. */
export class Broker {
  private readonly addresses = new Map<number, string>();
  private readonly waiting = new Map<number, (address: string) => void>();

  /** Serves GRPCBroker. The stream stays open for as long as the host wants. */
  readonly implementation = {
    startStream: (call: grpc.ServerDuplexStream<ConnInfo, ConnInfo>) => {
      call.on("data", ({ serviceId, address }: ConnInfo) => {
        this.addresses.set(serviceId, address);
        this.waiting.get(serviceId)?.(address);
      });
      call.on("end", () => call.end());
      call.on("error", () => undefined); // the host has ended; the lifeline ends this process
    },
  };

  /** Returns the address of a service, and waits for it if it was not announced yet. */
  address(id: number): Promise<string> {
    const known = this.addresses.get(id);
    if (known !== undefined) {
      return Promise.resolve(known);
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(precondition(`the host did not say where its services (id ${id}) are`));
      }, addressTimeout);
      this.waiting.set(id, (address) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        resolve(address);
      });
    });
  }
}

/** The one method of the generated client that is used here. */
interface HostService extends grpc.Client {
  estimateTokens(
    done: (err: grpc.ServiceError | null, answer: { tokens: string[] }) => void,
  ): grpc.ClientWritableStream<{ callId?: string; chunk?: Uint8Array }>;
}

/** The host's services. They exist during a Compress only. */
export class Host {
  private readonly client: HostService;

  constructor(address: string) {
    const definition = services["thresh.v1.HostService"] as grpc.ServiceDefinition;
    const HostClient = grpc.makeClientConstructor(definition, "HostService");
    this.client = new HostClient(`unix:${address}`, grpc.credentials.createInsecure(), {
      "grpc.max_receive_message_length": messageLimit,
    }) as unknown as HostService;
  }

  /** Returns a counter for one Compress, which is cancelled with it. */
  counter(callId: string, signal: AbortSignal): EstimateTokens {
    return async (entries) => {
      signal.throwIfAborted();
      let cancel = () => {};
      try {
        return await new Promise<number[]>((resolve, reject) => {
          const stream = this.client.estimateTokens((err, answer) => {
            if (err) reject(err);
            else resolve(answer.tokens.map(Number));
          });
          cancel = () => stream.cancel();
          signal.addEventListener("abort", cancel);
          stream.write({ callId });
          for (const chunk of chunks(contents, entries)) {
            stream.write({ chunk }); // gRPC buffers what the host does not take yet; clipped results are small
          }
          stream.end();
        });
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    };
  }
}
