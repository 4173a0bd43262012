package pricing_test

import (
	"math"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// A provider counts something around each entry, and every text as half as many tokens as the host does. Where nearly
// all of each result is removed at once, prompts grow mostly by what is around it, and the text that was removed is
// still worth what it would have cost.
func TestWhatIsAroundATextIsNotItsPrice(t *testing.T) {
	l := pricing.NewLedger(&claude)
	const around = 40
	reported := func(tokens, entries int) int { return tokens/2 + entries*around }
	said, bills := 0.0, 0.0
	sent, whole, entries, stable, lastSent, lastWhole := 2000, 2000, 2, 0, 0, 0
	for turn := range 20 {
		now := time.Unix(int64(turn), 0)
		p := pricing.Size{Sent: sent, Whole: whole, SentEntries: entries, WholeEntries: entries}
		c := l.Request(p, stable, now)
		is, was := reported(sent, entries), reported(whole, entries)
		said += c.Reported(0, lastSent, is-lastSent)
		cost := func(n, read int) float64 { return (float64(read)*0.3 + float64(n-read)*3.75) / 1e6 }
		bills += cost(was, lastWhole) - cost(is, lastSent)
		lastSent, lastWhole = is, was
		stable = sent
		sent, whole, entries = sent+50+turn%5*30, whole+2000, entries+2
	}
	t.Logf("$%.4f is said to be saved, and $%.4f is", said, bills)
	if math.Abs(said/bills-1) > 0.05 {
		t.Errorf("$%.4f is said to be saved, and $%.4f is", said, bills)
	}
}
