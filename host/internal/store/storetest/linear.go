package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Linearizable has several hosts work on one session at once until ctx ends, and checks what they were told: there must
// be an order of all calls, each between its start and its end, in which a log without concurrency gives the same
// answers. A call whose outcome is unknown may stand anywhere after its start, or nowhere.
//
// With leases, no call may fail. Without, connections may break meanwhile: a lease that is asked for again after that
// may be taken twice, which harms nobody, but is not in the model.
// The model starts from the fence that the store has drawn.
func Linearizable(ctx context.Context, t *testing.T, leases bool, hosts ...store.Store) {
	first := create(t, hosts[0], local)
	var mu sync.Mutex
	var history []porcupine.Operation
	begin := time.Now()
	var wg sync.WaitGroup
	// Three clients of each host: enough for conflicts inside of a host and between hosts. The time that the check
	// takes grows exponentially with the calls that overlap.
	const clientsPerHost = 3
	for i := range clientsPerHost * len(hosts) {
		// Clients of a host share its name as a holder, as the sessions of a process do.
		c := client{store: hosts[i%len(hosts)], holder: fmt.Sprint("host", i%len(hosts)), name: fmt.Sprint("c", i),
			seen: first}
		wg.Go(func() {
			for ctx.Err() == nil {
				in := c.next(leases)
				call := time.Since(begin)
				out := c.perform(in)
				op := porcupine.Operation{ClientId: i, Input: in, Call: int64(call), Output: out,
					Return: int64(time.Since(begin))}
				if out.unknown {
					// An interval without an end lets the checker place the call anywhere after its start.
					op.Return = math.MaxInt64
				}
				if out.failed != nil {
					if leases {
						t.Errorf("%+v: %v", in, out.failed)
					}
					continue // it had no effect
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
				if out.unknown {
					// porcupine has one call at a time for a client, and this one never ends.
					return
				}
			}
		})
	}
	wg.Wait()
	// The checker accepts a history of nothing but failures, so that the outcomes are counted too.
	outcomes := map[string]int{}
	for _, op := range history {
		outcomes[op.Input.(request).kind+" "+op.Output.(response).answer]++
	}
	t.Logf("%d calls: %v", len(history), outcomes)
	// A run in which nothing conflicted would prove nothing.
	for _, needed := range []string{"append ok", "append conflict", "read ok"} {
		if outcomes[needed] == 0 {
			t.Errorf("no call with outcome %q: the history says too little", needed)
		}
	}
	model := logModel(first)
	// The search may take exponential time. A timeout is not Ok, and fails the test as well.
	if porcupine.CheckOperationsTimeout(model, history, 2*time.Minute) != porcupine.Ok {
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, op := range history {
			t.Logf("%d..%d client %d: %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
		}
		t.Error("no order of the calls explains their answers")
	}
}

// request and response are a call and its answer, as the model understands them. They are values that can be compared
// and printed; porcupine passes them as any.
type (
	request struct {
		kind   string // append, head, read, lease
		value  string
		at     store.Position
		holder string
	}
	response struct {
		answer string // ok, conflict, leased
		// revision and fence are of the head that the call returned, or of the one in the conflict.
		revision uint64
		fence    uint64
		// log is what a read returned, all records in order.
		log     string
		unknown bool
		// failed is an error that is known to have had no effect.
		failed error
	}
)

// client is one of several that use a session through a host. It is used by one goroutine. Each value that it appends
// is different, so that a log tells which appends took place.
type client struct {
	store        store.Store
	name, holder string
	seen         store.Head
	n            int
}

// next draws a call at random. At least five of eight calls are appends, at the position that the client has seen last;
// as others append meanwhile, many of them conflict.
func (c *client) next(leases bool) request {
	c.n++
	kind := rand.N(8)
	if c.n == 1 {
		kind = 0 // each reads, also if its next call is its last
	}
	switch kind {
	case 0:
		return request{kind: "read"}
	case 1:
		return request{kind: "head"}
	case 2:
		if leases {
			return request{kind: "lease", holder: c.holder}
		}
	}
	return request{kind: "append", value: fmt.Sprintf("%s.%d;", c.name, c.n), at: c.seen.Position()}
}

// perform makes a call. It is not cut off when the test's time is over, because the outcome would be unknown.
func (c *client) perform(in request) (out response) {
	ctx := context.Background()
	var h store.Head
	var err error
	switch in.kind {
	case "append":
		change := store.Change{Records: []store.Record{record(store.Added, in.value)}}
		h, err = c.store.Append(ctx, local, in.at, change)
	case "head":
		h, err = c.store.Head(ctx, local)
	case "lease":
		// A millisecond, so that leases end often and change hands.
		h, err = c.store.Lease(ctx, local, in.holder, time.Millisecond)
	case "read":
		for r, readErr := range c.store.Records(ctx, local, store.Choice{}) {
			out.log += string(r.Data)
			err = errors.Join(err, readErr)
		}
		// A read answers with the records alone, not with a revision.
		h.Revision = c.seen.Revision
	}
	out.answer = "ok"
	var (
		conflict *store.ConflictError
		leased   *store.LeasedError
		fault    *store.Fault
	)
	// A conflict and a refused lease are answers, as good as success. An unknown outcome ends the client, and any other
	// error must have had no effect.
	switch {
	case errors.As(err, &conflict):
		out.answer, h = "conflict", conflict.Now
	case errors.As(err, &leased):
		out.answer = "leased"
		return out
	case errors.As(err, &fault) && fault.Unknown:
		out.answer, out.unknown = "unknown", true
		return out
	case err != nil:
		out.failed = err
		return out
	}
	// A conflict, too, tells where the session is: the next append of this client goes on from there.
	if in.kind != "read" {
		c.seen = h
		out.revision, out.fence = h.Revision, h.Fence
	}
	return out
}

// logState is a session in the model. It has what the answers depend on, and nothing else.
type logState struct {
	log      string
	revision uint64
	fence    uint64
	holder   string
}

// logModel is a session's log without concurrency. When a lease ends is not in the model: it may be refused to another
// than its last holder, and given to anyone. It is nondeterministic, because a call whose outcome is unknown has two
// states after it: with its effect and without.
func logModel(first store.Head) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{logState{fence: first.Fence}} },
		Step: func(state, input, output any) []any {
			s, in, out := state.(logState), input.(request), output.(response)
			next := s
			switch in.kind {
			case "append":
				// An append takes place exactly if both parts of its position are those of the session.
				if in.at.Revision == s.revision && in.at.Fence == s.fence {
					next.log += in.value
					next.revision++
					if out.unknown {
						// Unknown: the records were written, or not.
						return []any{s, next}
					}
					return when(out.answer == "ok" && out.revision == next.revision && out.fence == s.fence, next)
				}
				// A conflict must report the present state. An old one would send the client to a position that
				// conflicts again.
				told := out.answer == "conflict" && out.revision == s.revision && out.fence == s.fence
				return when(out.unknown || told, s)
			case "lease":
				// A new holder raises the fence; an extension leaves it.
				if in.holder != s.holder {
					next.fence++
				}
				next.holder = in.holder
				switch {
				case out.unknown:
					return []any{s, next}
				case out.answer == "leased":
					// The lease can be refused only to another than its holder.
					return when(in.holder != s.holder, s)
				}
				return when(out.revision == s.revision && out.fence == next.fence, next)
			case "head":
				return when(out.unknown || out.revision == s.revision && out.fence == s.fence, s)
			}
			return when(out.unknown || out.log == s.log, s)
		},
	}
	return model.ToModel()
}

// when is a state if a condition holds, otherwise none. No state means that the model does not allow the answer.
func when(holds bool, s logState) []any {
	if !holds {
		return nil
	}
	return []any{s}
}
