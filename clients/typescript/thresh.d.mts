// Types of thresh.mjs. What methods take and return is in api.d.mts, which is made of the host's methods.
import type {
  AddAnswer, Change, CompressedMessages, Entry, Event, Failure, Form, Info, Json, Listed, Methods, OpenAnswer, Outcome,
  Passage, Plugin, PrepareAnswer, StateAnswer, Todo,
} from "./api.d.mts";

export type * from "./api.d.mts";

export declare class ThreshError extends Error {
  private constructor();
  /** What it is about: "entry", "setting", "session", "plugin", "limit", …; "connection" if the host did not answer. */
  readonly kind: string;
  /** The same request may succeed if it is made again. */
  readonly retryable: boolean;
  /** It may have had its effect all the same. An addition is then made again with its key. */
  readonly maybeApplied: boolean;
  /** The wrong parameter, such as entries[1].speaker. */
  readonly field: string;
  /** The position of the entry or message that was refused, and of its part. */
  readonly entry?: number;
  readonly part?: number;
  readonly plugin: string;
  /** With kind "overflow": how many tokens are too many, and the largest entries. */
  readonly missingTokens: number;
  readonly largest: NonNullable<Failure["largest"]>;
  /** With kind "limit": which limit of the token was reached. */
  readonly limit: string;
  /** Of prepare: the history as it is, which may be sent at your own risk. */
  readonly prepared?: Prepared;
}

/** What may be sent: entries or, with a form, messages. The lists that it has not are empty. */
export type Prepared = Omit<PrepareAnswer, "keep" | "history" | "messages" | "notes" | "systemTokens"> &
  Required<Pick<PrepareAnswer, "history" | "messages" | "notes" | "systemTokens">>;

/** Where lines stand: in which block of which entry, from which line on, counted from 1. */
export type Place = Pick<Passage, "entry" | "block" | "line" | "lines">;

/** How long a call may take, in milliseconds, and what ends it. The host ends with it. */
export interface CallOptions {
  timeout?: number;
  signal?: AbortSignal;
}

export declare class Client {
  constructor(address: string, options?: { token?: string; ca?: string | Buffer });
  disconnect(): void;
  initialize(): Promise<Info>;
  open(
    session?: string,
    options?: { settings?: Record<string, string | number | boolean>; system?: string | Json[] },
  ): Promise<Session>;
  sessions(): AsyncGenerator<Listed>;
  delete(session: string): Promise<void>;
  watch(session?: string, options?: { signal?: AbortSignal }): AsyncGenerator<Event>;
  count(entries: Entry[]): Promise<number[]>;
  plugins(): Promise<Plugin[]>;
  resetPlugin(name: string): Promise<boolean>;
  lockPlugins(names?: string[]): Promise<string[]>;
  call<M extends keyof Methods>(
    method: M, request: Methods[M]["params"], options?: CallOptions,
  ): Promise<Methods[M]["result"]>;
  stream<M extends keyof Methods>(
    method: M, request: Methods[M]["params"], options?: CallOptions,
  ): AsyncGenerator<Methods[M]["result"]>;
}

export declare class Session {
  private constructor();
  readonly client: Client;
  readonly id: string;
  /** As it was when the session was opened. */
  readonly state: OpenAnswer;
  /** The same call again, with the same key, adds nothing twice. */
  add(entries: Entry[], options?: { opaque?: boolean; key?: string }): Promise<AddAnswer>;
  addMessages(
    form: Exclude<Form, "">,
    messages: Json[],
    options?: { system?: string | Json[]; key?: string },
  ): Promise<AddAnswer>;
  prepare(options?: { form?: Form; pendingTokens?: number; recall?: boolean } & CallOptions): Promise<Prepared>;
  compress(options?: CallOptions): Promise<Outcome>;
  reportUsage(promptTokens: number): Promise<void>;
  set(key: string, value: string | number | boolean | null): Promise<void>;
  setSystem(system: string | Json[]): Promise<number>;
  setTodos(todos: Todo[]): Promise<void>;
  get(): Promise<StateAnswer>;
  history(): Promise<Entry[]>;
  recorded(id: string): Promise<Entry[]>;
  search(query: string, options?: { limit?: number; tokens?: number }): Promise<Passage[]>;
  lines(place: Place): Promise<Passage>;
  explain(id?: string): Promise<Change[]>;
  watch(options?: { signal?: AbortSignal }): AsyncGenerator<Event>;
  close(): Promise<void>;
}

/** A host; without an address, `thresh run` as a child of the process. */
export interface Where {
  address?: string;
  token?: string;
}

/** Makes a whole conversation small, as the caller holds it: not what an earlier call returned. */
export declare function compress(
  messages: Json[],
  options?: { model?: string; format?: Form; strategy?: string; contextLimit?: number; recall?: boolean } & Where,
): Promise<CompressedMessages>;

/** The text of a removed part. */
export declare function retrieve(id: string, where?: Where): Promise<string>;
