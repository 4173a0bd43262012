package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

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

func accountOf(t *testing.T, up *modelapi.Server) (a account) {
	t.Helper()
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, r := range up.Models() {
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

// said is what the last line of thresh wrap says, in tokens and US dollars.
func said(t *testing.T, line string) (saved int, money float64) {
	t.Helper()
	m := regexp.MustCompile(`([0-9,]+) of [0-9,]+ prompt tokens not sent .*\$([0-9.]+) net`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("no savings in %q", line)
	}
	saved, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	money, _ = strconv.ParseFloat(m[2], 64)
	return saved, money
}

var rewritten = regexp.MustCompile(`; (\d+) rewrites?`)

// With a history that must be rewritten several times, the provider's prompt cache misses at the rewrites alone, and
// the prompts cost less than without thresh. The share of cached tokens is no measure of that: a request that has
// become short has a smaller share in the cache, and costs less.
func TestThePromptCacheStaysWarm(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		once := func(flags ...string) (a account, rewrites int, line string) {
			p := newPlace(t)
			up := modelapi.New(modelapi.Options{Script: modelapi.NewsFix(30), Dir: p.project})
			defer up.Close()
			e := p.run(t, c, up.URL, flags...)
			e.check(t, p, up)
			if m := rewritten.FindStringSubmatch(e.lastLine()); m != nil {
				rewrites, _ = strconv.Atoi(m[1])
			}
			return accountOf(t, up), rewrites, e.lastLine()
		}
		without, _, _ := once("wrap", "--dry-run")
		settings := small(c)
		delete(settings, "compression.density.cadence")
		with, rewrites, line := once(flags(settings, "wrap")...)
		t.Logf("without: %v\nwith:    %v\n%s", without, with, line)
		if rewrites < 2 && !c.continued {
			t.Errorf("%d rewrites test nothing", rewrites)
		}
		if with.misses > without.misses+rewrites || with.paid > without.paid {
			t.Error("the cache serves less")
		}
		if with.bill == 0 || c.continued {
			return
		}
		saved, money := said(t, line)
		// Tokens are the host's count, and this provider counts bytes; money is the provider's. The line has whole cents.
		for what, of := range map[string][4]float64{
			"tokens not sent": {float64(saved), float64(without.prompts - with.prompts), 0.1, 0},
			"money":           {money, without.bill - with.bill, 0.05, 0.005},
		} {
			if math.Abs(of[0]-of[1]) > of[2]*of[1]+of[3] {
				t.Errorf("%s: the last line says %g, the provider %g", what, of[0], of[1])
			}
		}
	})
}
