package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// branch is one line of a conversation: a session of the host that has the items of its requests as entries. A branch
// only grows. A request that differs before the branch's end belongs to another branch.
type branch struct {
	thread *thread

	mu sync.Mutex // held from the search for the branch until its plan is made
	// closed: the session is closed, and a request that waited for mu must look for another branch.
	closed  bool
	session *engine.Session
	ledger  *engine.Ledger

	// head is the sum of the last item, and items how many there are. Both are guarded by thread.mu as well.
	head  body.Sum
	items int
	// entries are the items as entries, and view what the host made of them: what was sent last.
	entries []body.Entry
	view    []body.Shown

	// model is what the requests ask for. relimited: a limit was learned, so that the next turn must not repeat the
	// last.
	model     string
	relimited bool

	whole int // tokens of all entries as they were added
	// rest identifies what requests hold besides the conversation: system prompt, tools, settings.
	rest    [sha256.Size]byte
	pending int // tokens of what has the sum rest
	marks   int // tokens of the marks in the last view, with the option Recall
	last    turnSize
}

// turnSize is what one turn made of a request, in tokens of the host's count. The zero value is a request that no turn
// was run for.
type turnSize struct {
	// whole is the client's request, and sent the one that was made of it.
	whole, sent int
	// saved is in US dollars, 0 if no price list is known.
	saved float64
	// rewrote: the beginning of the last request was changed.
	rewrote bool
}

// mostBranches is how many stored branches of a conversation are looked at before a new one gets a name that no later
// process finds. Each look reads the entries of a stored session.
const mostBranches = 32

// open opens the session of a new branch. A store may have it from an earlier process: the first of the conversation's
// sessions whose entries are the beginning of the request goes on where it was. The caller holds b.mu, and no lock of
// the thread. An error leaves the branch without a session and unknown to its thread, so that the next request tries
// again.
func (s *Server) open(
	ctx context.Context, x *exchange, b *branch, r *body.Request, chain []body.Sum, beta string,
) error {
	settings := x.settings(r, beta)
	name := b.thread.identity.name
	if b.thread.identity.shared { // conversations that share an identity differ in how they begin
		// The first item that is no instruction: instructions are the same in all conversations of a client.
		first := chain[r.First()]
		name += "-" + hex.EncodeToString(first[:6])
	}
	for n := range mostBranches {
		id := name
		if n > 0 {
			id = fmt.Sprintf("%s.%d", name, n+1)
		}
		// Opened before it is known whether it fits, because only an open session can be read.
		session, err := s.options.Host.Session(engine.SessionOptions{Owner: x.grant.Name, ID: id, Settings: settings})
		if errors.Is(err, engine.ErrSessionExists) {
			continue // a branch of this process
		}
		if err != nil {
			return err
		}
		added, err := session.Added(ctx)
		if err == nil && b.resume(r, chain, added) {
			b.begin(session, r)
			return nil
		}
		// It is the session of another branch: closing it leaves what is stored as it is.
		if closed := session.Close(); err != nil || closed != nil {
			return errors.Join(err, closed)
		}
	}
	// Without an id: the host makes one that nothing derives from the conversation.
	session, err := s.options.Host.Session(engine.SessionOptions{Owner: x.grant.Name, Settings: settings})
	if err == nil {
		b.begin(session, r)
	}
	return err
}

func (b *branch) begin(session *engine.Session, r *body.Request) {
	b.session, b.ledger, b.model = session, session.Ledger(), r.Model
}

// resume takes in the entries of a stored session, if they are a beginning of the request that ends with an item. A
// session without entries fits every request. false leaves the branch as it was.
func (b *branch) resume(r *body.Request, chain []body.Sum, added []engine.Added) bool {
	if len(added) == 0 {
		return true
	}
	entries := r.Entries(0)
	if len(added) > len(entries) {
		return false
	}
	whole := 0
	for i, a := range added {
		// Compared as content: what a client changes in a request without changing what it means, such as its cache
		// markers, is not in it.
		if !entries[i].Content.Equal(a.Content) {
			return false
		}
		entries[i].ID, whole = a.ID, whole+a.Tokens
	}
	last := entries[len(added)-1].Refs
	items := last[len(last)-1].Item + 1
	if len(added) < len(entries) && entries[len(added)].Refs[0].Item < items {
		return false // in the middle of an item
	}
	b.entries, b.whole = entries[:len(added):len(added)], whole
	b.thread.advance(b, chain[items-1], items)
	return true
}

// add makes entries of the items that the branch does not have yet. The items are those from b.items on. If the host
// refuses them, the branch stays as it was, and a retry of the client adds them again.
func (b *branch) add(ctx context.Context, r *body.Request, chain []body.Sum) error {
	fresh := r.Entries(b.items)
	contents := make([]content.Content, len(fresh))
	for i, e := range fresh {
		contents[i] = e.Content
	}
	ids, tokens, err := b.session.AddIdentified(ctx, contents)
	if err != nil {
		return err
	}
	for i := range fresh {
		fresh[i].ID = ids[i]
	}
	b.entries, b.whole = append(b.entries, fresh...), b.whole+tokens
	b.thread.advance(b, chain[len(chain)-1], len(r.Items))
	return nil
}

// prepare runs a turn of the session. After an error the view is what the host returned with it: the history as the
// last turn left it. r must be the request that the branch's entries are of: what is pending depends on it.
func (b *branch) prepare(ctx context.Context, x *exchange, r *body.Request) error {
	guard := x.server.options.Guard
	// Although not every turn calls a model: which one will is known only when the strategy is asked.
	if err := guard.CheckSpending(ctx, x.grant); err != nil {
		return err
	}
	// Counted once for as long as it stays the same: it is mostly the schemas of tools, 75 kB of Claude Code's.
	if rest := r.RestSum(); rest != b.rest || b.pending == 0 {
		counted, err := x.server.options.Host.Count(ctx, []content.Content{
			{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: string(r.Rest())}}}})
		if err != nil {
			return err
		}
		b.rest, b.pending = rest, counted.Tokens(0)
	}
	// One time for the turn and for its price: both ask whether the prompt cache has expired.
	now := time.Now()
	ready, ids, err := b.session.PrepareIdentified(ctx, engine.PrepareOptions{PendingTokens: b.pending + b.marks, At: now})
	// An error without a history leaves the view of the last turn.
	if ready.History != nil {
		b.view = make([]body.Shown, len(ready.History))
		for i, id := range ids {
			b.view[i] = body.Shown{ID: id, Content: ready.History[i]}
		}
	}
	err = errors.Join(err, guard.Charge(ctx, x.grant, ready.Outcome))
	b.last = turnSize{whole: b.whole + b.pending, sent: ready.Tokens + b.pending}
	b.last.saved, b.last.rewrote = b.ledger.Request(engine.Prompt{Sent: b.last.sent, Whole: b.last.whole},
		ready.Outcome.Stable.Tokens+b.pending, now)
	if w := x.server.options.Watch; w != nil {
		w.Turn(store.Key{Owner: x.grant.Name, ID: b.session.ID()}, watch.Turn{At: now, Whole: b.last.whole,
			Sent: b.last.sent, Saved: b.last.saved, Rewrote: b.last.rewrote}, b.model, ready.Outcome, err, b.original)
	}
	return err
}

// original returns an entry as the client sent it. The caller holds b.mu, as in prepare.
func (b *branch) original(id string) (c content.Content, ok bool) {
	i := slices.IndexFunc(b.entries, func(e body.Entry) bool { return e.ID == id })
	if i < 0 {
		return c, false
	}
	return b.entries[i].Content, true
}

// show returns the request with the branch's view instead of its items. Items that the branch does not have stay. With
// recall, what stands in the place of a removed result has an id by which the agent can ask for it. The
// error says that the view cannot be written in the API's form, or that the result is not a legal request; nothing is
// sent of it then.
func (b *branch) show(r *body.Request, recall bool) ([]byte, error) {
	plan, err := r.NewPlan(b.entries, b.view)
	if err != nil {
		return nil, err
	}
	if recall {
		b.marks = b.thread.mark(plan)
	}
	edits := r.Edits(plan)
	if len(edits) == 0 {
		// The client's own slice, not a copy: nothing changed.
		return r.Raw, nil
	}
	out := body.Apply(r.Raw, edits)
	if err := body.Validate(r, out); err != nil {
		return nil, err
	}
	return out, nil
}

// close closes the session. What cannot be written to a transcript log is reported when the host closes. It waits for
// the request that holds the lock. It may be called twice.
func (b *branch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.session != nil {
		_ = b.session.Close()
	}
}
