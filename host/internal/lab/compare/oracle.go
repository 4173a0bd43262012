package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/sdk"
)

// hindsight is what someone who knows how a session goes on can say of each of its requests, in tokens. It bounds what a
// strategy can save.
type hindsight struct {
	begins []bool    // see [recording.begins]
	grown  []float64 // the history, if nothing is done to it
	// least is what a rewrite before the request must leave: what people said, what the agent said and its edits that are
	// current, the results that the model has not seen, and of others the names and lines that later calls need.
	least  []float64
	beside float64 // what each request has besides the history
	// cold reports whether the cache is empty before request n, from 1.
	cold func(n int, l *pricing.List) bool
}

// findHindsight needs what all others found.
func (r *recording) findHindsight() hindsight {
	n := len(r.Requests)
	h := hindsight{begins: make([]bool, n), grown: make([]float64, n), least: make([]float64, n)}
	h.cold = func(n int, l *pricing.List) bool {
		last, at := r.Requests[n-1].At, r.Requests[n].At
		return l.CacheRead == 0 || !last.IsZero() && !at.IsZero() && l.Cold(at.Sub(last))
	}
	bytes, buffer := 1, []byte(nil)
	for _, c := range r.entries() {
		buffer = c.AppendJSON(buffer[:0])
		bytes += len(buffer)
	}
	perByte := float64(r.tokens()) / float64(bytes)
	own, needed := newOwnShare(r), r.neededBytes()
	people, at := 0.0, 0
	for n, q := range r.Requests {
		if h.begins[n] = r.begins(n); h.begins[n] {
			people, at = 0, q.From
			h.grown[n] = 0
		} else {
			h.grown[n] = h.grown[n-1]
		}
		fresh := 0.0
		for ; at < q.Entry; at++ {
			tokens := float64(r.Counted.Tokens(at))
			h.grown[n] += tokens
			switch r.entries()[at].Speaker {
			case sdk.AI:
				fresh = 0
			case sdk.Human:
				people += tokens
			default:
				fresh += tokens
			}
		}
		own.turn(r.own[n], nil)
		h.least[n] = min(people+fresh+perByte*float64(own.all+needed[n]), h.grown[n])
		if h.beside == 0 {
			h.beside = max(0, float64(q.Projected)-h.grown[n])
		}
	}
	return h
}

// neededBytes returns for each request how many bytes the names and lines have that were there before it, and that it or
// a later one needs for its calls.
func (r *recording) neededBytes() []int {
	first, sizes := map[int32]int{}, map[int32]int{}
	for line, id := range r.lines {
		sizes[id] = len(line)
	}
	find := newFinder(r)
	for i, c := range r.entries() {
		for _, thing := range find.find(c) {
			if _, ok := first[thing]; !ok {
				first[thing] = i
			}
		}
	}
	change := make([]int, len(r.Requests)+1)
	begin := make([]int, len(r.Requests)) // of each request's context
	for n := range r.Requests {
		if begin[n] = n; !r.begins(n) {
			begin[n] = begin[n-1]
		}
	}
	type use struct {
		thing int32
		begin int
	}
	seen := map[use]bool{}
	for n, u := range slices.Backward(r.uses) {
		for _, call := range u.calls {
			for _, thing := range call.things {
				at, ok := first[thing]
				if _, own := r.sizes[thing]; own || !ok || seen[use{thing, begin[n]}] {
					continue
				}
				seen[use{thing, begin[n]}] = true
				size := sizes[thing]
				if int(thing) < len(r.names) {
					size = len(r.names[thing])
				}
				from := sort.Search(n, func(i int) bool { return r.Requests[i].Entry > at })
				change[max(from, begin[n])] += size
				change[n+1] -= size
			}
		}
	}
	for n := 1; n < len(change); n++ {
		change[n] += change[n-1]
	}
	return change[:len(r.Requests)]
}

// share returns what the prompts would have cost at the best moments for rewrites, as a share of doing nothing, in
// requests of at most hard tokens. Each rewrite leaves the least; a request in between reads what the one before it had
// from the cache.
func (h *hindsight) share(l *pricing.List, hard float64) float64 {
	best, nothing := 0.0, 0.0
	for from := 0; from < len(h.grown); {
		to := from + 1
		for to < len(h.grown) && !h.begins[to] {
			to++
		}
		b, n := h.context(from, to, l, hard)
		best, nothing, from = best+b, nothing+n, to
	}
	if nothing == 0 {
		return 1
	}
	return best / nothing
}

// context is share for the requests of one context, in prices of a million tokens. What the best costs up to each of
// them follows from what it costs up to those before: the last rewrite is one of these.
func (h *hindsight) context(from, to int, l *pricing.List, hard float64) (best, nothing float64) {
	read, write := l.Read(), l.Write()
	// Above a bound, prompts cost more: for doing nothing as it is, and for the best as if it stayed below.
	bound, dear := l.Dear()
	n := to - from
	grown, least := h.grown[from:to], h.least[from:to]
	cold := make([]bool, n)
	// A request with d tokens more than if nothing had been done costs flat + d × slope; sums are up to each.
	flat, slope := make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		nowRead, nowWrite := read, write
		if bound > 0 && h.beside+grown[i] > float64(bound) {
			nowRead, nowWrite = dear.Read(), dear.Write()
		}
		if i == 0 || h.cold(from+i, l) {
			nothing += nowWrite * (h.beside + grown[i])
		} else {
			nothing += nowRead*(h.beside+grown[i-1]) + nowWrite*(grown[i]-grown[i-1])
		}
		if cold[i] = i == 0 || h.cold(from+i, l); cold[i] {
			flat[i+1], slope[i+1] = flat[i]+write*(h.beside+grown[i]), slope[i]+write
		} else {
			flat[i+1] = flat[i] + read*(h.beside+grown[i-1]) + write*(grown[i]-grown[i-1])
			slope[i+1] = slope[i] + read
		}
	}
	upTo := make([]float64, n+1) // the best for the requests before each
	for i := range upTo {
		upTo[i] = math.Inf(1)
	}
	upTo[0] = 0
	for i := range n {
		left := least[i]
		if i == 0 {
			left = grown[0]
		}
		rewrite := read*h.beside + write*left
		if cold[i] {
			rewrite = write * (h.beside + left)
		}
		d := left - grown[i]
		for j := i + 1; j <= n; j++ {
			if j > i+1 && h.beside+grown[j-1]+d > hard {
				break
			}
			cost := upTo[i] + rewrite + flat[j] - flat[i+1] + d*(slope[j]-slope[i+1])
			upTo[j] = min(upTo[j], cost)
		}
	}
	return upTo[n], nothing
}
