package journal

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
)

// maxKeys is how many keys a session remembers: a caller repeats an addition before it adds much else. Each takes 50
// bytes in every snapshot.
const maxKeys = 128

// additions are the last maxKeys with a key. [Journal.writing] guards them.
type additions []sessionlog.Done

// took notes an addition and the size of the history after it; o is nil without a key.
func (a *additions) took(o *sessionlog.Once, revision uint64, tokens int) {
	if o == nil {
		return
	}
	if len(*a) >= maxKeys {
		*a = append((*a)[:0:0], (*a)[len(*a)-maxKeys+1:]...) // what is dropped must not stay in memory
	}
	*a = append(*a, sessionlog.Done{Once: *o, Revision: revision, Tokens: tokens})
}

// find returns the remembered addition under a key, or nil. The error is that something else was added under it.
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

// Repeated returns the answer of an addition that already took place, as far as this host knows, or nil.
func (j *Journal) Repeated(o *sessionlog.Once) (*sessionlog.Done, error) {
	if o == nil {
		return nil, nil
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.additions.find(o)
}
