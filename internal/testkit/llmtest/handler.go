package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Options say what a server knows and how it answers. The zero value accepts every model and any key, has no token
// limit and answers "ok".
type Options struct {
	// Reply answers a valid request for which no reply is queued. It may be called concurrently.
	Reply func(Request) Reply
	// Models are the names that exist; empty for any.
	Models []string
	// Key is the API key that clients must send; "" accepts any or none.
	Key string
	// ContextWindow is the model's context window in tokens, including the answer; 0 means no limit.
	ContextWindow int
	// RefuseMaxTokens makes the OpenAI protocol demand max_completion_tokens, as OpenAI's reasoning models do.
	RefuseMaxTokens bool
	// OnCall is called with each request on arrival, before it is validated or answered.
	OnCall func(*Call)
}

// Handler is the server's logic. It is safe for concurrent use.
type Handler struct {
	options Options

	// mu guards scripted and calls. It is never held while a request is answered, which may take as long as the test
	// wants.
	mu       sync.Mutex
	scripted []Reply // the next request takes the first
	calls    []*Call
	running  sync.WaitGroup // requests in progress, for Server.Close
}

// NewHandler returns a handler for /v1/chat/completions and /v1/messages.
func NewHandler(o Options) *Handler {
	if o.Reply == nil {
		o.Reply = func(Request) Reply { return Reply{Text: "ok"} }
	}
	return &Handler{options: o}
}

// Script queues replies. Each answers one request, valid or not, without validation.
func (h *Handler) Script(replies ...Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripted = append(h.scripted, replies...)
}

// Calls returns the requests so far, in the order of arrival. The slice is the caller's; the calls are shared, and
// their Request never changes.
func (h *Handler) Calls() []*Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

// maxBody bounds a request, in bytes, as Anthropic does.
const maxBody = 32 << 20

// ServeHTTP answers one request. It accepts the paths with and without /v1, because clients differ in what they
// append.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.running.Add(1)
	defer h.running.Done()
	// Chosen by path, so that one server serves both kinds of clients.
	var p protocol
	switch strings.TrimPrefix(r.URL.Path, "/v1") {
	case "/chat/completions":
		p = openAI{refuseMaxTokens: h.options.RefuseMaxTokens}
	case "/messages":
		p = anthropic{}
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			p.fail(w, failure{status: http.StatusRequestEntityTooLarge, kind: "request_too_large",
				message: "Request exceeds the maximum size"})
		}
		return // otherwise the client disconnected while it was sending
	}
	// bad is kept until it is known whether a reply was queued: scripted replies answer invalid requests too.
	req, bad := p.parse(r.Header, body)
	call, reply, scripted := h.record(req)
	req = call.Request
	// Deferred, as the faults leave by panic.
	defer func() { call.end(r.Context().Err() != nil) }()
	if h.options.OnCall != nil {
		h.options.OnCall(call)
	}
	if !scripted {
		if bad == nil {
			bad = h.judge(p, req)
		}
		if bad != nil {
			p.fail(w, *bad)
			return
		}
		reply = h.options.Reply(req)
	}
	answer(w, r, p, req, reply)
}

// record stores a request under the next number and takes the reply that is queued for it, if any.
func (h *Handler) record(req Request) (*Call, Reply, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	req.Number = len(h.calls) + 1
	call := &Call{Request: req, ended: make(chan struct{})}
	h.calls = append(h.calls, call)
	if len(h.scripted) == 0 {
		return call, Reply{}, false
	}
	reply := h.scripted[0]
	h.scripted = h.scripted[1:]
	return call, reply, true
}

// judge refuses what every provider refuses: a wrong key, an unknown model, a request that exceeds the context
// window.
func (h *Handler) judge(p protocol, req Request) *failure {
	o := h.options
	if o.Key != "" && req.Key != o.Key {
		return p.unauthorized(req.Key)
	}
	if len(o.Models) > 0 && !slices.Contains(o.Models, req.Model) {
		return p.noModel(req.Model)
	}
	if o.ContextWindow > 0 && req.InputTokens+req.MaxTokens > o.ContextWindow {
		return p.tooLong(req, o.ContextWindow)
	}
	return nil
}

// protocol is the part that differs between the providers. The methods hold no state of a request, so that one value
// serves all requests.
type protocol interface {
	// parse reads and validates a request. The Request is filled as far as possible even if it is refused.
	parse(http.Header, []byte) (Request, *failure)

	// These are the provider's words for what judge refuses.
	unauthorized(key string) *failure
	noModel(model string) *failure
	tooLong(req Request, window int) *failure
	fail(http.ResponseWriter, failure)

	// whole is an answer that is not streamed.
	whole(Request, Reply) any

	// These are the events of a stream, in this order; trouble is an error in the middle of it.
	open(Request, Reply) []event
	thinking(Request, Reply, []string) []event
	openText(Reply) []event
	text(Request, Reply, string) event
	closing(Request, Reply) []event
	trouble(failure) []event
}

// failure is an error as a provider reports it: the HTTP status and what the body says. code exists only in OpenAI's
// protocol; "" is null there.
type failure struct {
	status              int
	kind, code, message string
}

// badRequest is a 400 with the type that both providers use for invalid requests.
func badRequest(format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

// writeJSON sends a JSON body with a status.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client disconnected.
	_ = json.NewEncoder(w).Encode(v)
}
