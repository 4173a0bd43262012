package clienttest

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// account is what the provider counted of an agent's requests, in tokens.
type account struct {
	prompts, cached int
	// paid is what the prompts cost, in tokens that are not cached: reading the cache costs a tenth, writing a quarter
	// more, where it is paid for.
	paid float64
	// misses are the requests that did not find all in the cache that the one before had left there.
	misses int
}

func accountOf(up *modelapi.Server) (a account) {
	left := 0
	for _, r := range up.Models() {
		a.prompts, a.cached = a.prompts+r.Tokens, a.cached+r.Cached
		a.paid += float64(r.Tokens-r.Cached-r.Written) + 0.1*float64(r.Cached) + 1.25*float64(r.Written)
		if r.Cached < left {
			a.misses++
		}
		if left = r.Cached + r.Written; r.Written == 0 { // a cache without markers keeps whole prompts
			left = r.Tokens
		}
	}
	return a
}

func (a account) String() string {
	return fmt.Sprintf("%d tokens, %.1f %% cached, paid as %.0f, %d misses", a.prompts,
		100*float64(a.cached)/float64(max(1, a.prompts)), a.paid, a.misses)
}

var rewritten = regexp.MustCompile(`; (\d+) rewrites?`)

// With a history that must be rewritten several times, the provider's prompt cache misses at the rewrites alone, and the
// prompts cost less than without thresh. The share of cached tokens is no measure of that: a request that has become
// short has a smaller share in the cache, and costs less.
func TestThePromptCacheStaysWarm(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		once := func(flags ...string) (account, int) {
			p := newPlace(t)
			up := modelapi.New(modelapi.Options{Script: modelapi.NewsFix(30), Dir: p.project})
			defer up.Close()
			e := p.run(t, c, up.URL, flags...)
			e.check(t, p, up)
			rewrites := 0
			if m := rewritten.FindStringSubmatch(e.lastLine()); m != nil {
				rewrites, _ = strconv.Atoi(m[1])
			}
			t.Log(e.lastLine())
			return accountOf(up), rewrites
		}
		without, _ := once("wrap", "--dry-run")
		settings := small(c)
		delete(settings, "compression.density.cadence")
		with, rewrites := once(flags(settings, "wrap")...)
		t.Logf("without: %v\nwith:    %v, %d rewrites", without, with, rewrites)
		if rewrites < 2 && !c.continued && !c.cuts {
			t.Errorf("%d rewrites test nothing", rewrites)
		}
		if with.misses > without.misses+rewrites || with.paid > without.paid {
			t.Error("the cache serves less")
		}
	})
}
