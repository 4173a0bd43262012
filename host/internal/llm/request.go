package llm

import (
	"fmt"
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

// Message is text from one side. Summaries need no tool calls and attachments.
type Message struct {
	Role Role
	Text string
}

// Request is one completion. Messages begin and end with the user's; adjacent ones of the same role are merged.
type Request struct {
	System   string
	Messages []Message
	// MaxOutput is the most that may be generated, in tokens; 0 is the profile's limit, which bounds it.
	MaxOutput int
}

// Result is the model's answer. Token counts are the provider's, of all attempts; 0 if it reported none.
type Result struct {
	// Text is empty if the model wrote nothing but thinking.
	Text string
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
		case strings.TrimSpace(m.Text) == "":
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

// tokens counts the request's texts in the encoding of a model with that name.
func (r Request) tokens(model string) int {
	counter, err := tokens.For(model, "")
	if err != nil { // without an encoding's name there is none that is unknown
		return 0
	}
	n := counter.Text(r.System)
	for _, m := range r.Messages {
		n += counter.Text(m.Text)
	}
	return n
}

// bytes is no less than the request's tokens.
func (r Request) bytes() int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

// turns joins neighbours of the same role: Anthropic and many compatible servers require the roles to alternate.
func turns(messages []Message) (list []provider.Turn) {
	for _, m := range messages {
		if n := len(list); n > 0 && list[n-1].Role == string(m.Role) {
			list[n-1].Texts = append(list[n-1].Texts, m.Text)
			continue
		}
		list = append(list, provider.Turn{Role: string(m.Role), Texts: []string{m.Text}})
	}
	return list
}

// cost returns the price of what attempts took, in US dollars.
func cost(p config.Prices, u provider.Usage) float64 {
	price := func(own *float64) float64 {
		if own == nil {
			return p.Input
		}
		return *own
	}
	return (float64(u.Input)*p.Input +
		float64(u.CacheRead)*price(p.CacheRead) + float64(u.CacheWrite)*price(p.CacheWrite) +
		float64(u.Output)*p.Output) / 1e6
}
