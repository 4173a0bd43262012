package htmlreport_test

import (
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// size of a report that is made up.
type size struct{ sessions, turns, variants, lists int }

// made is a report of that size with plausible figures: contexts that grow, and fall where a variant prunes.
func made(n size) *compare.Report {
	r := &compare.Report{Took: 1234 * time.Millisecond}
	for i := range n.lists {
		r.Prices = append(
			r.Prices,
			&pricing.List{Name: fmt.Sprintf("list-%d", i), Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15,
				CacheTTL: 5 * time.Minute, CacheMinimum: 1024, AsOf: "2026-11-20",
				Source: "https://prices.example/list"},
		)
	}
	for i := range n.variants {
		r.Variants = append(
			r.Variants,
			compare.VariantInfo{Name: fmt.Sprintf("variant-%d", i), Strategy: fmt.Sprintf("strategy-%d", i),
				Settings: map[string]string{"compression.density.cadence": "gated"}},
		)
	}
	for i := range n.sessions {
		s := compare.SessionReport{
			Name: fmt.Sprintf("session-%d.jsonl", i), Format: transcript.ClaudeCode, Entries: 3 * n.turns,
			Tokens: 400 * n.turns,
		}
		if n.turns > 10 {
			s.Boundaries = []int{n.turns / 2}
		}
		s.Nothing = result(compare.NothingName, n, 0)
		for v := range n.variants {
			s.Variants = append(s.Variants, result(r.Variants[v].Name, n, v+1))
		}
		r.Sessions = append(r.Sessions, s)
	}
	r.Totals.Nothing = total(result(compare.NothingName, n, 0), n.sessions)
	for v := range n.variants {
		r.Totals.Variants = append(r.Totals.Variants, total(result(r.Variants[v].Name, n, v+1), n.sessions))
	}
	return r
}

func total(r compare.Result, sessions int) compare.Result {
	r.Points, r.Limits, r.Sessions = nil, nil, sessions
	r.Sent, r.Unpruned, r.Turns = r.Sent*sessions, r.Unpruned*sessions, r.Turns*sessions
	return r
}

// result is what the variant with this number made: the higher, the more often it prunes.
func result(name string, n size, variant int) compare.Result {
	r := compare.Result{
		Variant:    name,
		Done:       true,
		Sessions:   1,
		Turns:      n.turns,
		Limits:     &outcome.Limits{Context: 30000, Hard: 28000, Trigger: 23800},
		HostTime:   12 * time.Millisecond,
		PluginTime: 80 * time.Millisecond,
		Recall: compare.Recall{
			Used: 200, Kept: 198, Share: 0.99, UsedResults: 90, KeptResults: 89, ShareResults: 89.0 / 90,
		},
	}
	usd := make([]float64, n.lists)
	sent, unpruned := 1200, 1200
	for t := range n.turns {
		add := 150 + (t*7919)%700
		sent, unpruned = sent+add, unpruned+add
		if variant > 0 && t%(4+3*variant) == 3+variant {
			sent = sent * 3 / 4
			r.Rewrites++
			r.Optimized++
		}
		r.Sent, r.Unpruned, r.Peak, r.PeakUnpruned = r.Sent+sent, r.Unpruned+unpruned, max(
			r.Peak, sent,
		), max(
			r.PeakUnpruned, unpruned,
		)
		for i := range usd {
			usd[i] += float64(sent) * float64(i+1) / 1e7
		}
		r.Points = append(r.Points, compare.Point{
			Turn: t + 1, Entry: 3 * t, Sent: sent, Unpruned: unpruned, USD: append([]float64(nil), usd...),
		})
	}
	r.Saved = 1 - float64(r.Sent)/float64(max(r.Unpruned, 1))
	for i := range usd {
		r.Costs = append(r.Costs, compare.Cost{
			List: fmt.Sprintf("list-%d", i), USD: usd[i], Nothing: 1, Relative: usd[i] - 1, CacheRead: r.Sent,
		})
	}
	if variant > 0 {
		r.Pruned = compare.Pruned{Entries: 40, Tokens: 9000}
		for i := range compare.MaxShares {
			r.Pruned.Tools = append(
				r.Pruned.Tools, compare.Share{Name: fmt.Sprintf("tool_%d", i), Count: 2, Tokens: 800 - 30*i},
			)
			r.Pruned.Files = append(r.Pruned.Files, compare.Share{
				Name: fmt.Sprintf("/home/dev/project/internal/file_%d.go", i), Count: 2, Tokens: 700 - 30*i,
			})
		}
		r.Pruned.Tools = append(r.Pruned.Tools, compare.Share{Rest: 4, Count: 9, Tokens: 100})
		for i := range compare.MaxLost {
			r.Recall.Lost = append(r.Recall.Lost, compare.Lost{
				Identifier: fmt.Sprintf("internal/lost_%d.go", i), Session: "session-0.jsonl", Turn: i + 3,
				Entry: 3 * i, From: i,
			})
		}
	}
	return r
}
