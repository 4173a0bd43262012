package window_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// purse is what an owner may spend, and has spent.
type purse struct {
	mu          sync.Mutex
	limit, paid float64
}

var errEmpty = errors.New("the money of the day is spent")

func (p *purse) book(_ context.Context, owner string, usd float64) (settle func(float64), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case owner != "alice":
		return nil, errors.New("somebody else pays")
	case p.paid+usd > p.limit:
		return nil, errEmpty
	}
	p.paid += usd
	return func(did float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.paid += did - usd
	}, nil
}

// A model call is paid for where it is made, whatever becomes of the answer, the turn and the session.
func TestWhatIsSpentIsCounted(t *testing.T) {
	paid := modelapi.Usage{Input: 30_000} // three dollars, about twice what is estimated
	bad := modelapi.Reply{Text: "I would rather not.", Usage: paid}
	cut := modelapi.Reply{Fault: modelapi.FaultCut, Text: "so", Usage: paid}
	compress := func(ctx context.Context, s *window.Session) error { _, err := s.Compress(ctx, nil); return err }
	prepare := func(ctx context.Context, s *window.Session) error {
		_, err := s.Prepare(ctx, window.Sending{})
		return err
	}
	for name, c := range map[string]struct {
		reply modelapi.Reply
		turn  func(context.Context, *window.Session) error
		limit float64
		calls int
	}{
		"a compress that fails":         {bad, compress, math.Inf(1), 2},
		"a turn that fails":             {bad, prepare, math.Inf(1), 2},
		"an answer that breaks off":     {cut, compress, math.Inf(1), 1},
		"no call after the last dollar": {bad, compress, 4, 1},
		"no call when all is spent":     {bad, prepare, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := modelapi.Start(t, modelapi.Options{Reply: modelapi.Always(c.reply)})
			p := &purse{limit: c.limit}
			h := openWith(t, window.Options{Book: p.book}, withModel("anthropic", server,
				map[string]any{"profiles.writer.provider.prices.input": 100.0}))
			s, err := h.Open(window.Opening{Key: store.Key{Owner: "alice"}})
			if err != nil {
				t.Fatal(err)
			}
			add(t, s, long(60)...)
			if err := c.turn(t.Context(), s); err == nil || c.limit == 0 && !errors.Is(err, errEmpty) {
				t.Errorf("the turn: %v", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if n := len(server.Requests()); n != c.calls || math.Abs(p.paid-3*float64(n)) > 1e-6 {
				t.Errorf("%d calls, %v dollars are counted", n, p.paid)
			}
		})
	}
}

// A turn that another host overtakes runs again, and its outcome has what both tries cost.
func TestATurnThatIsOvertakenSaysAllThatItSpent(t *testing.T) {
	kept, overtake := store.NewMemory(), func() {}
	server := modelapi.Start(t, modelapi.Options{Reply: func(r *modelapi.Request) modelapi.Reply {
		overtake()
		return summary(r)
	}})
	var both [2]*window.Session
	for i := range both {
		var err error
		h := openOn(t, kept, withModel("anthropic", server, nil))
		if both[i], err = h.Open(window.Opening{Key: store.Key{ID: "one"}}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			add(t, both[i], long(60)...)
		}
	}
	overtake = sync.OnceFunc(func() { must(t, both[1].Set(t.Context(), "compression.preserveThreshold", 0.3), nil) })
	p := prepareTurn(t, both[0])
	spent := p.Outcome.Compress.LLM
	if n := len(server.Requests()); n != 2 || spent == nil || spent.Calls != n {
		t.Errorf("%d calls; the outcome has %+v", n, spent)
	}
}

// A profile without prices has those of its model's price list. Without a list a request may cost anything; one that is
// said to be free costs nothing.
func TestWhatAModelCosts(t *testing.T) {
	const listed = "claude-sonnet-4-5"
	for name, c := range map[string]struct {
		set      map[string]any
		from, to float64
	}{
		"a list":       {map[string]any{"model": listed}, 0.04, 1},
		"none":         {map[string]any{"model": "made-up"}, math.Inf(1), math.Inf(1)},
		"own":          {map[string]any{"model": listed, "prices.input": 1e6}, 1e3, 1e6},
		"said to be 0": {map[string]any{"model": listed, "prices.input": 0.0}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := modelapi.Start(t, modelapi.Options{Reply: summary})
			set := map[string]any{}
			for key, value := range c.set {
				set["profiles.writer.provider."+key] = value
			}
			var booked []float64
			h := openWith(t, window.Options{Book: func(_ context.Context, _ string, usd float64) (func(float64), error) {
				booked = append(booked, usd)
				return func(float64) {}, nil
			}}, withModel("anthropic", server, set))
			s, err := h.Open(window.Opening{})
			if err != nil {
				t.Fatal(err)
			}
			add(t, s, long(60)...)
			if _, err := s.Compress(t.Context(), nil); err != nil || len(booked) != 1 ||
				booked[0] < c.from || booked[0] > c.to {
				t.Errorf("booked %v, %v", booked, err)
			}
		})
	}
}
