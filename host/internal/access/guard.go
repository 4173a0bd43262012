package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// ErrRefused: there is no valid token like this. It is the same for one that never was, one that was revoked, and one
// whose name exists.
var ErrRefused = errors.New("access refused: the request needs a valid token, as \"authorization: Bearer TOKEN\"")

// reread is how old what is known of the store's tokens may be. A new token is accepted, and a
// revoked one refused, after this time at the latest. It also bounds how often a busy host reads them.
const reread = time.Second

// Grant says whom a request is from.
type Grant struct {
	// Name owns the sessions; "" is the local user.
	Name   string
	Limits Limits
}

// Guard knows the tokens of a store. It is safe for concurrent use.
type Guard struct {
	// Patience may be changed before the first request.
	Patience Patience

	store store.Accesses
	local []byte // hash of the local user's token; nil if there is none
	now   func() time.Time

	mu    sync.Mutex
	read  time.Time // when known was read
	known map[string]store.Access
	// The maps are by name. An entry stays when its token is revoked: names are few.
	uses   map[string]*use
	spends map[string]spending
}

// NewGuard makes a guard. localToken is the local user's; "" if there is none.
func NewGuard(in store.Accesses, localToken string) *Guard {
	g := &Guard{store: in, now: time.Now, uses: map[string]*use{}, spends: map[string]spending{},
		Patience: Patience{Stranger: 5 * time.Second, Idle: time.Minute}}
	if localToken != "" {
		sum := hash(localToken)
		g.local = sum[:]
	}
	return g
}

// Who returns whom a token belongs to. The error is [ErrRefused], or that of the store. The local user has no limits.
func (g *Guard) Who(ctx context.Context, token string) (Grant, error) {
	// Compared as hashes, in a time that tells nothing of how much was right.
	sum := hash(token)
	if g.local != nil && subtle.ConstantTimeCompare(sum[:], g.local) == 1 {
		return Grant{}, nil
	}
	name, ok := nameIn(token)
	if !ok {
		return Grant{}, ErrRefused
	}
	known, err := g.tokens(ctx)
	if err != nil {
		return Grant{}, err
	}
	// A name that no one has is compared as well, with nothing.
	a := known[name]
	if subtle.ConstantTimeCompare(sum[:], a.Hash) != 1 || !a.Revoked.IsZero() {
		return Grant{}, ErrRefused
	}
	limits, err := LimitsOf(a)
	return Grant{Name: name, Limits: limits}, err
}

// tokens returns the store's tokens by name. The map must not be changed. It is replaced as a whole by a later read, so
// a caller may go on using the one that it has.
func (g *Guard) tokens(ctx context.Context) (map[string]store.Access, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known != nil && g.now().Sub(g.read) < reread {
		return g.known, nil
	}
	// With the lock: requests that come meanwhile would ask the same.
	all, err := g.store.Accesses(ctx)
	// What was known before is not used any longer: a token may have been revoked.
	if err != nil {
		return nil, err
	}
	g.known, g.read = make(map[string]store.Access, len(all)), g.now()
	for _, a := range all {
		g.known[a.Name] = a
	}
	return g.known, nil
}
