// Package llm calls the models that compression uses: OpenAI's chat completions, with every compatible server, and
// Anthropic's messages.
//
// It is for the host, which alone holds API keys: plugins make model calls through the host. Start at [Open], which
// takes a [Profile] (a name and the settings under profiles.<name>.provider), and [Client.Generate], which runs one
// completion. Failures are an [*Error] that says what failed, what the provider said, whether a retry can help, and
// what to do.
//
// # One place retries
//
// Generate retries transient errors: 408, 409, 429 (unless the quota is spent),
// 5xx, connections that fail or break, streams that end early or stall. It waits as long as the provider asks, and
// gives up at once if that is longer than [MaxWait] or than the call's remaining time. If the provider does not say,
// it waits half a second, doubled each time up to eight seconds, with jitter. An answer is buffered until it is
// complete, so that a retry never delivers a text twice.
//
// # Bounds
//
// A call ends after [config.Provider.Timeout], or if nothing arrives for IdleTimeout, or if the answer is far longer
// than its token limit allows. Redirects are not followed. Only the profile configures a client: variables such as
// OPENAI_BASE_URL have no effect.
//
// # Keys
//
// A key is read once, by Open. No error, no formatted [Client] and no result holds it; if a provider repeats it, it
// is replaced by "[key]".
package llm
