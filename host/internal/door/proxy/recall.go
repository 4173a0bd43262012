package proxy

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Recall is how an agent gets back what was removed: [mcp.Path] finds it by words, or by the ids that marks in the
// conversation and passages have. It needs a host with a store.
type Recall struct {
	// Named: whoever recalls must name the conversation, in [mcp.SessionHeader]. Only conversations that were named so
	// have marks. Otherwise all clients are one agent, which this process has started.
	Named bool
}

// known notes the id of a part of the branch, and returns it. The caller holds b.mu and b.thread.mu.
func (b *branch) known(at body.Ref, part content.Block) string {
	id, known := b.ids[at]
	if !known {
		id = b.recalls.ID(part)
		if b.ids == nil {
			b.ids, b.recalled = map[body.Ref]string{}, map[string]body.Ref{}
		}
		b.ids[at], b.recalled[id] = id, at
	}
	return id
}

// marker returns what makes the marks of the next view: nil if the model cannot ask for what they mark.
// messages.compress says itself whether it can; otherwise the request has the tool, or the user says that all have it.
func (b *branch) marker(x *exchange) *journal.Marker {
	c, of := x.server.options.Recall, b.thread.identity
	switch {
	case of.alone && x.alone.recall:
		return b.recalls.Marker()
	case of.alone || c == nil || c.Named && !of.named:
		return nil
	case b.offered || b.session.Config().Settings().Compression.Recall:
		return b.recalls.Marker()
	}
	return nil
}

// recall answers a request of the protocol.
func (s *Server) recall(w http.ResponseWriter, r *http.Request, grant access.Grant) {
	session := ""
	if s.options.Recall.Named {
		if session = mcp.Session(w, r); session == "" {
			return
		}
		session = printable(session)
	}
	may := func(of identity) bool { return session == "" || of.named && of.name == session }
	(&mcp.Server{Recall: func(ctx context.Context, a mcp.Asked) (mcp.Answer, error) {
		key := store.Key{Owner: grant.Name, ID: session}
		if a.Query != "" {
			return s.search(ctx, key, a, may)
		}
		parts, err := s.lookUp(ctx, key, a.ID, may)
		return mcp.Answer{Parts: parts}, err
	}, Panicked: func(p any) error { return s.options.Host.Panicked("mcp", p) }}).ServeHTTP(w, r)
}

// lookUp finds the part of a conversation with an id, whole.
func (s *Server) lookUp(ctx context.Context, of store.Key, id string, may func(identity) bool) ([]mcp.Part, error) {
	if !journal.IsID(id) {
		return nil, nil
	}
	found, err := s.part(ctx, of, id, false, may)
	if err != nil || found == nil {
		return nil, err
	}
	whole, err := journal.Lines(ctx, s.options.Host.Store(), found.key, s.tools(), found.entry, found.block, 1,
		math.MaxInt)
	if err != nil {
		return nil, err
	}
	return []mcp.Part{{Passage: whole, ID: id, Seal: found.seal}}, nil
}

// part is a part of a conversation, and where it stands.
type part struct {
	key   store.Key
	entry string
	block int
	content.Block
	seal string // of its id
}

// part finds the part with an id, nil if none has it: in memory, or in the store, where another host may have removed
// it.
func (s *Server) part(ctx context.Context, of store.Key, id string, hash bool, may func(identity) bool) (*part, error) {
	all := slices.DeleteFunc(s.threads.all(), func(b *branch) bool {
		return b.thread.identity.owner != of.Owner || !may(b.thread.identity)
	})
	for _, b := range all {
		b.thread.mu.Lock()
		_, ok := b.recalled[id]
		b.thread.mu.Unlock()
		if ok {
			all = []*branch{b}
			break
		}
	}
	// An id may be older than this process, and its part where there is no mark.
	for _, b := range all {
		if found := b.part(id); found != nil {
			return found, nil
		}
	}
	if of.ID == "" {
		return nil, nil
	}
	marks, err := s.marks(ctx, of, hash)
	if err != nil {
		return nil, err
	}
	for n := range maxBranches {
		key := store.Key{Owner: of.Owner, ID: branchID(of.ID, n)}
		all, err := journal.Read(ctx, s.options.Host.Store(), key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range all.Added {
			for j, b := range e.Content.Blocks {
				if marks.ID(b) == id {
					return &part{key, e.ID, j, b, marks.Seal(id)}, nil
				}
			}
		}
	}
	return nil, nil
}

// part finds the part of the branch with an id; nil if none has it.
func (b *branch) part(id string) *part {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.thread.mu.Lock()
	at, known := b.recalled[id]
	b.thread.mu.Unlock()
	owner := b.thread.identity.owner
	for _, e := range b.entries {
		for j, block := range e.Content.Blocks {
			if known && e.Refs[j] == at || !known && b.recalls.ID(block) == id {
				return &part{store.Key{Owner: owner, ID: b.session.ID()}, e.ID, j, block, b.recalls.Seal(id)}
			}
		}
	}
	return nil
}

// search finds passages of what was removed from the conversation whose model asks.
func (s *Server) search(ctx context.Context, of store.Key, a mcp.Asked, may func(identity) bool) (mcp.Answer, error) {
	q := search.Query{Words: a.Query, Limit: a.Limit, Tokens: a.Tokens}
	none := mcp.Answer{}
	b, err := s.asking(of.Owner, arrival(a), may)
	if err == nil {
		return b.search(ctx, q)
	}
	if of.ID == "" || !errors.Is(err, errUnheard) {
		return none, err
	}
	// Another host may have passed the answer on.
	var only journal.Recorded
	key := store.Key{}
	for n := range maxBranches {
		k := store.Key{Owner: of.Owner, ID: branchID(of.ID, n)}
		recorded, err := journal.Read(ctx, s.options.Host.Store(), k)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return none, err
		case key.ID != "":
			return none, errUnheard
		}
		only, key = recorded, k
	}
	if key.ID == "" {
		return none, nil
	}
	marks, err := s.marks(ctx, store.Key{Owner: of.Owner, ID: of.ID}, false)
	if err != nil {
		return none, err
	}
	found, err := journal.SearchRemoved(ctx, s.options.Host.Store(), key, s.tools(), q)
	return mcp.Answered(found, func(entry string, block int) (id, seal string, ok bool) {
		i := slices.IndexFunc(only.Added, func(e journal.Added) bool { return e.ID == entry })
		if i < 0 { // another host may go on with it now
			return "", "", false
		}
		id = marks.ID(only.Added[i].Content.Blocks[block])
		return id, marks.Seal(id), true
	}), err
}

// search finds passages of what was removed from the branch.
func (b *branch) search(ctx context.Context, q search.Query) (mcp.Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return mcp.Answer{}, errUnheard
	}
	found, err := b.session.Search(ctx, q)
	if err != nil {
		return mcp.Answer{}, err
	}
	b.thread.mu.Lock()
	defer b.thread.mu.Unlock()
	return mcp.Answered(found, func(entry string, block int) (id, seal string, ok bool) {
		i := slices.IndexFunc(b.entries, func(e body.Entry) bool { return e.ID == entry })
		if i < 0 {
			return "", "", false
		}
		e := b.entries[i]
		id = b.known(e.Refs[block], e.Content.Blocks[block])
		return id, b.recalls.Seal(id), true
	}), nil
}

// marks has the ids of a conversation, by the name that its sessions have in common.
func (s *Server) marks(ctx context.Context, of store.Key, hash bool) (journal.Marks, error) {
	marks, err := journal.MarksOf(ctx, s.options.Host.Store(), of)
	marks.Hash = hash
	return marks, err
}

// tools is the taxonomy of the host's own settings.
func (s *Server) tools() *tools.Taxonomy {
	t, _ := window.Taxonomy(s.options.Host.Config().Settings()) // the host has read these settings already
	return t
}
