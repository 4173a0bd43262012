package turns_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestLate(t *testing.T) {
	tests := map[string]struct {
		history string
		late    bool // the response in the last entry
	}{
		"right after the call":            {"h a:1 t:1", false},
		"after another response":          {"a:1,2 t:2 t:1", false},
		"after a person":                  {"a:1 h t:1", false},
		"after an unknown speaker":        {"a:1 s t:1", false},
		"the AI speaks in two entries":    {"a:1 a t:1", false},
		"calls in two entries":            {"a:1 a:2 t:2 t:1", false},
		"the AI spoke again":              {"a:1 h a t:1", true},
		"the AI spoke after another tool": {"a:1,2 t:2 a t:1", true},
		"the id was used again":           {"a:1 h a:1 t:1 t:1", true},
		"the nearer call is not late":     {"a:1 h a:1 t:1", false},
		"no call":                         {"a t:1", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			history := made(tt.history)
			if got := turns.Pair(history).Late(turns.At{Entry: len(history) - 1}); got != tt.late {
				t.Errorf("late: %v", got)
			}
		})
	}
}

// What a provider takes does not depend on what came before: an exchange alone pairs as it does in its history.
func TestAnExchangeAlonePairsAsInItsHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := histories().Draw(t, "history")
		pairs := turns.Pair(history)
		from := 0
		for from < len(history) {
			to := from + 1
			for to < len(history) && (history[to].Speaker != content.AI || history[to-1].Speaker == content.AI) {
				to++
			}
			alone := turns.Pair(history[from:to])
			for i := from; i < to; i++ {
				for j := range history[i].Blocks {
					at := turns.At{Entry: i, Block: j}
					want, ok := pairs.Call(at)
					ok = ok && !pairs.Late(at)
					got, gotOK := alone.Call(turns.At{Entry: i - from, Block: j})
					got.Entry += from
					if ok != gotOK || ok && got != want {
						t.Fatalf("the response at %v: %v %v alone, %v %v in its history", at, got, gotOK, want, ok)
					}
				}
			}
			from = to
		}
	})
}
