package window_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"
)

func TestReloadIsForSessionsThatAreOpenedLater(t *testing.T) {
	for name, own := range map[string]map[string]any{"no settings": nil, "settings of its own": {"model.name": "gpt-4o"}} {
		t.Run(name, func(t *testing.T) {
			h := open(t, nil)
			limit := func() int {
				s, err := h.Open(window.Opening{Settings: own})
				if err != nil {
					t.Fatal(err)
				}
				set := s.Config().Settings()
				if own != nil && set.Model.Name != "gpt-4o" {
					t.Errorf("the model is %q", set.Model.Name)
				}
				return set.Model.ContextLimit
			}
			before := limit()
			c, err := h.Config().With("model.contextLimit", 4000, "test")
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Reload(c); err != nil {
				t.Fatal(err)
			}
			if after := limit(); before == after || after != 4000 {
				t.Errorf("before %d, after %d", before, after)
			}
		})
	}
}

func TestReloadRefusesWhatNeedsARestart(t *testing.T) {
	h := open(t, nil)
	c, err := h.Config().With("plugins.maxCrashes", 77, "test")
	if err == nil {
		c, err = c.With("model.contextLimit", 4000, "test")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(c); !errors.Is(err, window.ErrFixed) || !strings.Contains(err.Error(), "plugins.maxCrashes") {
		t.Errorf("got %v", err)
	}
	if got := h.Config().Settings().Model.ContextLimit; got == 4000 {
		t.Error("a part was taken over")
	}
}
