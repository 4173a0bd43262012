// Package hostile makes text that is built to exhaust its reader, and finds out whether it does: by nesting, which ends
// a process whose stack overflows, or by taking more than linear time. For fuzz targets: they make the unit, [Check]
// repeats it.
package hostile

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Text is Open repeated, then Middle, then Close repeated as often. Without Close nothing is closed.
type Text struct{ Open, Middle, Close string }

// Of returns a text of at most n bytes, or of one repetition.
func (t Text) Of(n int) string {
	times := max(1, (n-len(t.Middle))/max(1, len(t.Open)+len(t.Close)))
	return strings.Repeat(t.Open, times) + t.Middle + strings.Repeat(t.Close, times)
}

// JSON are texts that ask much of a reader of JSON. It may refuse them.
var JSON = []Text{
	{"[", "", ""}, {"[", "", "]"}, {"[[],", "", ""}, {"[{", "", ""},
	{`{"a":`, "", ""}, {`{"a":`, "1", "}"}, {`{"":[`, "", "]}"},
	{`{"a":1,"b":`, "{}", "}"}, {`"a",`, "", ""}, {`\`, "", ""}, {`"\`, "", ""}, {`"\ud800`, "", ""}, {" ", "", ""},
	{"-", "", ""}, {"1", "", ""}, {"1e", "", ""}, {"\n", "", ""}, {"\xff", "", ""},
}

const (
	// maxStack is in bytes, of a text of 1 MB. The runtime's own bound, which ends the process, is sixteen times this.
	maxStack = 64 << 20
	// growth is how much more work eight times the text may be: three times the sensible, as larger things miss caches.
	growth = 8 * 3
	// small work says nothing: a collection of garbage takes as long.
	small = 200 * time.Millisecond
)

// Check fails the test if read does not take work in proportion to the length of a text made like made. It ends the
// process if read descends with the text's nesting. The work is the time that the test's own thread was running: other
// programs on the machine do not count.
func Check(t testing.TB, made Text, read func(text string)) {
	t.Helper()
	defer debug.SetMaxStack(debug.SetMaxStack(maxStack))
	var before time.Duration
	for n := 2 << 10; n <= 1<<20; n *= 8 {
		text := made.Of(n)
		took := work(read, text)
		// A collection of garbage, or another processor, may have been in the way.
		for try := 0; try < 3 && took > small && took > growth*max(before, small/growth); try++ {
			took = min(took, work(read, text))
		}
		if took > small && took > growth*max(before, small/growth) {
			t.Fatalf("%d bytes made of %.80q, %.80q, %.80q took %v, an eighth of it %v: more than in proportion",
				len(text), made.Open, made.Middle, made.Close, took, before)
		}
		before = took
	}
}

func work(read func(string), text string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := running()
	read(text)
	return running() - start
}
