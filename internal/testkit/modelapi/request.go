package modelapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Request is what a server got, and how it answered.
type Request struct {
	// Number counts the requests of a server from 1.
	Number       int
	Method, Path string
	Header       http.Header
	Body         []byte
	Status       int
	// Tokens is the size of the prompt, Cached how much of it was in the cache, and Written how much was stored beyond
	// that where clients pay for it; zero for a request that was asked to fail. Model: it had tools. Compacts: the
	// client asked for a summary of its history. All are zero for a refused request and for a question about tokens.
	Tokens, Cached, Written int
	Model, Compacts         bool
	// Refusal is why a rule of the API refused it, as in [Server.Refused]; "" if none did. Dropped is how many blocks of
	// thinking the API left out because they did not fit any more.
	Refusal string
	Dropped int

	ended     chan struct{}
	cancelled bool // written before ended is closed
}

// Ended is closed when the server has finished with the request.
func (r *Request) Ended() <-chan struct{} { return r.ended }

// Cancelled waits until the server has finished and reports whether the client was gone by then.
func (r *Request) Cancelled() bool {
	<-r.ended
	return r.cancelled
}

// Asked is what a request of the Messages or the Chat Completions API asks for.
type Asked struct {
	// Key is the API key; "" if there was none.
	Key, Model, System string
	// Messages are those that are not the system's.
	Messages []Message
	// MaxTokens is the most tokens to generate; 0 if the client set no limit.
	MaxTokens int
	Stream    bool
}

// Message is one message. Text is all text of it, and of the results of tools in it, parts joined by an empty line.
type Message struct{ Role, Text string }

// Asked reads the request as far as it can be read.
func (r *Request) Asked() Asked {
	var body object
	_ = json.Unmarshal(r.Body, &body)
	a := Asked{Key: r.Header.Get("X-Api-Key"), Model: text(body["model"]), Stream: truth(body["stream"])}
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		a.Key = key
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := body[name].(float64); ok {
			a.MaxTokens = int(n)
		}
	}
	for _, v := range append([]any{object{"role": "system", "content": body["system"]}}, list(body["messages"])...) {
		m := Message{Role: text(obj(v)["role"])}
		for _, b := range contentBlocks(obj(v)["content"]) {
			// A result of a tool has a content in its place.
			if said := cmp.Or(text(b["text"]), text(b["content"])); said != "" {
				m.Text += said + "\n\n"
			}
		}
		if m.Text = strings.TrimSuffix(m.Text, "\n\n"); m.Role != "system" && m.Role != "developer" {
			a.Messages = append(a.Messages, m)
		} else if m.Text != "" {
			a.System = m.Text
		}
	}
	return a
}

// denied refuses a key and a model in the API's words; the zero value refuses nothing. A key is repeated, as providers
// may: what clients show and log must not contain it.
func (s *Server) denied(r *Request, a api) Reply {
	o, asked := s.options, r.Asked()
	_, anthropic := a.(messages)
	switch wrongKey := o.Key != "" && asked.Key != o.Key; {
	case wrongKey && anthropic:
		return Reply{Status: 401, Message: "invalid x-api-key: " + asked.Key}
	case wrongKey:
		return Reply{Status: 401, Type: "invalid_request_error", Code: "invalid_api_key",
			Message: "Incorrect API key provided: " + asked.Key}
	case len(o.Models) == 0 || slices.Contains(o.Models, asked.Model):
		return Reply{}
	case anthropic:
		return Reply{Status: 404, Message: "model: " + asked.Model}
	}
	return Reply{Status: 404, Type: "invalid_request_error", Code: "model_not_found",
		Message: "The model `" + asked.Model + "` does not exist"}
}
