// What adapters take. What they call is theirs alone.

/** The model's name and limit are those of the framework's model if absent, the strategy is that of thresh's settings. */
export interface Options {
  /** In tokens. Leave room for the answer, and for tools that the adapter is not told. */
  contextLimit?: number;
  strategy?: string;
  model?: string;
  /** Of a host; without it, thresh is started as a child of the process. */
  address?: string;
  token?: string;
}
