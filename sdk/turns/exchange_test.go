package turns_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestExchanges(t *testing.T) {
	tests := map[string]struct {
		history string
		want    string // entries, number of pairs, * for pending
	}{
		"nothing":                     {"", ""},
		"words":                       {"h a h", "[0]0 [1]0 [2]0 "},
		"a call":                      {"h a:1 t:1 a", "[0]0 [1 2]1 [3]0 "},
		"parallel calls":              {"a:1,2 t:1 t:2 a", "[0 1 2]2 [3]0 "},
		"a human in between":          {"a:1 h t:1 a", "[0 2]1 [1]0 [3]0 "},
		"answers for two AI entries":  {"a:1 a:2 t:1,2 h", "[0 1 2]2 [3]0 "},
		"a chain of such":             {"a:1,2 t:1 a:3 t:2,3 h", "[0 1 2 3]3 [4]0 "},
		"pending":                     {"a:1 t:1 a:2,3 t:2", "[0 1]1 [2 3]1* "},
		"orphan":                      {"t:1 h", "[0]0 [1]0 "},
		"duplicate stands for itself": {"a:1 t:1 t:1", "[0 1]1 [2]0 "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, x := range turns.Exchanges(made(tt.history), nil) {
				got += fmt.Sprintf("%v%d", x.Entries, x.Pairs)
				if x.Pending {
					got += "*"
				}
				got += " "
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExchangesHoldEveryEntryOnceAndPartNoPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := histories().Draw(t, "history")
		pairs := turns.Pair(history)
		of := map[int]int{}
		next, all := 0, 0
		exchanges := turns.Exchanges(history, pairs)
		for n, x := range exchanges {
			if x.First() < next {
				t.Fatalf("exchange %d begins at %d, not after the one before", n, x.First())
			}
			next, all = x.First()+1, all+x.Pairs
			for k, i := range x.Entries {
				if _, twice := of[i]; twice || k > 0 && i <= x.Entries[k-1] {
					t.Fatalf("exchange %d: %v", n, x.Entries)
				}
				of[i] = n
			}
		}
		if len(of) != len(history) {
			t.Fatalf("%d entries of %d are in an exchange", len(of), len(history))
		}
		joined := map[int]int{} // pairs between different entries join at most that many entries
		for call, response := range pairs.Answered() {
			all--
			if of[call.Entry] != of[response.Entry] {
				t.Fatalf("%v and %v are parted", call, response)
			}
			joined[of[call.Entry]]++
		}
		if all != 0 {
			t.Fatalf("the pairs of the exchanges are %d too many", all)
		}
		for n, x := range exchanges {
			if len(x.Entries) > joined[n]+1 {
				t.Fatalf("exchange %d is larger than its pairs ask for: %v", n, x.Entries)
			}
		}
	})
}
