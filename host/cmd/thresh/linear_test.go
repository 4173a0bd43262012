package main_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/postgres"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestServicesOnOneStoreAreOne: two thresh serve have one store, clients of both use one session at the same time, and
// one service is killed and started again. There must be an order of all calls, each between its start and its end, in
// which one service with one client would have given the same answers. THRESH_KILLS says for how many kills it runs.
func TestServicesOnOneStoreAreOne(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*place) string{
		"sqlite":   func(p *place) string { return "sqlite:" + p.path("work", "sessions.db") },
		"postgres": func(p *place) string { return postgres.Shared(p.t).Database() },
	} {
		if name == "sqlite" && rounds(1) == 1 {
			continue // a file is tested in package sqlite, and while a host is killed in TestKilledAtRandomMoments
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			t.Cleanup(p.sweep)
			args := []string{"--set", "sessions.store=" + store(p), "--set", "model.contextLimit=1000000"}
			for range rounds(1) {
				linearizable(t, p, args)
			}
		})
	}
}

// rounds is how often something random is tried: as THRESH_KILLS says, or a few times.
func rounds(few int) int {
	var n int
	if _, err := fmt.Sscan(os.Getenv("THRESH_KILLS"), &n); err == nil {
		return n
	}
	return few
}

type (
	// A call adds an entry, reads all of them, as they are or prepared, or asks where the session is.
	call   struct{ method, text string }
	answer struct {
		revision uint64 // not of what is read
		log      string // what was read
		unknown  bool   // the service was killed: what was to be added may have been
	}
	sessionLog struct {
		text     string
		revision uint64
	}
)

// oneSession is the model: a list to which each addition appends, and whose revision counts additions.
var oneSession = porcupine.NondeterministicModel{
	Init: func() []any { return []any{sessionLog{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(sessionLog), input.(call), output.(answer)
		if in.method == "add" {
			next := sessionLog{s.text + in.text, s.revision + 1}
			switch {
			case out.unknown:
				return []any{s, next}
			case out.revision == next.revision:
				return []any{next}
			}
			return nil
		}
		answered := out.log == s.text
		if in.method == "state" {
			answered = out.revision == s.revision
		}
		if answered || out.unknown {
			return []any{s}
		}
		return nil
	},
}

// linearizable uses a new session for a moment, in whose middle the second of two services is killed.
func linearizable(t *testing.T, p *place, args []string) {
	serve := func() *serves { return startServe(p, args...) }
	services := []*serves{serve(), serve()}
	first, err := services[0].c.Open(t.Context(), api.OpenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		clients int
		all     sync.WaitGroup
		stop    = make(chan struct{})
		begin   = time.Now()
	)
	// work makes calls until stop, or until the service is killed: what came of the last call is then unknown, and it
	// never ends for the checker, which has one call of a client at a time.
	work := func(of *serves) {
		mu.Lock()
		id := clients
		clients++
		mu.Unlock()
		session, err := of.c.Open(t.Context(), api.OpenRequest{ID: first.ID()})
		for n := 0; err == nil; n++ {
			select {
			case <-stop:
				return
			default:
			}
			in := call{method: []string{"state", "add", "history", "add", "prepare"}[n%5]}
			if in.method == "add" {
				in.text = fmt.Sprintf("%d.%d;", id, n)
			}
			op := porcupine.Operation{ClientId: id, Input: in, Call: int64(time.Since(begin))}
			var out answer
			out, err = in.make(t, of, session)
			op.Output, op.Return = out, int64(time.Since(begin))
			if out.unknown {
				op.Return = math.MaxInt64
			}
			mu.Lock()
			history = append(history, op)
			mu.Unlock()
		}
		if !errors.Is(err, errKilled) {
			t.Errorf("client %d: %v", id, err)
		}
	}
	start := func(of *serves) {
		for range 3 {
			all.Go(func() { work(of) })
		}
	}
	calls := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(history)
	}
	more := func(n int) {
		t.Helper()
		if now := calls(); !eventually(patience, func() bool { return calls() >= now+n }) {
			t.Error("the services stand still")
		}
	}
	start(services[0])
	start(services[1])
	more(60)
	services[1].kill()
	more(20)
	services[1] = serve()
	start(services[1])
	more(60)
	close(stop)
	all.Wait()
	for _, s := range services {
		s.end()
	}
	t.Logf("%d calls of %d clients", len(history), clients)
	if porcupine.CheckOperationsTimeout(oneSession.ToModel(), history, time.Minute) != porcupine.Ok {
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, op := range history {
			t.Logf("%d..%d client %d: %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
		}
		t.Error("no order of the calls explains their answers")
	}
}

// make makes a call. The error is errKilled if the service was killed meanwhile.
func (c call) make(t *testing.T, of *serves, session *client.Session) (out answer, err error) {
	var revision uint64
	var entries []content.Content
	switch c.method {
	case "add":
		var added api.AddAnswer
		added, err = session.Add(t.Context(), api.Entries(words(c.text)))
		revision = added.Revision
	case "state":
		var state api.StateAnswer
		state, err = session.State(t.Context())
		revision = state.Revision
	case "history":
		var owned api.HistoryAnswer
		owned, err = session.History(t.Context())
		entries = owned.History
	case "prepare":
		var ready api.PrepareAnswer
		ready, err = session.Prepare(t.Context(), api.PrepareRequest{})
		entries = ready.History
	}
	out.revision = revision
	for _, e := range entries {
		out.log += e.Blocks[0].(content.Text).Text
	}
	err = of.failure(err)
	out.unknown = errors.Is(err, errKilled)
	return out, err
}
