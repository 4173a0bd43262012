package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is the plan of one session: the moments at which it is probed, and what the variants did.
type Session struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Spread int    `json:"spread"` // how many moments were asked for when they were chosen
	// Moments are in the order of the requests.
	Moments []Moment `json:"moments"`
	// Variants begin with doing nothing.
	Variants []Variant `json:"variants"`
}

// Moment is a request at which a session is probed.
type Moment struct {
	ID string `json:"id"`
	// Turn counts from 1. Entry is the recorded entry that answers the request.
	Turn  int `json:"turn"`
	Entry int `json:"entry"`
	// Spread: it is one of those that are spread evenly over the requests.
	Spread bool `json:"spread,omitempty"`
	// After are the rewrites that it follows, each the deepest of its kind and variant: "compress of distill".
	After []string `json:"after,omitempty"`
}

type Variant struct {
	Name      string `json:"name"`
	OverLimit int    `json:"overLimit,omitempty"` // requests that could not be sent
	// USD is what the session cost, Nothing what the same requests would have cost if nothing had been done.
	USD     float64 `json:"usd"`
	Nothing float64 `json:"nothingUsd"`
	Error   string  `json:"error,omitempty"`
	// Prices are those of searches; nil without a search, and if none are known.
	Prices *pricing.List `json:"prices,omitempty"`
	// Contexts are by the moments' ids.
	Contexts map[string]Context `json:"contexts"`
}

// Context is what a variant left at a moment.
type Context struct {
	Unit   string `json:"unit"` // the directory in which it is answered from
	Tokens int    `json:"tokens"`
	// Search: who answers may search for what was removed.
	Search bool `json:"search,omitempty"`
}

// Plan replays the sessions, chooses moments of those that the book does not have, spread over each session's requests,
// and keeps what the variants left. It returns the sessions' ids. A session's moments stay what they were, unless another
// number of them is asked for, or there were none: then those are added. With search, each variant is there a second
// time, with a search over what it had removed. What was planned before an error stays. Progress is called after each
// session.
func (b *Book) Plan(ctx context.Context, h *window.Host, o compare.Options, moments int, search bool) (
	sessions []string, err error,
) {
	progress := o.Progress
	o.Progress = nil
	all := o.Sessions
	for i, s := range all {
		id := sessionID(h, s)
		o.Sessions = all[i : i+1]
		if err := b.planSession(ctx, h, id, o, moments, search); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		sessions = append(sessions, id)
		if progress != nil {
			progress(i+1, len(all))
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

func (b *Book) planSession(ctx context.Context, h *window.Host, id string, o compare.Options, moments int,
	search bool) error {
	s := o.Sessions[0]
	rec, err := replay.Record(ctx, h, s.Transcript)
	if err != nil {
		return err
	}
	// By column, then by request; doing nothing is the first column. Each is one goroutine's.
	columns := make([][]seen, 1+len(o.Variants))
	columns[0] = untouched(rec)
	o.Turn = func(_, column int, t replay.Turn) {
		columns[1+column] = append(columns[1+column], seen{t.Prepared.Contents(), t.AfterCompress, kindsOf(t)})
	}
	r, err := compare.Run(ctx, h, o)
	if err != nil {
		return err
	}
	plan := b.session(id, s.Name)
	// Where no variant had removed anything so far, a further one may.
	if len(plan.Moments) == 0 || plan.Spread != moments {
		plan.Spread = moments
		plan.choose(rec, columns[1:], r.Variants)
	}
	for _, m := range plan.Moments {
		history := columns[0][m.Turn-1].history
		err := errors.Join(
			b.write(record(rec.Transcript.System, history, 0), stageQuestions, m.ID, historyFile),
			b.write(next(rec, m, len(history)), stageQuestions, m.ID, nextFile))
		if err != nil {
			return err
		}
	}
	for i, result := range append([]compare.Result{r.Sessions[0].Nothing}, r.Sessions[0].Variants...) {
		if err := b.keep(plan, rec, &result, columns[i], nil, nil); err != nil {
			return err
		}
		if search && i > 0 {
			if err := b.keep(plan, rec, &result, columns[i], columns[0], o.List(s)); err != nil {
				return err
			}
		}
	}
	return b.writeJSON(plan, plans, id+".json")
}

// keep keeps what a variant left at the moments of a session, and takes the place of an earlier run of the variant. With
// the requests of doing nothing, it is the variant from which is searched, at those prices.
func (b *Book) keep(s *Session, rec *replay.Recording, r *compare.Result, requests, whole []seen, prices *pricing.List,
) error {
	v := Variant{Name: r.Variant, OverLimit: r.OverLimit, Error: r.Error, Contexts: map[string]Context{}, Prices: prices}
	if whole != nil {
		v.Name += Searching
	}
	if len(r.Costs) > 0 {
		v.USD, v.Nothing = r.Costs[0].USD, r.Costs[0].Nothing
	}
	for _, m := range s.Moments {
		if m.Turn > len(requests) || v.Error != "" {
			continue
		}
		request := requests[m.Turn-1]
		left := record(rec.Transcript.System, request.history, 0)
		c := Context{Unit: id(m.ID, left), Tokens: request.tokens}
		if whole != nil {
			c.Search, c.Unit = true, id(m.ID, left, Searching)
			if err := b.keepRemoved(m, c.Unit, whole[m.Turn-1].history, request.history); err != nil {
				return err
			}
		}
		v.Contexts[m.ID] = c
		if err := b.write(left, stageAnswers, c.Unit, contextFile); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(s.Variants, func(o Variant) bool { return o.Name == v.Name })
	if at < 0 {
		at, s.Variants = len(s.Variants), append(s.Variants, Variant{})
	}
	s.Variants[at] = v
	return nil
}

func kindsOf(t replay.Turn) (kinds []string) {
	if t.Optimize.Kind == outcome.KindApplied {
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

func untouched(rec *replay.Recording) (out []seen) {
	var context *replay.Baseline
	next := 0
	for i, q := range rec.Requests {
		if i == 0 || q.Boundary {
			context, next = replay.NewBaseline(rec.Counted), q.From
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
func (s *Session) choose(rec *replay.Recording, columns [][]seen, variants []compare.VariantInfo) {
	var reduced []int
	type request struct {
		n    int
		left float64 // the share
	}
	deepest := map[string]request{} // by what it follows
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
			left := float64(column[n].tokens) / float64(max(q.Unpruned, 1))
			for _, kind := range column[n].kinds {
				after := kind + " of " + variants[i].Name
				if d, known := deepest[after]; !known || left < d.left {
					deepest[after] = request{n, left}
				}
			}
		}
		if removed {
			reduced = append(reduced, n)
		}
	}
	k := min(s.Spread, len(reduced))
	for i := range k {
		s.moment(rec, reduced[(2*i+1)*len(reduced)/(2*k)]).Spread = true
	}
	for _, after := range slices.Sorted(maps.Keys(deepest)) {
		if m := s.moment(rec, deepest[after].n); !slices.Contains(m.After, after) {
			m.After = append(m.After, after)
		}
	}
	slices.SortFunc(s.Moments, func(a, b Moment) int { return a.Turn - b.Turn })
}

// moment returns the moment of request n, which it adds if needed. The pointer holds until the next call.
func (s *Session) moment(rec *replay.Recording, n int) *Moment {
	at := slices.IndexFunc(s.Moments, func(m Moment) bool { return m.Turn == n+1 })
	if at < 0 {
		at = len(s.Moments)
		s.Moments = append(s.Moments, Moment{ID: id(s.ID, fmt.Sprint(rec.Requests[n].Entry)), Turn: n + 1,
			Entry: rec.Requests[n].Entry})
	}
	return &s.Moments[at]
}

// sessionID names a session by the prompts, by what is in it, and by the limit, on which the moments depend.
func sessionID(h *window.Host, s compare.Session) string {
	parts := []string{fmt.Sprint(PromptVersion), fmt.Sprint(replay.WindowOf(h, s.Transcript).Tokens),
		readable(s.Transcript.System)}
	for _, e := range s.Transcript.Entries {
		parts = append(parts, string(e.AppendJSON(nil)))
	}
	return id(parts...)
}
