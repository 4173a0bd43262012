package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// outcome is what a fault comes to if it happens at every attempt.
type outcome struct {
	Kind      error
	Retryable bool
	Attempts  int
	Status    int
}

// What a provider reported of an answer that then broke off is paid for, whether or not a later attempt succeeds.
func TestAttemptsThatFailAreCountedToo(t *testing.T) {
	used := modelapi.Usage{Input: 1000, Output: 10}
	cut := modelapi.Reply{Fault: modelapi.FaultCut, Text: "half of", Usage: used}
	for name, c := range map[string]struct {
		replies []modelapi.Reply
		fails   bool
		input   int
	}{
		"at last it succeeds": {[]modelapi.Reply{cut, cut, {Text: "all of it", Usage: used}}, false, 3000},
		"all fail":            {[]modelapi.Reply{cut, cut, cut, cut}, true, 4000},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t, config.KindAnthropic, modelapi.Options{}, func(p *llm.Profile) { p.Prices.Input = new(1000.0) })
			b.server.Queue(c.replies...)
			got, err := b.ask(t)
			if (err != nil) != c.fails || got.InputTokens != c.input || got.CostUSD != float64(c.input)/1000 {
				t.Errorf("%d tokens, %v USD, %v", got.InputTokens, got.CostUSD, err)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	status := func(code int, kind, word string) modelapi.Reply {
		r := modelapi.Fail(code)
		r.Type, r.Code = kind, word
		return r
	}
	header := func(r modelapi.Reply, name, value string) modelapi.Reply {
		r.Header = http.Header{name: {value}}
		return r
	}
	cases := map[string]struct {
		reply modelapi.Reply
		want  outcome
		says  string
	}{
		"400": {modelapi.Fail(400), outcome{nil, false, 1, 400},
			"400 Bad Request (invalid_request_error): The request is not valid."},
		"401": {modelapi.Fail(401), outcome{llm.ErrUnauthorized, false, 1, 401},
			"check the key in the environment variable THE_KEY"},
		"402": {modelapi.Fail(402), outcome{nil, false, 1, 402}, "Your balance is too low."},
		"403": {modelapi.Fail(403), outcome{llm.ErrUnauthorized, false, 1, 403}, "no permission"},
		"404 of the model": {modelapi.Fail(404), outcome{llm.ErrModelNotFound, false, 1, 404},
			"check profiles.p.provider.model"},
		"404 of the path": {modelapi.Reply{Status: 404, Type: "x",
			Message: "page not found"}, outcome{nil, false, 1, 404}, "check profiles.p.provider.baseURL"},
		"408": {modelapi.Fail(408), outcome{nil, true, 4, 408}, "408 Request Timeout"},
		"409": {modelapi.Fail(409), outcome{nil, true, 4, 409}, "409 Conflict"},
		"413, which is about bytes": {modelapi.Fail(413), outcome{llm.ErrTooLarge, false, 1, 413},
			"413 Request Entity Too Large (request_too_large): Request exceeds the maximum size."},
		"429": {modelapi.RateLimited(0), outcome{llm.ErrRateLimited, true, 4, 429},
			"Rate limit reached.; tried 4 times"},
		"429, quota spent": {status(429, "insufficient_quota", "insufficient_quota"),
			outcome{llm.ErrRateLimited, false, 1, 429}, "429 Too Many Requests (insufficient_quota)"},
		"500": {modelapi.Fail(500), outcome{nil, true, 4, 500}, "500 Internal Server Error"},
		"501": {modelapi.Fail(501), outcome{nil, false, 1, 501}, "501 Not Implemented"},
		"502": {modelapi.Fail(502), outcome{nil, true, 4, 502}, "502 Bad Gateway"},
		"503": {modelapi.Fail(503), outcome{nil, true, 4, 503}, "503 Service Unavailable"},
		"504": {modelapi.Fail(504), outcome{nil, true, 4, 504}, "504 Gateway Timeout"},
		"529": {modelapi.Fail(529), outcome{nil, true, 4, 529}, "529 (overloaded_error): Overloaded."},
		"500, do not retry": {header(modelapi.Fail(500), "X-Should-Retry", "false"), outcome{nil, false, 1, 500},
			"500"},
		"400, do retry": {header(modelapi.Fail(400), "X-Should-Retry", "true"), outcome{nil, true, 4, 400}, "400"},
		"a long wait": {modelapi.RateLimited(300 * time.Second), outcome{llm.ErrRateLimited, true, 1, 429},
			"it asked to wait 5m0s, more than the 1m0s that a call waits"},
		"a redirect": {header(modelapi.Fail(307), "Location", "https://elsewhere.example/v1"),
			outcome{nil, false, 1, 307}, "the server redirects to https://elsewhere.example/v1, which is not followed"},
		"cut": {modelapi.Reply{Fault: modelapi.FaultCut, Text: "half of"},
			outcome{llm.ErrIncomplete, true, 4, 0}, "the stream ended without a finish reason"},
		"reset": {modelapi.Reply{Fault: modelapi.FaultReset, Text: "half of"},
			outcome{llm.ErrIncomplete, true, 4, 0}, "the connection broke"},
		"overload in stream": {modelapi.Reply{Fault: modelapi.FaultInStream, Status: 529, Text: "half of"},
			outcome{nil, true, 4, 529}, "Overloaded."},
		"rate in stream": {modelapi.Reply{Fault: modelapi.FaultInStream, Status: 429, Text: "half of"},
			outcome{llm.ErrRateLimited, true, 4, 429}, "Rate limit reached."},
		"refusal in stream": {modelapi.Reply{Fault: modelapi.FaultInStream, Status: 400, Text: "half of"},
			outcome{nil, false, 1, 400}, "The request is not valid."},
		"unknown in stream": {modelapi.Reply{Fault: modelapi.FaultInStream, Type: "strange", Message: "so it goes"},
			outcome{llm.ErrIncomplete, true, 4, 0}, "so it goes"},
		"a web page": {modelapi.Reply{Fault: modelapi.FaultGarbage, Text: "<html>\n\x1b[31mWelcome\x00"},
			outcome{llm.ErrProtocol, false, 1, 0}, `received "<html> [31mWelcome"; check profiles.p.provider.baseURL`},
		"no JSON": {modelapi.Reply{Fault: modelapi.FaultGarbled, Text: "{not json"},
			outcome{llm.ErrProtocol, false, 1, 0}, "{not json"},
		"endless": {modelapi.Reply{Fault: modelapi.FaultEndless, Text: strings.Repeat("on and on ", 500)},
			outcome{llm.ErrTooLong, false, 1, 0}, "the server ignores the token limit"},
		"endless thinking": {modelapi.Reply{Thinking: strings.Repeat("hm ", 3<<20), Chunk: 64 << 10, Text: "x"},
			outcome{llm.ErrTooLong, false, 1, 0}, "the server ignores the token limit"},
		"too long, in words": {modelapi.Reply{Status: 400,
			Message: "the request exceeds the available context size, try increasing it"},
			outcome{llm.ErrContextExceeded, false, 1, 400}, "available context size"},
	}
	for name, c := range cases {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{}, nil)
				b.server.Queue(c.reply, c.reply, c.reply, c.reply)
				_, err := b.Generate(t.Context(), question(),
					func(string) { t.Error("text of an attempt that failed") })
				e := failed(t, err)
				if diff := cmp.Diff(outcome{nil, c.want.Retryable, c.want.Attempts, c.want.Status},
					outcome{nil, e.Retryable, e.Attempts, e.Status}); diff != "" {
					t.Error(diff)
				}
				if c.want.Kind != nil && !errors.Is(err, c.want.Kind) {
					t.Errorf("not %v", c.want.Kind)
				}
				if !strings.HasPrefix(err.Error(), "profile p ("+kind+", model m): ") ||
					!strings.Contains(err.Error(), c.says) {
					t.Errorf("it says: %s\n    want: %s", err, c.says)
				}
				if got := len(b.server.Requests()); got != c.want.Attempts {
					t.Errorf("%d requests", got)
				}
			})
		}
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for name, first := range map[string]modelapi.Reply{
		"429":            modelapi.RateLimited(2 * time.Second),
		"529":            modelapi.Fail(529),
		"cut":            {Fault: modelapi.FaultCut, Text: "half of "},
		"reset":          {Fault: modelapi.FaultReset, Text: "half of "},
		"error in there": {Fault: modelapi.FaultInStream, Status: 529, Text: "half of "},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{}, nil)
				b.server.Queue(first, first, modelapi.Reply{Text: "the whole"})
				var heard []string
				got, err := b.Generate(t.Context(), question(), func(text string) { heard = append(heard, text) })
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"the whole"}, heard); diff != "" || got.Text != "the whole" ||
					got.Attempts != 3 || len(b.waits) != 2 {
					t.Errorf("%+v, heard %q, waited %v", got, heard, b.waits)
				}
			})
		}
	}
}

func TestTheProviderSaysHowLongToWait(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"seconds":      {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"fractions":    {http.Header{"Retry-After": {"0.25"}}, 250 * time.Millisecond},
		"milliseconds": {http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		"a date": {http.Header{"Retry-After": {now.Add(20 * time.Second).Format(http.TimeFormat)}},
			20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t, config.KindOpenAI, modelapi.Options{}, func(p *llm.Profile) { p.Timeout = 0 })
			b.SetNow(func() time.Time { return now })
			r := modelapi.Fail(429)
			r.Header = c.header
			b.server.Queue(r)
			if _, err := b.ask(t); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]time.Duration{c.want}, b.waits); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, h := range map[string]http.Header{
		"nothing": {}, "words": {"Retry-After": {"soon"}}, "a negative number": {"Retry-After": {"-1"}},
		"no number": {"Retry-After": {"NaN"}},
	} {
		if d := llm.RetryAfter(h, now); d != 0 {
			t.Errorf("%s: %s", name, d)
		}
	}
	if d := llm.RetryAfter(http.Header{"Retry-After": {"1e300"}}, now); d <= llm.MaxWait {
		t.Errorf("for ever: %s", d)
	}
}

func TestBackoff(t *testing.T) {
	for attempts, most := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 3: 2 * time.Second,
		5: 8 * time.Second, 6: 8 * time.Second, 1000: 8 * time.Second} {
		for range 50 {
			if d := llm.Backoff(attempts); d < most/2 || d > most {
				t.Errorf("after %d attempts %s", attempts, d)
			}
		}
	}
}

func TestAWaitThatIsLongerThanTheCall(t *testing.T) {
	b := setUp(t, config.KindAnthropic, modelapi.Options{}, func(p *llm.Profile) { p.Timeout = 10 * time.Second })
	b.server.Queue(modelapi.RateLimited(30 * time.Second))
	_, err := b.ask(t)
	if e := failed(t, err); e.RetryAfter != 30*time.Second || !e.Retryable || e.Attempts != 1 || len(b.waits) > 0 ||
		!strings.Contains(err.Error(), "the next attempt would be in 30s, when the call's time is over") {
		t.Errorf("%+v, waited %v", e, b.waits)
	}
}

func TestCancellationWhileWaiting(t *testing.T) {
	b := setUp(t, config.KindOpenAI, modelapi.Options{}, nil)
	b.server.Queue(modelapi.Fail(529))
	ctx, cancel := context.WithCancel(t.Context())
	b.SetSleep(func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	})
	_, err := b.Generate(ctx, question(), nil)
	if !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(),
		"canceled by the caller; before that: Overloaded.") {
		t.Error(err)
	}
}

func TestSilence(t *testing.T) {
	for fault, want := range map[modelapi.Fault]error{modelapi.FaultHang: llm.ErrUnreachable,
		modelapi.FaultStall: llm.ErrIncomplete} {
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("%s/%s", fault, kind), func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{},
					func(p *llm.Profile) { p.IdleTimeout, p.Retries = 50*time.Millisecond, 1 })
				silent := modelapi.Reply{Fault: fault, Text: "half of"}
				b.server.Queue(silent, silent)
				_, err := b.ask(t)
				if e := failed(t, err); !errors.Is(err, want) || !e.Retryable || e.Attempts != 2 ||
					!strings.Contains(err.Error(),
						"nothing arrived for 50ms; profiles.p.provider.idleTimeout sets that time") {
					t.Errorf("%+v", e)
				}
				for _, call := range b.server.Requests() {
					if !call.Cancelled() {
						t.Error("the server still waits")
					}
				}
			})
		}
	}
}

// A server that says a little all the time is not silent, but its time ends too.
func TestTheWholeCallHasATime(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			b := setUp(t, kind, modelapi.Options{}, func(p *llm.Profile) { p.Timeout = 100 * time.Millisecond })
			b.server.Queue(modelapi.Reply{Fault: modelapi.FaultEndless, Text: "x", Pace: time.Millisecond})
			_, err := b.ask(t)
			if e := failed(t, err); !errors.Is(err, context.DeadlineExceeded) || !e.Retryable ||
				!strings.Contains(err.Error(),
					"there was no complete answer within 100ms; profiles.p.provider.timeout sets that time") {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			b := setUp(t, kind, modelapi.Options{}, nil)
			b.server.Close()
			_, err := b.ask(t)
			if e := failed(t, err); !errors.Is(err, llm.ErrUnreachable) || !e.Retryable || e.Attempts != 4 ||
				!strings.Contains(err.Error(), "connection refused") ||
				!strings.Contains(err.Error(), "check profiles.p.provider.baseURL") {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestWhatTheServerItselfRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		options modelapi.Options
		kind    error
		says    string
	}{
		"the key":   {modelapi.Options{Key: "another"}, llm.ErrUnauthorized, "THE_KEY"},
		"the model": {modelapi.Options{Models: []string{"n"}}, llm.ErrModelNotFound, "profiles.p.provider.model"},
		"the prompt": {modelapi.Options{ContextLimit: 2}, llm.ErrContextExceeded,
			"set profiles.p.provider.contextLimit to what the model has"},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, c.options, nil)
				_, err := b.ask(t)
				if e := failed(t, err); !errors.Is(err, c.kind) || e.Retryable || e.Attempts != 1 ||
					!strings.Contains(err.Error(), c.says) {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}
