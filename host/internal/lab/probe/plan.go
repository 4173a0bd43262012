package probe

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Options of a plan.
type Options struct {
	Sessions []compare.Session
	Variants []compare.Variant
	// Prices returns the list by which a session is priced.
	Prices func(compare.Session) *pricing.List
	// Moments is how many moments of each session are spread over its requests.
	Moments  int
	Progress func(done, of int) // after each session; may be nil
}

// Session is the plan of one session: the moments at which it is probed, and what the variants did.
type Session struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Spread int    `json:"spread"` // Options.Moments when the moments were chosen
	// Moments are in the order of the requests.
	Moments []Moment `json:"moments"`
	// Variants begin with doing nothing.
	Variants []Variant `json:"variants"`
}

// Moment is a request at which a session is probed.
type Moment struct {
	ID string `json:"id"`
	// Turn counts from 1. Entry is the recorded entry that answers the request, From the first that was in it.
	Turn  int `json:"turn"`
	Entry int `json:"entry"`
	From  int `json:"from"`
	// Spread: it is one of those that are spread evenly over the requests.
	Spread bool `json:"spread,omitempty"`
	// After are the rewrites that it follows, each the deepest of its kind and variant: "compress of distill".
	After []string `json:"after,omitempty"`
}

// Variant is what a variant did to one session.
type Variant struct {
	Name string `json:"name"`
	// Requests is the number of requests, Sent their tokens, OverLimit how many could not be sent.
	Requests  int `json:"requests"`
	Sent      int `json:"sent"`
	OverLimit int `json:"overLimit,omitempty"`
	// USD is what the session cost, Nothing what the same requests would have cost if nothing had been done.
	USD     float64 `json:"usd"`
	Nothing float64 `json:"nothingUsd"`
	Error   string  `json:"error,omitempty"`
	// Contexts are by the moments' ids.
	Contexts map[string]Context `json:"contexts"`
}

// Context is what a variant left at a moment.
type Context struct {
	Unit   string `json:"unit"` // the directory in which it is answered from
	Tokens int    `json:"tokens"`
}

// Plan replays the sessions, chooses moments of those that the book does not have, and keeps what the variants left. It
// returns the sessions' ids. A session's moments stay what they were, unless another number of them is asked for: then
// those are added. What was planned before an error stays.
func (b *Book) Plan(ctx context.Context, h *engine.Host, o Options) (sessions []string, err error) {
	for i, s := range o.Sessions {
		id := sessionID(h, s)
		if err := b.planSession(ctx, h, s, id, o); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		sessions = append(sessions, id)
		if o.Progress != nil {
			o.Progress(i+1, len(o.Sessions))
		}
	}
	return sessions, nil
}

// seen is one request as one variant sent it.
type seen struct {
	history []content.Content
	tokens  int
	kinds   []string // of the rewrites that it follows
}

func (b *Book) planSession(ctx context.Context, h *engine.Host, s compare.Session, id string, o Options) error {
	rec, err := replay.Record(ctx, h, s.Transcript)
	if err != nil {
		return err
	}
	// By column, then by request. Each column is one goroutine's.
	columns := make([][]seen, len(o.Variants))
	r, err := compare.Run(ctx, h, compare.Options{
		Sessions: []compare.Session{s}, Variants: o.Variants, Prices: []*pricing.List{o.Prices(s)},
		Turn: func(_, column int, t replay.Turn) {
			columns[column] = append(columns[column], seen{t.Prepared.History, t.AfterCompress, kindsOf(t)})
		},
	})
	if err != nil {
		return err
	}
	nothing := untouched(rec)
	plan := b.session(id, s.Name)
	if plan.Spread != o.Moments {
		plan.Spread = o.Moments
		plan.choose(rec, columns, o)
	}
	if err := b.writeMoments(plan, rec, nothing); err != nil {
		return err
	}
	none := &r.Sessions[0].Nothing
	if err := b.keep(plan, rec, variantOf(compare.NothingName, none), nothing); err != nil {
		return err
	}
	for i, v := range o.Variants {
		if err := b.keep(plan, rec, variantOf(v.Name, &r.Sessions[0].Variants[i]), columns[i]); err != nil {
			return err
		}
	}
	return b.writePlan(plan)
}

// kindsOf returns what was rewritten before a request.
func kindsOf(t replay.Turn) (kinds []string) {
	if t.Optimize.Removed+t.Optimize.Replaced > 0 {
		kinds = append(kinds, "prune")
	}
	if t.Compress.Kind == outcome.KindApplied {
		kinds = append(kinds, "compress")
	}
	if len(t.Ladder) > 0 {
		kinds = append(kinds, "make-room")
	}
	return kinds
}

// untouched returns the requests to which nothing was done.
func untouched(rec *replay.Recording) (out []seen) {
	var context *engine.Baseline
	next := 0
	for i, q := range rec.Requests {
		if i == 0 || q.Boundary {
			context, next = rec.Counted.Baseline(), q.From
		}
		context.Add(rec.Counted.Slice(next, q.Entry))
		next = q.Entry
		out = append(out, seen{history: context.Contents(), tokens: q.Unpruned})
	}
	return out
}

// choose adds moments: as many as were asked for, spread evenly over the requests at which some variant had removed
// something; and for each variant and kind of rewrite the request with the least left right after one. What the
// recording does not answer is no moment, as nothing came next.
func (s *Session) choose(rec *replay.Recording, columns [][]seen, o Options) {
	var reduced []int
	type rewrite struct{ variant, kind string }
	deepest := map[rewrite]int{}
	left := map[rewrite]float64{}
	var order []rewrite
	for n, q := range rec.Requests {
		if q.Entry == len(rec.Transcript.Entries) {
			continue
		}
		removed := false
		for i, column := range columns {
			if n >= len(column) {
				continue // its replay failed
			}
			removed = removed || column[n].tokens < q.Unpruned
			for _, kind := range column[n].kinds {
				key := rewrite{o.Variants[i].Name, kind}
				share := float64(column[n].tokens) / float64(max(q.Unpruned, 1))
				if least, known := left[key]; !known {
					order = append(order, key)
				} else if least <= share {
					continue
				}
				left[key], deepest[key] = share, n
			}
		}
		if removed {
			reduced = append(reduced, n)
		}
	}
	for i := range min(o.Moments, len(reduced)) {
		k := min(o.Moments, len(reduced))
		s.moment(rec, reduced[(2*i+1)*len(reduced)/(2*k)]).Spread = true
	}
	for _, key := range order {
		m := s.moment(rec, deepest[key])
		if after := key.kind + " of " + key.variant; !slices.Contains(m.After, after) {
			m.After = append(m.After, after)
		}
	}
	slices.SortFunc(s.Moments, func(a, b Moment) int { return a.Turn - b.Turn })
}

// moment returns the moment of request n, which it adds if needed. The pointer holds until the next call.
func (s *Session) moment(rec *replay.Recording, n int) *Moment {
	at := slices.IndexFunc(s.Moments, func(m Moment) bool { return m.Turn == n+1 })
	if at < 0 {
		q := rec.Requests[n]
		at = len(s.Moments)
		s.Moments = append(s.Moments, Moment{
			ID:   id(fmt.Sprint(PromptVersion), s.ID, fmt.Sprint(q.Entry)),
			Turn: n + 1, Entry: q.Entry, From: q.From,
		})
	}
	return &s.Moments[at]
}

func variantOf(name string, r *compare.Result) Variant {
	v := Variant{
		Name: name, Requests: r.Turns, Sent: r.Sent, OverLimit: r.OverLimit, Error: r.Error,
		Contexts: map[string]Context{},
	}
	if len(r.Costs) > 0 {
		v.USD, v.Nothing = r.Costs[0].USD, r.Costs[0].Nothing
	}
	return v
}

// sessionID names a session by what is in it, and by the limit, on which the moments depend.
func sessionID(h *engine.Host, s compare.Session) string {
	parts := []string{fmt.Sprint(replay.ContextLimit(h, s.Transcript)), readable(s.Transcript.System)}
	for _, e := range s.Transcript.Entries {
		parts = append(parts, string(e.AppendJSON(nil)))
	}
	return id(parts...)
}
