package sdk

import (
	"sync"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// taxonomies keeps the taxonomies that were parsed: they come with every call, and are mostly the same.
type taxonomies struct {
	mu     sync.Mutex
	parsed map[string]*tools.Taxonomy // by their JSON
}

// Sessions with tools of their own may be many; a few of them at a time are enough to keep.
const maxTaxonomies = 32

// get returns the taxonomy for its JSON, from memory if it came before. When there are too many, all are forgotten.
func (t *taxonomies) get(data []byte) (*tools.Taxonomy, error) {
	if len(data) == 0 {
		return &tools.Taxonomy{}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.parsed[string(data)]; ok {
		return found, nil
	}
	taxonomy, err := tools.ParseNewer(data)
	if err != nil {
		return nil, err
	}
	if t.parsed == nil || len(t.parsed) >= maxTaxonomies {
		t.parsed = make(map[string]*tools.Taxonomy)
	}
	t.parsed[string(data)] = taxonomy
	return taxonomy, nil
}
