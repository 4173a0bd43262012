package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/failure"
)

// ErrRefused: there is no valid token like this. It is the same for a token that never was, one that was revoked, and a
// wrong one for an existing name.
var ErrRefused = failure.New(failure.Access, "access refused: the request needs a valid token, as \"authorization: Bearer TOKEN\"")

// reread bounds the age of what is known of the store's tokens, how soon a change has effect, and how often hosts read.
const reread = time.Second

// Grant says whom a request is from.
type Grant struct {
	// Name owns the sessions; "" is the local user.
	Name   string
	Limits Limits
	// Profiles are those that its sessions may choose by name. The local user may choose any.
	Profiles []string
}

// Guard knows the tokens of a store. It is safe for concurrent use.
type Guard struct {
	// Patience may be changed before the first request.
	Patience Patience

	store store.Accesses
	local atomic.Pointer[[sha256.Size]byte] // hash of the local user's token; nil if there is none
	log   hclog.Logger
	now   func() time.Time

	reading sync.Mutex // held while the store is asked; guards the next three
	read    time.Time  // when known was read, or failed
	known   map[string]store.Access
	failed  error // nil, or what the store said

	mu   sync.Mutex // guards the fields below
	seen seen
	// The maps are by name. An entry stays when its token is revoked: names are few.
	uses   map[string]*use
	spends map[string]spending
	booked map[string]int64      // for requests to models in progress, in millionths of a US dollar
	owed   map[string]store.Used // what the store does not have yet
	told   map[string]time.Time  // when it was told last
	writes sync.WaitGroup
}

// NewGuard makes a guard. localToken is the local user's; "" if there is none. log gets refusals and first uses.
func NewGuard(in store.Accesses, localToken string, log hclog.Logger) *Guard {
	g := &Guard{store: in, log: log, now: time.Now, seen: seen{used: map[string]bool{}}, uses: map[string]*use{},
		spends: map[string]spending{}, booked: map[string]int64{}, owed: map[string]store.Used{},
		told: map[string]time.Time{}, Patience: Patience{Stranger: 5 * time.Second, Idle: time.Minute}}
	g.SetLocal(localToken)
	return g
}

// SetLocal makes a token the local user's, and refuses the one before; "" is for none.
func (g *Guard) SetLocal(token string) {
	if token == "" {
		g.local.Store(nil)
		return
	}
	sum := hash(token)
	g.local.Store(&sum)
}

// Who returns the owner of a token that was shown from an address. The error is [ErrRefused], or the store's.
func (g *Guard) Who(ctx context.Context, token, from string) (Grant, error) {
	sum := hash(token)
	if local := g.local.Load(); local != nil && subtle.ConstantTimeCompare(sum[:], local[:]) == 1 {
		g.used("", string(sum[:]), from)
		return Grant{}, nil
	}
	name, ok := nameIn(token)
	switch {
	case token == "":
		return Grant{}, g.refuse("", from, "no token was shown")
	case !ok || !names().MatchString(name):
		return Grant{}, g.refuse("", from, "not a token")
	}
	known, err := g.tokens(ctx)
	if err != nil {
		return Grant{}, err
	}
	// An unknown name is compared as well, with nothing, but not logged: anyone can make one up.
	a, named := known[name]
	if !named {
		name = ""
	}
	t, err := termsOf(a)
	if err != nil {
		return Grant{}, err
	}
	is, was := subtle.ConstantTimeCompare(sum[:], a.Hash) == 1, time.Time{}
	for _, f := range t.Former {
		if subtle.ConstantTimeCompare(sum[:], f.Hash) == 1 {
			was = f.Until
		}
	}
	switch {
	case !is && was.IsZero():
		return Grant{}, g.refuse(name, from, "no such token")
	case !a.Revoked.IsZero():
		return Grant{}, g.refuse(name, from, "revoked")
	case !is && g.now().After(was):
		return Grant{}, g.refuse(name, from, "replaced")
	}
	g.used(name, string(sum[:]), from)
	return Grant{Name: name, Limits: t.Limits, Profiles: t.Profiles}, nil
}

func (g *Guard) Profiles(ctx context.Context, name string) ([]string, error) {
	known, err := g.tokens(ctx)
	if err != nil {
		return nil, err
	}
	a, ok := known[name]
	if !ok || !a.Revoked.IsZero() {
		return nil, nil
	}
	grant, err := GrantOf(a)
	return grant.Profiles, err
}

// tokens returns the store's tokens by name. The map is shared and never changed; a later read replaces it.
func (g *Guard) tokens(ctx context.Context) (map[string]store.Access, error) {
	g.reading.Lock()
	defer g.reading.Unlock()
	if (g.known != nil || g.failed != nil) && g.now().Sub(g.read) < reread {
		return g.known, g.failed
	}
	// With the lock: requests that come meanwhile would ask the same, and each wait for a store that does not answer.
	all, err := g.store.Accesses(ctx)
	// What was known before is not used any longer: a token may have been revoked.
	g.known, g.failed = nil, nil
	if err != nil {
		if _, fault := errors.AsType[*store.Fault](err); fault { // and not that this request was given up
			g.failed, g.read = err, g.now()
		}
		return nil, err
	}
	g.known, g.read = make(map[string]store.Access, len(all)), g.now()
	for _, a := range all {
		g.known[a.Name] = a
	}
	return g.known, nil
}
