package proxy

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A branch and its session. The session's entries are the items of the requests, in order; what the client sends
// again must match them, or it is another branch. A branch is used by one request at a time, from the search for it
// until its body is made.

// branch is one line of a conversation: a session of the host that has the items of its requests as entries. A branch
// only grows. A request that differs before the branch's end belongs to another branch.
type branch struct {
	thread *thread

	mu sync.Mutex // held from the search for the branch until its plan is made
	// closed: the session is closed, and a request that waited for mu must look for another branch.
	closed bool
	// session is nil until the branch was opened.
	session *window.Session
	parent  string // the session that it was forked from in this process; "" if there is none
	ledger  *pricing.Ledger

	// head is the sum of the last item, and items how many there are. Both are guarded by thread.mu as well.
	head  body.Sum
	items int
	// conversation is the name that its sessions have in common, however often it was forked.
	conversation string
	// recalls has the ids of its parts, and marks makes the marks of its last view; nil for one without.
	recalls journal.Marks
	marks   *journal.Marker
	// offered: the agent has the tool by which removed results are read again, as its last request says.
	offered bool
	// ids are those of parts that were removed and may be asked for, by where these stand, and recalled where they
	// stand by their ids; nil before the first. recalled is guarded by thread.mu as well.
	ids      map[body.Ref]string
	recalled map[string]body.Ref
	// removed is what the last view lacks, of messages that came alone.
	removed []api.Removed
	// listed is the branch's element in threads.used, nil if it is not there, and bytes what it takes in memory, about.
	// counted: it is one of thread.users. They are guarded by threads.mu.
	listed  *list.Element
	bytes   int
	counted bool
	// entries are the items as entries, and view what the host made of them: what was sent last.
	entries []body.Entry
	// view is nil before the first turn, and of so many of the entries: no turn has seen those behind them.
	view   []body.Shown
	viewed int

	// model is what the last request asked for. relimited: a refusal taught a limit or a count, so that the next turn
	// must not repeat the last. It is set without mu.
	model     string
	relimited atomic.Bool
	// heard are the tool calls in the last answer; nil before, and without the option Recall. It is set without mu.
	heard atomic.Pointer[heard]
	// completion is the longest answer that was asked for, in tokens, beta the last request's header, and window the
	// setting that followed from it; nil for none.
	completion int
	beta       string
	window     any
	grown      int // the window that was known then
	// limited is what the limit was learned of that is set in place of window; the zero value if none is.
	limited limited
	// tools: the model may call tools.
	tools bool
	// ratio is how many tokens the provider counts for one of the host's, as learned from usage reports; 0 before a
	// turn.
	ratio float64

	whole int // tokens of all entries as they were added
	// rest identifies what requests hold besides the conversation: system prompt, tools, settings.
	rest    [sha256.Size]byte
	pending int // tokens of what has the sum rest
	// kept is how many tokens the last request had besides the view, because they had to stay: counts has
	// those of entries that did. It is negative where less was sent.
	kept   int
	counts map[int]int
	last   turnSize
	// sent is what was sent last, here or where the branch begins; nil for nothing. It is set with mu.
	sent atomic.Pointer[lastSent]
	// refused is how many entries have thinking that the provider has refused since the last turn; 0 for none. It is set
	// without mu.
	refused atomic.Int64
}

// turnSize is what one turn made of a request, in tokens of the host's count. The zero value is a request that no turn
// was run for.
type turnSize struct {
	// whole is the client's request, and sent the one that was made of it.
	whole, sent int
	// charge is what it saved at which the turn was; both are zero for a request that is repeated.
	charge pricing.Charge
	at     time.Time
}

// maxBranches is how many stored branches of a conversation are looked at before a new one gets a name that no later
// process finds. Each look reads the entries of a stored session.
const maxBranches = 32

// branch returns the branch of a request, with its lock held and all items of the request added. known is how many
// items it had before. After an error there is no lock to give up.
func (s *Server) branch(r *http.Request, x *exchange, req *body.Request) (b *branch, known int, err error) {
	thread := s.threads.of(s.identify(x, r.Header, req))
	defer s.threads.release(thread)
	chain := req.Chain()
	var held *branch
	defer func() {
		if held != nil { // after a panic: what is known of the branch may be half of it
			s.closeBranch(held)
			held.mu.Unlock()
		}
	}()
	for range 2 { // another host may have gone on with the branch: then it is looked for in the store
		var from point
		b, from = thread.find(chain)
		begun := b == nil
		if begun {
			b = thread.begin()
		}
		held = b
		if begun {
			// The branch is locked, but in no list yet: nothing waits for it while the store is read.
			err = s.open(r, x, b, req, chain, from)
		}
		if known = b.items; err == nil && known < len(req.Items) {
			x.session = b.session.ID()
			if err = s.options.Guard.CheckStore(r.Context(), x.grant); err == nil {
				err = b.add(r.Context(), s, req, chain)
			}
		}
		if err == nil {
			x.branch, x.session = b, b.session.ID()
			b.follow(r.Context(), x, req, r.Header.Get("Anthropic-Beta"))
			// A fourth is for turns in work.
			most := s.options.Host.Config().Settings().Sessions.MaxMemory
			if old := s.threads.use(b, b.takes(req), most-most/4); len(old) > 0 {
				s.logOnce("conversations that were not used for long were let go from memory", "so far",
					s.totals.forgotten(len(old)), "sessions.maxMemory", most)
				s.closing.Go(func() { s.closeAll(old) }) // closing may wait for the store
			}
			held = nil
			return b, known, nil
		}
		// A session that was deleted, by a command or another host, is begun again.
		moved := errors.Is(err, journal.ErrMoved) || errors.Is(err, journal.ErrDeleted) ||
			errors.Is(err, journal.ErrClosed)
		// What the thread knows of the branch is not what the store has: the next round starts from the store.
		if moved || begun {
			s.closeBranch(b)
		}
		held = nil
		b.mu.Unlock()
		if !moved {
			break
		}
	}
	return nil, 0, err
}

// open opens the session of a new branch. A store may have it from an earlier process: the first of the conversation's
// sessions whose entries are the beginning of the request goes on where it was. Otherwise the branch begins at the
// point that it has in common with another one: from, or one of a stored session. The caller holds b.mu, and no lock of
// the thread. An error leaves the branch without a session and unknown to its thread, so that the next request tries
// again.
func (s *Server) open(
	r *http.Request, x *exchange, b *branch, req *body.Request, chain []body.Sum, from point,
) error {
	ctx, host := r.Context(), s.options.Host
	key, settings := store.Key{Owner: x.grant.Name}, x.settings(req, r.Header.Get("Anthropic-Beta"))
	name := b.thread.identity.name
	if id := b.thread.identity; id.shared && !id.alone { // conversations that share an identity differ in how they begin
		// The first item that is no instruction: instructions are the same in all conversations of a client.
		first := chain[req.First()]
		name += "-" + hex.EncodeToString(first[:6])
	}
	b.conversation = name
	if host.Store() != nil {
		var err error
		b.recalls, err = s.marks(ctx, store.Key{Owner: key.Owner, ID: name}, b.thread.identity.alone)
		if err != nil {
			return err
		}
	}
	for n := range maxBranches {
		key.ID = branchID(name, n)
		if host.IsOpen(key.Owner, key.ID) {
			continue // a branch of this process
		}
		stored, whole, err := s.stored(ctx, key, req)
		switch {
		case errors.Is(err, store.ErrNotFound):
			err = s.fork(ctx, x, b, req, chain, from, key, settings)
		case err == nil && whole:
			var session *window.Session
			if session, err = host.Open(window.Opening{Key: key, Settings: settings}); err == nil {
				b.begin(ctx, session, settings, req, chain, stored)
			}
		case err == nil:
			if stored.items > from.items {
				from = stored
			}
			continue
		}
		if !errors.Is(err, journal.ErrSessionExists) {
			return err
		}
		// Another request was faster.
	}
	key.ID = "" // the host makes one that nothing derives from the conversation
	return s.fork(ctx, x, b, req, chain, from, key, settings)
}

// branchID is the id of one of a conversation's sessions.
func branchID(conversation string, n int) string {
	if n == 0 {
		return conversation
	}
	return fmt.Sprintf("%s.%d", conversation, n+1)
}

// stored returns up to where a stored session has the same as a request. whole: that is all that the session has. The
// error wraps [store.ErrNotFound] if there is no such session.
func (s *Server) stored(
	ctx context.Context, key store.Key, r *body.Request,
) (p point, whole bool, err error) {
	recorded, err := journal.Read(ctx, s.options.Host.Store(), key)
	if err != nil {
		return p, false, err
	}
	added, entries := recorded.Added, r.Entries(0)
	p.session = key.ID
	tokens := 0
	for i := range min(len(added), len(entries)) {
		// Compared as content: what a client changes in a request without changing what it means, such as its cache
		// markers, is not in it.
		if !equalOrResolved(entries[i].Content, added[i].Content) {
			break
		}
		entries[i].ID = added[i].ID
		tokens += added[i].Tokens
		refs := entries[i].Refs
		next := refs[len(refs)-1].Item + 1
		inItem := i+1 < len(entries) && entries[i+1].Refs[0].Item < next
		last := i+1 == len(added)
		// A branch can begin only between two additions and between two items.
		if !inItem && (last || added[i+1].Revision > added[i].Revision) {
			p.entries, p.items, p.whole = entries[:i+1:i+1], next, tokens
			if !last {
				p.revision = added[i+1].Revision - 1
			}
		}
	}
	return p, len(p.entries) == len(added), nil
}

// fork opens a session that is not in the store: at a point of another one if there is one, else with nothing. What a
// client begins within its conversation has a parent all the same: where the conversation was then.
func (s *Server) fork(ctx context.Context, x *exchange, b *branch, r *body.Request, chain []body.Sum, from point,
	key store.Key, settings map[string]any) error {
	if err := s.options.Guard.CheckSessions(ctx, x.grant, 0); err != nil {
		return err
	}
	parent := from
	if from.session == "" {
		parent = s.threads.origin(b.thread)
	}
	session, err := (*window.Session)(nil), store.ErrNotFound
	if parent.session != "" {
		session, err = s.options.Host.Open(window.Opening{Key: key, Settings: settings,
			Fork: &journal.Fork{Parent: parent.session, At: parent.revision, Entries: len(parent.entries),
				Whole: from.session != ""}})
	}
	if errors.Is(err, store.ErrNotFound) { // there is no parent, or it was deleted
		parent, from = point{}, point{}
		session, err = s.options.Host.Open(window.Opening{Key: key, Settings: settings})
	}
	if err != nil {
		return err
	}
	b.parent = parent.session
	b.begin(ctx, session, settings, r, chain, from)
	return nil
}

// begin makes a session the branch's. It has the entries of a point.
func (b *branch) begin(ctx context.Context, s *window.Session, settings map[string]any, r *body.Request,
	chain []body.Sum, at point) {
	b.session = s
	b.model, b.completion = r.Model, r.Completion
	b.account(at)
	b.window = settings["model.contextLimit"]
	// A stored session, or the one that it was forked from, had the window of a header that does not come any more.
	if c := b.session.Config(); b.window == nil && c.Origin("model.contextLimit").Source == "session" &&
		c.Settings().Model.ContextLimit > pricing.CommonWindow {
		_ = b.session.Set(ctx, "model.contextLimit", nil)
	}
	if at.items > 0 {
		b.entries, b.whole = slices.Clip(at.entries), at.whole
		b.thread.advance(b, chain[at.items-1], at.items, 0)
	}
}

// add makes entries of the items that the branch does not have yet. The items are those from b.items on. If the host
// refuses them, the branch stays as it was, and a retry of the client adds them again.
func (b *branch) add(ctx context.Context, s *Server, r *body.Request, chain []body.Sum) error {
	fresh := r.Entries(b.items)
	contents, edited := b.resolved(fresh)
	more := 0 // tokens that the client did not send
	for _, i := range edited {
		counted, err := s.options.Host.Count(ctx, []content.Content{fresh[i].Content, contents[i]})
		if err != nil {
			return err
		}
		more += counted.Tokens(1) - counted.Tokens(0)
	}
	known := len(b.entries)
	added, err := b.session.Add(ctx, window.Addition{Entries: contents, Judge: window.Parsed, Known: &known})
	if err != nil {
		return err
	}
	for i := range fresh {
		fresh[i].ID = added.IDs[i]
	}
	if b.entries == nil {
		b.entries = fresh
	} else {
		b.entries = append(b.entries, fresh...)
	}
	b.whole += added.Own - more
	// The entries are the last record.
	b.thread.advance(b, chain[len(chain)-1], len(r.Items), b.session.Position()-1)
	return nil
}

// follow makes the session do as the client now asks, where the user has set nothing: with another model it counts and
// prices for that one, for longer answers it leaves more room, and a window of a million tokens comes and goes with its
// header. A learned limit goes with its model and window. A model that counts otherwise cannot be had any more: what
// was added is counted.
func (b *branch) follow(ctx context.Context, x *exchange, r *body.Request, beta string) {
	l := &x.server.limits
	unlimit := b.limited != limited{} && (b.limited != x.of || l.get(b.limited, b.conversation) == 0)
	grown := l.window(x.of) > b.grown
	if (r.Model == "" || r.Model == b.model) && r.Completion <= b.completion && beta == b.beta && !unlimit && !grown {
		return
	}
	set := x.settings(r, beta)
	b.grown = l.window(x.of)
	if window := set["model.contextLimit"]; (unlimit || window != b.window) &&
		b.session.Set(ctx, "model.contextLimit", window) == nil {
		b.window, b.limited = window, limited{}
	}
	if n, ours := set["model.completionBudget"]; ours && r.Completion > b.completion || unlimit {
		_ = b.session.Set(ctx, "model.completionBudget", n)
	}
	if _, ours := set["model.name"]; ours && r.Model != b.model && b.session.Set(ctx, "model.name", r.Model) == nil {
		b.ledger = b.ledger.WithPrices(b.session.PriceList())
	}
	b.model, b.completion, b.beta = cmp.Or(r.Model, b.model), max(b.completion, r.Completion), beta
}

// closeAll closes branches that are not in use, and gives up their locks. Sessions that the store cannot keep longer
// than this process are deleted, which is what bounds it.
func (s *Server) closeAll(old []*branch) {
	kept := s.options.Host.Store()
	for _, b := range old {
		_ = b.session.Close() // a session that is open cannot be deleted
		if kept != nil && kept.Ephemeral() {
			_ = s.options.Host.Delete(context.Background(), b.thread.identity.owner, b.session.ID())
		}
		s.closeBranch(b)
		b.mu.Unlock()
	}
}

// closeBranch closes a branch's session, and makes it one that no request goes on from: last, so that a request that
// would waits until the store has all of it. What cannot be written to a transcript log is reported when the host
// closes. Callers hold b.mu.
func (s *Server) closeBranch(b *branch) {
	b.closed = true
	if b.session != nil {
		_ = b.session.Close()
	}
	b.thread.remove(b)
	s.threads.remove(b)
}
