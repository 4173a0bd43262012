package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

func TestGenerate(t *testing.T) {
	cases := map[string]struct {
		reply modelapi.Reply
		want  map[string]llm.Result
	}{
		"text": {
			reply: modelapi.Reply{Text: "Grüße, 世界! " + strings.Repeat("more ", 50), Chunk: 3,
				Usage: modelapi.Usage{Input: 100, Output: 70, Cached: 30, Written: 20}},
			// 100 at 3 + 30 at 0.3 + 20 at 3 (no price of its own) + 70 at 15 dollars for a million.
			want: both(llm.Result{Text: "Grüße, 世界! " + strings.Repeat("more ", 50), InputTokens: 150, OutputTokens: 70,
				CacheRead: 30, CacheWrite: 20, CostUSD: 0.001419}),
		},
		"thinking is no text": {
			reply: modelapi.Reply{Thinking: "hm, let me see", Text: "yes", Usage: modelapi.Usage{Input: 10, Output: 5}},
			want:  both(llm.Result{Text: "yes", InputTokens: 10, OutputTokens: 5, CostUSD: 0.000105}),
		},
		"nothing but thinking": {
			reply: modelapi.Reply{Thinking: strings.Repeat("hm ", 100), Usage: modelapi.Usage{Input: 2, Output: 1}},
			want:  both(llm.Result{InputTokens: 2, OutputTokens: 1, CostUSD: 0.000021}),
		},
		"empty": {
			reply: modelapi.Reply{Usage: modelapi.Usage{Input: 2}},
			want:  both(llm.Result{InputTokens: 2, CostUSD: 0.000006}),
		},
		"cut at the limit": {
			reply: modelapi.Reply{Text: "and then", Finish: "its-word", Model: "m-2026",
				Usage: modelapi.Usage{Input: 2, Output: 2}},
			want: both(llm.Result{Text: "and then", FinishReason: "its-word", Model: "m-2026", InputTokens: 2,
				OutputTokens: 2, CostUSD: 0.000036}),
		},
	}
	for name, c := range cases {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{Reply: modelapi.Always(c.reply)},
					func(p *llm.Profile) {
						p.Prices = config.Prices{Input: new(3.0), Output: new(15.0), CacheRead: new(0.3)}
					})
				var heard []string
				got, err := b.Generate(t.Context(), question(), func(text string) { heard = append(heard, text) })
				if err != nil {
					t.Fatal(err)
				}
				near := cmpopts.EquateApprox(0, 1e-12)
				if diff := cmp.Diff(c.want[kind], got, near,
					cmpopts.IgnoreFields(llm.Result{}, "Duration")); diff != "" {
					t.Error(diff)
				}
				if got.Duration <= 0 {
					t.Errorf("it took %s", got.Duration)
				}
				if strings.Join(heard, "") != got.Text {
					t.Errorf("heard %q", heard)
				}
			})
		}
	}
}

// both fills in what every result has, and each provider's usual word for the end.
func both(r llm.Result) map[string]llm.Result {
	r.Attempts = 1
	if r.Model == "" {
		r.Model = "m"
	}
	openAI, anthropic := r, r
	if r.FinishReason == "" {
		openAI.FinishReason, anthropic.FinishReason = "stop", "end_turn"
	}
	return map[string]llm.Result{config.KindOpenAI: openAI, config.KindAnthropic: anthropic}
}

func TestWhatIsSent(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			// The server judges what the providers judge, so that roles that do not alternate would be an error.
			b := setUp(t, kind, modelapi.Options{Key: secret, Models: []string{"m"}}, nil)
			req := llm.Request{System: "Be <brief> & \"exact\".", MaxOutput: 77, Messages: []llm.Message{
				{Role: llm.User, Text: "one"}, {Role: llm.User, Text: "two"}, {Role: llm.Assistant, Text: "three"},
				{Role: llm.Assistant, Text: "four"}, {Role: llm.User, Text: "five\u2028"}}}
			if _, err := b.Generate(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			r := b.server.Requests()[0]
			want := modelapi.Asked{System: req.System, Key: secret, Model: "m", MaxTokens: 77, Stream: true,
				Messages: []modelapi.Message{
					{Role: "user", Text: "one\n\ntwo"}, {Role: "assistant", Text: "three\n\nfour"},
					{Role: "user", Text: "five\u2028"}}}
			if diff := cmp.Diff(want, r.Asked()); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(string(r.Body), "temperature") {
				t.Errorf("a temperature is set: %s", r.Body)
			}
		})
	}
}

func TestTheLimitOfOutput(t *testing.T) {
	for name, c := range map[string]struct{ profile, request, want int }{
		"not configured":        {0, 0, llm.DefaultMaxOutput},
		"the profile says":      {500, 0, 500},
		"the request says less": {500, 20, 20},
		"the request says more": {500, 900, 500},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				b := setUp(t, kind, modelapi.Options{}, func(p *llm.Profile) { p.MaxOutput = c.profile })
				req := question()
				req.MaxOutput = c.request
				if _, err := b.Generate(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
				if got := b.server.Requests()[0].Asked().MaxTokens; got != c.want {
					t.Errorf("sent %d", got)
				}
			})
		}
	}
}

// OpenAI's reasoning models refuse the limit's old name.
func TestTheLimitsNameIsLearnt(t *testing.T) {
	b := setUp(t, config.KindOpenAI, modelapi.Options{}, func(p *llm.Profile) { p.Model, p.Retries = "o3", 0 })
	for i, want := range []int{2, 1} {
		if got, err := b.ask(t); err != nil || got.Attempts != want {
			t.Errorf("call %d: %d attempts, %v", i, got.Attempts, err)
		}
	}
	if len(b.waits) > 0 {
		t.Errorf("waited %v", b.waits)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	user := llm.Message{Role: llm.User, Text: "x"}
	for name, c := range map[string]struct {
		req  llm.Request
		kind error
		want string
	}{
		"no messages": {llm.Request{}, llm.ErrRequest, "the request has no messages"},
		"a blank message": {llm.Request{Messages: []llm.Message{user, {Role: llm.User, Text: " \n"}}},
			llm.ErrRequest, "message 1 is blank"},
		"an unknown role": {llm.Request{Messages: []llm.Message{{Role: "tool", Text: "x"}}}, llm.ErrRequest,
			`message 0 has the role "tool"; want user or assistant`},
		"the assistant begins": {llm.Request{Messages: []llm.Message{{Role: llm.Assistant, Text: "x"}, user}},
			llm.ErrRequest, "message 0 is the assistant's; a conversation begins with the user"},
		"the assistant ends": {llm.Request{Messages: []llm.Message{user, {Role: llm.Assistant, Text: "x"}}},
			llm.ErrRequest, "message 1, the last, is the assistant's; a completion answers the user"},
		"too large": {llm.Request{System: strings.Repeat(" a", 90_000),
			Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat(" b", 9_001)}}}, llm.ErrContextExceeded,
			"the request is larger than the model's context window: 99001 tokens of input and 1000 of output do not " +
				"fit into 100000; set profiles.p.provider.contextLimit to what the model has"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t, config.KindOpenAI, modelapi.Options{}, nil)
			_, err := b.Generate(t.Context(), c.req, nil)
			if e := failed(t, err); !errors.Is(err, c.kind) || e.Retryable {
				t.Errorf("%+v", e)
			}
			if want := "profile p (openai, model m): " + c.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
			if n := len(b.server.Requests()); n > 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestCancellationReachesTheServer(t *testing.T) {
	for _, fault := range []modelapi.Fault{modelapi.FaultHang, modelapi.FaultStall, modelapi.FaultEndless} {
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("%s/%s", fault, kind), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				b := setUp(t, kind, modelapi.Options{OnRequest: func(*modelapi.Request) { cancel() }},
					func(p *llm.Profile) { p.MaxOutput, p.ContextLimit = 1<<20, 0 })
				b.server.Queue(modelapi.Reply{Fault: fault, Text: "so far ", Pace: time.Millisecond})
				_, err := b.Generate(ctx, question(), func(string) { t.Error("text of a call that was cancelled") })
				if e := failed(t, err); !errors.Is(err, context.Canceled) || e.Retryable || e.Attempts != 1 {
					t.Errorf("%+v", e)
				}
				if calls := b.server.Requests(); len(calls) != 1 || !calls[0].Cancelled() {
					t.Errorf("the server did not see it: %d calls", len(calls))
				}
			})
		}
	}
}
