package proxy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Recall is how an agent gets removed results back: marks in the conversation have ids, and [mcp.Path] takes them.
type Recall struct {
	// Key makes the ids. It is the store's, as the conversations are: the ids of one must outlive the process.
	Key []byte
	// Named: whoever recalls must name the conversation, in [mcp.SessionHeader]. Only conversations that were named so
	// have marks. Otherwise all clients are one agent, which this process has started.
	Named bool
}

// markTokens is what the mark behind a removed result counts at most, in tokens of o200k_base or cl100k_base.
const markTokens = 13

// id returns the id of a result. It has 15 digits, 50 bits in five tokens: letters take twice as many. It is bound to
// the conversation, the call and the text, so it cannot be guessed, is the same each time, also in a fork or after a
// restart, and can never give back another text.
func (c *Recall) id(owner, conversation string, r content.ToolResponse) string {
	mac := hmac.New(sha256.New, c.Key)
	fmt.Fprintf(mac, "%q %q %q ", owner, conversation, r.CallID)
	mac.Write(r.Result)
	return fmt.Sprintf("%015d", binary.BigEndian.Uint64(mac.Sum(nil))%1e15)
}

// mark puts ids into the places of removed results, and keeps the results, to return them by these ids. It returns
// what the marks count, in tokens: the host does not see them. The caller holds b.mu.
func (b *branch) mark(s *Server, p *body.Plan) (tokens int) {
	c, of := s.options.Recall, b.thread.identity
	if of.alone {
		return b.list(s, p)
	}
	if c == nil || !b.offered || c.Named && !of.named {
		return 0
	}
	p.MarkRecall(func(at body.Ref, r content.ToolResponse) string {
		tokens += markTokens
		id, known := b.ids[at]
		if !known {
			id = c.id(of.owner, b.conversation, r)
			b.thread.mu.Lock()
			defer b.thread.mu.Unlock()
			if b.ids == nil {
				b.ids, b.recalled = map[body.Ref]string{}, map[string]content.Block{}
			}
			b.ids[at], b.recalled[id] = id, r
		}
		return mcp.Mark(id)
	})
	return tokens
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
	(&mcp.Server{Recall: func(ctx context.Context, id string) ([]content.Content, error) {
		found, ok := s.remembered(grant.Name, id, func(of identity) bool {
			return session == "" || of.named && of.name == session
		})
		if !ok && session != "" {
			var err error
			found, err = s.recorded(ctx, store.Key{Owner: grant.Name, ID: session}, func(b content.Block) bool {
				r, ok := b.(content.ToolResponse)
				return ok && body.Recallable(r) && s.options.Recall.id(grant.Name, session, r) == id
			})
			if err != nil {
				return nil, err
			}
		}
		if found == nil {
			return nil, nil
		}
		return []content.Content{{Speaker: content.Tool, Blocks: []content.Block{found}}}, nil
	}, Panicked: func(p any) error { return s.options.Host.Panicked("mcp", p) }}).ServeHTTP(w, r)
}

// remembered finds a removed part in those conversations of an owner that are in memory and may have it.
func (s *Server) remembered(owner, id string, may func(identity) bool) (content.Block, bool) {
	for _, b := range s.threads.all() {
		of := b.thread.identity
		if of.owner != owner || !may(of) {
			continue
		}
		b.thread.mu.Lock()
		r, ok := b.recalled[id]
		b.thread.mu.Unlock()
		if ok {
			return r, true
		}
	}
	return nil, false
}

// recorded finds a part in the stored branches of a conversation, nil if none is it: another host of the store may have
// removed it.
func (s *Server) recorded(ctx context.Context, conversation store.Key, is func(content.Block) bool) (
	content.Block, error) {
	for n := range mostBranches {
		key := conversation
		key.ID = branchID(conversation.ID, n)
		all, err := engine.ReadRecorded(ctx, s.options.Host.Store(), key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range all.Added {
			for _, b := range e.Content.Blocks {
				if is(b) {
					return b, nil
				}
			}
		}
	}
	return nil, nil
}
