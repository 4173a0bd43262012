package transcript

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Usage is what the provider counted for one request, in tokens.
type Usage struct {
	// Entry is the first entry that answered the request. The request held the entries before it, from the last
	// [Boundary] that replaced the context.
	Entry int `json:"entry"`
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
}

// readUsage collects usage from metadata.usage of the entries, not from the file's own records, so a session has the
// same usage in every format. Recorders write zeros for answers that came from no provider, such as an error message of
// the agent; those have no usage.
func (b *builder) readUsage() {
	for i, c := range b.t.Entries {
		if c.Speaker != content.AI {
			continue
		}
		raw := rawjson.Field(c.Metadata, "usage")
		if rawjson.IsNull(raw) {
			continue
		}
		u, err := parseUsage(raw)
		if err != nil {
			b.oddity(b.t.Lines[i], i, "usage that is not a count of tokens", "the usage is not used: %v", err)
			continue
		}
		if u.PromptTokens > 0 {
			u.Entry, u.Model = i, rawjson.FieldText(c.Metadata, "model")
			b.t.Usage = append(b.t.Usage, u)
		}
	}
}

// readModel finds the model that answered last. Agents mark answers of their own, such as "<synthetic>".
func (b *builder) readModel() {
	for i := len(b.t.Entries) - 1; i >= 0 && b.t.Model == ""; i-- {
		if c := b.t.Entries[i]; c.Speaker == content.AI {
			if name := rawjson.FieldText(c.Metadata, "model"); !strings.HasPrefix(name, "<") {
				b.t.Model = name
			}
		}
	}
}

// parseUsage reads a usage object of any provider or recorder. Without a prompt count it returns zero and no error.
func parseUsage(raw []byte) (Usage, error) {
	o := asObject(raw)
	if o == nil {
		return Usage{}, fmt.Errorf("it is %s, not an object", clip(raw))
	}
	// The most certain names first: "input" alone could be many things.
	p := usageParser{o: o}
	var u Usage
	prompt := p.present("promptTokens", "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "input")
	u.PromptTokens = p.count(prompt)
	u.Output = p.count(p.present("completionTokens", "completion_tokens", "output_tokens", "outputTokens",
		"candidatesTokenCount", "output")) +
		p.count(p.present("thoughts", "thoughtsTokenCount")) // Gemini CLI counts them apart

	// Anthropic and pi count the cached parts in addition to the prompt, all others as parts of it.
	read, write := p.present(
		"cache_read_input_tokens", "cacheRead",
	), p.present(
		"cache_creation_input_tokens", "cacheWrite",
	)
	apart := (prompt.name == "input_tokens" || prompt.name == "input") && (read.value != nil || write.value != nil)
	u.CacheRead, u.CacheWrite = p.count(read), p.count(write)
	if u.CacheRead == 0 {
		u.CacheRead = p.count(p.cached())
	}
	if u.CacheWrite == 0 {
		u.CacheWrite = p.count(p.present("cacheWriteTokens"))
	}
	u.CacheWriteHour = min(u.CacheWrite, p.count(o.object("cache_creation").field("ephemeral_1h_input_tokens")))
	// A prompt that is smaller than its cached parts can only be counted without them.
	if apart || u.CacheRead+u.CacheWrite > u.PromptTokens {
		u.PromptTokens += u.CacheRead + u.CacheWrite
	}
	// One wrong number makes the whole usage useless: sums of the others would be wrong.
	if p.err != nil || prompt.value == nil {
		return Usage{}, p.err
	}
	if u.PromptTokens > mostTokens {
		return Usage{}, fmt.Errorf("a prompt of %d tokens exceeds the limit of every model", u.PromptTokens)
	}
	return u, nil
}

// countedApart returns counts that do not include each other under the names of Anthropic, which counts the cached
// parts apart too; nil for none.
func countedApart(input, output, cacheRead, cacheWrite []byte) []byte {
	var m metadata
	m.raw("input_tokens", input)
	m.raw("output_tokens", output)
	m.raw("cache_read_input_tokens", cacheRead)
	m.raw("cache_creation_input_tokens", cacheWrite)
	return m.json()
}

// usageParser reads counts under their many names and keeps the first error.
type usageParser struct {
	o   object
	err error
}

// present returns the first of the named fields that is not null, else the zero field. A field with 0 counts as
// present.
func (p *usageParser) present(names ...string) field {
	for _, name := range names {
		if f := p.o.field(name); !rawjson.IsNull(f.value) {
			return f
		}
	}
	return field{}
}

// cached returns the field that counts the cached part within the prompt, as OpenAI and most others report it.
func (p *usageParser) cached() field {
	for _, name := range []string{"prompt_tokens_details", "input_tokens_details"} {
		if f := p.o.object(name).field("cached_tokens"); !rawjson.IsNull(f.value) {
			return f
		}
	}
	return p.present("cached_input_tokens", "prompt_cache_hit_tokens", "cacheReadTokens", "cachedTokens",
		"cachedContentTokenCount", "cached")
}

// mostTokens is more than any model takes or gives, even in sum over a few fields. A larger number is a timestamp or a
// cost in some unit.
const mostTokens = 100_000_000

// count returns the number of tokens in a field; 0 if it is absent. It parses a float, because some recorders write
// 12.0.
func (p *usageParser) count(f field) int {
	if f.value == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(f.value), 64)
	if err != nil || n < 0 || n > mostTokens || n != math.Trunc(n) {
		if p.err == nil {
			p.err = fmt.Errorf("%s is %s, not a number of tokens", f.name, clip(f.value))
		}
		return 0
	}
	return int(n)
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
