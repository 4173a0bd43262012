package turns_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestCut(t *testing.T) {
	tests := map[string]struct {
		history           string
		at                int
		forward, backward int
	}{
		"nothing":                    {"", 0, 0, 0},
		"before the first":           {"h a", -3, 0, 0},
		"behind the last":            {"h a", 9, 2, 2},
		"safe":                       {"h a h a", 2, 2, 2},
		"before a call":              {"h a:1 t:1 h", 1, 1, 1},
		"between call and response":  {"h a:1 t:1 h", 2, 3, 1},
		"between two responses":      {"h a:1,2 t:1 t:2 h", 3, 4, 1},
		"off the end":                {"h a:1 t:1", 2, 1, 1},
		"off the end, two responses": {"h a h a:1,2 t:1 t:2", 5, 3, 3},
		"behind a pending call":      {"h a:1 h", 2, 2, 2},
		"orphans in front":           {"t:1 t:2 h a", 1, 2, 0},
		"nothing but a call":         {"a:1 t:1 t:2", 1, 0, 0},
		"a human in between":         {"h a:1 h t:1 h", 2, 4, 1},
		"one call around everything": {"a:1 h a:2 t:2 h t:1", 4, 0, 0},
		"answers for two AI entries": {"h a:1 a:2 t:1,2 h", 2, 4, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			history := made(tt.history)
			if got := turns.CutForward(history, tt.at); got != tt.forward {
				t.Errorf("forward: %d, want %d", got, tt.forward)
			}
			if got := turns.CutBackward(history, tt.at); got != tt.backward {
				t.Errorf("backward: %d, want %d", got, tt.backward)
			}
		})
	}
}

// isSafe says what a safe cut is, from the pairs alone.
func isSafe(history []content.Content, cut int) bool {
	if cut == 0 || cut == len(history) {
		return true
	}
	calls, responses := pairsOf(history)
	for i := range calls {
		if calls[i].Entry < cut && cut <= responses[i].Entry {
			return false
		}
	}
	return history[cut].Speaker != content.Tool
}

func TestACutPartsNoPairAndMovesNoFurtherThanItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := histories().Draw(t, "history")
		at := rapid.IntRange(0, len(history)).Draw(t, "at")
		want := at
		for want < len(history) && !isSafe(history, want) {
			want++
		}
		back := at
		for !isSafe(history, back) {
			back--
		}
		if want == len(history) {
			want = back
		}
		if got := turns.CutForward(history, at); got != want {
			t.Errorf("forward from %d: %d, want %d", at, got, want)
		}
		if got := turns.CutBackward(history, at); got != back {
			t.Errorf("backward from %d: %d, want %d", at, got, back)
		}
	})
}

func TestSafeTail(t *testing.T) {
	tests := map[string]struct {
		history string
		n, want int
	}{
		"nothing":                {"", 3, 0},
		"none":                   {"h a", 0, 0},
		"less than none":         {"h a", -1, 0},
		"more than there is":     {"h a", 5, 2},
		"as many":                {"h a h a", 2, 2},
		"fewer":                  {"h a:1 t:1 h", 2, 1},
		"more, or nothing stays": {"h a:1 t:1", 1, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			history := made(tt.history)
			tail := turns.SafeTail(history, tt.n)
			if len(tail) != tt.want {
				t.Errorf("%d entries, want %d", len(tail), tt.want)
			}
			for i := range tail {
				if !tail[i].Equal(history[len(history)-len(tail)+i]) {
					t.Errorf("entry %d of the tail is another one", i)
				}
			}
		})
	}
}

func TestATailHasNoOrphansThatTheHistoryHadNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := histories().Draw(t, "history")
		n := rapid.IntRange(0, len(history)).Draw(t, "n")
		tail := turns.SafeTail(history, n)
		before, after := len(turns.Pair(history[len(history)-len(tail):]).Orphans()), 0
		for _, at := range turns.Pair(history).Orphans() {
			if at.Entry >= len(history)-len(tail) {
				after++
			}
		}
		if before > after {
			t.Errorf("%d orphans in the tail, %d of the history", before, after)
		}
		if n > 0 && len(tail) == 0 {
			t.Errorf("nothing is left of %d", n)
		}
	})
}
