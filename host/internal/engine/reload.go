package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
)

// Reload makes c the configuration of the sessions that are opened from now on, and looks at the plugin directories
// again. Open sessions keep the settings they have. Settings that concern the whole host are read when it is opened: if
// one of them differs, nothing is changed, and the error wraps [ErrFixed] and names the keys. It is all or nothing: a
// configuration that is refused leaves the one before in force.
func (h *Host) Reload(c *config.Config) error {
	// Such as addresses and directories, which are in use.
	changed, err := fixed(h.Config(), c)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("reload: %s %w while the host runs: restart it", strings.Join(changed, ", "), ErrFixed)
	}
	h.plugins.Rescan()
	// What is wrong is reported now, not by each session that is opened later.
	if err := h.Check(c); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	// Sessions that are opened at this moment have one of the two configurations, never a mix.
	h.config.Store(c)
	return nil
}

// fixed returns the settings of the whole host that differ in two configurations. A setting is compared by its value in
// force, wherever that comes from.
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
	// Grants have names of their own, so that they are not in the registry.
	if !reflect.DeepEqual(before.Settings().Plugins.Grants, after.Settings().Plugins.Grants) {
		changed = append(changed, "plugins.grants")
	}
	return changed, nil
}
