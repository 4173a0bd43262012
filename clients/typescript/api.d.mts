// What a host is asked and answers, as docs/api.md describes it. Made by 'make docs'.

/** A JSON object. */
export type Json = Record<string, any>;

/** An entry: docs/schema/entry.schema.json. */
export type Entry = Json;

/** "" is the native form. */
export type Form = "" | "anthropic" | "openai-chat" | "openai-responses";

export interface Todo {
  id?: string;
  content?: string;
  status: "pending" | "in_progress" | "completed";
  subtasks?: Todo[];
}

export interface AddAnswer {
  /** the number of changes to the history */
  revision: number;
  /** of the whole history, by the host's count */
  tokens: number;
}

export interface AddRequest {
  /** the session's id */
  session: string;
  /** in the entry format */
  entries?: Entry[];
  /** accepts blocks of unknown types and carries them as they are */
  opaque?: boolean;
  /** of messages */
  format?: Form;
  /** in place of entries */
  messages?: Json[];
  /** with format: replaces the system prompt */
  system?: string | Json[] | null;
  /** the same as system */
  instructions?: string | Json[] | null;
  /** makes the addition safe to repeat */
  key?: string;
}

export interface CancelAnswer {
  /** false if there is no such request */
  canceled: boolean;
}

export interface CancelRequest {
  /** of the request: text or a number */
  id: any;
}

export interface Change {
  revision: number;
  strategy: string;
  entry?: string;
  kind: string;
  speaker?: string;
  step?: string;
  rule?: string;
  by?: string;
  behind?: string;
  before: number;
  after: number;
  calls?: string[];
}

export interface CompressAnswer {
  tokens: number;
  revision: number;
  outcome: Outcome;
}

export interface CompressMessages {
  /** all, but never those of an earlier answer */
  messages: Json[];
  /** the setting if absent */
  model?: string;
  /** recognised if absent */
  format?: Form;
  /** one without a model; the setting if absent */
  strategy?: string;
  /** the model's if absent */
  contextLimit?: number;
  /** the model can ask for a removed result by its id; true if absent */
  recall?: boolean;
}

export interface CompressedMessages {
  messages: Json[];
  format: Form;
  tokensBefore: number;
  tokensAfter: number;
  /** what they lack: id, message, kind, tool */
  removed: Removed[];
  /** why nothing was tried */
  unchanged?: string;
}

export interface CountAnswer {
  tokens: number;
  each: number[];
}

export interface CountRequest {
  /** in the entry format */
  entries: Entry[];
}

export interface Empty {}

export interface Event {
  /** absent in the first line of a watch */
  session?: string;
  /** prepare or compress */
  method?: string;
  revision?: number;
  tokens?: number;
  pendingTokens?: number;
  /** what was done */
  outcome?: Outcome;
  /** why the turn failed */
  error?: Failure;
  /** turns before this one that were not read in time */
  missed?: number;
}

export interface ExplainAnswer {
  /** as changes in an outcome, with strategy and the log's revision */
  changes: Change[];
}

export interface ExplainRequest {
  /** the session's id */
  session: string;
  /** of an entry (e17) or of a tool call; absent for all entries */
  id?: string;
}

export interface Failure {
  message?: string;
  kind: string;
  /** the same call may succeed later */
  retryable: boolean;
  /** the write was sent, and no answer came */
  maybeApplied?: boolean;
  /** the wrong parameter, such as entries[1].speaker */
  field?: string;
  /** position of the first refused one; none was added */
  entry?: number;
  /** of that message */
  part?: number;
  /** the strategy that failed */
  plugin?: string;
  /** how many are too many */
  missingTokens?: number;
  /** the largest entries */
  largest?: Array<{
    /** position in the history */
    index: number;
    /** the entry's id */
    entry: string;
    speaker: string;
    /** of its first result */
    tool?: string;
    tokens: number;
    /** by which it is kept */
    rule?: string;
  }>;
  limit?: string;
  /** the unchanged history */
  prepared?: PrepareAnswer;
}

export interface HistoryAnswer {
  history: Entry[];
  tokens: number;
  revision: number;
}

export interface Info {
  name: string;
  version: string;
  methods: string[];
  /** those whose plugins were found */
  strategies: string[];
  limits: {
    /** the largest request */
    requestBytes: number;
    unanswered?: number;
  };
  /** the name of the access token */
  owner?: string;
}

export interface ListAnswer {
  sessions: Listed[];
  /** there is another page */
  more: boolean;
}

export interface ListRequest {
  /** only ids that follow this one: the last of the page before */
  after?: string;
  /** at most this many; 100 if absent */
  limit?: number;
}

export interface Listed {
  session: string;
  entries: number;
  tokens: number;
  created?: string;
  /** when something was last written */
  used?: string;
  /** what it takes in the store */
  bytes?: number;
}

export interface LockAnswer {
  names: string[];
}

export interface LockRequest {
  /** strategies; absent for all */
  names?: string[];
}

export interface Of {
  /** the session's id */
  session: string;
}

export interface OpenAnswer {
  session: string;
  revision: number;
  tokens: number;
  entries: number;
}

export interface OpenRequest {
  /** at most 512 bytes; random if absent */
  id?: string;
  /** by key, over those of the host */
  settings?: Record<string, any>;
  /** absent leaves the one it has */
  system?: string | Json[] | null;
}

export interface Outcome {
  strategy: string;
  limits: {
    context: number;
    hard: number;
    threshold: number;
    thresholdFrom: string;
    trigger: number;
    early?: number;
  };
  tokensBefore: number;
  tokens: number;
  projected: number;
  optimize: {
    kind?: string;
    skipped?: string;
    decision: {
      cadence?: string;
      reason?: string;
      saves?: number;
      rewrites?: number;
      horizon?: number;
      gainUSD?: number;
    };
    lowestChanged?: number;
    removed: number;
    replaced: number;
    metadata: {
      readWritePairsPruned: number;
      fileDeduplicationsPruned: number;
      recencyPruned: number;
    };
    heldMetadata?: {
      readWritePairsPruned: number;
      fileDeduplicationsPruned: number;
      recencyPruned: number;
    };
    tokensAfter: number;
    pluginTimeNs: number;
  };
  compress: {
    kind?: string;
    reason?: string;
    noop?: string;
    remembered?: boolean;
    ineffective?: boolean;
    decision?: {
      cadence?: string;
      reason?: string;
      saves?: number;
      rewrites?: number;
      horizon?: number;
      gainUSD?: number;
    };
    failed?: string;
    tokensBefore?: number;
    tokensAfter?: number;
    entriesBefore?: number;
    entriesAfter?: number;
    metadata: {
      llmCallMade: boolean;
      topPreserved?: number;
      bottomPreserved?: number;
      middleCompressed?: number;
      targetMissed?: boolean;
      counts?: Record<string, number>;
    };
    llm?: {
      calls: number;
      attempts: number;
      inputTokens: number;
      outputTokens: number;
      cacheReadTokens?: number;
      cacheWriteTokens?: number;
      costUSD: number;
      timeNs: number;
      profile?: string;
      model?: string;
    };
    cooldown?: {
      until: string;
      error: string;
    };
    pluginTimeNs?: number;
  };
  ladder?: Array<{
    rung: string;
    entries: number;
    tokensBefore: number;
    tokensAfter: number;
  }>;
  changes?: Array<{
    entry?: string;
    kind: string;
    speaker?: string;
    step?: string;
    rule?: string;
    by?: string;
    behind?: string;
    before: number;
    after: number;
    calls?: string[];
  }>;
  gone?: {
    human: number;
    ai: number;
  };
  stable: {
    entries: number;
    tokens: number;
  };
  calibration?: {
    ratio: number;
    overhead: number;
    samples: number;
  };
  pending?: string[];
  problems?: Array<{
    kind: string;
    entry: string;
    callId?: string;
  }>;
  notIsolated?: string[];
  warnings?: string[];
  hostTimeNs: number;
}

export interface Passage {
  entry: string;
  /** position in the entry, from 0 */
  block: number;
  /** the first, from 1 */
  line: number;
  /** how many */
  lines: number;
  /** how many lines the block has */
  of: number;
  /** how many messages of people until then */
  turn: number;
  speaker: string;
  kind: string;
  tool?: string;
  argument?: string;
  call?: string;
  text: string;
  tokens: number;
  also?: Array<{
    entry: string;
    /** position in the entry, from 0 */
    block: number;
    /** the first, from 1 */
    line: number;
    /** how many */
    lines: number;
    /** how many messages of people until then */
    turn: number;
    /** not every line was the same */
    changed?: boolean;
  }>;
  result?: {
    entry: string;
    block: number;
    /** how many lines it has */
    of: number;
    text: string;
  };
}

export interface Plugin {
  name: string;
  path: string;
  builtIn?: boolean;
  version?: string;
  description?: string;
  trigger?: string;
  defaultThreshold?: number;
  earlyThreshold?: number;
  requiresLLM: boolean;
  sha256?: string;
  newSha256?: string;
  state: string;
  reason?: string;
  isolation?: string[];
  lacking?: string[];
  stderr?: string;
}

export interface PluginsAnswer {
  /** as thresh plugins list -o json prints them */
  plugins: Plugin[];
}

export interface PrepareAnswer {
  /** with since */
  keep?: number;
  system?: string | Json[] | null;
  /** with openai-responses */
  instructions?: string | Json[] | null;
  /** what to send */
  history?: Entry[];
  /** with format */
  messages?: Json[];
  /** what the form cannot hold, and how many messages went */
  notes?: string[];
  tokens: number;
  systemTokens?: number;
  revision: number;
  outcome: Outcome;
}

export interface PrepareRequest {
  /** the session's id */
  session: string;
  /** of the rest of the request, such as tool schemas */
  pendingTokens?: number;
  /** the model has the tool thresh_recall: shortened results have an id for it */
  recall?: boolean;
  /** return messages in this form */
  format?: Form;
  /** the last result's revision: return only what has changed */
  since?: number;
}

export interface RecordedAnswer {
  entries: Entry[];
}

export interface RecordedRequest {
  /** the session's id */
  session: string;
  /** of an entry (e17), of a mark, or of a tool call, which returns the call and its responses */
  id: string;
}

export interface Removed {
  /** for messages.retrieve; absent for attachments and reasoning */
  id?: string;
  /** position of the message that it was in */
  message: number;
  /** as in an entry: text, tool_call, tool_response, media, thinking */
  kind: string;
  /** of a call or a result */
  tool?: string;
}

export interface ResetAnswer {
  /** false if it was never started */
  reset: boolean;
}

export interface ResetRequest {
  /** the strategy */
  name: string;
}

export interface RetrieveAnswer {
  id: string;
  kind: string;
  tool?: string;
  content: string;
}

export interface RetrieveRequest {
  id: string;
}

export interface SearchAnswer {
  passages: Passage[];
  /** passages that have as many of the words and are not shown, at most */
  more?: number;
  /** words of the query that are nowhere in what was searched */
  absent?: string[];
}

export interface SearchRequest {
  /** the session's id */
  session: string;
  /** words, names, paths; a text in quotes must occur exactly so */
  query?: string;
  /** most passages; 3 if absent, at most 100 */
  limit?: number;
  /** of all passages; 500 if absent, 150 for each above three; at most 100,000 */
  tokens?: number;
  /** instead: the lines to read, such as more around a passage */
  place?: {
    entry: string;
    /** position in the entry, from 0 */
    block: number;
    /** the first, from 1 */
    line: number;
    /** how many */
    lines: number;
  };
}

export interface SetRequest {
  /** the session's id */
  session: string;
  /** of those with session in the last column of configuration.md */
  key: string;
  /** the value, or the value as text; null removes the override */
  value?: any;
}

export interface StateAnswer {
  session: string;
  /** text blocks */
  system: any[];
  systemTokens: number;
  entries: number;
  tokens: number;
  revision: number;
}

export interface SystemAnswer {
  tokens: number;
}

export interface SystemRequest {
  /** the session's id */
  session: string;
  /** absent, null or empty removes it */
  system?: string | Json[] | null;
}

export interface TodosRequest {
  /** the session's id */
  session: string;
  /** the whole list */
  todos: Todo[];
}

export interface UsageRequest {
  /** the session's id */
  session: string;
  /** above 0; cached ones are included */
  promptTokens: number;
}

export interface WatchRequest {
  /** absent for all sessions of the token */
  session?: string;
}

/** The methods by their names. */
export interface Methods {
  /** Says what this thresh can do. Calling it is optional. */
  "initialize": { params: Empty; result: Info };
  /** Opens a session: one conversation with its own history and settings. A known id continues where it was, with its settings and its system prompt; with sessions.store even after a crash. Over HTTP an open session is continued too. A resuming agent sees from entries whether its last addition arrived. */
  "session.open": { params: OpenRequest; result: OpenAnswer };
  /** Returns the system prompt, and the size of the history. */
  "session.get": { params: Of; result: StateAnswer };
  /** Returns the token's sessions, by id. */
  "session.list": { params: ListRequest; result: ListAnswer };
  /** Sets the system prompt, which is kept apart from the history. It is a text or a list of text parts, which may have other fields such as cache_control. No strategy sees it. Leave it out of pendingTokens. */
  "session.setSystem": { params: SystemRequest; result: SystemAnswer };
  /** Overrides one setting from the next window.prepare on. Once there are entries, a model with another tokenizer is refused: they are counted when they are added. */
  "session.set": { params: SetRequest; result: Empty };
  /** Appends entries, or messages in a provider's form, all or none. The same key with the same entries adds nothing and is answered as before, even after a restart or by another host of the store. The last 128 keys of a session are remembered; other entries under a known key are an error of kind entry. */
  "history.add": { params: AddRequest; result: AddAnswer };
  /** Makes the history fit the model and returns it: prunes it, compresses it over the threshold, and makes room. Call it before every model call. With format, the result can be sent as it is. With since, the revision of the last result, it has only what follows the first keep entries or messages of that. With openai-chat, system is among the messages. If it fails, the error has the unchanged history in prepared. */
  "window.prepare": { params: PrepareRequest; result: PrepareAnswer };
  /** Compresses the history now, regardless of the threshold. */
  "history.compress": { params: Of; result: CompressAnswer };
  /** Replaces the agent's task list, which summaries keep. Without it the host reads the list from calls of known tools, such as TodoWrite and update_plan. */
  "todos.set": { params: TodosRequest; result: Empty };
  /** Reports the provider's count of the last prepared request, to calibrate the host's counts. */
  "usage.report": { params: UsageRequest; result: Empty };
  /** Returns the owned history, including what is not sent to a model. */
  "history.get": { params: Of; result: HistoryAnswer };
  /** Returns entries as they were added. */
  "history.recorded": { params: RecordedRequest; result: RecordedAnswer };
  /** Finds by words what is no longer sent, the best passages first; or reads the lines of a place. */
  "history.search": { params: SearchRequest; result: SearchAnswer };
  /** Returns what was done to an entry, or to all, in order. */
  "history.explain": { params: ExplainRequest; result: ExplainAnswer };
  /** Reports turns while they happen, until the caller leaves. The first line is {}: the watch has begun. */
  "session.watch": { params: WatchRequest; result: Event };
  /** Closes the session. If the transcript cannot be written, it stays open: make room and close it again. */
  "session.close": { params: Of; result: Empty };
  /** Closes the session, if it is open, and deletes what is kept of it. */
  "session.delete": { params: Of; result: Empty };
  /** Counts entries as history.add would, and adds nothing. */
  "tokens.count": { params: CountRequest; result: CountAnswer };
  /** Makes a whole conversation small without a session, as it did the last time, for the prompt cache. */
  "messages.compress": { params: CompressMessages; result: CompressedMessages };
  /** Gives back what messages.compress removed, while the conversation is kept. */
  "messages.retrieve": { params: RetrieveRequest; result: RetrieveAnswer };
  /** Returns every plugin that was found and its state. Starts those that do not run. */
  "plugins.list": { params: Empty; result: PluginsAnswer };
  /** Takes a plugin out of quarantine. */
  "plugins.reset": { params: ResetRequest; result: ResetAnswer };
  /** Accepts the files of plugins as they are now. */
  "plugins.lock": { params: LockRequest; result: LockAnswer };
  /** Cancels an unanswered request, which is then answered with an error of kind canceled. */
  "cancel": { params: CancelRequest; result: CancelAnswer };
}
