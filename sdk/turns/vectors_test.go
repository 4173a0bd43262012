package turns_test

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

type vector struct {
	ID                   string
	History              []content.Content
	PreserveThreshold    float64
	TopPreserveThreshold float64
	Expected             struct {
		Kind, Reason                        string
		Kept, TopPreserved, BottomPreserved int
	}
}

const leastMiddle = 4 // entries; with fewer there is nothing to summarise

func TestCutsOfOneShot(t *testing.T) {
	for _, v := range vectors.Decode[vector](t, "compress_oneshot.jsonl") {
		n := len(v.History)
		if n == 0 {
			continue
		}
		split := int(math.Floor(float64(n) * (1 - v.PreserveThreshold)))
		cut := turns.CutForward(v.History, split)
		if few := split < leastMiddle || cut < leastMiddle; few != (v.Expected.Reason == "too-few-compressible") {
			t.Errorf("%s: cut %d → %d of %d, expected %+v", v.ID, split, cut, n, v.Expected)
		} else if !few && n-cut != v.Expected.BottomPreserved {
			t.Errorf("%s: cut %d → %d keeps %d, want %d", v.ID, split, cut, n-cut, v.Expected.BottomPreserved)
		}
	}
}

func TestCutsOfMiddleOut(t *testing.T) {
	checked := 0
	for _, v := range vectors.Decode[vector](t, "compress_middleout.jsonl") {
		n := len(v.History)
		if n == 0 {
			continue
		}
		from := int(math.Ceil(float64(n) * v.TopPreserveThreshold))
		to := int(math.Floor(float64(n) * (1 - v.PreserveThreshold)))
		top, bottom := turns.CutForward(v.History, from), turns.CutForward(v.History, to)
		few := to-from < leastMiddle || bottom-top < leastMiddle
		if few != (v.Expected.Reason == "too-few-compressible") {
			t.Errorf("%s: cuts %d, %d → %d, %d of %d, expected %+v", v.ID, from, to, top, bottom, n, v.Expected)
		}
		if few || v.Expected.Kind != "applied" {
			continue
		}
		if top != v.Expected.TopPreserved {
			t.Errorf("%s: top %d → %d, want %d", v.ID, from, top, v.Expected.TopPreserved)
		}
		if last := lastHuman(v.History); top <= last && last < bottom {
			continue // the strategy moves a short last message to the bottom: not a matter of the cut
		}
		checked++
		if n-bottom != v.Expected.BottomPreserved {
			t.Errorf("%s: bottom %d → %d keeps %d, want %d", v.ID, to, bottom, n-bottom, v.Expected.BottomPreserved)
		}
	}
	if checked == 0 {
		t.Error("no case says anything about the lower cut")
	}
}

func lastHuman(history []content.Content) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Speaker == content.Human {
			return i
		}
	}
	return -1
}

// What a truncation keeps begins at a safe cut: the cut that the vectors expect stays where it is, and so does the
// result of any cut that moved there.
func TestCutsOfTruncation(t *testing.T) {
	applied := 0
	for _, v := range vectors.Decode[vector](t, "compress_topdown.jsonl") {
		if v.Expected.Kind != "applied" {
			continue
		}
		applied++
		cut := len(v.History) - v.Expected.Kept
		if got := turns.CutForward(v.History, cut); got != cut {
			t.Errorf("%s: the expected cut %d moves to %d", v.ID, cut, got)
		}
		for at := cut - 1; at > 0 && v.History[at].Speaker == content.Tool; at-- {
			if got := turns.CutForward(v.History, at); got != cut {
				t.Errorf("%s: cut %d moves to %d, want %d", v.ID, at, got, cut)
			}
		}
	}
	if applied == 0 {
		t.Error("no case is applied")
	}
}
