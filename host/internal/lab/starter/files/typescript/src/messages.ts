// The messages of PROTOCOL.md, and sequences of them in chunks.

import type { ServiceDefinition } from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor";

import contract from "./protocol.binpb";
import { broken, type Bytes } from "./protocol";

/** The most bytes of a chunk, and of a message in chunks. */
export const maxChunk = 1 << 20;
const maxMessage = 256 << 20;

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
export const service = (name: string) => services[name] as ServiceDefinition;

export const entries = root.lookupType("thresh.v1.Entry");
export const contents = root.lookupType("thresh.v1.Content");
export const edits = root.lookupType("thresh.v1.Edit");
export const pieces = root.lookupType("thresh.v1.Piece");

/** Reads messages, each behind its length, from chunks. Each is joined once, however many chunks it fills. */
export class Reader {
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
export function* chunks(type: protobuf.Type, messages: object[]): Generator<Bytes> {
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
