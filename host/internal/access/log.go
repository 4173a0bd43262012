package access

import (
	"cmp"
	"time"
)

// What is logged of tokens: the first use of each since the host started, and each refusal with claimed name, address
// and reason. Tokens themselves are never logged.

// seen is what was logged, guarded by [Guard.mu].
type seen struct {
	used map[string]bool // by hash of the token
	// refused counts the lines since began, and unlogged those that were left out.
	began             time.Time
	refused, unlogged int
}

// maxRefusals is how many refusals are logged in a minute: trying tokens must not fill the disk.
const maxRefusals = 30

// used logs the first use of a valid token. name is "" for the local user.
func (g *Guard) used(name, hash, from string) {
	g.mu.Lock()
	first := !g.seen.used[hash]
	g.seen.used[hash] = true
	g.mu.Unlock()
	if first {
		g.log.Info("access token used for the first time since the start", "token",
			cmp.Or(name, "of the local user"), "from", from)
	}
}

func (g *Guard) refuse(name, from, why string) error {
	g.mu.Lock()
	s := &g.seen
	if now := g.now(); now.Sub(s.began) >= time.Minute {
		s.began, s.refused = now, 0
	}
	s.refused++
	logged, unlogged := s.refused <= maxRefusals, s.unlogged
	if logged {
		s.unlogged = 0
	} else {
		s.unlogged++
	}
	g.mu.Unlock()
	if logged {
		g.log.Warn("access refused", "token", name, "from", from, "reason", why, "unlogged", unlogged)
	}
	return ErrRefused
}
