package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Which conversation a search is of. A client of the Model Context Protocol does not say: but the answer in which its
// model calls the tool has just passed, and the conversation is that of the answer. Nothing is guessed: a search that
// may be of two conversations is of none.

// Why it is not known whose call of the tool arrived. The model reads it.
var (
	errUnheard = errors.New("thresh saw no model ask this, so it cannot tell which conversation to search: " +
		"what has an id is returned by its id")
	errSeveral = errors.New("two conversations asked the same at the same time: ask again, with another query")
)

// heard are the tool calls in the last answer of a branch, as far as it has passed.
type heard struct {
	pieces func(answer []byte) []provider.Piece

	mu    sync.Mutex
	calls provider.Calls
	given map[int]bool // calls whose result was asked for, by their position
}

// take reads an event of an answer, or a whole one.
func (h *heard) take(answer []byte) {
	pieces := h.pieces(answer)
	if len(pieces) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls.Take(pieces)
}

// give notes that the result of a call was asked for.
func (h *heard) give(which int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given == nil {
		h.given = map[int]bool{}
	}
	h.given[which] = true
}

// How sure it is that a call in an answer is the one that arrived. Calls whose results were asked for count only if no
// other call does: a client may repeat its request.
const (
	says   = 1 // its arguments contain what is asked for, as those of a script do
	equals = 2 // it has the same arguments
	open   = 4 // added to these: its result was not asked for
	named  = 8 // the client says which call it is
)

// sure says how sure it is that one of the calls is the one that arrived, and which; 0 for none.
func (h *heard) sure(a *arrived) (most, which int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range h.calls {
		now := 0
		switch {
		case c.ID != "" && a.meta[c.ID]:
			now = named
		case tools.Recalls(c.Name) && equal(c.Arguments, a.arguments):
			now = equals
		case mentions(c, a.query):
			now = says
		}
		if now > 0 && !h.given[i] {
			now |= open
		}
		if now > most {
			most, which = now, i
		}
	}
	return most, which
}

// mentions reports whether a call is of the tool in another's words: a script that calls it, or a tool that takes the
// name of another.
func mentions(c provider.Called, query string) bool {
	text := string(c.Arguments)
	if query == "" || !tools.Recalls(c.Name) && !strings.Contains(text, mcp.Tool) {
		return false
	}
	quoted, _ := json.Marshal(query) // a text has a form in JSON
	return strings.Contains(text, query) || bytes.Contains(c.Arguments, quoted[1:len(quoted)-1])
}

// equal reports whether two texts are the same JSON value.
func equal(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, _ := json.Marshal(x) // both were read from JSON
	second, _ := json.Marshal(y)
	return bytes.Equal(first, second)
}

// arrived is a call of the tool as a client of the protocol sent it.
type arrived struct {
	arguments []byte
	query     string
	// meta are the texts in what the client says about the call: some name it, or its conversation.
	meta map[string]bool
}

func arrival(a mcp.Asked) *arrived {
	out := &arrived{arguments: a.Arguments, query: a.Query, meta: map[string]bool{}}
	var meta any
	if json.Unmarshal(a.Meta, &meta) == nil {
		out.texts(meta)
	}
	return out
}

func (a *arrived) texts(v any) {
	switch v := v.(type) {
	case string:
		a.meta[v] = true
	case []any:
		for _, e := range v {
			a.texts(e)
		}
	case map[string]any:
		for _, e := range v {
			a.texts(e)
		}
	}
}

// asking returns the branch whose model made a call that arrived. The error says why that is not known.
func (s *Server) asking(owner string, a *arrived, may func(identity) bool) (*branch, error) {
	var all, said []*branch
	for _, b := range s.threads.all() {
		of := b.thread.identity
		if of.owner != owner || !may(of) {
			continue
		}
		all = append(all, b)
		if of.client != "" && a.meta[of.client] {
			said = append(said, b)
		}
	}
	if len(said) > 0 { // the client names the conversation, or it and the one that began it
		all = said
	}
	var found *branch
	var by *heard
	best, which, several := 0, 0, false
	for _, b := range all {
		h := b.heard.Load()
		if h == nil {
			continue
		}
		switch sure, i := h.sure(a); {
		case sure > best:
			found, by, best, which, several = b, h, sure, i, false
		case sure == best && best > 0 && (b.thread != found.thread || b.thread.identity.shared):
			several = true // of two branches of one conversation, the one that was used last comes first
		}
	}
	switch {
	case several:
		return nil, errSeveral
	case found != nil:
		by.give(which)
		return found, nil
	case len(said) > 0 && !slices.ContainsFunc(said, func(b *branch) bool { return b.thread != said[0].thread }):
		return said[0], nil
	}
	return nil, errUnheard
}
