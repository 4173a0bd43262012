package modelapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Options say what a server does. The zero value answers "All done." to everything.
type Options struct {
	// Script is what the model does: the calls of each turn. After it, an answer is text.
	Script []Turn
	// Dir is where the agent's project is, for tools that want absolute paths.
	Dir string
	// ContextLimit is the most tokens that a prompt may have; 0 is no limit.
	ContextLimit int
	// Scale multiplies the tokens that are reported, which drives clients into compactions of their own; 0 is 1.
	Scale int
	// Fault says what goes wrong with the n-th request that has tools, counted from 1; nil is nothing.
	Fault func(n int) Reply
	// Reply answers instead of the script. It may be called concurrently.
	Reply func(*Request) Reply
	// OnRequest is called with each request on arrival, before it is judged.
	OnRequest func(*Request)
	// Key is the API key that clients must send; "" accepts any or none. Models are those that exist; nil is any. Both
	// are for the Messages and the Chat Completions API.
	Key    string
	Models []string
}

// Server is a running server. All methods may be called while it runs.
type Server struct {
	*httptest.Server
	options Options
	running sync.WaitGroup // requests that are being answered

	// mu guards everything below it. It is never held while something is written to a client, so that a stalled stream
	// does not stop the others.
	mu       sync.Mutex
	requests []*Request
	queue    []Reply
	refused  []string
	models   int                       // requests with tools so far
	steps    map[[sha256.Size]byte]int // the turn that a body was answered with: the same for a repeated one
	step     int
	cache    cache
	issued   map[string]string   // signatures and encrypted reasoning, with what they were issued for
	follows  map[string]string   // the id of an item of the Responses API, by that of the reasoning before it
	stored   map[string][]object // the items of a response, by its id
	threads  map[string]object   // the request of a thread, with its answer, by the answer's id; cached contents
	ids      int
}

// object is a JSON object. Requests are judged by their JSON and not by Go types, which would drop fields that they do
// not know.
type object = map[string]any

// New starts a server on a free port of the loopback interface. The caller closes it.
func New(o Options) *Server {
	s := NewHandler(o)
	s.Server = httptest.NewServer(s)
	return s
}

// Start is New for a test, which closes the server when it ends.
func Start(t interface{ Cleanup(func()) }, o Options) *Server {
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// Close breaks all connections and waits until every request has ended.
func (s *Server) Close() {
	s.CloseClientConnections()
	s.Server.Close()
}

// NewHandler returns a server that does not listen.
func NewHandler(o Options) *Server {
	return &Server{options: o, steps: map[[sha256.Size]byte]int{}, issued: map[string]string{},
		follows: map[string]string{}, threads: map[string]object{},
		stored: map[string][]object{}, cache: cache{known: map[[sha256.Size]byte]bool{}}}
}

// Requests returns what was received so far, in order. The list is the caller's. Status is set when a request is
// answered: read it after [Server.WaitIdle].
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Models returns the requests with tools that were answered.
func (s *Server) Models() []*Request { return Answered(s.Requests()) }

// Answered returns those of requests that had tools and were answered.
func Answered(requests []*Request) (out []*Request) {
	for _, r := range requests {
		if r.Model && r.Status == http.StatusOK {
			out = append(out, r)
		}
	}
	return out
}

// Refused returns why requests were refused, faults and the context limit aside. A test of a proxy ends by demanding
// that there are none: a refusal means that an edit broke a rule of the API.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// api is one of the APIs.
type api interface {
	// judge reads a request; the error is for the client. segments are the parts of the prompt in order, for the cache.
	// The lock is held.
	judge(s *Server, r *http.Request, body object) (prompt, error)
	// answer writes what the model says. It is made whole and as events, whichever is sent. The lock is held.
	answer(s *Server, p prompt, u Usage, says []say) answer
	// fail is the form of an error. Its kind and code are the API's own for the status where they are "".
	fail(status int, kind, code, message string) any
}

// prompt is a request as the script needs it.
type prompt struct {
	body     object
	tools    []tool
	segments []segment
	stream   bool
	// compacts: the client asks for a summary; items are those of a stored response and of this request.
	compacts bool
	items    []object
	auto     bool   // the cache has no markers
	reply    Reply  // what a test decides about the answer
	removed  string // the id in the place of the result that was removed last
}

// removed finds the ids that stand in the places of removed results. The shorter word is of the tool's description.
var removed = regexp.MustCompile(`\[thresh_recall: ([^\]"]{3,})\]`)

// say is one thing that the model says: text or a call.
type say struct {
	text, id, name string
	thought        bool   // the text is reasoning
	space          string // of the tool
	args           object
	input          string // of a custom tool
	kind           string
}

// answer is what is sent: whole, or as events, of which the last, from closing on, say that it is whole.
type answer struct {
	whole   any
	events  []event
	closing int
}

// WaitIdle waits until no request is being answered. A client may be done with an answer before the server is. Call it
// when no request is on its way any more.
func (s *Server) WaitIdle() { s.running.Wait() }

// The order matters: rules first, then errors that are asked for, then the cache and the limit. A provider that answers
// with an error at once has cached nothing.
//
// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.running.Add(1)
	defer s.running.Done()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	// Recorded on arrival, so that a test can see requests that are still being answered.
	seen := &Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: raw,
		ended: make(chan struct{})}
	defer func() { // faults leave by panic
		seen.cancelled = r.Context().Err() != nil
		close(seen.ended)
	}()
	s.mu.Lock()
	s.requests = append(s.requests, seen)
	seen.Number = len(s.requests)
	s.mu.Unlock()
	if s.options.OnRequest != nil {
		s.options.OnRequest(seen)
	}
	status := func(code int) { s.mu.Lock(); seen.Status = code; s.mu.Unlock() }
	a, counts := apiOf(r)
	if a == nil || r.Method != http.MethodPost {
		code := http.StatusNotFound
		// Clients look whether the server is there, or which models it has, before they ask anything.
		if r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/models") {
			code = http.StatusOK
		}
		status(code)
		writeJSON(w, code, object{"data": []any{}, "object": "list"})
		return
	}
	var body object
	if err := json.Unmarshal(raw, &body); err != nil {
		s.refuse(w, status, a, 400, "The request body is not valid JSON: "+err.Error())
		return
	}
	if strings.HasSuffix(r.URL.Path, "/cachedContents") {
		s.mu.Lock()
		made := gemini{}.cached(s, body)
		s.mu.Unlock()
		status(200)
		writeJSON(w, 200, made)
		return
	}
	s.mu.Lock()
	p, err := a.judge(s, r, body)
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, status, a, 400, err.Error())
		return
	}
	said := false
	if !counts {
		if p.reply = s.denied(seen, a); p.reply.Status == 0 {
			p.reply, said = s.begin(seen, p)
		}
	}
	maps.Copy(w.Header(), p.reply.Header)
	if code := p.reply.Status; code != 0 && p.reply.Fault != FaultInStream {
		status(code)
		writeJSON(w, code, p.reply.failure(a))
		return
	}
	u := Usage{Output: 20}
	s.mu.Lock()
	u.Input, u.Cached, u.Written = s.cache.request(modelOf(r, body), p.segments, p.auto)
	total := u.Input + u.Cached + u.Written
	if !counts {
		seen.Tokens, seen.Cached, seen.Written = total, u.Cached, u.Written
	}
	s.mu.Unlock()
	if counts {
		status(200)
		writeJSON(w, 200, object{"input_tokens": total, "totalTokens": total})
		return
	}
	if limit := s.options.ContextLimit; limit > 0 && total > limit {
		status(400)
		writeJSON(w, 400, a.fail(400, "", "context_length_exceeded", tooLong(a, total, limit)))
		return
	}
	// After the limit was checked, which is about real tokens.
	if n := s.options.Scale; n > 1 {
		u.Input, u.Cached, u.Written = u.Input*n, u.Cached*n, u.Written*n
	}
	if said {
		u.Output = Tokens(p.reply.Thinking) + Tokens(p.reply.Text)
		u = cmp.Or(p.reply.Usage, u)
	}
	s.mu.Lock()
	if places := removed.FindAllSubmatch(raw, -1); places != nil {
		p.removed = string(places[len(places)-1][1])
	}
	says := p.reply.says()
	if !said {
		says = s.says(p, sha256.Sum256(raw))
	}
	out := a.answer(s, p, u, says)
	s.mu.Unlock()
	status(200)
	s.send(w, r, p, out, a)
}

// It is for what a correct client never sends; faults and the context limit are not recorded.
func (s *Server) refuse(w http.ResponseWriter, status func(int), a api, code int, message string) {
	status(code)
	s.mu.Lock()
	s.refused = append(s.refused, message)
	s.mu.Unlock()
	writeJSON(w, code, a.fail(code, "", "", message))
}

// apiOf returns the API of an address; counts is set where the question is how many tokens a request has. nil is an
// address that no API has. Some clients put /v1 into their base address and some do not.
func apiOf(r *http.Request) (a api, counts bool) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	lax := strings.Contains(path, "gemini-2")
	switch {
	case path == "/messages":
		return messages{}, false
	case path == "/messages/count_tokens":
		return messages{counting: true}, true
	case path == "/chat/completions":
		return chat{}, false
	case path == "/responses":
		return responses{}, false
	case strings.HasSuffix(path, ":generateContent"):
		return gemini{lax: lax}, false
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini{stream: true, lax: lax}, false
	case strings.HasSuffix(path, "/cachedContents"):
		return gemini{}, false
	case strings.HasSuffix(path, ":countTokens"):
		return gemini{lax: lax}, true
	}
	return nil, false
}

// tooLong are the words of a refusal of a prompt that is too long. Clients recognise the case by them and compact, and
// the proxy reads the limit from them.
func tooLong(a api, tokens, limit int) string {
	switch a.(type) {
	case messages:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, limit)
	case gemini:
		return fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens,
			limit)
	}
	return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in "+
		"%d tokens.",
		limit, tokens)
}

// id returns an id that was not used before. The lock is held. Ids are counted and not random, so that a failing test
// fails the same way again.
func (s *Server) id(prefix string) string {
	s.ids++
	return fmt.Sprintf("%s%012d", prefix, s.ids)
}

// issue returns a proof for a text, as signatures and encrypted reasoning are. No two are equal, also for equal texts.
// The lock is held.
func (s *Server) issue(text string) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(len(s.issued), text)))
	proof := fmt.Sprintf("sig%x", sum)
	s.issued[proof] = text
	return proof
}

// Without HTML escapes, as providers write it: < stays one byte.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// badRequest is a refusal in an API's words. Clients match these texts, so that they are quoted, mistakes of spelling
// included.
func badRequest(format string, args ...any) error { return fmt.Errorf(format, args...) }
