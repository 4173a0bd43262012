package compare_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Doing nothing costs what was billed for the recorded requests, whatever decides about their prices.
func TestARecordingIsBilledByItsTariffs(t *testing.T) {
	list := pricing.List{Name: "m", Models: []string{"m"}, Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5, Fast: 2,
		Over: []pricing.Over{{Tokens: 1000, Rates: pricing.Rates{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 7.5}}},
		From: []pricing.From{
			{Rates: pricing.Rates{Input: 10, CacheRead: 1, CacheWrite: 12.5, Output: 50}},
			{Day: "2026-02-01", Rates: pricing.Rates{Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5},
				Over: []pricing.Over{{Tokens: 1000, Rates: pricing.Rates{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 7.5}}}},
		}}
	const usage = `"input_tokens":100,"cache_read_input_tokens":%[2]d,"cache_creation_input_tokens":200,"output_tokens":10`
	for name, c := range map[string]struct {
		read  int
		more  string // of the usage
		day   string
		wants float64 // USD for a million requests
	}{
		"a short prompt":        {500, ``, "2026-03-01", 100 + 50 + 250 + 50},
		"at the bound":          {700, ``, "2026-03-01", 100 + 70 + 250 + 50},
		"over it":               {701, ``, "2026-03-01", 200 + 140.2 + 500 + 75},
		"fast":                  {500, `,"speed":"fast"`, "2026-03-01", 2 * (100 + 50 + 250 + 50)},
		"fast and over it":      {701, `,"speed":"fast"`, "2026-03-01", 2 * (200 + 140.2 + 500 + 75)},
		"at ordinary speed":     {500, `,"speed":"standard"`, "2026-03-01", 100 + 50 + 250 + 50},
		"on an earlier day":     {500, ``, "2026-01-31", 1000 + 500 + 2500 + 500},
		"a cost that is stated": {500, `,"cost":0.0035`, "2026-03-01", 3500},
		"no cost":               {500, `,"cost":0`, "2026-03-01", 100 + 50 + 250 + 50},
	} {
		tr, err := transcript.Read(strings.NewReader(fmt.Sprintf(`
{"speaker":"human","blocks":[{"type":"text","text":"go"}],"metadata":{"timestamp":"%[1]sT11:59:00Z"}}
{"speaker":"ai","blocks":[{"type":"text","text":"yes"}],"metadata":{"model":"m","timestamp":"%[1]sT12:00:00Z","usage":{`+usage+`%[3]s}}}
`, c.day, c.read, c.more)), transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, open(t, nil), compare.Options{
			Sessions: []compare.Session{{Name: "s", Transcript: tr}}, Variants: []compare.Variant{idle},
			Prices: []*pricing.List{&list}, PriceOf: func(string) *pricing.List { return &list },
		})
		for of, usd := range map[string]float64{"nothing": r.Totals.Nothing.Costs[0].USD, "idle": r.Totals.Variants[0].Costs[0].USD} {
			if math.Abs(usd-c.wants/1e6) > 1e-9 {
				t.Errorf("%s: %s costs %g USD, want %g", name, of, usd, c.wants/1e6)
			}
		}
	}
}

// What a recorder counts as nothing was nothing: no cache is made up where the provider read none.
func TestACacheThatWasNotReadIsNotAssumed(t *testing.T) {
	list := pricing.List{Name: "m", Models: []string{"m"}, Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5}
	for name, c := range map[string]struct {
		first, second string // usage
		wants         float64
	}{
		"nothing was cached": {`"input":1000,"output":10,"cached":0`, `"input":1100,"output":10,"cached":0`, 2100 + 100},
		"nothing was written": {`"input_tokens":1000,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":10`,
			`"input_tokens":300,"cache_read_input_tokens":800,"cache_creation_input_tokens":0,"output_tokens":10`, 1300 + 80 + 100},
		// What is read again is then estimated.
		"it is not said": {`"prompt_tokens":1000,"completion_tokens":10`, `"prompt_tokens":1100,"completion_tokens":10`,
			1250 + 100 + 125 + 100},
	} {
		tr, err := transcript.Read(strings.NewReader(fmt.Sprintf(`
{"speaker":"human","blocks":[{"type":"text","text":"go"}],"metadata":{"timestamp":"2026-03-01T11:59:00Z"}}
{"speaker":"ai","blocks":[{"type":"text","text":"yes"}],"metadata":{"model":"m","timestamp":"2026-03-01T12:00:00Z","usage":{%s}}}
{"speaker":"human","blocks":[{"type":"text","text":"and"}],"metadata":{"timestamp":"2026-03-01T12:00:01Z"}}
{"speaker":"ai","blocks":[{"type":"text","text":"no"}],"metadata":{"model":"m","timestamp":"2026-03-01T12:00:02Z","usage":{%s}}}
`, c.first, c.second)), transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, open(t, nil), compare.Options{
			Sessions: []compare.Session{{Name: "s", Transcript: tr}}, Variants: []compare.Variant{idle},
			Prices: []*pricing.List{&list}, PriceOf: func(string) *pricing.List { return &list },
		})
		if usd := r.Totals.Nothing.Costs[0].USD; math.Abs(usd-c.wants/1e6) > 1e-9 {
			t.Errorf("%s: %g USD, want %g", name, usd, c.wants/1e6)
		}
	}
}
