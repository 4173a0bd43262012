// Package llm calls the models that compression and probes use: OpenAI's chat completions, with every compatible
// server, and Anthropic's messages.
//
// It is for the host, which alone holds API keys: plugins call models through it. Start at [Open], which takes a
// [Profile], and [Client.Generate], which runs one completion. A failure is an [*Error].
//
// # One place retries
//
// Generate retries transient errors: 408, 409, 429 (unless the quota is spent), 5xx, connections that fail or break,
// streams that end early or stall. It waits as long as the provider asks, and gives up at once if that is longer than
// [MaxWait] or the call's remaining time. By default it waits half a second, doubled each time up to eight seconds,
// with jitter. Answers are buffered until complete, so a retry never delivers a text twice.
//
// # Money
//
// Before each request [Book] is asked for what it may cost: the prompt as the host counts it, and the longest answer.
// The provider's report replaces that only where it is plausible, in the result too (bill.go).
//
// # Bounds
//
// A call ends after [config.Provider.Timeout], or if nothing arrives for IdleTimeout, or if the answer is far longer
// than its token limit. Redirects are not followed. Variables such as OPENAI_BASE_URL have no effect.
//
// # Keys
//
// Open reads the key, once. No error, result or formatted [Client] holds it; where a provider does, it becomes "[key]".
package llm
