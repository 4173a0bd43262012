package serve

import "testing"

// A host that keeps no mirrors sets no limit. A history without entries takes no bytes, and is not held either.
func TestWithoutALimitNoMirrorIsHeld(t *testing.T) {
	var m mirrors
	m.keep(&mirror{session: "s"})
	if m.take("s") != nil {
		t.Error("the mirror is held")
	}
}
