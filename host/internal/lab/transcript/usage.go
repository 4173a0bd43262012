package transcript

import (
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/gemini"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	responsesapi "github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Usage is what the provider counted for one request, in tokens.
type Usage struct {
	// Entry is the first entry that answered the request. The request held the entries before it, from the last
	// [Boundary] that replaced the context.
	Entry int `json:"entry"`
	// ID is the provider's id of the request or of its answer; "" if it was not recorded.
	ID string `json:"id,omitempty"`
	// Model is the recorder's name of the model; "" if unknown.
	Model string `json:"model,omitempty"`
	// PromptTokens is the whole prompt, including what was read from the prompt cache and written to it. It includes
	// the system prompt and the tool schemas, which are in no history and often count 16,000 to 76,000 tokens. It is
	// never 0.
	PromptTokens int `json:"promptTokens"`
	// CacheRead and CacheWrite are the parts of the prompt that the provider had cached, and that it cached now; 0 if
	// unknown.
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	// CacheWriteHour is the part of CacheWrite that is kept for an hour, which costs more.
	CacheWriteHour int `json:"cacheWriteHour,omitempty"`
	// Output is the answer, reasoning included; 0 if unknown.
	Output int `json:"output"`
	// Fast says that the request asked for speed and got it, which costs more.
	Fast bool `json:"fast,omitempty"`
	// USD is what the recorder says that the request cost; 0 if it does not, or knew no price.
	USD float64 `json:"usd,omitempty"`
}

// readUsage collects usage from metadata.usage of the entries, and from what is said of compactions, not from the file's
// own records, so a session has the same usage in every format. Recorders write zeros for answers that came from no
// provider, such as an error message of the agent; those have no usage.
func (b *builder) readUsage() {
	next, last := 0, 0 // boundary, and the entry of the model before it
	for i := 0; i <= len(b.Entries); i++ {
		// The request of a compaction held what the request before it did, and more.
		for ; next < len(b.t.Boundaries) && b.t.Boundaries[next].Index == i; next++ {
			if last < len(b.Entries) {
				b.addUsage(last, b.t.Boundaries[next].Meta)
			}
		}
		if i < len(b.Entries) && b.Entries[i].Speaker == content.AI {
			last = i
			b.addUsage(i, b.Entries[i].Metadata)
		}
	}
}

func (b *builder) addUsage(entry int, meta []byte) {
	raw := rawjson.Field(meta, "usage")
	if rawjson.IsNull(raw) || rawjson.Field(meta, fromFork) != nil {
		return
	}
	u, err := provider.ReadUsage(raw, usageForms...)
	if err != nil {
		b.oddity(b.Lines[entry], entry, "usage that is not a count of tokens", "the usage is not used: %v", err)
		return
	}
	if u.Prompt() == 0 {
		if u.Output > 0 {
			b.t.answers = append(b.t.answers, answered{entry, u.Output})
		}
		return
	}
	b.t.CountsReads = b.t.CountsReads || provider.CountsReads(raw, usageForms...)
	// Only Anthropic's reports have it for every request; other recorders write 0 where a provider does not say it.
	b.t.CountsWrites = b.t.CountsWrites || u.CacheWrite > 0 || rawjson.Field(raw, "cache_creation_input_tokens") != nil
	b.t.Usage = append(b.t.Usage, Usage{Entry: entry, ID: rawjson.FieldText(meta, fieldRequest),
		Model: rawjson.FieldText(meta, "model"), PromptTokens: u.Prompt(), CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHour, Output: u.Output,
		Fast: rawjson.FieldText(raw, "speed") == "fast", USD: statedCost(raw)})
}

// answered is the tokens of an answer whose prompt was not counted.
type answered struct{ entry, output int }

// statedCost returns what a report of usage says that the request cost, in USD: a number, or one with the parts that it is
// the total of. What is no amount of one request says nothing.
func statedCost(usage []byte) float64 {
	cost := rawjson.Field(usage, "cost")
	if ordered.Kind(cost) == '{' {
		cost = rawjson.Field(cost, "total")
	}
	const most = 10_000
	usd, err := strconv.ParseFloat(string(cost), 64)
	if err != nil || !(usd > 0 && usd < most) {
		return 0
	}
	return usd
}

// readModel finds the model that answered last. Agents mark answers of their own, such as "<synthetic>".
func (b *builder) readModel() {
	for i := len(b.Entries) - 1; i >= 0 && b.t.Model == ""; i-- {
		if c := b.Entries[i]; c.Speaker == content.AI {
			if name := rawjson.FieldText(c.Metadata, "model"); !strings.HasPrefix(name, "<") {
				b.t.Model = name
			}
		}
	}
}

// usageForms are those that agents record: the providers' own, and those that they made up. The most certain names come
// first: "input" alone could be many things.
var usageForms = []*provider.Counts{
	{Prompt: []string{"promptTokens"}, Output: []string{"completionTokens"}, Read: []string{"cachedTokens"}},
	chat.Form.Counts, anthropic.Form.Counts, responsesapi.Form.Counts,
	{ // Codex has the counts of the Responses API, and another name for those of the cache
		Prompt: []string{"input_tokens"}, Output: []string{"output_tokens"}, Read: []string{"cached_input_tokens"},
	},
	{ // Cline
		Prompt: []string{"inputTokens"}, Output: []string{"outputTokens"}, Read: []string{"cacheReadTokens"},
		Write: []string{"cacheWriteTokens"},
	},
	{ // Cline as an extension, which adds what was written to the cache to what was read
		Prompt: []string{"tokens.prompt"}, Output: []string{"tokens.completion"}, Read: []string{"tokens.cached"},
		Apart: true,
	},
	{ // Amp
		Prompt: []string{"inputTokens"}, Output: []string{"outputTokens"}, Read: []string{"cacheReadInputTokens"},
		Write: []string{"cacheCreationInputTokens"}, Apart: true,
	},
	{ // goose
		Prompt: []string{"input_tokens"}, Output: []string{"output_tokens"}, Read: []string{"cache_read_tokens"},
		Write: []string{"cache_write_tokens"},
	},
	{ // Kimi, and kimi-cli before it
		Prompt: []string{"inputOther", "input_other"}, Output: []string{"output"},
		Read:  []string{"inputCacheRead", "input_cache_read"},
		Write: []string{"inputCacheCreation", "input_cache_creation"}, Apart: true,
	},
	gemini.Form.Counts,
	{ // pi
		Prompt: []string{"input"}, Output: []string{"output"}, Read: []string{"cacheRead"}, Write: []string{"cacheWrite"},
		Apart: true,
	},
	{ // Gemini CLI; the last one is also that of answers alone, as Copilot counts them
		Prompt: []string{"input"}, Output: []string{"output", "outputTokens"}, Thoughts: []string{"thoughts"}, Read: []string{"cached"},
	},
}

// Prompts returns, for each element of [Transcript.Usage], how many tokens the history in its request has: the entries
// before [Usage.Entry], from the last [Boundary] that replaced the context. counts holds the tokens of each entry. The
// difference to [Usage.PromptTokens] is the system prompt, the tool schemas and the error of the tokenizer.
func (t *Transcript) Prompts(counts []int) []int {
	replaced := t.Replaced()
	prompts := make([]int, len(t.Usage))
	total, next := 0, 0
	for i := range t.Entries {
		if replaced[i] {
			total = 0
		}
		for ; next < len(t.Usage) && t.Usage[next].Entry == i; next++ {
			prompts[next] = total
		}
		total += counts[i]
	}
	return prompts
}
