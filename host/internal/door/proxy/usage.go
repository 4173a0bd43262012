package proxy

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
)

// Usage is what a provider reported for one request, in its tokens. The zero value is no report.
type Usage struct {
	// Input is what was neither read from nor written to the provider's prompt cache.
	Input, CacheRead, CacheWrite, Output int
}

// Prompt is the size of the whole prompt. It is what a session compares its own count with.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// reported is where the APIs report usage, in one form: field names do not collide, so that one decoding serves all.
// Anthropic's stream has it in the message at its beginning, the Responses API in the response at its end, Gemini in
// usageMetadata.
type reported struct {
	Usage    *numbers `json:"usage"`
	Metadata *numbers `json:"usageMetadata"`
	Message  struct {
		Usage *numbers `json:"usage"`
	} `json:"message"`
	Response struct {
		Usage *numbers `json:"usage"`
	} `json:"response"`
}

// maxCount is far above what a request can have, in tokens. A report with more is none.
const maxCount = 1 << 40

// numbers are the counts of all APIs, by the names of their fields. One that a provider leaves out is 0.
type numbers struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CacheWrite   int `json:"cache_creation_input_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`

	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`

	PromptTokenCount     int `json:"promptTokenCount"`
	CandidatesTokenCount int `json:"candidatesTokenCount"`
	ThoughtsTokenCount   int `json:"thoughtsTokenCount"` // not among the candidates'
	CachedTokenCount     int `json:"cachedContentTokenCount"`
}

// read takes in a report. Later reports of a stream complete earlier ones: each count is the largest that was reported.
// What is no report changes nothing.
func (u *Usage) read(api body.API, data []byte) {
	var r reported
	if json.Unmarshal(data, &r) != nil {
		return
	}
	for _, n := range []*numbers{r.Usage, r.Metadata, r.Message.Usage, r.Response.Usage} {
		if n == nil {
			continue
		}
		var now Usage
		switch api {
		case body.Messages:
			now = Usage{n.InputTokens, n.CacheRead, n.CacheWrite, n.OutputTokens}
		case body.Responses:
			// OpenAI's and Gemini's counts of the prompt include what was read from the cache, Anthropic's do not.
			now = Usage{n.InputTokens - n.InputDetails.Cached, n.InputDetails.Cached, 0, n.OutputTokens}
		case body.Chat:
			now = Usage{n.PromptTokens - n.PromptDetails.Cached, n.PromptDetails.Cached, 0, n.CompletionTokens}
		case body.Gemini:
			now = Usage{n.PromptTokenCount - n.CachedTokenCount, n.CachedTokenCount, 0,
				n.CandidatesTokenCount + n.ThoughtsTokenCount}
		}
		if max(now.Input, now.CacheRead, now.CacheWrite, now.Output) > maxCount {
			continue // sums must not overflow
		}
		// Anthropic reports the prompt at the beginning of a stream and once more at its end, where fields may lack.
		u.Input, u.CacheRead = max(u.Input, now.Input), max(u.CacheRead, now.CacheRead)
		u.CacheWrite, u.Output = max(u.CacheWrite, now.CacheWrite), max(u.Output, now.Output)
	}
}
