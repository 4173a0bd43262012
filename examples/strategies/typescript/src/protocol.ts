// The messages of the protocol, as this strategy uses them. Their meaning stands in the .proto files, which are
// bundled.

import * as loader from "@grpc/proto-loader";
import protobuf from "protobufjs";

import historyProto from "../../../../proto/thresh/v1/history.proto";
import hostProto from "../../../../proto/thresh/v1/host.proto";
import strategyProto from "../../../../proto/thresh/v1/strategy.proto";
import goPluginProto from "../proto/goplugin.proto";

const root = new protobuf.Root();
for (const source of [historyProto, hostProto, strategyProto, goPluginProto]) {
  protobuf.parse(source, root);
}
root.resolveAll();

/** The services, for gRPC. 64-bit numbers are strings there, so that a revision comes back with every digit. */
export const services = loader.fromJSON(root.toJSON(), { longs: String, enums: String, oneofs: true, defaults: true });

/** A kind of message that travels in chunks. */
export interface Codec<T> {
  decode(bytes: Uint8Array): T;
  /** The message behind its length. */
  encodeDelimited(message: T): Uint8Array;
}

function codec<T>(name: string): Codec<T> {
  const type = root.lookupType(name);
  return {
    decode: (bytes) => type.decode(bytes) as T,
    encodeDelimited: (message) => type.encodeDelimited(message as object).finish(),
  };
}

export const entries = codec<Entry>("thresh.v1.Entry");
export const contents = codec<Content>("thresh.v1.Content");
export const edits = codec<Edit>("thresh.v1.Edit");
export const pieces = codec<Piece>("thresh.v1.Piece");

export type Long = string | number | { toString(): string };

export interface Entry {
  id: string;
  tokens: Long;
  content?: Content | null;
}

export interface Content {
  speaker: string;
  metadata?: Uint8Array; // a JSON object, or empty
  blocks: Block[];
}

/** Blocks of other kinds are kept by their position, and never looked into. */
export interface Block {
  toolCall?: { id: string; name: string } | null;
  toolResponse?: ToolResponse | null;
  extra?: unknown[];
}

export interface ToolResponse {
  callId: string;
  toolName: string;
  /** Raw JSON. */
  result: Uint8Array;
  error: string;
}

export type BlockPiece = { keep: number } | { block: Block };
export type Edit = { index: number } & ({ remove: object } | { replace: { blocks: BlockPiece[] } });
export type Piece =
  | { keep: { from: number; to: number } }
  | { edited: { index: number; blocks: BlockPiece[] } };

export interface CallHeader {
  callId: string;
  sessionId: string;
  revision: string;
  base: { length: string } | null;
  entries: string;
  config: Uint8Array;
}

export interface CompressHeader {
  call: CallHeader;
  contextLimit: string;
  threshold: number;
}

export interface OptimizeHeader {
  call: CallHeader;
}
