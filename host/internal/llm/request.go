package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// Role is written into requests as it is.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is what one side says. Attachments are not needed.
type Message struct {
	Role Role
	Text string
	// Calls are the assistant's calls of tools. Results are the user's: of all calls of the message before.
	Calls   []provider.ToolCall
	Results []provider.ToolResult
	// Thought is the assistant's reasoning, where the API wants it back with the results.
	Thought string
}

// blank reports whether a message says nothing.
func (m Message) blank() bool {
	return strings.TrimSpace(m.Text) == "" && len(m.Calls)+len(m.Results) == 0
}

// Request is one completion. Messages begin and end with the user's; adjacent ones of the same role are merged.
type Request struct {
	System   string
	Messages []Message
	// Tools may be called, unless NoCalls. A request whose messages have calls must have them, also then.
	Tools   []provider.Tool
	NoCalls bool
	// MaxOutput is the most that may be generated, in tokens; 0 is the profile's limit, which bounds it.
	MaxOutput int
	// Book is asked before each request, retries too; nil allows all.
	Book Book
}

// Result is the model's answer. Token counts are of all attempts: the provider's, or the host's estimate where it
// reports none that are plausible.
type Result struct {
	// Text is empty if the model wrote nothing but thinking and calls.
	Text string
	// Calls are the model's calls of tools, at most [provider.MaxCalls], each with an id of its own. Arguments are as
	// the model wrote them, which need not be JSON.
	Calls []provider.ToolCall
	// FinishReason is the provider's word, such as "stop", "length", "end_turn" or "max_tokens".
	FinishReason string
	// Model is the provider's name for the model.
	Model string
	// InputTokens includes CacheRead and CacheWrite; OutputTokens includes thinking.
	InputTokens, OutputTokens int
	CacheRead, CacheWrite     int
	// CostUSD follows from the token counts and the profile's prices; 0 without.
	CostUSD  float64
	Attempts int
	// Duration includes waits.
	Duration time.Duration
	// Thought is what [Message.Thought] is for; empty if there were no tools.
	Thought string
}

// Cost is what the tokens cost at other prices, in US dollars.
func (r Result) Cost(p config.Prices) float64 {
	return cost(p, provider.Usage{Input: r.InputTokens - r.CacheRead - r.CacheWrite, CacheRead: r.CacheRead,
		CacheWrite: r.CacheWrite, Output: r.OutputTokens})
}

// Message is the answer as the next request has it, behind which the results of its calls come.
func (r Result) Message() Message {
	m := Message{Role: Assistant, Text: r.Text, Calls: slices.Clone(r.Calls), Thought: r.Thought}
	for i, c := range m.Calls {
		if !object(c.Arguments) { // which providers refuse
			m.Calls[i].Arguments = "{}"
		}
	}
	return m
}

// object reports whether arguments are a JSON object.
func object(arguments string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(arguments), &o) == nil && o != nil
}

// check returns what is wrong with a request; "" if nothing. Providers answer these mistakes with unhelpful errors, or,
// worse, with an answer.
func (r Request) check() string {
	if len(r.Messages) == 0 {
		return "the request has no messages"
	}
	for i, m := range r.Messages {
		switch {
		case m.Role != User && m.Role != Assistant:
			return fmt.Sprintf("message %d has the role %q; want user or assistant", i, clip(string(m.Role)))
		case m.blank():
			return fmt.Sprintf("message %d is blank", i)
		}
	}
	switch {
	case r.Messages[0].Role != User:
		return "message 0 is the assistant's; a conversation begins with the user"
	case r.Messages[len(r.Messages)-1].Role != User:
		return fmt.Sprintf("message %d, the last, is the assistant's; a completion answers the user", len(r.Messages)-1)
	}
	return ""
}

// tokens counts the request's texts.
func (r Request) tokens(counter *tokens.Counter) (n int) {
	for text := range r.texts {
		n += counter.Text(text)
	}
	return n
}

// texts yields all that the model reads.
func (r Request) texts(yield func(string) bool) {
	all := []string{r.System}
	for _, t := range r.Tools {
		schema, _ := json.Marshal(t.Schema) // what cannot be is not sent either
		all = append(all, t.Name, t.Description, string(schema))
	}
	for _, m := range r.Messages {
		all = append(all, m.Text, m.Thought)
		for _, c := range m.Calls {
			all = append(all, c.Name, c.Arguments)
		}
		for _, x := range m.Results {
			all = append(all, x.Text)
		}
	}
	slices.Values(all)(yield)
}

// turns joins neighbours of the same role: Anthropic and many compatible servers require the roles to alternate.
func turns(messages []Message) (list []provider.Turn) {
	for _, m := range messages {
		if n := len(list); n == 0 || list[n-1].Role != string(m.Role) {
			list = append(list, provider.Turn{Role: string(m.Role)})
		}
		t := &list[len(list)-1]
		if strings.TrimSpace(m.Text) != "" {
			t.Texts = append(t.Texts, m.Text)
		}
		t.Results, t.Calls, t.Thought = append(t.Results, m.Results...), append(t.Calls, m.Calls...), t.Thought+m.Thought
	}
	return list
}

// cost returns the price of what attempts took, in US dollars.
func cost(p config.Prices, u provider.Usage) float64 {
	of := func(own *float64, otherwise float64) float64 {
		if own == nil {
			return otherwise
		}
		return *own
	}
	input := of(p.Input, 0)
	return (float64(u.Input)*input +
		float64(u.CacheRead)*of(p.CacheRead, input) + float64(u.CacheWrite)*of(p.CacheWrite, input) +
		float64(u.Output)*of(p.Output, 0)) / 1e6
}
