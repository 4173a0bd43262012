package window

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/keep"
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

// taxonomyOf is [Taxonomy], shared by sessions with the same settings: making one takes longer than all else in opening
// a session.
func (h *Host) taxonomyOf(set config.Settings) (*tools.Taxonomy, error) {
	d := set.Compression.Density
	key := strings.Join(append([]string{string(d.Tools)}, d.ToolPresets...), "\x00")
	return h.taxonomies.of(key, func() (*tools.Taxonomy, error) { return Taxonomy(set) })
}

// rulesOf returns what compression.keep names, shared like taxonomies. The error wraps [ErrBadSetting].
func (h *Host) rulesOf(set config.Settings) (*keep.Rules, error) {
	return h.rules.of(strings.Join(set.Compression.Keep, "\x00"), func() (*keep.Rules, error) {
		r, err := keep.Compile(set.Compression.Keep)
		if err != nil {
			return nil, fmt.Errorf("compression.keep: %w: %w", ErrBadSetting, err)
		}
		return r, nil
	})
}
