package access

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// clock is a guard's time, which stands until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func guard(t *testing.T, local string) (*Guard, store.Store, *clock) {
	t.Helper()
	s := store.NewMemory()
	c := &clock{time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)}
	g := NewGuard(s, local, hclog.NewNullLogger())
	g.now = c.now
	return g, s, c
}

func create(t *testing.T, in store.Accesses, name string, limits Limits) string {
	t.Helper()
	token, err := Create(t.Context(), in, name, limits)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestATokenIsOfItsName(t *testing.T) {
	g, s, c := guard(t, "thresh__local")
	alice, bob := create(t, s, "alice", Limits{Sessions: 3}), create(t, s, "bob", Limits{})
	for token, want := range map[string]string{alice: "alice", bob: "bob", "thresh__local": ""} {
		if got, err := g.Who(t.Context(), token, "here"); err != nil || got.Name != want {
			t.Errorf("%s: %+v, %v", token, got, err)
		}
	}
	if got, _ := g.Who(t.Context(), alice, "here"); got.Limits.Sessions != 3 {
		t.Errorf("limits: %+v", got)
	}
	changed := "thresh_bob" + strings.TrimPrefix(alice, "thresh_alice")
	for _, token := range []string{"", "thresh_", "thresh_alice_", "thresh_carol_x", alice + "x", alice[1:], changed,
		"thresh__", "thresh__other"} {
		if _, err := g.Who(t.Context(), token, "here"); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", token, err)
		}
	}
	if err := s.RevokeAccess(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(reread)
	if _, err := g.Who(t.Context(), alice, "here"); !errors.Is(err, ErrRefused) {
		t.Errorf("revoked: %v", err)
	}
	if again := create(t, s, "alice", Limits{}); again == alice {
		t.Error("the same token again")
	}
}

// A rotated token is accepted beside the new one for as long as was said, and is revoked with it; other limits need no
// new token.
func TestATokenIsRotatedWithoutAGap(t *testing.T) {
	g, s, c := guard(t, "")
	c.at = time.Now()
	old := create(t, s, "alice", Limits{Sessions: 3})
	rotate := func(keep time.Duration) string {
		t.Helper()
		token, err := Rotate(t.Context(), s, "alice", keep)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	next := rotate(time.Hour)
	valid := func(when string, want map[string]bool) {
		t.Helper()
		c.at = c.at.Add(reread)
		for token, is := range want {
			got, err := g.Who(t.Context(), token, "here")
			if is && (err != nil || got.Name != "alice" || got.Limits.Sessions < 3) || !is && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %s: %+v, %v", when, token, got, err)
			}
		}
	}
	valid("both", map[string]bool{old: true, next: true})
	if err := Set(t.Context(), s, "alice", func(g *Grant) { g.Limits.Sessions = 4 }); err != nil {
		t.Fatal(err)
	}
	valid("with another limit", map[string]bool{old: true, next: true})
	if got, _ := g.Who(t.Context(), old, "here"); got.Limits.Sessions != 4 {
		t.Errorf("limits: %+v", got)
	}
	c.at = c.at.Add(time.Hour)
	valid("later", map[string]bool{old: false, next: true})
	leaked := next
	next = rotate(0)
	valid("a leaked one", map[string]bool{old: false, leaked: false, next: true})
	last := rotate(24 * time.Hour)
	if err := s.RevokeAccess(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	valid("revoked", map[string]bool{next: false, last: false})
	if _, err := Rotate(t.Context(), s, "alice", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revoked one was rotated: %v", err)
	}
	if err := Set(t.Context(), s, "bob", func(*Grant) {}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the limits of none: %v", err)
	}
}

// A service whose token file was replaced takes the new token alone.
func TestTheLocalTokenChanges(t *testing.T) {
	g, _, _ := guard(t, "thresh__old")
	for _, now := range []string{"thresh__new", ""} {
		g.SetLocal(now)
		for _, token := range []string{"thresh__old", "thresh__new"} {
			if _, err := g.Who(t.Context(), token, "here"); (err == nil) != (token == now) {
				t.Errorf("with %q, %s: %v", now, token, err)
			}
		}
	}
}

// silent is a store that says that it does not answer, once it may.
type silent struct {
	store.Store
	asked chan struct{} // takes one
	says  chan struct{}
}

func (s *silent) Accesses(context.Context) ([]store.Access, error) {
	s.asked <- struct{}{}
	<-s.says
	return nil, &store.Fault{Cause: store.Slow, Err: store.ErrSlow}
}

// Requests that come while the store does not answer wait for it once, together; the local user's do not.
func TestRequestsDoNotQueueForAStoreThatStalls(t *testing.T) {
	g, s, c := guard(t, "thresh__local")
	alice := create(t, s, "alice", Limits{})
	g.store = &silent{s, make(chan struct{}, 1), make(chan struct{})}
	const requests = 5
	errs := make(chan error, requests)
	for range requests {
		go func() {
			_, err := g.Who(t.Context(), alice, "here")
			errs <- err
		}()
	}
	for len(g.store.(*silent).asked) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := g.Who(t.Context(), "thresh__local", "here"); err != nil {
		t.Error(err)
	}
	close(g.store.(*silent).says)
	for range requests { // a second question would find no room
		if err := <-errs; !store.IsCause(err, store.Slow) {
			t.Error(err)
		}
	}
	g.store = s
	c.at = c.at.Add(reread)
	if _, err := g.Who(t.Context(), alice, "here"); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
}

func TestTheStoreHoldsNoToken(t *testing.T) {
	_, s, _ := guard(t, "")
	token := create(t, s, "alice", Limits{})
	all, err := s.Accesses(t.Context())
	if err != nil || len(all) != 1 || strings.Contains(token, string(all[0].Hash)) || len(all[0].Hash) != 32 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestNamesThatCannotBeUsed(t *testing.T) {
	_, s, _ := guard(t, "")
	create(t, s, "alice", Limits{})
	for _, name := range []string{"", "a_b", "A", "-a", "a/b", strings.Repeat("a", 64)} {
		if _, err := Create(t.Context(), s, name, Limits{}); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Create(t.Context(), s, "alice", Limits{}); !errors.Is(err, store.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func wantLimit(t *testing.T, err error, limit string) {
	t.Helper()
	var got *LimitError
	if limit == "" && err != nil || limit != "" && (!errors.As(err, &got) || got.Limit != limit) {
		t.Errorf("got %v, want limit %q", err, limit)
	}
}

func TestRequestsInProgressAreLimited(t *testing.T) {
	g, _, _ := guard(t, "")
	of := Grant{Name: "alice", Limits: Limits{Requests: 2}}
	first, err := g.Begin(of)
	wantLimit(t, err, "")
	_, err = g.Begin(of)
	wantLimit(t, err, "")
	_, err = g.Begin(of)
	wantLimit(t, err, "requests")
	_, err = g.Begin(Grant{Name: "bob", Limits: of.Limits})
	wantLimit(t, err, "")
	first()
	_, err = g.Begin(of)
	wantLimit(t, err, "")
}

func TestMoneyIsLimitedByDay(t *testing.T) {
	g, s, c := guard(t, "")
	of := Grant{Name: "alice", Limits: Limits{USDPerDay: 1}}
	check := func() error { return g.CheckSpending(t.Context(), of) }
	wantLimit(t, check(), "")
	spend := func(g *Guard, usd float64) {
		t.Helper()
		if _, err := g.Book(t.Context(), of.Name, usd); err != nil {
			t.Fatal(err)
		}
	}
	spend(g, 0.4)
	spend(g, 0.4)
	wantLimit(t, check(), "")
	// Another host of the same store spends too.
	other := NewGuard(s, "", hclog.NewNullLogger())
	other.now = c.now
	spend(other, 0.3)
	c.at = c.at.Add(lookAgain + time.Second)
	wantLimit(t, check(), "usdPerDay")
	c.at = c.at.Add(time.Minute) // midnight
	wantLimit(t, check(), "")
}

// held is a store that says what sessions hold.
type held struct {
	store.Store
	usage store.Usage
}

func (h *held) Usage(context.Context, string) (store.Usage, error) { return h.usage, nil }

func TestSessionsAndTheirBytesAreLimited(t *testing.T) {
	held := &held{Store: store.NewMemory(), usage: store.Usage{Sessions: 1, Bytes: 100}}
	g := NewGuard(held, "", hclog.NewNullLogger())
	check := func(l Limits, open int) error {
		of := Grant{Name: "alice", Limits: l}
		return errors.Join(g.CheckSessions(t.Context(), of, open), g.CheckStore(t.Context(), of))
	}
	wantLimit(t, check(Limits{}, 9), "")
	wantLimit(t, check(Limits{Sessions: 2, StoreBytes: 101}, 1), "")
	wantLimit(t, check(Limits{Sessions: 2}, 2), "sessions")
	wantLimit(t, check(Limits{Sessions: 1}, 0), "sessions")
	wantLimit(t, check(Limits{StoreBytes: 100}, 0), "storeBytes")
}

func TestTheLocalTokenIsKeptInAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "token")
	token, err := LocalToken(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, err := LocalToken(path); err != nil || again != token {
		t.Errorf("the second time: %q, %v", again, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LocalToken(path); err == nil || !strings.Contains(err.Error(), "others may use it") {
		t.Errorf("readable by others: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LocalToken(empty); err == nil || !strings.Contains(err.Error(), "holds no token") {
		t.Errorf("empty: %v", err)
	}
}

func TestAGrantIsKeptWithTheToken(t *testing.T) {
	g, s, c := guard(t, "")
	token, err := Create(t.Context(), s, "alice", Limits{Sessions: 3}, "cheap", "dear")
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "bob", Limits{})
	who, err := g.Who(t.Context(), token, "here")
	if err != nil || !slices.Equal(who.Profiles, []string{"cheap", "dear"}) || who.Limits.Sessions != 3 {
		t.Errorf("%+v, %v", who, err)
	}
	check := func(name string, want ...string) {
		t.Helper()
		if got, err := g.Profiles(t.Context(), name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	check("alice", "cheap", "dear")
	check("bob")
	check("nobody")
	if err := s.RevokeAccess(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(reread)
	check("alice")
}

// Who, from where and what; never a token, nor a name that someone made up, and no more than a disk can take.
func TestTheLogOfTokens(t *testing.T) {
	var log strings.Builder
	g, s, c := guard(t, "thresh__local")
	g.log = hclog.New(&hclog.LoggerOptions{Output: &log, DisableTime: true})
	token := create(t, s, "alice", Limits{})
	who := func(token, from string) { _, _ = g.Who(t.Context(), token, from) }
	for range 2 {
		who(token, "1.2.3.4:5")
		who("thresh__local", "127.0.0.1:6")
	}
	who("", "a")
	who("rubbish", "b")
	who("thresh_alice_x", "c")
	who("thresh_made-up_x", "d")
	if err := s.RevokeAccess(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(reread)
	who(token, "e")
	for range 100 {
		who("rubbish", "f")
	}
	c.at = c.at.Add(time.Minute)
	who("rubbish", "g")
	want := `[INFO]  access token used for the first time since the start: token=alice from=1.2.3.4:5
[INFO]  access token used for the first time since the start: token="of the local user" from=127.0.0.1:6
[WARN]  access refused: token="" from=a reason="no token was shown" unlogged=0
[WARN]  access refused: token="" from=b reason="not a token" unlogged=0
[WARN]  access refused: token=alice from=c reason="no such token" unlogged=0
[WARN]  access refused: token="" from=d reason="no such token" unlogged=0
[WARN]  access refused: token=alice from=e reason=revoked unlogged=0
` + strings.Repeat(`[WARN]  access refused: token="" from=f reason="not a token" unlogged=0
`, maxRefusals-5) + `[WARN]  access refused: token="" from=g reason="not a token" unlogged=75
`
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Error(diff)
	}
}

// forgetful is a store that does not take what was spent while it is down.
type forgetful struct {
	store.Store
	down bool
}

func (f *forgetful) Account(ctx context.Context, name, day string, add store.Used) (store.Used, error) {
	if f.down {
		return store.Used{}, errors.New("no connection")
	}
	return f.Store.Account(ctx, name, day, add)
}

// A request that the store does not count is not made, and an estimate that it cannot correct stays.
func TestNoMoneyIsSpentThatTheStoreDoesNotCount(t *testing.T) {
	s := &forgetful{Store: store.NewMemory()}
	g := NewGuard(s, "", hclog.NewNullLogger())
	if _, err := Create(t.Context(), s, "alice", Limits{USDPerDay: 1}); err != nil {
		t.Fatal(err)
	}
	settle, err := g.Book(t.Context(), "alice", 0.7)
	if err != nil {
		t.Fatal(err)
	}
	s.down = true
	settle(0.1)
	if _, err := g.Book(t.Context(), "alice", 0.1); err == nil {
		t.Error("a request that is not counted is made")
	}
	s.down = false
	_, err = g.Book(t.Context(), "alice", 0.4)
	wantLimit(t, err, "usdPerDay")
}

// However many requests begin at the same time, on however many hosts, their estimates together stay below the limit;
// what one did not cost is there for the next.
func TestRequestsInProgressCount(t *testing.T) {
	g, s, c := guard(t, "")
	if _, err := Create(t.Context(), s, "alice", Limits{USDPerDay: 1}); err != nil {
		t.Fatal(err)
	}
	other := NewGuard(s, "", hclog.NewNullLogger())
	other.now = c.now
	var all sync.WaitGroup
	var mu sync.Mutex
	ctx, leave := context.WithCancel(t.Context()) // a client may be gone when its request settles
	first, err := g.Book(ctx, "alice", 0.3)
	leave()
	if err != nil {
		t.Fatal(err)
	}
	settles := []func(float64){first}
	for i := range 20 {
		all.Go(func() {
			settle, err := []*Guard{g, other}[i%2].Book(t.Context(), "alice", 0.3)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			settles = append(settles, settle)
		})
	}
	all.Wait()
	if len(settles) > 3 {
		t.Fatalf("%d requests of 0.30 are made with 1.00", len(settles))
	}
	for len(settles) < 3 { // what was refused is given back
		settle, err := g.Book(t.Context(), "alice", 0.3)
		if err != nil {
			t.Fatal(err)
		}
		settles = append(settles, settle)
	}
	_, err = g.Book(t.Context(), "alice", 0.3)
	wantLimit(t, err, "usdPerDay")
	var limit *LimitError
	if !errors.As(err, &limit) || !limit.Retryable {
		t.Errorf("those in progress may cost less: %v", err)
	}
	c.at = c.at.Add(24 * time.Hour) // each settles on its own day
	for i, settle := range settles {
		settle([]float64{0, 0.1, 0.5}[i])
	}
	c.at = c.at.Add(-24 * time.Hour)
	if _, err = g.Book(t.Context(), "alice", 0.4); err != nil {
		t.Error(err)
	}
	_, err = g.Book(t.Context(), "alice", 0.01)
	wantLimit(t, err, "usdPerDay")
}

// A request of unknown price could cost anything, and one that is free costs nothing.
func TestWhatAModelCostsMustBeKnownToLimitIt(t *testing.T) {
	g, s, _ := guard(t, "")
	if _, err := Create(t.Context(), s, "alice", Limits{USDPerDay: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := g.Book(t.Context(), "alice", math.Inf(1))
	wantLimit(t, err, "usdPerDay")
	for name, usd := range map[string]float64{"bob": math.Inf(1), "alice": 0} {
		settle, err := g.Book(t.Context(), name, usd)
		if err != nil {
			t.Fatal(err)
		}
		settle(0)
		if sum, err := s.Account(t.Context(), name, g.today(), store.Used{}); err != nil || sum.Spent != 0 {
			t.Errorf("%s has spent %d, %v", name, sum.Spent, err)
		}
	}
}
