package engine

import (
	"encoding/json"
	"fmt"
	"slices"
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

// taxonomy is a session's tool taxonomy, with the settings that it was made from.
type taxonomy struct {
	presets []string
	extra   string
	made    *tools.Taxonomy
}

// update builds the taxonomy that the settings ask for, unless it is up to date.
func (t *taxonomy) update(set config.Settings) error {
	d := set.Compression.Density
	if t.made != nil && slices.Equal(t.presets, d.ToolPresets) && t.extra == string(d.Tools) {
		return nil
	}
	made, err := Taxonomy(set)
	if err != nil {
		return err
	}
	*t = taxonomy{presets: d.ToolPresets, extra: string(d.Tools), made: made}
	return nil
}

// taxonomies gives sessions with the same settings the same taxonomy: one takes 100 kB. The zero value has none yet.
type taxonomies struct {
	mu   sync.Mutex
	last taxonomy
}

func (t *taxonomies) of(set config.Settings) (taxonomy, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.last.update(set)
	return t.last, err
}
