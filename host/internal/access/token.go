package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// prefix makes a token recognisable where it does not belong, such as in a commit.
const prefix = "thresh_"

// names are valid names of tokens. They appear in logs, in file names and in tokens, which "_" divides.
var names = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,62}$`)

var ErrName = errors.New("names have up to 63 of a-z, 0-9 and -, and do not begin with -")

// newToken returns a token of 256 random bits.
func newToken(name string) string { return prefix + name + "_" + rand.Text() + rand.Text() }

// hash is what is stored of a token. Tokens are random and long, so a plain hash cannot be reversed by trying.
func hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

func nameIn(token string) (string, bool) {
	rest, ours := strings.CutPrefix(token, prefix)
	name, _, whole := strings.Cut(rest, "_")
	return name, ours && whole
}

// terms is what the store has of a token, as JSON.
type terms struct {
	Limits
	Profiles []string `json:"profiles,omitempty"`
	// Former are the tokens that this one has replaced, as long as they are accepted.
	Former []former `json:"former,omitempty"`
}

type former struct {
	Hash  []byte    `json:"hash"`
	Until time.Time `json:"until"`
}

func termsOf(a store.Access) (t terms, err error) {
	if len(a.Limits) > 0 {
		if err := json.Unmarshal(a.Limits, &t); err != nil {
			return terms{}, fmt.Errorf("limits of access token %q: %w", a.Name, err)
		}
	}
	return t, nil
}

// Create makes a token, which cannot be read again, whose sessions may choose the profiles. The error wraps
// [store.ErrExists] if the name has a token.
func Create(ctx context.Context, in store.Accesses, name string, limits Limits, profiles ...string) (string, error) {
	if !names().MatchString(name) {
		return "", fmt.Errorf("%.80q: %w", name, ErrName)
	}
	text, err := json.Marshal(terms{Limits: limits, Profiles: profiles})
	if err != nil {
		return "", err
	}
	token := newToken(name)
	sum := hash(token)
	return token, in.CreateAccess(ctx, store.Access{Name: name, Hash: sum[:], Limits: text})
}

// Rotate makes another token for a name that has one, which is accepted until the time keep has passed. The error wraps
// [store.ErrNotFound] if the name has no valid token.
func Rotate(ctx context.Context, in store.Accesses, name string, keep time.Duration) (string, error) {
	token := newToken(name)
	return token, change(ctx, in, name, func(a *store.Access, t *terms) {
		if keep > 0 {
			t.Former = append(t.Former, former{a.Hash, time.Now().Add(keep)})
		} else {
			t.Former = nil
		}
		sum := hash(token)
		a.Hash = sum[:]
	})
}

// Set changes what a token may do; the token stays. The error wraps [store.ErrNotFound] if the name has no valid one.
func Set(ctx context.Context, in store.Accesses, name string, edit func(*Grant)) error {
	return change(ctx, in, name, func(_ *store.Access, t *terms) {
		g := Grant{name, t.Limits, t.Profiles}
		edit(&g)
		t.Limits, t.Profiles = g.Limits, g.Profiles
	})
}

func change(ctx context.Context, in store.Accesses, name string, edit func(*store.Access, *terms)) error {
	for {
		all, err := in.Accesses(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(a store.Access) bool { return a.Name == name && a.Revoked.IsZero() })
		if i < 0 {
			return fmt.Errorf("access token %q: %w", name, store.ErrNotFound)
		}
		t, err := termsOf(all[i])
		if err != nil {
			return err
		}
		now := time.Now()
		t.Former = slices.DeleteFunc(t.Former, func(f former) bool { return f.Until.Before(now) })
		to := all[i]
		edit(&to, &t)
		if to.Limits, err = json.Marshal(t); err != nil {
			return err
		}
		// Changed by someone else since it was read, or revoked: the next look tells.
		if err := in.ChangeAccess(ctx, all[i], to); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
}

func GrantOf(a store.Access) (Grant, error) {
	t, err := termsOf(a)
	if err != nil {
		return Grant{}, err
	}
	return Grant{Name: a.Name, Limits: t.Limits, Profiles: t.Profiles}, nil
}

// OldUntil is when the last token that a name's present one has replaced is refused; zero if none is accepted now.
func OldUntil(a store.Access) (until time.Time) {
	t, _ := termsOf(a)
	for _, f := range t.Former {
		if f.Until.After(until) && f.Until.After(time.Now()) {
			until = f.Until
		}
	}
	return until
}
