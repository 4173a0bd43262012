package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
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
	wire, ok := modelapi.WireOf(r)
	kind := map[bool]string{true: "anthropic", false: "openai"}[strings.HasSuffix(r.URL.Path, "/messages")]
	if !ok {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client disconnected while it was sending
	}
	x := exchange{w: w, ctx: r.Context(), wire: wire, body: object{}}
	// bad is kept until it is known whether a reply was queued: scripted replies answer invalid requests too.
	bad := json.Unmarshal(body, &x.body)
	if bad == nil {
		bad = wire.Judge(r, x.body)
	}
	req := read(r.Header, body, x.body, kind)
	call, reply, scripted := h.record(req)
	x.req = call.Request
	// Deferred, as the faults leave by panic.
	defer func() { call.end(r.Context().Err() != nil) }()
	if h.options.OnCall != nil {
		h.options.OnCall(call)
	}
	if !scripted {
		f := h.judge(x.req)
		if bad != nil {
			f = failure{status: http.StatusBadRequest, kind: "invalid_request_error", message: bad.Error()}
		}
		if f.status != 0 {
			x.fail(f)
			return
		}
		reply = h.options.Reply(x.req)
	}
	x.answer(reply)
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

// judge refuses what every provider refuses: a wrong key, an unknown model, a request that exceeds the context window.
// Messages are the providers' own: clients look for their words and codes. A key is repeated, as providers may: what the
// host shows and logs must not contain it. The zero failure is none.
func (h *Handler) judge(r Request) failure {
	o, openAI := h.options, r.Kind == "openai"
	switch {
	case o.Key != "" && r.Key != o.Key && openAI:
		return failure{401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: " + r.Key}
	case o.Key != "" && r.Key != o.Key:
		return failure{401, "authentication_error", "", "invalid x-api-key: " + r.Key}
	case len(o.Models) > 0 && !slices.Contains(o.Models, r.Model) && openAI:
		return failure{404, "invalid_request_error", "model_not_found", "The model `" + r.Model + "` does not exist"}
	case len(o.Models) > 0 && !slices.Contains(o.Models, r.Model):
		return failure{404, "not_found_error", "", "model: " + r.Model}
	case openAI && o.RefuseMaxTokens && bytes.Contains(r.Body, []byte(`"max_tokens"`)):
		return failure{400, "invalid_request_error", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is " +
			"not supported with this model. Use 'max_completion_tokens' instead."}
	case o.ContextWindow <= 0 || r.InputTokens+r.MaxTokens <= o.ContextWindow:
		return failure{}
	case openAI: // the prompt and the answer together
		return failure{400, "invalid_request_error", "context_length_exceeded", fmt.Sprintf("This model's maximum "+
			"context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion).",
			o.ContextWindow, r.InputTokens+r.MaxTokens, r.InputTokens, r.MaxTokens)}
	case r.InputTokens > o.ContextWindow:
		return failure{400, "invalid_request_error", "", fmt.Sprintf("prompt is too long: %d tokens > %d maximum",
			r.InputTokens, o.ContextWindow)}
	}
	return failure{400, "invalid_request_error", "", fmt.Sprintf("input length and `max_tokens` exceed context limit: "+
		"%d + %d > %d, decrease input length or `max_tokens` and try again", r.InputTokens, r.MaxTokens, o.ContextWindow)}
}

// failure is an error as a provider reports it: the HTTP status and what the body says. code exists only in OpenAI's
// protocol; "" is null there.
type failure struct {
	status              int
	kind, code, message string
}

// writeJSON sends a JSON body with a status.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client disconnected.
	_ = json.NewEncoder(w).Encode(v)
}
