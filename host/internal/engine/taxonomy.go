package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Taxonomy returns the tool taxonomy that the settings ask for: the rules of compression.density.tools, then the
// presets of compression.density.toolPresets. The error wraps [ErrBadSetting].
func Taxonomy(set config.Settings) (*tools.Taxonomy, error) {
	d := set.Compression.Density
	var extra []tools.Rule
	if len(d.Tools) > 0 {
		if err := json.Unmarshal(d.Tools, &extra); err != nil {
			return nil, fmt.Errorf("compression.density.tools: %w: %w", ErrBadSetting, err)
		}
	}
	t, err := tools.ForPresets(d.ToolPresets, extra)
	if err != nil {
		return nil, fmt.Errorf("compression.density.tools, compression.density.toolPresets: %w: %w", ErrBadSetting, err)
	}
	return t, nil
}

// taxonomies are the tool taxonomies of a host's sessions. Those with the same settings share one, because making it
// takes longer than all else in opening a session. It is safe for concurrent use; the zero value is empty.
type taxonomies struct {
	mu   sync.Mutex
	made map[string]*tools.Taxonomy // by the settings that it was made from
}

// mostTaxonomies bounds what agents can fill memory with by settings that differ.
const mostTaxonomies = 16

// of returns the taxonomy that the settings ask for, as [Taxonomy] does.
func (t *taxonomies) of(set config.Settings) (*tools.Taxonomy, error) {
	d := set.Compression.Density
	key := strings.Join(append([]string{string(d.Tools)}, d.ToolPresets...), "\x00")
	t.mu.Lock()
	defer t.mu.Unlock()
	if made := t.made[key]; made != nil {
		return made, nil
	}
	made, err := Taxonomy(set)
	if err != nil {
		return nil, err
	}
	if t.made == nil || len(t.made) >= mostTaxonomies {
		t.made = map[string]*tools.Taxonomy{}
	}
	t.made[key] = made
	return made, nil
}
