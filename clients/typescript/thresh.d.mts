// Types of thresh.mjs.

/** A JSON object: an entry, a message of a provider, an outcome. docs/json-rpc.md describes them. */
export type Json = Record<string, any>;

/** "" is the native form. */
export type Form = "" | "anthropic" | "openai-chat" | "openai-responses";

export declare class ThreshError extends Error {
  /** The code of Connect, such as "not_found". */
  readonly code: string;
  /** What it is about: "entry", "setting", "session", "plugin", "limit", … */
  readonly kind: string;
  /** The same request may succeed if it is made again. */
  readonly retryable: boolean;
  /** It may have had its effect all the same. An addition is then made again with its key. */
  readonly maybeApplied: boolean;
  readonly plugin: string;
  /** The position of the entry that was refused. */
  readonly entry?: number;
  /** With kind "limit": which limit of the token was reached. */
  readonly limit: string;
}

export interface State {
  revision: number;
  tokens: number;
  entries: number;
}

export interface SessionInfo {
  session: string;
  entries?: number;
  tokens?: number;
  created?: string;
  used?: string;
  bytes?: string;
}

export interface Prepared {
  /** The entries to send, without a form. */
  history: Json[];
  /** The messages to send, with a form. */
  messages: Json[];
  system?: Json[];
  instructions: string;
  notes: string[];
  tokens: number;
  revision: number;
  outcome: Json;
}

export interface Todo {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
  subtasks?: Todo[];
}

export interface Turn {
  /** Absent in the first message of a watch, which says that it has begun. */
  session?: string;
  method?: "prepare" | "compress";
  revision?: string;
  tokens?: number;
  outcome?: Json;
  error?: { message: string; detail: Json };
  /** How many turns before this one are missing. */
  missed?: number;
}

export declare class Client {
  constructor(address: string, options?: { token?: string; ca?: string | Buffer });
  disconnect(): void;
  open(session?: string, options?: { settings?: Record<string, string | number | boolean>; system?: string }): Promise<Session>;
  sessions(): AsyncGenerator<SessionInfo>;
  delete(session: string): Promise<void>;
  describe(): Promise<Json>;
  call(method: string, request: Json, service?: string): Promise<Json>;
  stream(method: string, request: Json): AsyncGenerator<Json>;
}

export declare class Session {
  private constructor();
  readonly client: Client;
  readonly id: string;
  /** As it was when the session was opened. */
  readonly state: State;
  /** The same call again, with the same key, adds nothing twice. */
  add(entries: Json[], options?: { opaque?: boolean; key?: string }): Promise<State>;
  addMessages(form: Exclude<Form, "">, messages: Json[], options?: { system?: string; key?: string }): Promise<State>;
  prepare(options?: { form?: Form; pendingTokens?: number }): Promise<Prepared>;
  compress(): Promise<Json>;
  reportUsage(promptTokens: number): Promise<void>;
  set(key: string, value: string | null): Promise<void>;
  setSystem(text: string): Promise<void>;
  setTodos(todos: Todo[]): Promise<void>;
  get(): Promise<State>;
  history(): Promise<Json[]>;
  recorded(id: string): Promise<Json[]>;
  explain(id?: string): Promise<Json[]>;
  watch(): AsyncGenerator<Turn>;
  close(): Promise<void>;
}
