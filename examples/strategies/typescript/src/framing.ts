// Messages in chunks: each behind its length as a varint, the whole cut anywhere.

import { invalid } from "./errors";
import type { Codec } from "./protocol";

/** The most bytes that a chunk may have. */
export const maxChunk = 1 << 20;

/** The longest message that is read, in bytes. */
const maxMessage = 256 << 20;

/** Reads messages out of chunks. A message that fills many chunks is put together once, when its last byte is there. */
export class Reader<T> {
  readonly messages: T[] = [];
  private length = 0; // of the message that is being read
  private lengthBytes = 0; // how many bytes of its length are there; -1: all
  private parts: Uint8Array[] = [];
  private held = 0; // bytes in parts

  constructor(
    private readonly codec: Codec<T>,
    private readonly announced: number,
  ) {}

  add(chunk: Uint8Array): void {
    if (chunk.length > maxChunk) {
      throw invalid(`a chunk has ${chunk.length} bytes, at most ${maxChunk} are allowed`);
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

  /** Returns the messages, of which there must be as many as were announced. */
  end(): T[] {
    if (this.lengthBytes !== 0 || this.messages.length !== this.announced) {
      throw invalid(`the stream ended after ${this.messages.length} of ${this.announced} messages`);
    }
    return this.messages;
  }

  private addLength(byte: number): void {
    if (this.messages.length === this.announced) {
      throw invalid(`there is more behind the ${this.announced} messages that were announced`);
    }
    this.length += (byte & 0x7f) * 2 ** (7 * this.lengthBytes++);
    if (this.length > maxMessage || this.lengthBytes > 5) {
      throw invalid(`message ${this.messages.length} is longer than ${maxMessage} bytes`);
    }
    if (byte < 0x80) {
      this.lengthBytes = -1;
    }
  }

  private finish(): void {
    const bytes = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts);
    try {
      this.messages.push(this.codec.decode(bytes));
    } catch (e) {
      throw invalid(`message ${this.messages.length} cannot be read: ${(e as Error).message}`);
    }
    this.parts = [];
    this.length = this.lengthBytes = this.held = 0;
  }
}

/** Cuts messages into chunks. */
export function* chunks<T>(codec: Codec<T>, messages: Iterable<T>): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for (const message of messages) {
    let rest = codec.encodeDelimited(message);
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
