package llmtest

import (
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

// read reads a request as far as it can be read.
func read(header http.Header, body []byte, in object, kind string) Request {
	req := Request{Kind: kind, Header: header, Body: body, Model: text(in["model"])}
	req.Stream, _ = in["stream"].(bool)
	options, _ := in["stream_options"].(object)
	req.IncludeUsage, _ = options["include_usage"].(bool)
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := in[name].(float64); ok {
			req.MaxTokens = int(n)
		}
	}
	if req.Key = header.Get("X-Api-Key"); kind == "openai" {
		req.Key = strings.TrimPrefix(header.Get("Authorization"), "Bearer ")
	}
	system := []string{textOf(in["system"])}
	for _, v := range list(in["messages"]) {
		m, _ := v.(object)
		out := Message{Role: text(m["role"]), Text: textOf(m["content"])}
		if out.Role == "system" || out.Role == "developer" {
			system = append(system, out.Text)
			continue
		}
		for _, c := range append(list(m["tool_calls"]), list(m["content"])...) {
			part, _ := c.(object)
			switch text(part["type"]) {
			case "function", "tool_use":
				out.Calls = append(out.Calls, text(part["id"]))
			case "tool_result":
				out.Results = append(out.Results, text(part["tool_use_id"]))
			}
		}
		if id := text(m["tool_call_id"]); id != "" {
			out.Results = []string{id}
		}
		req.Messages = append(req.Messages, out)
	}
	req.System = strings.TrimSpace(strings.Join(system, "\n\n"))
	req.count()
	return req
}

// object is a JSON object; text and list are "" and nil for values of other kinds.
type object = map[string]any

func text(v any) string { s, _ := v.(string); return s }
func list(v any) []any  { l, _ := v.([]any); return l }

// textOf joins the texts of a message's content, which is a string or a list of parts.
func textOf(content any) string {
	texts := []string{}
	for _, v := range list(content) {
		if part, _ := v.(object); text(part["type"]) == "text" {
			texts = append(texts, text(part["text"]))
		}
	}
	return text(content) + strings.Join(texts, "\n\n")
}
