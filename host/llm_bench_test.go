package host_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// instant is a model that answers at once, whatever it is asked.
func instant(b *testing.B) string {
	b.Helper()
	const answer = `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":` +
		`"<state_snapshot>\n<overall_goal>\nA parser.\n</overall_goal>\n</state_snapshot>"},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}` +
		"\n\ndata: [DONE]\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(server.Close)
	return server.URL + "/v1"
}

// strategies builds plugins and returns their directory.
func strategies(b *testing.B, packages map[string]string) string {
	b.Helper()
	dir := b.TempDir()
	for name, pkg := range packages {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "thresh-strategy-"+name), pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// BenchmarkLLMCompress is one Compress with a model that answers at once. own-ns is host and plugin together; the rest of
// the time is the request on its way, through the provider's library. It should take at most 5 times as long as "idle",
// which only sends the history, and twice the entries at most 2.3 times as long. "window" is the model's, in tokens: a
// million of them has room for any of the histories, the smaller one wants several requests for the larger ones.
func BenchmarkLLMCompress(b *testing.B) {
	dir := strategies(b, map[string]string{"idle": "./testdata/idle", "middle-out": "../plugins/middleout", "one-shot": "../plugins/oneshot"})
	for _, c := range []struct {
		strategy string
		window   int
	}{{"idle", 200_000}, {"middle-out", 200_000}, {"one-shot", 200_000}, {"one-shot", 2_000_000}} {
		for _, n := range []int{1250, 2500, 5000} {
			b.Run(fmt.Sprintf("%s/window=%d/%d", c.strategy, c.window, n), func(b *testing.B) {
				h := openHost(b, dir,
					config.Override{Key: "compression.strategy", Value: c.strategy}, config.Override{Key: "compression.profile", Value: "p"},
					config.Override{Key: "profiles.p.provider.kind", Value: "openai"}, config.Override{Key: "profiles.p.provider.model", Value: "m"},
					config.Override{Key: "profiles.p.provider.baseURL", Value: instant(b)},
					config.Override{Key: "profiles.p.provider.contextLimit", Value: c.window})
				entries := gen.Session(n, 1)
				var own, requests float64
				for b.Loop() {
					b.StopTimer()
					s := session(b, h, entries)
					b.StartTimer()
					out, err := s.Compress(b.Context())
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

// BenchmarkEstimateTokens has a plugin ask the host for the counts of its history's entries: "empty" is one entry without
// text, what a call costs by itself. 1,000 entries should take at most 20 times as long, the first time (first-ns) too: the
// host has counted them when they were added.
func BenchmarkEstimateTokens(b *testing.B) {
	h := openHost(b, strategies(b, map[string]string{"estimate": "./testdata/estimate"}),
		config.Override{Key: "compression.strategy", Value: "estimate"})
	for name, entries := range map[string][]content.Content{"empty": {says(content.Human, "")}, "1000": gen.Session(1000, 1)} {
		b.Run(name, func(b *testing.B) {
			s := session(b, h, entries)
			defer s.Close()
			var first, others float64
			for b.Loop() {
				out, err := s.Compress(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				first += float64(out.Compress.Metadata.Counts["first"])
				others += float64(out.Compress.Metadata.Counts["others"])
			}
			b.ReportMetric(first/float64(b.N), "first-ns")
			b.ReportMetric(others/float64(b.N), "others-ns")
			b.ReportMetric(0, "ns/op") // a Compress, which is not what is measured
		})
	}
}
