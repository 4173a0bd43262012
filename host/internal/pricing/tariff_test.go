package pricing_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// What a request of each kind costs, in USD per million tokens: input, cacheRead, cacheWrite, that for an hour, output.
func TestTheTariffOfARequest(t *testing.T) {
	c, err := load(t, own)
	if err != nil {
		t.Fatal(err)
	}
	day := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, x := range []struct {
		list  string
		terms pricing.Terms
		want  [5]float64
	}{
		{"tariffs", pricing.Terms{}, [5]float64{0.5, 0.05, 0.625, 1, 3}}, // today
		{"tariffs", pricing.Terms{Tokens: 5000}, [5]float64{0.5, 0.05, 0.625, 1, 3}},
		{"tariffs", pricing.Terms{Fast: true}, [5]float64{1, 0.1, 1.25, 2, 6}},
		{"tariffs", pricing.Terms{At: day("2026-01-31T23:59:59Z")}, [5]float64{1, 0.1, 1.25, 2, 5}},
		{"tariffs", pricing.Terms{At: day("2026-02-01T00:00:00Z")}, [5]float64{0.5, 0.05, 0.625, 1, 3}},
		{"tariffs", pricing.Terms{At: day("2026-01-31T23:00:00-02:00")}, [5]float64{0.5, 0.05, 0.625, 1, 3}},
		{"tariffs", pricing.Terms{At: day("2026-01-01T00:00:00Z"), Tokens: 1000}, [5]float64{1, 0.1, 1.25, 2, 5}},
		{"tariffs", pricing.Terms{At: day("2026-01-01T00:00:00Z"), Tokens: 1001}, [5]float64{2, 0.2, 2.5, 4, 7.5}},
		{"tariffs", pricing.Terms{At: day("2026-01-01T00:00:00Z"), Tokens: 1001, Fast: true}, [5]float64{4, 0.4, 5, 8, 15}},
		{"tariffs-1h", pricing.Terms{At: day("2026-01-01T00:00:00Z"), Tokens: 1001}, [5]float64{2, 0.2, 4, 4, 7.5}},
		{"local", pricing.Terms{Tokens: 1 << 30, Fast: true, At: day("2020-01-01T00:00:00Z")}, [5]float64{}},

		{"openai-gpt-6.1-sol", pricing.Terms{Tokens: 272_000}, [5]float64{2, 0.1, 2.5, 2.5, 10}},
		{"openai-gpt-6.1-sol", pricing.Terms{Tokens: 272_001}, [5]float64{4, 0.2, 5, 5, 15}},
		{"openai-gpt-5.6-sol", pricing.Terms{At: day("2026-08-20T12:00:00Z")}, [5]float64{5, 0.5, 6.25, 6.25, 30}},
		{"openai-gpt-5.6-sol", pricing.Terms{At: day("2026-08-21T12:00:00Z")}, [5]float64{4, 0.4, 5, 5, 20}},
		{"anthropic-sonnet", pricing.Terms{Tokens: 300_000}, [5]float64{3, 0.3, 3.75, 6, 15}},
		{"anthropic-sonnet", pricing.Terms{Tokens: 300_000, At: day("2026-03-01T00:00:00Z")},
			[5]float64{6, 0.6, 7.5, 12, 22.5}},
		{"anthropic-haiku-5.5", pricing.Terms{Tokens: 100_001}, [5]float64{0.5, 0.05, 0.625, 1, 2.5}},
		{"anthropic-fable-5.2", pricing.Terms{Fast: true}, [5]float64{16, 0.4, 20, 32, 80}},
		{"anthropic-sonnet-5.5", pricing.Terms{At: day("2026-10-06T00:00:00Z")}, [5]float64{2, 0.2, 2.5, 4, 10}},
		{"gemini-2.5-pro", pricing.Terms{Tokens: 200_001}, [5]float64{2.5, 0.25, 2.5, 2.5, 15}},
	} {
		l, err := c.Named(x.list)
		if x.list == "anthropic-sonnet" { // not one's own
			l, err = shipped(t).Named(x.list)
		}
		if err != nil {
			t.Fatal(err)
		}
		f := l.For(x.terms)
		got := [5]float64{f.Input, f.CacheRead, f.Write(), f.ForHour().Write(), f.Output}
		for i := range got {
			if math.Abs(got[i]-x.want[i]) > 1e-9 {
				t.Errorf("%s, %+v: %v, want %v", x.list, x.terms, got, x.want)
				break
			}
		}
		if again := f.For(pricing.Terms{Tokens: x.terms.Tokens, Fast: x.terms.Fast}); again.Input != f.Input {
			t.Errorf("%s, %+v: twice is %g, not %g", x.list, x.terms, again.Input, f.Input)
		}
	}
}

// Gateways sell a model's fast mode as a model of its own, which a list is found for by its name and by the model's.
func TestTheFastModeOfAModelHasItsPrice(t *testing.T) {
	c := shipped(t)
	for model, want := range map[string]struct {
		list          string
		input, output float64
	}{
		"anthropic/claude-opus-4.8-fast": {"anthropic-opus-4-8-fast", 10, 50},
		"openai/gpt-6-astra-fast":        {"openai-gpt-6-astra-fast", 20, 100},
		"grok-code-fast":                 {"grok-code-fast-1", 0.2, 1.5}, // its name
	} {
		l := c.ForModel(model)
		if l == nil || l.Name != want.list || l.Input != want.input || l.Output != want.output {
			t.Errorf("%s: %+v", model, l)
		} else if again, err := c.Named(l.Name); again != l || err != nil {
			t.Errorf("%s: %+v, %v", l.Name, again, err)
		}
	}
	if l := c.ForModel("claude-opus-5-fast").ForHour(); l.CacheWrite != 20 {
		t.Errorf("for an hour: %+v", l)
	}
}

// A long prompt costs more as a whole, and so do what is written for an hour and what is saved by staying under the bound.
func TestALongPromptIsPricedAsOne(t *testing.T) {
	l := pricing.List{Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5,
		Over: []pricing.Over{{Tokens: 1000, Rates: pricing.Rates{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 7.5}}}}
	if got := l.Cost(pricing.Prompt{CacheRead: 900, CacheWrite: 100}).USD; math.Abs(got-215e-6) > 1e-12 { // 90 + 125
		t.Errorf("at the bound %g USD", got)
	}
	if got := l.Cost(pricing.Prompt{CacheRead: 900, CacheWrite: 101}).USD; math.Abs(got-432.5e-6) > 1e-12 { // 180 + 252.5
		t.Errorf("over it %g USD", got)
	}
	m := pricing.NewMeter(&l)
	m.Request(pricing.Request{Tokens: 900})
	if got := m.Request(pricing.Request{Stable: 900, Tokens: 1100}).USD; math.Abs(got-680e-6) > 1e-12 { // 180 + 500
		t.Errorf("the meter says %g USD", got)
	}
	ledger := pricing.NewLedger(&l)
	ledger.Request(pricing.Size{Sent: 900, Whole: 900}, 0, time.Time{})
	saved := ledger.Request(pricing.Size{Sent: 900, Whole: 1100}, 900, time.Time{}).Reported(0, 900, 0)
	if want := (180 + 500 - 90) / 1e6; math.Abs(saved-want) > 1e-12 { // 900 read and 200 written, at twice the price
		t.Errorf("%g USD are saved under the bound, want %g", saved, want)
	}
}

// What other catalogues say, as they are published: the same prices in each of their forms.
func TestCataloguesOfOthersAreRead(t *testing.T) {
	const genai = `[{"id":"openai","name":"OpenAI","pricing_urls":["https://example.com"],"models":[
	{"id":"gpt-9","match":{"or":[{"equals":"gpt-9"},{"regex":"^gpt-9-\\d{4}-\\d{2}$"}]},"context_window":9,"prices":[
	 {"prices":{"input_mtok":9,"output_mtok":90}},
	 {"constraint":{"start_date":"2026-01-01"},"prices":{"input_mtok":{"base":2,"tiers":[{"start":272000,"price":4}]},
	  "cache_read_mtok":{"base":0.1,"tiers":[{"start":272000,"price":0.2}]},"cache_write_mtok":2.5,
	  "output_mtok":{"base":10,"tiers":[{"start":272000,"price":15}]}}}]},
	{"id":"free","match":{"equals":"free"},"prices":{}}]},
	{"id":"reseller","models":[{"id":"acme/gpt-9-2026-10","match":{"starts_with":"gpt-9"},"prices":{"input_mtok":1,"output_mtok":1}},
	{"id":"acme/else","match":{"equals":"acme/else"},"prices":{"input_mtok":1,"output_mtok":1}}]}]`
	const litellm = `{"sample_spec":{"input_cost_per_token":"in words","litellm_provider":"one of"},
	"gpt-9":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":2e-6,"output_cost_per_token":1e-5,
	 "cache_read_input_token_cost":1e-7,"cache_creation_input_token_cost":2.5e-6,"input_cost_per_token_priority":4e-6,
	 "input_cost_per_token_above_272k_tokens":4e-6,"output_cost_per_token_above_272k_tokens":1.5e-5,
	 "cache_read_input_token_cost_above_272k_tokens":2e-7},
	"gpt-9-2026-10":{"litellm_provider":"openai","mode":"responses","input_cost_per_token":2e-6,"output_cost_per_token":1e-5,
	 "input_cost_per_token_above_272k_tokens":4e-6,"output_cost_per_token_above_272k_tokens":1.5e-5,
	 "cache_read_input_token_cost":1e-7,"cache_creation_input_token_cost":2.5e-6,"cache_read_input_token_cost_above_272k_tokens":2e-7},
	"cheap/gpt-9":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":1e-6},
	"reseller/acme/else":{"litellm_provider":"reseller","mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":1e-6},
	"an-embedding":{"litellm_provider":"openai","mode":"embedding","input_cost_per_token":1e-6}}`
	const tiers = `"cost":{"input":2,"output":10,"cache_read":0.1,"cache_write":2.5,
	  "tiers":[{"input":4,"output":15,"cache_read":0.2,"cache_write":2.5,"tier":{"type":"context","size":272000}}],
	  "context_over_200k":{"input":9,"output":9}}`
	const modelsDev = `{"aaa":{"id":"aaa","doc":"https://example.com","models":{"gpt-9":{"cost":{"input":1,"output":1}},
	 "acme/else":{"cost":{"input":1,"output":1}}}},
	"openai":{"id":"openai","doc":"https://example.com","models":{"gpt-9":{` + tiers + `,
	 "experimental":{"modes":{"fast":{"cost":{"input":4,"output":20,"cache_read":0.2}}}}},
	 "gpt-9-2026-10":{` + tiers + `},"no-cost":{"limit":{"context":1}}}}}`
	for name, x := range map[string]struct {
		text string
		fast float64 // which genai-prices does not say
	}{"genai": {genai, 0}, "litellm": {litellm, 2}, "modelsDev": {modelsDev, 2}} {
		file := filepath.Join(t.TempDir(), "any name")
		if err := os.WriteFile(file, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := pricing.Load(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, model := range []string{"gpt-9", "openrouter/openai/gpt-9", "gpt-9-2026-10"} {
			l := c.ForModel(model)
			if l == nil {
				t.Errorf("%s: nothing for %s", name, model)
				continue
			}
			bound, dear := l.Dear()
			if l.Input != 2 || l.CacheRead != 0.1 || l.CacheWrite != 2.5 || l.Output != 10 || bound != 272_000 ||
				dear.Input != 4 || dear.CacheRead != 0.2 || dear.CacheWrite != 2.5 || dear.Output != 15 ||
				l.CacheTTL == 0 || l.AsOf == "" || l.Source == "" || model == "gpt-9" && l.Fast != x.fast {
				t.Errorf("%s: %s: %+v", name, model, l)
			}
		}
		if l := c.ForModel("acme/else"); l == nil || l.Input != 1 {
			t.Errorf("%s: what nobody else sells: %+v", name, l)
		}
		if l := c.ForModel("claude-sonnet-5"); l == nil || l.Name != "anthropic-sonnet-5" {
			t.Errorf("%s: the shipped lists are behind it: %+v", name, l)
		}
		for _, none := range []string{"free", "no-cost", "an-embedding", "gpt-9-1"} {
			if l := c.ForModel(none); l != nil && l.Input != 1 {
				t.Errorf("%s: %s has %s", name, none, l.Name)
			}
		}
		out, err := c.YAML() // what was read can be written for one's own file
		if err != nil {
			t.Fatal(err)
		}
		if _, err := load(t, string(out)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsWrongWithACatalogueOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"litellm_provider\": [}": "own.yaml:2: is not JSON of its form: invalid character '}' looking for beginning of value",
		`{"gpt-9":{"litellm_provider":"openai","input_cost_per_token":"2"}}`: `own.yaml: model "gpt-9": cannot unmarshal ` +
			`string into Go value of type float64`,
		`{"gpt-9":{"litellm_provider":"openai","input_cost_per_token":-2}}`: `own.yaml: model "gpt-9": ` +
			`input_cost_per_token is -2: want a price of 0 or more`,
		`[{"id":"a","models":[{"id":"x","prices":{"input_mtok":-1}}]}]`: `own.yaml: model "x": input_mtok is -1: want a price ` +
			`of 0 or more`,
		`{"a":{"models":{"x":{"cost":{"input":-1}}}}}`: `own.yaml: model "a/x": cost.input is -1: want a price of 0 or more`,
		`{"a":{"models":{"x":{"cost":3}}}}`:            `own.yaml: model "a/x": cannot unmarshal number into Go struct field `,
		`{"a":{"models":[{"cost":3}]}}`:                `own.yaml:1: is not JSON of its form: json: cannot unmarshal array into Go `,
	} {
		_, err := load(t, text)
		if err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s:\n%v, want\n%s", text, err, want)
		}
	}
}
