# Claude Code on a rate limiter: a bug hunt, then a feature, with a compaction between.
@user
Two of our clients complain that after one burst they are locked out for good, even though they slow down to something near the limit. They use the token bucket with `10/s burst 5`. Please find out why. Don't change anything before you can show me the failure.
@ai
I'll start by looking at how the project is laid out and at the bucket itself.
@think
The user wants a reproduction before any change. "Locked out for good when calling near the limit" smells like refill losing fractions: each call resets the reference time. Let me read before guessing.
@glob **/*.go
@read README.md
@sh git log --oneline && git status --short ## Show history and working tree state
@ai
@read bucket.go
@read limit.go
@read clock.go
@ai
`refill` looks suspicious: it computes whole tokens from the time since the last call and then always moves `last` to now. Calls that come faster than one per interval would throw their fraction away. Let me see what the tests cover before I claim that.
@think
Interval is 100ms at 10/s. A client calling every 50ms: now-last = 50ms, 50/100 = 0 gained, last = now. So tokens never come back. The existing test advances by 200ms at once, so it does not see it.
@read bucket_test.go
@sh go test ./... ## Run all tests
@ai
All green, and I can see why: `TestBucketRefills` advances 200ms in one go, a multiple of the interval. The simulator can show the real pattern.
@read cmd/rlsim/main.go
@ai
A client every 50ms against 10/s should get about half of its requests through once the burst is gone. Let me run exactly that.
@sh go run ./cmd/rlsim -limit "10/s burst 5" -every 50ms ## Replay three clients at twice the limit
@ai
There it is. Each client gets its burst of 5 and then nothing, for as long as it keeps asking. And slower, but still off the interval's multiple:
@sh go run ./cmd/rlsim -q -limit "10/s burst 5" -every 90ms ## Just above the limit
@sh go run ./cmd/rlsim -q -limit "10/s burst 5" -every 150ms ## Well below the limit
@sh go run ./cmd/rlsim -q -limit "10/s burst 5" -every 100ms ## Exactly at the limit
@ai
Reproduced, and it explains the complaint:

- at **100ms or more** between requests everything passes, as it should,
- at **90ms** (11 requests a second against a limit of 10) a client gets 5 of 40 through instead of nearly all,
- at **50ms** likewise 5 of 40, instead of about 24.

The cause is in `Bucket.refill`: `gained` is truncated to whole tokens, but `last` is set to `now` regardless, so the time that was not enough for a whole token is thrown away on every call. A client that retries faster than the interval never gains anything, refused requests included.

Shall I fix it? I would first add a failing test that asks every 50ms.
@user
Yes, go ahead. Test first please. And one preference: keep the tokens an int, I don't want floats in there — comparing them bit us in the billing service.
@ai
Test first. I'll add one for the retry pattern, and one that makes sure no more than the limit passes over a longer time.
@edit bucket_test.go
	clock.Advance(time.Hour)
	if got := b.Tokens(); got != 3 {
		t.Errorf("after an hour: %d tokens, want the burst of 3", got)
	}
}
====
	clock.Advance(time.Hour)
	if got := b.Tokens(); got != 3 {
		t.Errorf("after an hour: %d tokens, want the burst of 3", got)
	}
}

func TestBucketRefillsWhileAsked(t *testing.T) {
	tests := map[string]struct {
		every time.Duration
		want  int // of 100 events
	}{
		"twice the limit":    {50 * time.Millisecond, 54},
		"just above":         {90 * time.Millisecond, 94},
		"at the limit":       {100 * time.Millisecond, 100},
		"odd, above":         {33 * time.Millisecond, 37},
		"far above the limit": {time.Millisecond, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := NewManual(epoch)
			b := NewBucket(mustLimit(t, "10/s burst 5"), clock)
			allowed := 0
			for i := 0; i < 100; i++ {
				if b.Allow() {
					allowed++
				}
				clock.Advance(tt.every)
			}
			if allowed != tt.want {
				t.Errorf("%d of 100 events allowed, want %d", allowed, tt.want)
			}
		})
	}
}
@ai
@sh! go test -run TestBucketRefillsWhileAsked . 2>&1 | sort; go test -run TestBucketRefillsWhileAsked . >/dev/null ## Run the new test, sorted because map order varies
@ai
Three of the five fail, each with only the burst of 5 allowed. The other two pass already, and should: exactly at the limit each call gains a whole token, and 100 events 1ms apart are over before the first token is due.

The fix with integers: advance `last` only by the time that became tokens.
@think
last = last + gained*interval keeps the remainder. When the bucket is full the remainder should be dropped: otherwise last lags by less than one interval, which is harmless but means a full bucket may gain one earlier after the first take. Actually standard behaviour: if full, set last = now. Without this, last would lag at most one interval. Setting last = now on full is the clean way.
@edit! bucket.go
	gained := int(now.Sub(b.last) / b.limit.Interval())
	b.tokens += gained
	if b.tokens >= b.limit.Burst {
		b.tokens = b.limit.Burst
	}
	b.last = now
====
	interval := b.limit.Interval()
	gained := int(now.Sub(b.last) / interval)
	b.tokens += gained
	b.last = b.last.Add(time.Duration(gained) * interval)
	if b.tokens >= b.limit.Burst {
		b.tokens, b.last = b.limit.Burst, now
	}
@ai
I misremembered the comparison: the file has `>`, not `>=`. Let me look at those lines again instead of guessing.
@lines bucket.go 53-63
@ai
@edit bucket.go
// refill adds the tokens gained since the last call.
func (b *Bucket) refill() {
	now := b.clock.Now()
	gained := int(now.Sub(b.last) / b.limit.Interval())
	b.tokens += gained
	if b.tokens > b.limit.Burst {
		b.tokens = b.limit.Burst
	}
	b.last = now
}
====
// refill adds the tokens gained since the last call. Time that was not enough for a whole token is kept for the next
// call: a client that asks faster than the limit must not lose it.
func (b *Bucket) refill() {
	now := b.clock.Now()
	interval := b.limit.Interval()
	gained := int(now.Sub(b.last) / interval)
	b.tokens += gained
	b.last = b.last.Add(time.Duration(gained) * interval)
	if b.tokens >= b.limit.Burst {
		b.tokens, b.last = b.limit.Burst, now // a full bucket gains nothing, not even a part of a token
	}
}
@ai
@sh go test ./... ## Run all tests
@sh go run ./cmd/rlsim -q -limit "10/s burst 5" -every 50ms ## The customers' pattern
@sh gofmt -l . ## Check formatting
@ai
The tests pass and the customers' pattern now gets 24 of 40. `gofmt` complains about my test table, so I'll format it, and show you the whole change.
@sh gofmt -w bucket_test.go && gofmt -l . && go vet ./... ## Format and vet
@ai
@sh git diff ## Show the change
@ai
The bucket now keeps the remainder, tokens are still an `int`.

While I was reading I saw two more things that I have **not** touched:

1. `ParseLimit("0/s")` is accepted, and `Interval` then divides by zero.
2. `Window.slide` may carry an old count over when more than one whole period passed without events. I haven't verified that one yet.

Do you want me to look into them?
@info
Conversation saved
@user
Good catch, yes to both. Show me the window one failing first, same as before. Also we always write table tests with a named struct slice here, not maps: maps run in random order and the failure output jumps around. Please change the one you just wrote.
@ai
Understood: slices for table tests. I'll change mine, then read the window.
@read bucket_test.go
@read window.go
@read window_test.go
@ai
@edit bucket_test.go
	tests := map[string]struct {
		every time.Duration
		want  int // of 100 events
	}{
		"twice the limit":     {50 * time.Millisecond, 54},
		"just above":          {90 * time.Millisecond, 94},
		"at the limit":        {100 * time.Millisecond, 100},
		"odd, above":          {33 * time.Millisecond, 37},
		"far above the limit": {time.Millisecond, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
====
	tests := []struct {
		name  string
		every time.Duration
		want  int // of 100 events
	}{
		{"twice the limit", 50 * time.Millisecond, 54},
		{"just above", 90 * time.Millisecond, 94},
		{"at the limit", 100 * time.Millisecond, 100},
		{"odd, above", 33 * time.Millisecond, 37},
		{"far above the limit", time.Millisecond, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
@edit window_test.go
	if allowed != 2 {
		t.Errorf("%d events allowed, want 2", allowed)
	}
}
====
	if allowed != 2 {
		t.Errorf("%d events allowed, want 2", allowed)
	}
}

func TestWindowForgetsAfterIdlePeriods(t *testing.T) {
	tests := []struct {
		name string
		idle time.Duration
		want int // of 4 events
	}{
		{"half a period", 30 * time.Second, 0},
		{"one period and a half", 90 * time.Second, 2},
		{"two periods", 2 * time.Minute, 4},
		{"five periods and a bit", 5*time.Minute + time.Second, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := NewManual(epoch)
			w := NewWindow(mustLimit(t, "4/m"), clock)
			for i := 0; i < 4; i++ {
				w.Allow()
			}
			clock.Advance(tt.idle)
			allowed := 0
			for i := 0; i < 4; i++ {
				if w.Allow() {
					allowed++
				}
			}
			if allowed != tt.want {
				t.Errorf("%d of 4 events allowed, want %d", allowed, tt.want)
			}
		})
	}
}
@ai
@sh! go test -v -run 'Bucket|Window' . ## Run bucket and window tests verbosely
@ai
Confirmed: after two or more idle periods the old count still weighs in. `slide` copies `current` to `previous` no matter how many periods went by. Only when exactly one went by is `current` the previous period's count.
@think
elapsed >= 2*Per → previous = 0. Also start must move on by whole periods. Already does.
@edit window.go
	w.previous = w.current
	w.current = 0
	w.start = w.start.Add(elapsed.Truncate(w.limit.Per))
====
	w.previous = w.current
	if elapsed >= 2*w.limit.Per {
		w.previous = 0 // the period just before this one had no events
	}
	w.current = 0
	w.start = w.start.Add(elapsed.Truncate(w.limit.Per))
@ai
@sh go test -v -run 'Bucket|Window' . ## Run bucket and window tests verbosely
@ai
Now the zero limit. First the failing test, again as a slice.
@read limit_test.go
@ai
@edit limit_test.go
	for _, in := range []string{"", "10", "x/s", "10/day", "10/s burst many"} {
====
	for _, in := range []string{"", "10", "x/s", "10/day", "10/s burst many", "0/s", "-1/s", "10/s burst 0", "10/s burst -5"} {
@sh! go test -run TestParseLimit . ## Show that bad limits are accepted
@ai
Four bad limits are accepted. I'll refuse them in `ParseLimit`, with a message that says which number is wrong.
@edit limit.go
			return Limit{}, fmt.Errorf("limit %q: burst: %w", s, err)
		}
	}
	return l, nil
====
			return Limit{}, fmt.Errorf("limit %q: burst: %w", s, err)
		}
	}
	switch {
	case l.Events < 1:
		return Limit{}, fmt.Errorf("limit %q: %d events, want at least 1", s, l.Events)
	case l.Burst < 1:
		return Limit{}, fmt.Errorf("limit %q: a burst of %d, want at least 1", s, l.Burst)
	}
	return l, nil
@sh go test ./... && go vet ./... ## Run everything
@ai
All three are fixed, each with a test that failed before:

| problem | fix | test |
|---|---|---|
| bucket never refills under steady asking | `last` moves on only by the time that became tokens | `TestBucketRefillsWhileAsked` |
| window remembers events from long ago | `previous` is 0 after two idle periods | `TestWindowForgetsAfterIdlePeriods` |
| limits of zero and below are accepted | refused by `ParseLimit` | `TestParseLimitErrors` |
@user
Great. Commit that as three commits please, one per bug. Then the feature I actually came for: Keyed never forgets a key. We had 400k limiters in memory last week. I want idle keys evicted after a TTL, and a Retry-After header on the 429 so that clients know when to come back.
@ai
Commits first, then I'll read what the feature touches.
@sh git add bucket.go bucket_test.go && git commit -q -m "bucket: keep the part of a token that a call did not use" && git add window.go window_test.go && git commit -q -m "window: forget events after two idle periods" && git add -A && git commit -q -m "limit: refuse limits and bursts below 1" && git log --stat --format='%s' -3 ## Commit each fix on its own
@read keyed.go
@read keyed_test.go
@read middleware.go
@read middleware_test.go
@ai
Here is how I would do it; tell me if you see it differently.

1. `Limiter` gets a second method, `RetryAfter() time.Duration`: how long until `Allow` can succeed. Both algorithms can answer it exactly or nearly so.
2. `Keyed` stores when each key was last asked. There is no goroutine: every so often `Allow` sweeps a few keys. A background goroutine would need a `Close`, and callers would forget it.
3. `Middleware` rounds up to whole seconds, since `Retry-After` has no fractions, and never says 0.
@think
Sweep design: amortised. Each Allow, if now - lastSweep >= ttl: sweep all under lock → latency spike with 400k keys. Alternative: two generations (old/new maps): on access promote to new; every ttl swap: old = new, new = {}. Eviction is O(1), key idle between ttl and 2*ttl gets dropped. That's elegant: no sweep, no per-key timestamps. I'll propose that instead? I said sweep. Let me think about what is better: generations. Mention when implementing; the user can object.
@todo
doing Agree on the design
open RetryAfter for Bucket and Window, with tests
open Eviction in Keyed, with tests
open Retry-After header in Middleware
open README
@user
1 and 3 fine. For 2: no goroutine, agreed, but a sweep over 400k keys under the lock is a latency spike at the worst moment. Can you do it without one?
@ai
Yes: two generations. Keys are looked up in the young map, then in the old one, and move to the young one when found. Once per TTL the young map becomes the old one and the old one is dropped whole. Eviction is then a pointer assignment; a key goes after between one and two TTLs of silence. No timestamps per key, no sweep.

I'll begin with `RetryAfter`.
@todo
done Agree on the design
doing RetryAfter for Bucket and Window, with tests
open Eviction in Keyed (two generations), with tests
open Retry-After header in Middleware
open README
@read bucket.go
@read window.go
@ai
@edit bucket.go
	Allow() bool
}
====
	Allow() bool
	// RetryAfter returns how long it takes until Allow can succeed, 0 if it can now.
	RetryAfter() time.Duration
}
@edit bucket.go
// refill adds the tokens gained since the last call. Time
====
// RetryAfter implements Limiter.
func (b *Bucket) RetryAfter() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	if b.tokens > 0 {
		return 0
	}
	return b.last.Add(b.limit.Interval()).Sub(b.clock.Now())
}

// refill adds the tokens gained since the last call. Time
@sh go build ./... && go test ./... ## Build and test before going on to Window
@ai
That builds although `Window` lacks the method: nothing states that it is a `Limiter`. I'll state it in the code for both, so that the compiler keeps watch, and add the method.
@think
Window estimate: previous*(1-seen)+current < Events needed. Solve for seen: if current >= Events: must wait for the next period at least; then previous=current and (1-seen')*current < Events → if current == Events any seen' > 0, effectively at the boundary plus epsilon. Simple: time to the start of the next period in that case. Else need previous*(1-seen) < Events-current → seen > 1 - (Events-current)/previous. Wait = that*Per - elapsed. Add 1ns to be strictly past. It is an estimate since other events may come in between.
@edit window.go
// NewWindow returns a window that has seen no events.
====
var _, _ Limiter = (*Bucket)(nil), (*Window)(nil)

// NewWindow returns a window that has seen no events.
@edit window.go
// slide moves the window so that now is in the current period.
====
// RetryAfter implements Limiter. It is exact if no other event is allowed meanwhile.
func (w *Window) RetryAfter() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slide()
	if w.estimate() < float64(w.limit.Events) {
		return 0
	}
	elapsed := w.clock.Now().Sub(w.start)
	free := w.limit.Events - w.current
	if free <= 0 {
		return w.limit.Per - elapsed + 1
	}
	// previous × (1 - seen) must drop below free.
	seen := 1 - float64(free)/float64(w.previous)
	return time.Duration(seen*float64(w.limit.Per)) - elapsed + 1
}

// slide moves the window so that now is in the current period.
@write retry_test.go
package ratelimit

import (
	"testing"
	"time"
)

func TestRetryAfterIsWhenAllowSucceeds(t *testing.T) {
	tests := []struct {
		name   string
		create func(Limit, Clock) Limiter
		limit  string
		ask    int           // events before the wait is asked for
		every  time.Duration // between them
	}{
		{"bucket at once", func(l Limit, c Clock) Limiter { return NewBucket(l, c) }, "10/s burst 5", 5, 0},
		{"bucket with a part of a token", func(l Limit, c Clock) Limiter { return NewBucket(l, c) }, "10/s burst 5", 20, 30 * time.Millisecond},
		{"window full in one go", func(l Limit, c Clock) Limiter { return NewWindow(l, c) }, "6/m", 6, 0},
		{"window over two periods", func(l Limit, c Clock) Limiter { return NewWindow(l, c) }, "6/m", 12, 8 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := NewManual(epoch)
			l := tt.create(mustLimit(t, tt.limit), clock)
			for i := 0; i < tt.ask; i++ {
				l.Allow()
				clock.Advance(tt.every)
			}
			for l.Allow() {
			}
			wait := l.RetryAfter()
			if wait <= 0 {
				t.Fatalf("RetryAfter() = %v although Allow refuses", wait)
			}
			clock.Advance(wait - 2*time.Millisecond)
			if l.Allow() {
				t.Errorf("allowed 2ms before the %v are over", wait)
			}
			clock.Advance(2 * time.Millisecond)
			if !l.Allow() {
				t.Errorf("refused after %v", wait)
			}
		})
	}
}
@ai
@sh go test -v -run 'RetryAfter|Bucket|Window' . ## Test both algorithms
@ai
`RetryAfter` holds for both algorithms, within the 2ms that the test allows. Next, the generations in `Keyed`.
@todo
done Agree on the design
done RetryAfter for Bucket and Window, with tests
doing Eviction in Keyed (two generations), with tests
open Retry-After header in Middleware
open README
@write keyed.go
package ratelimit

import "sync"

// Keyed gives each key (a user, an address) a limiter of its own. It forgets a key after between one and two TTLs of
// silence.
//
// Keys live in two generations. A key that is asked moves to the young one; once per TTL the old one is dropped and the
// young one takes its place. So nothing ever walks over all keys, and no goroutine is needed.
type Keyed struct {
	create func() Limiter
	ttl    time.Duration
	clock  Clock

	mu         sync.Mutex
	young, old map[string]Limiter
	turned     time.Time // when the generations last changed
}

// NewKeyed returns a Keyed that makes limiters with create. A ttl of 0 keeps keys for ever.
//
// The ttl should be longer than it takes a limiter to recover completely: a key that is forgotten begins anew.
func NewKeyed(create func() Limiter, ttl time.Duration, clock Clock) *Keyed {
	return &Keyed{
		create: create,
		ttl:    ttl,
		clock:  clock,
		young:  make(map[string]Limiter),
		turned: clock.Now(),
	}
}

// Allow asks the limiter of key.
func (k *Keyed) Allow(key string) bool {
	return k.limiter(key).Allow()
}

// Len returns the number of keys that have a limiter.
func (k *Keyed) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn()
	return len(k.young) + len(k.old)
}

func (k *Keyed) limiter(key string) Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn()
	l, ok := k.young[key]
	if ok {
		return l
	}
	if l, ok = k.old[key]; ok {
		delete(k.old, key)
	} else {
		l = k.create()
	}
	k.young[key] = l
	return l
}

// turn changes the generations if it is time.
func (k *Keyed) turn() {
	if k.ttl <= 0 {
		return
	}
	elapsed := k.clock.Now().Sub(k.turned)
	if elapsed < k.ttl {
		return
	}
	k.old = k.young
	if elapsed >= 2*k.ttl {
		k.old = nil // nobody was asked in the generation between
	}
	k.young = make(map[string]Limiter)
	k.turned = k.turned.Add(elapsed.Truncate(k.ttl))
}
@sh! go build ./... ## Build
@ai
I forgot the import. And the callers of `NewKeyed` need the new arguments; let me find them all.
@edit keyed.go
import "sync"
====
import (
	"sync"
	"time"
)
@grep NewKeyed\(
@ai
Two tests, the simulator and the README. One after the other.
@edit keyed_test.go
	k := NewKeyed(func() Limiter { return NewBucket(limit, clock) })
====
	k := NewKeyed(func() Limiter { return NewBucket(limit, clock) }, 0, clock)
@edit middleware_test.go
	limits := NewKeyed(func() Limiter { return NewBucket(limit, clock) })
====
	limits := NewKeyed(func() Limiter { return NewBucket(limit, clock) }, time.Hour, clock)
@edit cmd/rlsim/main.go
	keyed := ratelimit.NewKeyed(func() ratelimit.Limiter { return ratelimit.NewBucket(limit, clock) })
====
	keyed := ratelimit.NewKeyed(func() ratelimit.Limiter { return ratelimit.NewBucket(limit, clock) }, 0, clock)
@edit README.md
    keyed := ratelimit.NewKeyed(func() ratelimit.Limiter { return ratelimit.NewBucket(limit, ratelimit.System) })
====
    create := func() ratelimit.Limiter { return ratelimit.NewBucket(limit, ratelimit.System) }
    keyed := ratelimit.NewKeyed(create, 10*time.Minute, ratelimit.System)
@ai
@sh! go test ./... ## Run all tests
@ai
The middleware test needs `time` now.
@edit middleware_test.go
	"net/http/httptest"
	"testing"
)
====
	"net/http/httptest"
	"testing"
	"time"
)
@sh go test ./... ## Run all tests
@user
/compact Keep the open points and my preferences.
@compact
This session is being continued from a previous conversation that was compacted. Summary of what came before:

Project: /home/dev/ratelimit, a Go rate limiting library without dependencies (Bucket, Window, Keyed, Middleware, cmd/rlsim).

The developer's preferences, to be kept:
- first a test that fails and is shown failing, then the fix
- tokens stay an int, no floats in Bucket
- table tests as a slice of structs with a name, never maps
- one commit per bug or feature
- no background goroutines; no sweep over all keys under the lock

Done and committed (3 commits): Bucket.refill keeps the unused part of a token; Window forgets after two idle periods; ParseLimit refuses events and bursts below 1.

Done, not committed: Limiter has RetryAfter() (Bucket, Window; retry_test.go). Keyed has two generations: NewKeyed(create, ttl, clock); callers in keyed_test.go, middleware_test.go, cmd/rlsim/main.go and README.md are changed. All tests pass.

Open:
1. tests for the eviction in Keyed
2. Retry-After header in Middleware, rounded up to whole seconds, never 0
3. README
4. commits for the feature
@user
Continue with the eviction tests.
@ai
I'll look at `Keyed` and its test as they are now.
@read keyed.go
@read keyed_test.go
@ai
@write keyed_test.go
package ratelimit

import (
	"fmt"
	"testing"
	"time"
)

func TestKeyedKeepsKeysApart(t *testing.T) {
	clock := NewManual(epoch)
	limit := mustLimit(t, "1/m")
	k := NewKeyed(func() Limiter { return NewBucket(limit, clock) }, 0, clock)
	if !k.Allow("ann") || !k.Allow("bob") {
		t.Fatal("first event of a key refused")
	}
	if k.Allow("ann") {
		t.Error("second event of ann allowed, want it refused")
	}
	if got := k.Len(); got != 2 {
		t.Errorf("Len() = %d, want 2", got)
	}
}

func TestKeyedForgetsIdleKeys(t *testing.T) {
	const ttl = 10 * time.Minute
	tests := []struct {
		name string
		idle time.Duration
		want int // keys left of 100
	}{
		{"within the TTL", 9 * time.Minute, 100},
		{"after one TTL", 11 * time.Minute, 100},
		{"after two TTLs", 20 * time.Minute, 0},
		{"after a night", 8 * time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := NewManual(epoch)
			limit := mustLimit(t, "1/m")
			k := NewKeyed(func() Limiter { return NewBucket(limit, clock) }, ttl, clock)
			for i := 0; i < 100; i++ {
				k.Allow(fmt.Sprintf("key-%d", i))
			}
			clock.Advance(tt.idle)
			if got := k.Len(); got != tt.want {
				t.Errorf("%d keys left after %v, want %d", got, tt.idle, tt.want)
			}
		})
	}
}

func TestKeyedKeepsBusyKeys(t *testing.T) {
	const ttl = 10 * time.Minute
	clock := NewManual(epoch)
	limit := mustLimit(t, "1/h")
	k := NewKeyed(func() Limiter { return NewBucket(limit, clock) }, ttl, clock)
	allowed := 0
	for i := 0; i < 12; i++ { // an hour, every 5 minutes
		if k.Allow("busy") {
			allowed++
		}
		k.Allow(fmt.Sprintf("passer-by-%d", i))
		clock.Advance(5 * time.Minute)
	}
	if allowed != 1 {
		t.Errorf("%d events of a busy key allowed, want 1: it must not begin anew", allowed)
	}
	if got := k.Len(); got > 6 {
		t.Errorf("%d keys kept, want those of the last two TTLs only", got)
	}
}
@sh go test -v -run Keyed . ## Test the eviction
@ai
To be sure that these tests can fail at all, I'll break the eviction once.
@sh! sed -i.bak 's/k.old = k.young/k.old = nil/' keyed.go && go test -run Keyed .; status=$?; mv keyed.go.bak keyed.go; exit $status ## Break eviction on purpose, test, restore
@ai
Both directions are covered: keys that should stay and keys that should go. The file is restored. Now the middleware.
@read middleware.go
@read middleware_test.go
@ai
Test first, as agreed: status and header, and the header's rounding.
@edit middleware_test.go
	get := func(key string) int {
====
	retryAfter := ""
	get := func(key string) int {
@edit middleware_test.go
		h.ServeHTTP(w, r)
		return w.Code
====
		h.ServeHTTP(w, r)
		retryAfter = w.Header().Get("Retry-After")
		return w.Code
@edit middleware_test.go
	if got := get("k2"); got != 200 {
====
	if retryAfter != "30" {
		t.Errorf("Retry-After: %q, want 30: one of 2 events per minute", retryAfter)
	}
	clock.Advance(29*time.Second + 500*time.Millisecond)
	if get("k1"); retryAfter != "1" {
		t.Errorf("Retry-After: %q half a second before, want 1, never 0", retryAfter)
	}
	if got := get("k2"); got != 200 {
@sh! go test -run Middleware . ## Show the failure
@ai
Now `Keyed` has to pass the wait on. I'd rather have one call that does both than two, between which another request could take the token.
@edit keyed.go
// Len returns the number of keys
====
// Ask is Allow that also says how long to wait when the answer is no.
func (k *Keyed) Ask(key string) (ok bool, wait time.Duration) {
	l := k.limiter(key)
	if l.Allow() {
		return true, 0
	}
	return false, l.RetryAfter()
}

// Len returns the number of keys
@edit! middleware.go
		if k != "" && !limits.Allow(k) {
			http.Error(w, "Too Many Requests", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
====
		if ok, wait := ask(limits, k); !ok {
			w.Header().Set("Retry-After", seconds(wait))
			http.Error(w, "Too Many Requests", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
@ai
The message is lower case in the file. Same edit with the text as it is, and without the extra helper.
@edit middleware.go
		k := key(r)
		if k != "" && !limits.Allow(k) {
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
====
		if k := key(r); k != "" {
			if ok, wait := limits.Ask(k); !ok {
				w.Header().Set("Retry-After", seconds(wait))
				http.Error(w, "too many requests", http.StatusTooManyRequests)
				return
			}
		}
		next.ServeHTTP(w, r)
@edit middleware.go
// Middleware answers 429 Too Many Requests when the allowance of a request's key is used up.
====
// seconds is d as Retry-After wants it: whole seconds, rounded up, at least 1.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64((d+time.Second-1)/time.Second)), 10)
}

// Middleware answers 429 Too Many Requests when the allowance of a request's key is used up. The header Retry-After says
// after how many seconds it is worth asking again.
@edit middleware.go
	"net"
	"net/http"
)
====
	"net"
	"net/http"
	"strconv"
	"time"
)
@ai
@sh gofmt -l . ; go vet ./... && go test ./... ## Format, vet, test
@ai
Everything passes. One more look at the real thing under load, all lines this time, to see that the verdicts come evenly:
@sh go run ./cmd/rlsim -limit "20/s burst 4" -every 30ms -clients 2 -events 60 ## Replay two clients at 1.7 times the limit
@ai
After the burst, the allowed events come at one in 50ms on average, as far as a 30ms grid lets them: 4 of the burst and 35 in 1.77s. The README is the last thing.
@read README.md
@ai
@edit README.md
Two algorithms: `Bucket`
====
Keys that are not heard of for ten minutes are forgotten, at the latest after twenty; 0 keeps them for ever.
A refused request gets `429 Too Many Requests` and `Retry-After` in whole seconds.

Two algorithms: `Bucket`
@sh git diff ## Show the whole change
@ai
@todo
done Agree on the design
done RetryAfter for Bucket and Window, with tests
done Eviction in Keyed (two generations), with tests
done Retry-After header in Middleware
done README
@sh git add -A && git commit -q -m "Forget idle keys; answer 429 with Retry-After" && git log --oneline && git status --short ## Commit the feature
@ai
Done and committed.

- **Eviction:** `NewKeyed(create, ttl, clock)`; a key goes after between one and two TTLs of silence. No goroutine, no walk over all keys. Choose a TTL longer than a limiter needs to recover, or a forgotten key gets a fresh burst; the doc comment says so.
- **Retry-After:** `Keyed.Ask` decides and tells the wait in one call; the middleware rounds up and never says 0.
- **API break:** `NewKeyed` takes two more arguments, and `Limiter` has one more method. Own implementations of `Limiter` need `RetryAfter`.
@user
Perfect, thanks. The API break is fine, we vendor it.
