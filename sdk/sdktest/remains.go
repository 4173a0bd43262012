package sdktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Remains fails the test for each entry that should have stayed as it was, and is gone or changed. given is what the
// strategy was given, after the History of a [Compressed] or [Optimized]. Positions are those in given; negative ones
// count from its end, so -1 is the newest entry.
func Remains(tb testing.TB, given, after []sdk.Content, positions ...int) {
	tb.Helper()
	for _, i := range positions {
		if i < 0 {
			i += len(given)
		}
		if i < 0 || i >= len(given) {
			tb.Errorf("entry %d should remain, but the history that was given has %d entries", i, len(given))
			continue
		}
		now := slices.IndexFunc(after, func(e sdk.Content) bool {
			at, ok := e.Origin()
			return ok && at == i || !ok && e.Equal(given[i])
		})
		switch {
		case now < 0:
			tb.Errorf("entry %d (%s) should remain and is gone: %s", i, given[i].Speaker, shown(given[i]))
		case !after[now].Equal(given[i]):
			tb.Errorf("entry %d (%s) should remain as it was: was %s, came %s", i, given[i].Speaker, shown(given[i]),
				shown(after[now]))
		}
	}
}

// RemainsText fails the test for each text that should still stand in a block of the history, and does not.
func RemainsText(tb testing.TB, after []sdk.Content, texts ...string) {
	tb.Helper()
	for _, want := range texts {
		stands := func(b sdk.Block) bool { return strings.Contains(blockText(b), want) }
		if !slices.ContainsFunc(after, func(e sdk.Content) bool { return slices.ContainsFunc(e.Blocks, stands) }) {
			tb.Errorf("%q should remain and stands in none of the %d entries that are left", want, len(after))
		}
	}
}

// shown is an entry as a failure quotes it.
func shown(e sdk.Content) string { return text.OneLine(string(e.AppendJSON(nil)), 200) }
