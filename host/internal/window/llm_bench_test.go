package window_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
)

// instant is a model that answers at once, whatever it is asked.
func instant(b *testing.B) string {
	b.Helper()
	const answer = `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,` +
		`"delta":{"role":"assistant","content":` +
		`"<state_snapshot>\n<overall_goal>\nA parser.\n</overall_goal>\n</state_snapshot>"},"finish_reason":"stop"}]}` +
		"\n\n" +
		`data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}` +
		"\n\ndata: [DONE]\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(server.Close)
	return server.URL + "/v1"
}

// strategies builds strategies that ship, and one of testdata, and returns their directory.
func strategies(b *testing.B, own string, shipped ...string) string {
	b.Helper()
	dir := b.TempDir()
	if err := errors.Join(binaries.Plugins(dir, map[string]string{own: "host/internal/window/testdata/" + own}),
		binaries.Strategies(dir, shipped...)); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkLLMCompress is one Compress with a model that answers at once. own-ns is host and plugin together; the rest
// of the time is the request on its way, through the provider's library. It should take at most 5 times as long as
// "idle", which only sends the history, and twice the entries at most 2.3 times as long. "window" is the model's, in
// tokens: a million of them has room for any of the histories, the smaller one wants several requests for the larger
// ones.
func BenchmarkLLMCompress(b *testing.B) {
	dir := strategies(b, "idle", "middle-out", "one-shot")
	for _, c := range []struct {
		strategy string
		window   int
	}{{"idle", 200_000}, {"middle-out", 200_000}, {"one-shot", 200_000}, {"one-shot", 2_000_000}} {
		for _, n := range []int{1250, 2500, 5000} {
			b.Run(fmt.Sprintf("%s/window=%d/%d", c.strategy, c.window, n), func(b *testing.B) {
				h := openHost(b, dir,
					config.Override{Key: "compression.strategy", Value: c.strategy},
					config.Override{Key: "compression.profile", Value: "p"},
					config.Override{Key: "profiles.p.provider.kind", Value: "openai"},
					config.Override{Key: "profiles.p.provider.model", Value: "m"},
					config.Override{Key: "profiles.p.provider.baseURL", Value: instant(b)},
					config.Override{Key: "profiles.p.provider.contextLimit", Value: c.window})
				entries := gen.Session(n, 1)
				var own, requests float64
				for b.Loop() {
					b.StopTimer()
					s := session(b, h, entries)
					b.StartTimer()
					out, err := s.Compress(b.Context(), nil)
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					own += float64((out.HostTime + out.PluginTime()).Nanoseconds())
					if spent := out.Compress.LLM; spent != nil {
						requests += float64(spent.Calls)
					}
					s.Close()
					b.StartTimer()
				}
				b.ReportMetric(own/float64(b.N), "own-ns/op")
				b.ReportMetric(requests/float64(b.N), "requests/op")
			})
		}
	}
}

// BenchmarkEstimateTokens has a plugin ask the host to count 1,000 entries: "history" as they came, which the host
// counted when they were added, and "copies" that are the same, of which "first" is the first call. "empty" is what a
// call costs by itself; "history" should be at most 20 times that.
func BenchmarkEstimateTokens(b *testing.B) {
	h := openHost(b, strategies(b, "estimate", "one-shot"),
		config.Override{Key: "compression.strategy", Value: "estimate"})
	s := session(b, h, gen.Session(1000, 1))
	defer s.Close()
	sums := map[string]int64{}
	for b.Loop() {
		out, err := s.Compress(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		for name, n := range out.Compress.Metadata.Counts {
			sums[name] += n
		}
	}
	for _, name := range []string{"empty", "first", "copies", "history"} {
		b.ReportMetric(float64(sums[name])/float64(b.N), name+"-ns")
	}
	b.ReportMetric(0, "ns/op") // of a Compress that asks many times
}
