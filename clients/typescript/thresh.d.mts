// Types of thresh.mjs.

/** A JSON object: an entry, a message of a provider, an outcome. docs/api.md describes them. */
export type Json = Record<string, any>;

/** "" is the native form. */
export type Form = "" | "anthropic" | "openai-chat" | "openai-responses";

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
  /** With kind "overflow": how many tokens are too many. */
  readonly missingTokens: number;
  /** With kind "limit": which limit of the token was reached. */
  readonly limit: string;
  /** Of prepare: the history as it is, which may be sent at your own risk. */
  readonly prepared?: Prepared;
}

export interface State {
  revision: number;
  tokens: number;
  entries: number;
}

export interface SessionInfo {
  session: string;
  entries: number;
  tokens: number;
  /** Of stored sessions: times, and the size in the store. */
  created?: string;
  used?: string;
  bytes?: number;
}

export interface Prepared {
  /** The entries to send, without a form. */
  history: Json[];
  /** The messages to send, with a form. */
  messages: Json[];
  system?: Json[];
  instructions?: Json[] | string;
  notes: string[];
  tokens: number;
  systemTokens: number;
  revision: number;
  outcome: Json;
}

/** Where lines stand: in which block of which entry, from which line on, counted from 1. */
export interface Place {
  entry: string;
  block: number;
  line: number;
  lines: number;
}

/** Lines of what was added. */
export interface Passage extends Place {
  /** How many lines the block's text has. */
  of: number;
  /** How many messages of people there were until then. */
  turn: number;
  speaker: "human" | "ai" | "tool";
  kind: string;
  /** A call's, or a result's: the tool, what the call was about, and its id. */
  tool?: string;
  argument?: string;
  call?: string;
  text: string;
  tokens: number;
}

export interface Todo {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
  subtasks?: Todo[];
}

export interface Turn {
  /** Absent if the watch has begun, or begun again after the connection broke: turns before that are missing. */
  session?: string;
  method?: "prepare" | "compress";
  revision?: number;
  tokens?: number;
  pendingTokens?: number;
  outcome?: Json;
  error?: { message: string; kind: string; retryable: boolean };
  /** How many turns before this one are missing. */
  missed?: number;
}

export interface Info {
  name: string;
  version: string;
  methods: string[];
  strategies: string[];
  limits: { requestBytes: number; unanswered?: number };
  /** The name of the access token; absent for the local user. */
  owner?: string;
}

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
  sessions(): AsyncGenerator<SessionInfo>;
  delete(session: string): Promise<void>;
  watch(session?: string, options?: { signal?: AbortSignal }): AsyncGenerator<Turn>;
  count(entries: Json[]): Promise<number[]>;
  plugins(): Promise<Json[]>;
  resetPlugin(name: string): Promise<boolean>;
  lockPlugins(names?: string[]): Promise<string[]>;
  call(method: string, request: Json, options?: CallOptions): Promise<Json>;
  stream(method: string, request: Json, options?: CallOptions): AsyncGenerator<Json>;
}

export declare class Session {
  private constructor();
  readonly client: Client;
  readonly id: string;
  /** As it was when the session was opened. */
  readonly state: State;
  /** The same call again, with the same key, adds nothing twice. */
  add(entries: Json[], options?: { opaque?: boolean; key?: string }): Promise<State>;
  addMessages(
    form: Exclude<Form, "">,
    messages: Json[],
    options?: { system?: string | Json[]; key?: string },
  ): Promise<State>;
  prepare(options?: { form?: Form; pendingTokens?: number; recall?: boolean } & CallOptions): Promise<Prepared>;
  compress(options?: CallOptions): Promise<Json>;
  reportUsage(promptTokens: number): Promise<void>;
  set(key: string, value: string | number | boolean | null): Promise<void>;
  setSystem(system: string | Json[]): Promise<number>;
  setTodos(todos: Todo[]): Promise<void>;
  get(): Promise<State>;
  history(): Promise<Json[]>;
  recorded(id: string): Promise<Json[]>;
  search(query: string, options?: { limit?: number; tokens?: number }): Promise<Passage[]>;
  lines(place: Place): Promise<Passage>;
  explain(id?: string): Promise<Json[]>;
  watch(options?: { signal?: AbortSignal }): AsyncGenerator<Turn>;
  close(): Promise<void>;
}

/** A part that is not sent as it came. */
export interface Removed {
  /** For retrieve; absent for attachments and reasoning. */
  id?: string;
  /** The position of the message that it was in. */
  message: number;
  kind: string;
  tool?: string;
}

export interface Compressed {
  /** To be sent as they are. */
  messages: Json[];
  format: Exclude<Form, "">;
  tokensBefore: number;
  tokensAfter: number;
  removed: Removed[];
  /** Why nothing was tried. */
  unchanged?: string;
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
): Promise<Compressed>;

/** The text of a removed part. */
export declare function retrieve(id: string, where?: Where): Promise<string>;
