package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// terms is what the store has of a token, as JSON. An earlier version's grants no profiles.
type terms struct {
	Limits
	Profiles []string `json:"profiles,omitempty"`
}

// Create makes a token, which cannot be read again, whose sessions may choose the profiles. The error wraps
// [store.ErrExists] if the name has a token.
func Create(ctx context.Context, in store.Accesses, name string, limits Limits, profiles ...string) (string, error) {
	if !names().MatchString(name) {
		return "", fmt.Errorf("%.80q: %w", name, ErrName)
	}
	text, err := json.Marshal(terms{limits, profiles})
	if err != nil {
		return "", err
	}
	token := newToken(name)
	sum := hash(token)
	return token, in.CreateAccess(ctx, store.Access{Name: name, Hash: sum[:], Limits: text})
}

func GrantOf(a store.Access) (Grant, error) {
	var t terms
	if len(a.Limits) > 0 {
		if err := json.Unmarshal(a.Limits, &t); err != nil {
			return Grant{}, fmt.Errorf("limits of access token %q: %w", a.Name, err)
		}
	}
	return Grant{Name: a.Name, Limits: t.Limits, Profiles: t.Profiles}, nil
}
