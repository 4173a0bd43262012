// Package llm reaches the models that compression uses: OpenAI's chat completions, with every compatible server, and
// Anthropic's messages, by their official libraries.
//
// It is for the host, which alone holds keys; plugins ask the host. Start at [Open], which takes a [Profile] (a name and
// the settings under profiles.<name>.provider), and [Client.Generate], which runs one completion. Failures are an
// [*Error] that says what failed, what the provider said, whether a retry can help, and what to do.
//
// # One place retries
//
// The libraries' own retries are off. Generate retries what may pass: 408, 409, 429 (unless the quota is spent), 5xx,
// connections that fail or break, streams that end early or fall silent. It waits as long as the provider asks, and
// gives up at once if that is more than [MaxWait] or than the call has left; without such a word it waits half a second,
// doubled each time up to eight, with jitter. An answer is buffered until it is complete, so that a retry never
// delivers a text twice.
//
// # Bounds
//
// A call ends after [config.Provider.Timeout], a silence after IdleTimeout, and an endless answer when it is far beyond
// what its limit of tokens can hold. Redirects are not followed, and nothing but the profile is read: variables such as
// OPENAI_BASE_URL have no effect.
//
// # Keys
//
// A key is read once, by Open. No error, no formatted [Client] and no result holds it; where a provider repeats it, it
// is replaced by "[key]".
package llm
