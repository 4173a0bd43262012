package modelapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Reply is what a test decides about one answer: what it says, where there is no script, and what goes wrong with it.
// The zero value is an empty answer, or the script's, that ends normally. Replies are values: one can be queued many
// times.
type Reply struct {
	// Thinking is sent before Text, as the provider's reasoning.
	Thinking, Text string
	// Calls are tool calls behind Text, of tools that the request need not have.
	Calls []Call
	// Finish is the stop reason, and Model the name that the answer reports; "" is the usual.
	Finish, Model string
	// Usage is what the answer reports; for the zero value the server counts.
	Usage Usage
	// Report, if not nil, stands wherever the answer would have its usage, as it is.
	Report json.RawMessage
	// Chunk is how many bytes of text an event has at most; 0 is 12. Pace is the pause before each.
	Chunk int
	Pace  time.Duration
	// Status answers with an error. Type, Code and Message are its words; "" is the API's own for the status.
	Status              int
	Type, Code, Message string
	// Header is sent with any answer.
	Header http.Header
	// Fault is what else goes wrong; "" is nothing.
	Fault Fault
	// CutAfter breaks the connection after so many bytes of the answer.
	CutAfter int
	// Stall stops an answer before its end until the channel is closed or the client is gone; nil is no stall.
	Stall <-chan struct{}
}

// Call is a call of a tool. Arguments that are no JSON are sent as they are by the Messages and the Chat Completions
// API, whose models can write any.
type Call struct{ Name, Arguments string }

// Usage counts tokens. Input excludes those that were read from the cache and written to it.
type Usage struct{ Input, Cached, Written, Output int }

// Fault is a way in which a server fails.
type Fault string

// The faults. Those that come after the text strike a stream before the events that say that it is whole.
const (
	FaultInStream Fault = "in-stream" // sends the error of the reply as an event, after the text
	FaultCut      Fault = "cut"       // ends the stream in order after the text
	FaultReset    Fault = "reset"     // breaks the connection after the text
	FaultStall    Fault = "stall"     // sends nothing after the text until the client is gone
	FaultEndless  Fault = "endless"   // repeats the end of the text until the client is gone
	FaultHang     Fault = "hang"      // sends nothing at all until the client is gone
	FaultGarbage  Fault = "garbage"   // answers 200 with the text as a page of HTML
	FaultGarbled  Fault = "garbled"   // sends the text as the data of an event
)

// Fail answers with an HTTP status and the provider's usual words for it.
func Fail(status int) Reply { return Reply{Status: status} }

// RateLimited answers 429 with a Retry-After of wait. A wait of 0 sends no Retry-After.
func RateLimited(wait time.Duration) Reply {
	r := Fail(http.StatusTooManyRequests)
	if wait > 0 {
		r.Header = http.Header{"Retry-After": {strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)}}
	}
	return r
}

// Always answers every request with the same reply.
func Always(r Reply) func(*Request) Reply { return func(*Request) Reply { return r } }

// usual are Anthropic's type of an error and a message, by status. Clients decide by the type whether they retry.
var usual = map[int][2]string{
	400: {"invalid_request_error", "The request is not valid."},
	401: {"authentication_error", "Invalid API key."},
	402: {"billing_error", "Your balance is too low."},
	403: {"permission_error", "Your key has no permission to use this model."},
	404: {"not_found_error", "The model does not exist."},
	413: {"request_too_large", "Request exceeds the maximum size."},
	429: {"rate_limit_error", "Rate limit reached."},
	500: {"api_error", "Internal server error."},
	529: {"overloaded_error", "Overloaded."},
}

// reports puts the reply's report into an answer.
func (r Reply) reports(a answer) answer {
	if r.Report == nil {
		return a
	}
	var put func(v any) any
	put = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				if v[k] = put(inner); k == "usage" || k == "usageMetadata" {
					v[k] = r.Report
				}
			}
		case []any:
			for i := range v {
				v[i] = put(v[i])
			}
		}
		return v
	}
	of := func(v any) (out any) {
		_ = json.Unmarshal([]byte(encoded(v)), &out)
		return put(out)
	}
	a.whole = of(a.whole)
	for i := range a.events {
		a.events[i].data = of(a.events[i].data)
	}
	return a
}

// failure is the body of the reply's error.
func (r Reply) failure(a api) any {
	words := usual[r.Status]
	return a.fail(r.Status, cmp.Or(r.Type, words[0]), r.Code, cmp.Or(r.Message, words[1], http.StatusText(r.Status)))
}

// says is the reply as the APIs answer it.
func (r Reply) says() (says []say) {
	if r.Thinking != "" {
		says = append(says, say{text: r.Thinking, thought: true})
	}
	says = append(says, say{text: r.Text})
	for i, c := range r.Calls {
		x := say{name: c.Name, id: "call" + itoa(i)}
		if json.Unmarshal([]byte(c.Arguments), &x.args) != nil {
			x.garbled = c.Arguments
		}
		says = append(says, x)
	}
	return says
}

// Tokens is how the server counts a text.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// Queue queues replies. Each answers one valid request, before what the options say.
func (s *Server) Queue(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// begin counts a request and returns what a test decides about its answer; said: that is all of the answer, and the
// script is not asked. Failed requests count too, so that a fault for n = 1 does not hit the retry.
func (s *Server) begin(r *Request, p prompt) (reply Reply, said bool) {
	s.mu.Lock()
	r.Model, r.Compacts = len(p.tools) > 0, p.compacts
	if r.Model {
		s.models++
	}
	switch said = true; {
	case len(s.queue) > 0:
		reply, s.queue = s.queue[0], s.queue[1:]
		s.mu.Unlock()
	case s.options.Reply != nil:
		s.mu.Unlock() // a test may take as long as it wants
		reply = s.options.Reply(r)
	// For requests with tools only, so that n does not depend on a client's side questions.
	default:
		if said = false; s.options.Fault != nil && r.Model {
			reply = s.options.Fault(s.models)
		}
		s.mu.Unlock()
	}
	reply.Chunk = cmp.Or(reply.Chunk, 12)
	return reply, said
}
