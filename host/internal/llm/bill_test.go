package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// ledger counts what is booked and what it comes to. limit is how many requests may be sent.
type ledger struct {
	booked, settled []float64
	limit           int
}

var errPoor = errors.New("no money")

func (l *ledger) book(_ context.Context, usd float64) (func(float64), error) {
	if len(l.booked) == l.limit {
		return nil, errPoor
	}
	i := len(l.booked)
	l.booked, l.settled = append(l.booked, usd), append(l.settled, -1)
	return func(usd float64) { l.settled[i] = usd }, nil
}

// Each request that is sent was booked, with the host's count of the prompt and the longest answer. What it comes to is
// that again, unless the provider reports something plausible or certainly did nothing.
func TestWhatRequestsComeTo(t *testing.T) {
	// The prompt has about 2,000 tokens at a dollar each, and an answer 1,000 of ten dollars.
	const own, longest = 2000, 1000 * 10
	text := strings.Repeat(" word", own)
	report := func(kind, prompt, output string) json.RawMessage {
		form := `{"prompt_tokens":%s,"completion_tokens":%s}`
		if kind == config.KindAnthropic {
			form = `{"input_tokens":%s,"output_tokens":%s}`
		}
		return json.RawMessage(fmt.Sprintf(form, prompt, output))
	}
	says := func(prompt, output string) func(string) modelapi.Reply {
		return func(kind string) modelapi.Reply {
			return modelapi.Reply{Text: "a short answer", Report: report(kind, prompt, output)}
		}
	}
	always := func(r modelapi.Reply) func(string) modelapi.Reply { return func(string) modelapi.Reply { return r } }
	cut := func(kind string) modelapi.Reply {
		return modelapi.Reply{Text: "a short", Fault: modelapi.FaultCut, Report: report(kind, "3000", "2")}
	}
	const estimate = -1.0 // stands for what was booked
	both := func(usd float64) map[string]float64 {
		return map[string]float64{config.KindOpenAI: usd, config.KindAnthropic: usd}
	}
	for name, c := range map[string]struct {
		reply    func(kind string) modelapi.Reply
		want     map[string]float64
		requests int
	}{
		"a report":               {says("1500", "10"), both(1500 + 100), 1},
		"a low one":              {says("600", "10"), both(600 + 100), 1},
		"a high one":             {says("7000", "1000"), both(7000 + longest), 1},
		"none":                   {always(modelapi.Reply{Text: "x", Report: json.RawMessage("null")}), both(estimate), 1},
		"nothing":                {says("0", "0"), both(estimate), 1},
		"less than nothing":      {says("-1500", "-10"), both(estimate), 1},
		"words":                  {says(`"many"`, `"few"`), both(estimate), 1},
		"too little":             {says("10", "10"), both(estimate), 1},
		"too much":               {says("20000", "10"), both(estimate), 1},
		"far too much":           {says("1e18", "1e18"), both(estimate), 1},
		"more than was allowed":  {says("1500", "1001"), both(1500 + longest), 1},
		"less than was answered": {says("1500", "0"), both(1500 + longest), 1},
		// OpenAI reports only behind the end.
		"cut":               {cut, map[string]float64{config.KindOpenAI: estimate, config.KindAnthropic: 3000 + longest}, 2},
		"silence":           {always(modelapi.Reply{Fault: modelapi.FaultHang}), both(estimate), 2},
		"refused":           {always(modelapi.Fail(529)), both(0), 2},
		"refused for good":  {always(modelapi.Fail(400)), both(0), 1},
		"a gateway gave up": {always(modelapi.Fail(504)), both(estimate), 2},
		"a page":            {always(modelapi.Reply{Text: "<html>", Fault: modelapi.FaultGarbage}), both(estimate), 1},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{Reply: modelapi.Always(c.reply(kind))}, func(p *llm.Profile) {
					p.Prices = config.Prices{Input: new(1e6), Output: new(10e6)}
					p.IdleTimeout, p.Retries = 50*time.Millisecond, 1
				})
				l := &ledger{limit: math.MaxInt}
				got, _ := b.Generate(t.Context(), llm.Request{Book: l.book,
					Messages: []llm.Message{{Role: llm.User, Text: text}}}, nil)
				sum := 0.0
				for i, booked := range l.booked {
					if math.Abs(booked-own-longest) > own/10 {
						t.Errorf("booked %v", booked)
					}
					want := c.want[kind]
					if want == estimate {
						want = booked
					}
					if math.Abs(l.settled[i]-want) > 1e-6 {
						t.Errorf("request %d of %v comes to %v, want %v", i, booked, l.settled[i], want)
					}
					sum += l.settled[i]
				}
				if n := len(b.server.Requests()); n != c.requests || len(l.booked) != n || math.Abs(got.CostUSD-sum) > 1e-6 {
					t.Errorf("%d requests, %d booked for %v, the result says %v", n, len(l.booked), sum, got.CostUSD)
				}
			})
		}
	}
}

// What is not sent costs nothing, and nothing is sent that is not booked: neither the first request nor a retry.
func TestNothingIsSentUnbooked(t *testing.T) {
	for _, kind := range kinds {
		for limit := range 2 {
			b := setUp(t, kind, modelapi.Options{Reply: modelapi.Always(modelapi.Fail(529))}, nil)
			l := &ledger{limit: limit}
			r := question()
			r.Book = l.book
			_, err := b.Generate(t.Context(), r, nil)
			if n := len(b.server.Requests()); !errors.Is(err, errPoor) || n != limit || failed(t, err).Attempts != n ||
				limit > 0 != strings.Contains(err.Error(), "before that: Overloaded.") {
				t.Errorf("%s: %d requests of %d, %v", kind, n, limit, err)
			}
		}
		b := setUp(t, kind, modelapi.Options{}, func(p *llm.Profile) { p.Prices.Output = new(1.0) })
		l := &ledger{limit: math.MaxInt}
		r := question()
		r.Book = l.book
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if _, err := b.Generate(ctx, r, nil); err == nil || l.booked[0] == 0 || l.settled[0] != 0 {
			t.Errorf("%s, given up before: %v, %+v", kind, err, l)
		}
		b.server.Close()
		if _, err := b.Generate(t.Context(), r, nil); err == nil || len(l.settled) != 5 || l.settled[4] != 0 {
			t.Errorf("%s, nobody listens: %v, %+v", kind, err, l)
		}
		unpriced := setUp(t, kind, modelapi.Options{}, nil)
		if _, err := unpriced.Generate(t.Context(), r, nil); err != nil || !math.IsInf(l.booked[5], 1) {
			t.Errorf("%s, no prices: %v, %+v", kind, err, l)
		}
	}
}
