package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/engine"
)

func TestReloadIsForSessionsThatAreOpenedLater(t *testing.T) {
	h := open(t, nil)
	before, err := h.Session(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Config().With("model.contextLimit", 4000, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(c); err != nil {
		t.Fatal(err)
	}
	after, err := h.Session(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b, a := before.Config().Settings().Model.ContextLimit, after.Config().Settings().Model.ContextLimit; b == a ||
		a != 4000 {
		t.Errorf("before %d, after %d", b, a)
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
	if err := h.Reload(c); !errors.Is(err, engine.ErrFixed) || !strings.Contains(err.Error(), "plugins.maxCrashes") {
		t.Errorf("got %v", err)
	}
	if got := h.Config().Settings().Model.ContextLimit; got == 4000 {
		t.Error("a part was taken over")
	}
}
