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

// Book counts what a request to a model may cost, in US dollars, as spent by a name before it is sent, with all that
// other hosts of the store have booked. The error is a [*LimitError] if the day's money is not enough. settle replaces
// the estimate by what the request did cost; it stays if the host ends before. It is for [window.Options.Book], where
// all requests for sessions come by.
func (g *Guard) Book(ctx context.Context, name string, usd float64) (settle func(usd float64), err error) {
	known, err := g.tokens(ctx)
	if err != nil {
		return nil, err
	}
	of := Grant{Name: name}
	if a, ok := known[name]; ok {
		if of, err = GrantOf(a); err != nil {
			return nil, err
		}
	}
	most := of.Limits.USDPerDay
	switch {
	case math.IsInf(usd, 1) && most > 0:
		return nil, limitError(of, "usdPerDay", false,
			"what the model costs is not known: set provider.prices of its profile")
	case math.IsInf(usd, 1), usd == 0:
		return func(float64) {}, nil
	}
	day, booked := g.today(), micros(usd)
	sum, err := g.spend(ctx, name, day, booked)
	if err != nil {
		return nil, err // perhaps counted: rather that than a request that is not
	}
	others := g.inProgress(name, booked) - booked
	settle = func(usd float64) {
		g.inProgress(name, -booked)
		more := micros(usd) - booked
		if more == 0 {
			return
		}
		if _, err := g.spend(context.WithoutCancel(ctx), name, day, more); err != nil {
			g.log.Warn("a request to a model counts as estimated", "name", name, "usd", float64(booked)/1e6,
				"cost", usd, "error", err)
		}
	}
	if spent := float64(sum-booked) / 1e6; most > 0 && float64(sum)/1e6 > most {
		settle(0)
		soon := float64(sum-others)/1e6 <= most // those in progress may cost less
		return nil, limitError(of, "usdPerDay", soon, "a request may cost %.4f US dollars, and %.4f of %.2f are spent "+
			"or booked for requests in progress; the next day begins at midnight UTC", usd, spent, most)
	}
	return settle, nil
}

// micros are millionths of a US dollar, rounded up: many small costs must not add up to 0.
func micros(usd float64) int64 { return int64(math.Ceil(usd * 1e6)) }

func (g *Guard) today() string { return g.now().UTC().Format(time.DateOnly) }

// inProgress adds to what is booked for requests in progress, and returns it.
func (g *Guard) inProgress(name string, micros int64) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.booked[name] += micros
	return g.booked[name]
}

// spend adds to what a name has spent on a day, and returns the sum.
func (g *Guard) spend(ctx context.Context, name, day string, micros int64) (int64, error) {
	sum, err := g.store.Account(ctx, name, day, store.Used{Spent: micros})
	if err == nil && day == g.today() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.spends[name] = spending{day, sum.Spent, g.now()}
	}
	return sum.Spent, err
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
	_, err := g.store.Account(context.WithoutCancel(ctx), name, now.UTC().Format(time.DateOnly), owed)
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.owed[name] = g.owed[name].Plus(owed)
	}
	return err
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

// CheckSpending refuses a request that may call a model when the day's money is spent.
func (g *Guard) CheckSpending(ctx context.Context, of Grant) error {
	most := of.Limits.USDPerDay
	if most == 0 {
		return nil
	}
	g.mu.Lock()
	s := g.spends[of.Name]
	g.mu.Unlock()
	if s.day != g.today() || g.now().Sub(s.looked) > lookAgain {
		sum, err := g.spend(ctx, of.Name, g.today(), 0) // 0: what was spent so far
		if err != nil {
			return err
		}
		s.micros = sum
	}
	if spent := float64(s.micros) / 1e6; spent >= most {
		return limitError(of, "usdPerDay", false,
			"%.2f of %.2f US dollars are spent; the next day begins at midnight UTC", spent, most)
	}
	return nil
}
