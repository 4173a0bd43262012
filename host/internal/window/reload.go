package window

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
)

// Reload makes c the configuration of sessions opened from now on, and looks at the plugin directories again. Open
// sessions keep their settings. All or nothing: if c is wrong, or differs in a setting of the whole host, the
// configuration before stays in force; in the latter case the error wraps [ErrFixed] and names the keys.
func (h *Host) Reload(c *config.Config) error {
	changed, err := fixed(h.Config(), c)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("reload: %s %w while the host runs: restart it", strings.Join(changed, ", "), ErrFixed)
	}
	h.plugins.Rescan()
	// Reported now, not by each session that is opened later.
	if err := h.Check(c); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	h.config.Store(c)
	return nil
}

// fixed returns the settings of the whole host whose values in force differ in two configurations.
func fixed(before, after *config.Config) ([]string, error) {
	var changed []string
	for _, s := range config.Specs() {
		if !s.PerHost() {
			continue
		}
		old, err := before.Explain(s.Key)
		now, err2 := after.Explain(s.Key)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(old[0].Value, now[0].Value) {
			changed = append(changed, s.Key)
		}
	}
	// Grants have names of their own, so the registry lacks them.
	if !reflect.DeepEqual(before.Settings().Plugins.Grants, after.Settings().Plugins.Grants) {
		changed = append(changed, "plugins.grants")
	}
	return changed, nil
}
