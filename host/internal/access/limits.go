package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Limits are how much a name may use; 0 is no limit.
type Limits struct {
	// Sessions is the number of sessions, open or stored.
	Sessions int `json:"sessions,omitempty"`
	// Requests is the number of requests in progress.
	Requests int `json:"requests,omitempty"`
	// RequestBytes is the size of one request.
	RequestBytes int `json:"requestBytes,omitempty"`
	// StoreBytes is what its sessions may take in the store.
	StoreBytes int64 `json:"storeBytes,omitempty"`
	// USDPerDay is what the model calls of its compressions may cost, in US dollars from midnight to midnight UTC.
	USDPerDay float64 `json:"usdPerDay,omitempty"`
}

func (l Limits) Check() error {
	if min(float64(l.Sessions), float64(l.Requests), float64(l.RequestBytes), float64(l.StoreBytes), l.USDPerDay) < 0 {
		return errors.New("a limit is at least 0, which is no limit")
	}
	return nil
}

// LimitError says which limit was reached.
type LimitError struct {
	Limit string
	// Retryable is set if the same request may succeed soon.
	Retryable bool
	message   string
}

func (e *LimitError) Error() string { return e.message }

func (e *LimitError) Describe() failure.Description {
	return failure.Description{Kind: failure.Limit, Retryable: e.Retryable}
}

func limitError(g Grant, limit string, retryable bool, format string, values ...any) error {
	return &LimitError{Limit: limit, Retryable: retryable,
		message: fmt.Sprintf("limit %q of access token %q: ", limit, g.Name) + fmt.Sprintf(format, values...)}
}

func TooLarge(of Grant, most int) error {
	return limitError(of, "requestBytes", false, "a request has more than %d bytes; send fewer entries at a time", most)
}

type use struct {
	requests int
	stored   store.Usage
	looked   time.Time
}

type spending struct {
	day    string
	micros int64 // millionths of a US dollar
	looked time.Time
}

// noteEvery is how often the store is told of what costs no money: each time is a commit.
const noteEvery = 10 * time.Second

// lookAgain bounds the age of what is known of use and spending: other hosts change it too.
const lookAgain = 5 * time.Second

// Begin counts a request in, and end counts it out. The error is a [*LimitError].
func (g *Guard) Begin(of Grant) (end func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.use(of.Name)
	if most := of.Limits.Requests; most > 0 && u.requests >= most {
		return nil, limitError(of, "requests", true, "%d requests are in progress", u.requests)
	}
	u.requests++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		u.requests--
	}, nil
}

// use returns a name's entry. Callers hold g.mu.
func (g *Guard) use(name string) *use {
	u := g.uses[name]
	if u == nil {
		u = &use{}
		g.uses[name] = u
	}
	return u
}

// CheckSessions refuses another session. open is how many the name has open, perhaps not yet stored. Hosts that open
// sessions at the same time may exceed the limit by one each.
func (g *Guard) CheckSessions(ctx context.Context, of Grant, open int) error {
	most := of.Limits.Sessions
	if most == 0 {
		return nil
	}
	stored, err := g.store.Usage(ctx, of.Name)
	if err != nil {
		return err
	}
	if have := max(stored.Sessions, open); have >= most {
		return limitError(of, "sessions", false, "it has %d sessions; close or delete one", have)
	}
	return nil
}

// CheckStore refuses to add more to a full store. A name may exceed its limit by what it writes in [lookAgain].
func (g *Guard) CheckStore(ctx context.Context, of Grant) error {
	most := of.Limits.StoreBytes
	if most == 0 {
		return nil
	}
	g.mu.Lock()
	u := *g.use(of.Name)
	g.mu.Unlock()
	if g.now().Sub(u.looked) > lookAgain {
		stored, err := g.store.Usage(ctx, of.Name)
		if err != nil {
			return err
		}
		u.stored = stored
		g.mu.Lock()
		known := g.use(of.Name)
		known.stored, known.looked = stored, g.now()
		g.mu.Unlock()
	}
	if u.stored.Bytes >= most {
		return limitError(of, "storeBytes", false, "its sessions take %d bytes of %d; delete one", u.stored.Bytes, most)
	}
	return nil
}

// Pay adds what a model call of a name's sessions cost, in US dollars, to what it has spent. With 0 it asks whether
// another call may be made: the error is a [*LimitError] if the money of the day is spent. It is for
// [window.Options.Spend], where all model calls of sessions come by.
func (g *Guard) Pay(ctx context.Context, name string, usd float64) error {
	if usd > 0 {
		return g.Spend(ctx, name, usd)
	}
	known, err := g.tokens(ctx)
	if err != nil {
		return err
	}
	of := Grant{Name: name}
	if a, ok := known[name]; ok {
		if of, err = GrantOf(a); err != nil {
			return err
		}
	}
	return g.CheckSpending(ctx, of)
}

// Spend adds what was spent, in US dollars, rounded up to a millionth: many small costs must not add up to 0. The
// caller may be gone: the money is. What the store does not take is owed, and goes with the next.
func (g *Guard) Spend(ctx context.Context, name string, usd float64) error {
	g.mu.Lock()
	g.owed[name] = g.owed[name].Plus(store.Used{Spent: int64(math.Ceil(usd * 1e6))})
	g.mu.Unlock()
	return g.tell(ctx, name)
}

// Note adds to what a name used besides money: it is for people who look at it later. The store is told now and then,
// and by [Guard.Close].
func (g *Guard) Note(name string, used store.Used) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.owed[name] = g.owed[name].Plus(used)
	if g.now().Sub(g.told[name]) > noteEvery {
		g.told[name] = g.now() // before it is: one at a time
		g.writes.Go(func() { _ = g.tell(context.Background(), name) })
	}
}

// tell tells the store what a name used since the last time.
func (g *Guard) tell(ctx context.Context, name string) error {
	g.mu.Lock()
	now, owed := g.now(), g.owed[name]
	delete(g.owed, name)
	g.told[name] = now
	g.mu.Unlock()
	day := now.UTC().Format(time.DateOnly)
	sum, err := g.store.Account(context.WithoutCancel(ctx), name, day, owed)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.owed[name] = g.owed[name].Plus(owed)
		if owed.Spent > 0 {
			g.log.Warn("what was spent is not in the store yet", "name", name, "usd", float64(g.owed[name].Spent)/1e6,
				"error", err)
		}
		return err
	}
	g.spends[name] = spending{day, sum.Spent, now}
	return nil
}

// Close tells the store what it was not told yet. It is called after the last request, while the store is open.
func (g *Guard) Close() error {
	g.writes.Wait()
	g.mu.Lock()
	names := slices.Sorted(maps.Keys(g.owed))
	g.mu.Unlock()
	var failed error
	for _, name := range names {
		failed = errors.Join(failed, g.tell(context.Background(), name))
	}
	return failed
}

// CheckSpending refuses a request that may call a model when the day's money is spent. Model calls in progress may exceed
// the limit: costs are known only at the end.
func (g *Guard) CheckSpending(ctx context.Context, of Grant) error {
	most := of.Limits.USDPerDay
	if most == 0 {
		return nil
	}
	day := g.now().UTC().Format(time.DateOnly)
	g.mu.Lock()
	s, owed := g.spends[of.Name], g.owed[of.Name].Spent
	g.mu.Unlock()
	if owed > 0 || s.day != day || g.now().Sub(s.looked) > lookAgain {
		if err := g.Spend(ctx, of.Name, 0); err != nil { // 0: what was spent so far
			return err
		}
		g.mu.Lock()
		s = g.spends[of.Name]
		g.mu.Unlock()
	}
	if spent := float64(s.micros) / 1e6; spent >= most {
		return limitError(of, "usdPerDay", false,
			"%.2f of %.2f US dollars are spent; the next day begins at midnight UTC", spent, most)
	}
	return nil
}
