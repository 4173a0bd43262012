// Messages in chunks. Each message is preceded by its length as a varint, and the sequence is cut anywhere.

import { invalid } from "./errors";
import type { Codec } from "./protocol";

/** The most bytes in a chunk. */
export const maxChunk = 1 << 20;

/** The longest message that is accepted, in bytes: one entry can hold a tool result of many megabytes. */
const maxMessage = 256 << 20;

/**
 * Reads messages from chunks. A message that fills many chunks is joined once, when its last byte has arrived: joining
 * at every chunk would take quadratic time.
 */
export class Reader<T> {
  readonly messages: T[] = [];
  private length = 0; // of the message that is being read
  private lengthBytes = 0; // how many bytes of its length were read; -1: all of them
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

  /** Returns the messages. It throws unless there are as many as the header announced. */
  end(): T[] {
    if (this.lengthBytes !== 0 || this.messages.length !== this.announced) {
      throw invalid(`the stream ended after ${this.messages.length} of ${this.announced} messages`);
    }
    return this.messages;
  }

  private addLength(byte: number): void {
    if (this.messages.length === this.announced) {
      throw invalid(`the stream continues after the ${this.announced} messages that were announced`);
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

/** Writes messages into chunks of at most maxChunk bytes, one at a time: the caller sends each before the next is made. */
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
