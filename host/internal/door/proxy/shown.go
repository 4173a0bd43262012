package proxy

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A turn of a branch: what the host makes of the conversation, what can be sent of that, and what is counted of it.

// prepared is what a turn of the session came to, before it is known what of it can be sent.
type prepared struct {
	window.Prepared
	at      time.Time
	pending int // the tokens that the turn was told of besides the history
}

// prepare runs a turn of the session. After an error the view is what the host returned with it: the history as the
// last turn left it. r must be the request that the branch's entries are of: what is pending depends on it.
func (b *branch) prepare(ctx context.Context, x *exchange, r *body.Request) (t prepared, err error) {
	// Although not every turn calls a model: which one will is known only when the strategy is asked.
	if err := x.server.options.Guard.CheckSpending(ctx, x.grant); err != nil {
		return t, err
	}
	// Counted once for as long as it stays the same: it is mostly the schemas of tools, 75 kB of Claude Code's.
	if rest := r.RestSum(); rest != b.rest || b.pending == 0 {
		text := string(r.Rest())
		counted, err := x.server.options.Host.Count(ctx, []content.Content{
			{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}})
		if err != nil {
			return t, err
		}
		// Not in the list of tools alone: agents name in the system prompt what their model has to search for.
		b.rest, b.pending, b.offered = rest, counted.Tokens(0), strings.Contains(text, mcp.Tool)
	}
	// One time for the turn and for its price: both ask whether the prompt cache has expired. What the last request had
	// besides the view, this one will have too.
	t.at, t.pending = time.Now(), b.pending+max(b.kept, 0)
	b.marks = b.marker(x)
	t.Prepared, err = b.session.PrepareIdentified(ctx, len(b.entries), window.Sending{Pending: t.pending, At: t.at,
		Recall: b.marks != nil && x.alone == nil, Marks: b.marks, Thinking: x.thinking})
	// An error without a view leaves the one of the last turn.
	if t.Contents() != nil {
		b.see(t.Prepared)
	}
	b.tools = r.Tools
	if counted := t.Tokens + t.pending; counted > 0 {
		b.ratio = float64(t.Outcome.Projected) / float64(counted)
	}
	return t, err
}

// see makes a view the branch's.
func (b *branch) see(v window.Prepared) {
	b.view = make([]body.Shown, len(v.Entries))
	for i, e := range v.Entries {
		b.view[i] = body.Shown{ID: e.ID, Content: e.Content}
	}
	b.viewed = len(b.entries)
}

// settle works out what a turn saved, by what is sent: the view, and what had to stay although the view lacks it. came
// is sent instead if that cannot be made, and sent is nil. It is for a turn whose request has been made.
func (b *branch) settle(x *exchange, t prepared, came, sent *body.Request, plan *body.Plan, err error) turnSize {
	pending := b.pending + b.kept
	size, entries := turnSize{whole: b.whole + b.pending, sent: t.Tokens + pending, at: t.at}, len(b.entries)
	raw := sent == nil
	if raw || t.Contents() == nil {
		size.sent = size.whole
	} else {
		entries = sent.Count()
	}
	if raw {
		sent, pending = came, b.pending
	}
	// Nothing is sent if the client is gone, and what the last turn left if the host returned nothing.
	if err == nil || !errors.Is(err, context.Canceled) && (raw || t.Contents() != nil) {
		counted := t.Outcome.Stable.Tokens
		if err != nil { // a turn that failed does not know what of the last request it left as it was
			counted = math.MaxInt32
		}
		last := &lastSent{ledger: b.ledger, model: b.model, session: b.session.ID(), tokens: size.sent - pending}
		last.items(sent)
		if last.trace = body.Untouched(len(b.entries)); !raw {
			last.trace = plan.Trace()
		}
		stable := last.stable(b.sent.Load(), counted)
		size.charge = b.ledger.Request(pricing.Size{Sent: size.sent, Whole: size.whole, Pending: pending,
			Rest: b.pending, SentEntries: entries, WholeEntries: len(b.entries)}, stable, t.at)
		b.sent.Store(last)
	}
	if t.Contents() != nil {
		b.last = size
	}
	if w := x.server.options.Watch; w != nil {
		shown := watch.Turn{At: t.at, Whole: size.whole, Sent: size.sent, Saved: size.charge.Saved,
			Rewrote: size.charge.Rewrote}
		w.Turn(store.Key{Owner: x.grant.Name, ID: b.session.ID()}, shown, watch.About{Model: b.model, Parent: b.parent},
			t.Outcome, err)
	}
	return size
}

// planned works out how the branch's view is sent. Items that no turn has seen stay. With the option Recall, what
// stands in the place of a removed result has an id by which the agent can ask for it. The error says that the view
// cannot be written in the API's form.
func (b *branch) planned(ctx context.Context, s *Server, r *body.Request) (*body.Plan, error) {
	plan, err := r.NewPlan(b.entries[:b.viewed], b.view)
	if err != nil {
		return nil, err
	}
	if b.marks != nil {
		plan.MarkBlanked(func(was content.ToolResponse) string { return b.marks.Of(was) })
	}
	if b.thread.identity.alone {
		b.list(plan)
	}
	if b.kept, err = b.differs(ctx, s, plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// edited returns the request as a plan has it. The error says that the result is not a legal request; nothing is sent of
// it then.
func edited(r *body.Request, plan *body.Plan) (*body.Request, error) {
	edits := r.Edits(plan)
	if len(edits) == 0 {
		// The client's own, not a copy: nothing changed.
		return r, nil
	}
	now, err := body.Index(r.API, body.Apply(r.Raw, edits))
	if err != nil {
		return nil, err
	}
	if err := body.Validate(r, edits, now); err != nil {
		return nil, err
	}
	return now, nil
}

// differs returns how many tokens more are sent than the view has. Entries that stay whole are counted once.
func (b *branch) differs(ctx context.Context, s *Server, plan *body.Plan) (more int, err error) {
	var contents []content.Content
	var signs, of []int // whether they are sent or not, and the entry if all of it is sent; -1 for another
	plan.Differs(func(entry int, sent, shown *content.Content) {
		whole := entry >= 0 && plan.Whole(entry)
		n, known := b.counts[entry]
		switch {
		case sent != nil && whole && known:
			more += n
		case sent != nil:
			if !whole {
				entry = -1
			}
			contents, signs, of = append(contents, *sent), append(signs, 1), append(of, entry)
		}
		if shown != nil {
			contents, signs, of = append(contents, *shown), append(signs, -1), append(of, -1)
		}
	})
	if len(contents) == 0 {
		return more, nil
	}
	counted, err := s.options.Host.Count(ctx, contents)
	if err != nil {
		return 0, err
	}
	for i, sign := range signs {
		more += sign * counted.Tokens(i)
		if of[i] >= 0 {
			if b.counts == nil {
				b.counts = map[int]int{}
			}
			b.counts[of[i]] = counted.Tokens(i)
		}
	}
	return more, nil
}
