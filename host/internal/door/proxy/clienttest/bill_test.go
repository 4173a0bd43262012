package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// account is what the provider counted of an agent's requests, in tokens.
type account struct {
	prompts, cached int
	// paid is what the prompts cost, in tokens that are not cached: reading the cache costs a tenth, writing a quarter
	// more, where it is paid for. bill is that in US dollars, by the price list of the model; 0 if there is none.
	paid, bill float64
	// misses are the requests that did not find all in the cache that the one before had left there.
	misses int
}

func accountOf(t *testing.T, requests []*modelapi.Request) (a account) {
	t.Helper()
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, r := range modelapi.Answered(requests) {
		a.prompts, a.cached = a.prompts+r.Tokens, a.cached+r.Cached
		a.paid += float64(r.Tokens-r.Cached-r.Written) + 0.1*float64(r.Cached) + 1.25*float64(r.Written)
		if list := catalog.ForModel(model(r)); list != nil {
			a.bill += (float64(r.Tokens-r.Cached-r.Written)*list.Input + float64(r.Cached)*list.Read() +
				float64(r.Written)*list.Write()) / 1e6
		}
		if r.Cached < left {
			a.misses++
		}
		if left = r.Cached + r.Written; r.Written == 0 { // a cache without markers keeps whole prompts
			left = r.Tokens
		}
	}
	return a
}

// model is what a request asks for; Gemini's has it in the address.
func model(r *modelapi.Request) string {
	var body struct{ Model string }
	_ = json.Unmarshal(r.Body, &body)
	_, path, _ := strings.Cut(r.Path, "/models/")
	path, _, _ = strings.Cut(path, ":")
	return cmp.Or(body.Model, path)
}

func (a account) String() string {
	return fmt.Sprintf("%d tokens, %.1f %% cached, paid as %.0f ($%.3f), %d misses", a.prompts,
		100*float64(a.cached)/float64(max(1, a.prompts)), a.paid, a.bill, a.misses)
}

// checkBill fails the test unless the provider's prompt cache misses at rewrites alone, the prompts cost less than the
// agent's own would have cost, and the proxy's totals say how much. The share of cached tokens is no measure of that: a
// request that has become short has a smaller share in the cache, and costs less.
func checkBill(t *testing.T, without, with account, totals proxy.Totals) {
	t.Helper()
	t.Logf("%d rewrites, $%.3f saved\nwithout: %v\nwith:    %v", totals.Rewrites, totals.Saved, without, with)
	if totals.Rewrites < 2 {
		t.Errorf("%d rewrites test nothing", totals.Rewrites)
	}
	if with.misses > without.misses+totals.Rewrites || with.paid > without.paid {
		t.Error("the cache serves less")
	}
	if with.bill == 0 {
		return
	}
	// Tokens are the host's count, and this provider counts bytes; money is the provider's, to half a cent.
	for what, of := range map[string][4]float64{
		"tokens not sent": {float64(totals.Whole - totals.Sent), float64(without.prompts - with.prompts), 0.1, 0},
		"money":           {totals.Saved, without.bill - with.bill, 0.05, 0.005},
	} {
		if math.Abs(of[0]-of[1]) > of[2]*of[1]+of[3] {
			t.Errorf("%s: the totals say %g, the provider %g", what, of[0], of[1])
		}
	}
}
