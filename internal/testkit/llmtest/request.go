package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// Request is what a client sent. It is what was sent, read as far as the server understood it; Body has all of it.
type Request struct {
	// Number counts the requests of a server, from 1.
	Number int
	// Kind is "openai" or "anthropic". The protocol that the path named.
	Kind   string
	Model  string
	System string
	// Messages are all messages but those of the system.
	Messages []Message
	// MaxTokens is the most tokens to generate; 0 if the client set no limit.
	MaxTokens int
	Stream    bool
	// IncludeUsage: an OpenAI client wants the usage at the end of the stream.
	IncludeUsage bool
	// InputTokens is the size of the system prompt and the messages.
	InputTokens int
	// Key is the API key that the client sent. From the header in which this protocol carries it; "" if there was none.
	Key    string
	Header http.Header
	Body   []byte
}

// Message is one message of a request.
type Message struct {
	Role string
	// Text is all text of the message, parts joined by an empty line.
	Text string
	// Calls and Results are the ids of tool calls and of their results.
	Calls, Results []string
}

// Call is a request and how it ended.
type Call struct {
	Request Request

	ended     chan struct{}
	cancelled bool
}

// Ended is closed when the server has finished with the request.
func (c *Call) Ended() <-chan struct{} { return c.ended }

// Cancelled waits until the server has finished and reports whether the client had disconnected by then.
func (c *Call) Cancelled() bool {
	<-c.ended
	return c.cancelled
}

// end publishes how the request ended. cancelled is written before the channel is closed, so readers need no lock.
func (c *Call) end(cancelled bool) {
	c.cancelled = cancelled
	close(c.ended)
}

// Tokens is how the server counts: bytes / 4, rounded up.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// count sets InputTokens. Only text parts count; calls, media and schemas do not. The host counts more precisely; tests
// that compare sizes use the server's figures on both sides.
func (r *Request) count() {
	r.InputTokens = Tokens(r.System)
	for _, m := range r.Messages {
		r.InputTokens += Tokens(m.Text)
	}
}

// part is a piece of a message's content. Both providers use the same names for these fields.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
}

// parts reads a message's content, which is a string or a list of parts.
func parts(raw json.RawMessage) ([]part, error) {
	var text string
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	// Both protocols allow a plain text for a list with one part.
	if json.Unmarshal(raw, &text) == nil {
		return []part{{Type: "text", Text: text}}, nil
	}
	var list []part
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("should be a string or a list")
	}
	return list, nil
}

// textOf joins the text of parts. blank reports whether one of the texts is blank, which providers refuse.
func textOf(list []part) (text string, blank bool) {
	var texts []string
	for _, p := range list {
		if p.Type == "text" {
			texts = append(texts, p.Text)
			blank = blank || strings.TrimSpace(p.Text) == ""
		}
	}
	return strings.Join(texts, "\n\n"), blank
}
