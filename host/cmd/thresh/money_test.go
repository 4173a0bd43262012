package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// bank is a service with a model whose calls are dear: each may cost about a dollar.
type bank struct {
	*llmPlace
	t     *testing.T
	calls chan *modelapi.Request
	s     *server
	reply atomic.Pointer[modelapi.Reply] // of the model from now on
	next  atomic.Int64                   // of the sessions' ids
	token map[string]string              // by name
}

func newBank(t *testing.T, kind string, payers ...string) *bank {
	b := &bank{t: t, token: map[string]string{}, calls: make(chan *modelapi.Request, 100)}
	b.llmPlace = newLLMPlace(t, kind, modelapi.Options{OnRequest: func(r *modelapi.Request) { b.calls <- r },
		Reply: func(*modelapi.Request) modelapi.Reply { return *b.reply.Load() }})
	t.Cleanup(b.sweep)            // some of its services are killed
	for _, name := range payers { // before the service begins, which looks once a second
		b.token[name] = b.says("access", "set", name, "--usd-per-day", "2.5")
	}
	return b
}

func (b *bank) start() {
	b.t.Helper()
	b.s = b.listening(b.command("serve", "--set", "serve.listen=127.0.0.1:0",
		"--set", "profiles.writer.provider.prices.input=20", "--set", "profiles.writer.provider.prices.output=200"))
}

// says runs a command beside the service.
func (b *bank) says(args ...string) string {
	b.t.Helper()
	out, err := b.command(args...).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// payer is who has a token. compress has a session of its own each time, which needs a model's call.
func (b *bank) payer(name string) (compress func(context.Context) error) {
	b.t.Helper()
	c, err := client.New(b.s.address, client.Options{Token: b.token[name]})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return func(ctx context.Context) error {
		s, err := c.Open(b.t.Context(), api.OpenRequest{ID: fmt.Sprint("s", b.next.Add(1)),
			Settings: map[string]any{"model.contextLimit": "20000"}})
		if err == nil {
			_, err = s.Add(b.t.Context(), api.Entries(transcript(b.t, turns(60))...))
		}
		if err != nil {
			b.t.Error(err)
			return err
		}
		_, err = s.Compress(ctx)
		return err
	}
}

// counted are the dollars of a name, as the store has them.
func (b *bank) counted(name string) float64 {
	b.t.Helper()
	for _, u := range parseJSON[[]object](b.t, b.says("access", "usage", "-o", "json")) {
		if u["name"] == name {
			return u["spentUSD"].(float64)
		}
	}
	return 0
}

func (b *bank) made() int { return len(b.server.Requests()) }

// Whatever becomes of a model's call, a payer does not spend more than the cap by the estimate of each call, and what
// nobody reported counts as estimated. A cap of 2.50 dollars has room for two calls of about one.
func TestMoneyIsCountedBeforeItIsSpent(t *testing.T) {
	for _, kind := range []string{"openai", "anthropic"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			const tries, most = 8, 2
			kills := rounds(most)
			counts := map[string]string{"openai": `{"prompt_tokens":%s,"completion_tokens":%s}`,
				"anthropic": `{"input_tokens":%s,"output_tokens":%s}`}[kind]
			reports := map[string]string{"missing": "null", "negative": fmt.Sprintf(counts, "-5", "-5"),
				"text": fmt.Sprintf(counts, `"many"`, `"few"`), "zero": fmt.Sprintf(counts, "0", "0"),
				"huge": fmt.Sprintf(counts, "1e18", "1e18")}
			payers := slices.AppendSeq([]string{"hang-up", "deadline", "parallel"}, maps.Keys(reports))
			for i := range kills {
				payers = append(payers, fmt.Sprint("killed-", i))
			}
			b := newBank(t, kind, payers...)
			b.start()
			one := 0.0 // what a call counts of which nothing is known
			row := func(name string, before, tried int, compress func(context.Context) error) {
				t.Helper()
				if err := compress(t.Context()); !limitReached(err) {
					t.Errorf("%s: what comes next: %v", name, err)
				}
				calls, usd := b.made()-before, b.counted(name)
				t.Logf("%-9s %-12s %2d tried %2d calls %9.4f USD counted", kind, name, tried, calls, usd)
				if one == 0 && calls > 0 {
					one = usd / float64(calls)
				}
				if calls != most || math.Abs(usd-float64(calls)*one) > 1e-5 || one < 0.7 || one > 1.25 {
					t.Errorf("%s: %d calls, %v dollars are counted, %v for one", name, calls, usd, one)
				}
			}
			b.reply.Store(&modelapi.Reply{Fault: modelapi.FaultHang})
			before, compress := b.made(), b.payer("hang-up")
			for range tries {
				ctx, leave := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- compress(ctx) }()
				select {
				case call := <-b.calls:
					leave()
					gone(t, call)
				case err := <-done:
					done <- err
				}
				leave()
				<-done
			}
			row("hang-up", before, tries, compress)

			before, compress = b.made(), b.payer("deadline")
			tried := 0
			for limit := 300 * time.Millisecond; tried < tries; tried++ {
				ctx, leave := context.WithTimeout(t.Context(), limit)
				if err := compress(ctx); b.made()-before <= tried && !limitReached(err) {
					limit *= 2 // a busy machine may need longer to ask the model
				}
				leave()
			}
			row("deadline", before, tried, compress)

			for name, report := range reports {
				before, compress = b.made(), b.payer(name)
				b.reply.Store(&modelapi.Reply{Text: snapshot, Report: json.RawMessage(report)})
				for range tries {
					_ = compress(t.Context())
				}
				row(name, before, tries, compress)
			}

			before, compress = b.made(), b.payer("parallel")
			release, refused := make(chan struct{}), make(chan error, 20)
			b.reply.Store(&modelapi.Reply{Text: snapshot, Report: json.RawMessage("null"), Stall: release})
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { refused <- compress(t.Context()) })
			}
			eventually(patience, func() bool { return b.made()-before+len(refused) == 20 })
			close(release)
			all.Wait()
			row("parallel", before, 20, compress)
			b.s.end(syscall.SIGTERM)

			// Killed while the model is asked: each time a call.
			before = b.made()
			b.reply.Store(&modelapi.Reply{Fault: modelapi.FaultHang})
			for i := range kills {
				b.start()
				compress := b.payer(fmt.Sprint("killed-", i))
				for len(b.calls) > 0 {
					<-b.calls
				}
				go func() { _ = compress(t.Context()) }()
				call := <-b.calls
				_ = syscall.Kill(-b.s.cmd.Process.Pid, syscall.SIGKILL)
				_ = b.s.cmd.Wait()
				gone(t, call)
			}
			lost := 0
			for i := range kills {
				if usd := b.counted(fmt.Sprint("killed-", i)); usd == 0 || math.Abs(usd-one) > 1e-5 {
					lost++
				}
			}
			t.Logf("%-9s %-12s %2d kills %2d calls, uncounted %d", kind, "kill -9", kills, b.made()-before, lost)
			if lost > 0 {
				t.Errorf("%d of %d calls that were killed are not counted as one, %v", lost, kills, one)
			}
		})
	}
}

func limitReached(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && refused.Kind == "limit" && refused.Limit == "usdPerDay"
}
