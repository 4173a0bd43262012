package modelapi

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
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
	// Binds: every model of the Messages API takes thinking back only behind what it was issued behind, as Anthropic's
	// newest do in any case.
	Binds bool
	// Alternates: the Chat Completions API takes no two messages of one role in a row, results apart, as the templates of
	// local models do.
	Alternates bool
	// Thinks says how a model of the Messages API that may think does, in its n-th answer to a request with tools,
	// counted from 1: the types of its blocks of thinking ("thinking", "redacted_thinking"), in order, or none. nil is
	// one "thinking" before calls. A model that is told to think (type enabled) does so before calls in any case.
	Thinks func(n int) []string
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
	bound    map[string]prefix   // what thinking was issued behind, by its signature or data
	runs     map[string][]string // the thinking of one answer, by each of it
	thoughts int
	// summaries is where the messages end that a summary stands for, by its signature
	summaries map[string]prefix
	issued    map[string]string   // signatures and encrypted reasoning, with what they were issued for
	follows   map[string]string   // the id of an item of the Responses API, by that of the reasoning before it
	stored    map[string][]object // the items of a response, by its id
	threads   map[string]object   // the request of a thread, with its answer, by the answer's id; cached contents
	ids       int
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
		bound: map[string]prefix{}, runs: map[string][]string{}, summaries: map[string]prefix{},
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
	// summarizes: it does so by the field compaction. behind is what the answer stands behind, dropped the thinking that
	// the API left out, and tells: the client wants to know.
	summarizes bool
	behind     prefix
	dropped    []object
	tells      bool
	auto       bool   // the cache has no markers
	reply      Reply  // what a test decides about the answer
	removed    string // the id in the place of the result that was removed last
}

// removed finds the ids that stand in the places of removed results. The shorter word is of the tool's description.
var removed = regexp.MustCompile(`\[thresh_recall: ([^\]"]{3,})\]`)

// say is one thing that the model says: text or a call.
type say struct {
	text, id, name string
	thought        bool   // the text is reasoning
	space          string // of the tool
	args           object
	garbled        string // arguments that are no JSON
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
