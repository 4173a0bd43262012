package serve

import (
	"sync"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// taxonomies caches parsed taxonomies, which are immutable: one comes with every call, mostly the same. It is safe for
// concurrent use.
type taxonomies struct {
	mu     sync.Mutex
	parsed map[string]*tools.Taxonomy // by their JSON
}

// maxTaxonomies bounds the cache. Sessions with tools of their own may be many; only a few are active at a time.
const maxTaxonomies = 32

// noTools is the empty taxonomy, only one because a memo is kept as long as the taxonomy is the same.
var noTools tools.Taxonomy

// get parses data, unless it is cached. A full cache is emptied: simpler than eviction, and rare.
func (t *taxonomies) get(data []byte) (*tools.Taxonomy, error) {
	if len(data) == 0 {
		return &noTools, nil
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
