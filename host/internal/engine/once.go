package engine

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/sessionlog"
)

// mostKeys is how many keys of additions a session remembers. A caller that asks again does so before it adds much
// else. They are in every snapshot: 50 bytes each.
const mostKeys = 128

// additions are those that took place under keys, the last mostKeys. They are guarded by [Session.adding].
type additions []sessionlog.Done

// took notes an addition and the size of the history after it; o is nil for one without a key.
func (a *additions) took(o *sessionlog.Once, revision uint64, tokens int) {
	if o == nil {
		return
	}
	if len(*a) >= mostKeys {
		*a = append((*a)[:0:0], (*a)[len(*a)-mostKeys+1:]...) // what is dropped must not stay in memory
	}
	*a = append(*a, sessionlog.Done{Once: *o, Revision: revision, Tokens: tokens})
}

// find returns the addition under a key; nil if there is none that is remembered. The error is that something else was
// added under it.
func (a additions) find(o *sessionlog.Once) (*sessionlog.Done, error) {
	if o == nil {
		return nil, nil
	}
	for i := range a {
		switch {
		case a[i].Key != o.Key:
		case a[i].Content != o.Content:
			return nil, fmt.Errorf("add: %w", ErrKeyReused)
		default:
			return &a[i], nil
		}
	}
	return nil, nil
}

// repeated returns what an addition was answered with that took place already, as far as this host knows; nil if it did
// not.
func (s *Session) repeated(o *sessionlog.Once) (*sessionlog.Done, error) {
	if o == nil {
		return nil, nil
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	return s.additions.find(o)
}
