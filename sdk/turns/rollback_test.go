package turns_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/turns"
)

// After a Rollback, a matcher answers as one that never saw what was forgotten, also where ids repeat and calls of one
// entry share an id.
func TestMatcherRollback(t *testing.T) {
	type event struct {
		response bool
		id, name string
		at       turns.At
	}
	apply := func(m *turns.Matcher, e event) (got turns.At) {
		if !e.response {
			m.Call(e.id, e.name, e.at)
			return turns.At{}
		}
		got, ok := m.Response(e.id, e.name)
		if !ok {
			return turns.At{Entry: -1}
		}
		return got
	}
	rapid.Check(t, func(t *rapid.T) {
		var m turns.Matcher
		var entries [][]event
		marks := []turns.Mark{{}}
		for range rapid.IntRange(1, 12).Draw(t, "rewrites") {
			keep := rapid.IntRange(0, len(entries)).Draw(t, "keep")
			m.Rollback(marks[keep])
			entries, marks = entries[:keep], marks[:keep+1]

			var fresh turns.Matcher
			for _, e := range slices.Concat(entries...) {
				apply(&fresh, e)
			}
			for range rapid.IntRange(0, 8).Draw(t, "entries") {
				response := rapid.Bool().Draw(t, "response")
				var entry []event
				for j := range rapid.IntRange(1, 4).Draw(t, "blocks") {
					id := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "id")
					name := rapid.SampledFrom([]string{"", "r", "w"}).Draw(t, "name")
					e := event{response, id, name, turns.At{Entry: len(entries), Block: j}}
					entry = append(entry, e)
					if got, want := apply(&m, e), apply(&fresh, e); got != want {
						t.Fatalf("%+v: got %v, want %v", e, got, want)
					}
				}
				entries, marks = append(entries, entry), append(marks, m.Mark())
			}
		}
	})
}
