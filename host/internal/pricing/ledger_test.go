package pricing_test

import (
	"math"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// made is an entry of the made conversation below, by its tokens as the host counts them. The zero value was removed.
type made struct{ words, thinking, calls int }

func (e made) tokens() int { return e.words + e.thinking + e.calls }

// What is said to be saved is the difference between two bills, whatever an entry loses. The provider counts something
// around each entry, which stays with it, and every text as half as many tokens as the host does, but for the rest.
func TestWhatGoesIsWorthWhatItWouldHaveCost(t *testing.T) {
	const around, rest = 40, 3000
	// What of an entry is sent after so many rewrites, from 1 on.
	losses := map[string]func(e made, n int) made{
		"calls, words stay":        func(e made, _ int) made { return made{e.words, e.thinking, 0} },
		"words, calls stay":        func(e made, _ int) made { return made{0, e.thinking, e.calls} },
		"thinking":                 func(e made, _ int) made { return made{e.words, 0, e.calls} },
		"nearly all of a text":     func(e made, _ int) made { return made{e.words, e.thinking, e.calls / 20} },
		"entries":                  func(made, int) made { return made{} },
		"more than once":           func(e made, n int) made { return made{e.words / n, e.thinking / n, e.calls / 9} },
		"calls, and they return":   func(e made, n int) made { return made{e.words, e.thinking, e.calls * (1 - n%2)} },
		"entries, and they return": func(e made, n int) made { return made{e.words * (1 - n%2), 0, e.calls * (1 - n%2)} },
	}
	// By how many tokens the rest differs from that of the request before, and whether the provider's cache has it then.
	for name, other := range map[string]struct {
		by  int
		hit bool
	}{"": {0, true}, ", settings in another order": {3, true}, ", a time in the prompt": {3, false}} {
		for loss, sent := range losses {
			t.Run(loss+name, func(t *testing.T) {
				l := pricing.NewLedger(&claude)
				said, bills := 0.0, 0.0
				var all, last []made
				var added []int // the rewrites before each entry
				for turn := range 40 {
					lastWhole := len(all)
					all = append(all, made{100 + turn%5*30, 60 + turn%3*20, 90}, made{calls: 600 + turn%7*100})
					added = append(added, turn/8, turn/8)
					// Host and provider count the same list; read is what the latter has in its cache.
					p := pricing.Size{Rest: rest + turn%2*other.by}
					p.Pending = p.Rest
					now, stable, same := make([]made, len(all)), 0, true
					is, was, read, wholeRead := rest, rest, rest, rest
					for i, e := range all {
						now[i] = e
						if n := turn/8 - added[i]; n > 0 {
							now[i] = sent(e, n)
						}
						whole := e.tokens()/2 + around
						p.Whole, p.WholeEntries, was = p.Whole+e.tokens(), p.WholeEntries+1, was+whole
						if i < lastWhole {
							wholeRead += whole
						}
						same = same && i < len(last) && now[i] == last[i]
						if now[i] == (made{}) {
							continue
						}
						part := now[i].tokens()/2 + around
						p.Sent, p.SentEntries, is = p.Sent+now[i].tokens(), p.SentEntries+1, is+part
						if same {
							stable, read = stable+now[i].tokens(), read+part
						}
					}
					p.Sent, p.Whole = p.Sent+p.Rest, p.Whole+p.Rest
					if turn == 0 || !other.hit {
						read, wholeRead = 0, 0
					}
					said += l.Request(p, stable, time.Unix(int64(turn), 0)).Reported(0, read, is-read)
					cost := func(n, read int) float64 { return (float64(read)*0.3 + float64(n-read)*3.75) / 1e6 }
					bills += cost(was, wholeRead) - cost(is, read)
					last = now
				}
				if math.Abs(said-bills) > 0.05*math.Abs(bills)+0.001 {
					t.Errorf("$%.4f is said to be saved, and $%.4f is", said, bills)
				}
			})
		}
	}
}

// A process that goes on with a conversation finds the provider's cache warm: what was removed before would be in it.
func TestTheFirstRequestBehindARestart(t *testing.T) {
	list := &pricing.List{Input: 4, Output: 20, CacheRead: 0.4, CacheWrite: 5}
	for cached, want := range map[int]float64{9000: 40_000 * list.Read() / 1e6, 0: 40_000 * list.Write() / 1e6} {
		c := pricing.NewLedger(list).Request(pricing.Size{Sent: 10_000, Whole: 50_000, SentEntries: 9, WholeEntries: 9}, 0, time.Unix(1e9, 0))
		if got := c.Reported(0, cached, 10_000-cached); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d tokens were in the cache: $%.4f, want $%.4f", cached, got, want)
		}
	}
}
