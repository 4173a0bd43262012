package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// repeated are n messages of a text each, by turns of the person and the model.
func repeated(n int, text string) (all []json.RawMessage) {
	for i := range n {
		role := []string{"user", "assistant"}[i%2]
		all = append(all, json.RawMessage(fmt.Sprintf(`{"role":%q,"content":%q}`, role, text)))
	}
	return all
}

// Messages that would take far more memory than their size are refused for good, and those that find no room now until
// there is.
func TestMessagesThatTakeMuchMemory(t *testing.T) {
	p, _ := stateless(t, map[string]any{"compression.strategy": "top-down-truncation"})
	p.SetPatience(time.Millisecond)
	ask := func(n int) *api.Error {
		_, err := p.Compress(t.Context(), access.Grant{}, api.CompressMessages{Messages: repeated(n, ".")})
		if err == nil {
			return nil
		}
		return service.FailureOf(nil, err)
	}
	if f := ask(200_000); f == nil || f.Status != http.StatusBadRequest || f.Retryable || !strings.Contains(f.Message, "values") {
		t.Errorf("200,000 messages: %+v", f)
	}
	leave := p.TakeRoom()
	if f := ask(100); f == nil || f.Status != http.StatusServiceUnavailable || !f.Retryable {
		t.Errorf("without room: %+v", f)
	}
	leave()
	if f := ask(100); f != nil {
		t.Errorf("with room again: %+v", f)
	}
}

// BenchmarkMemory prints what messages take in memory, which memory.go counts with: at most while they are made small,
// for each JSON value and as a multiple of the body, and behind it for each message.
func BenchmarkMemory(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // little is counted that is not in use
	for name, messages := range map[string][]json.RawMessage{
		"tiny": repeated(16_000, "."), "short": repeated(80_000, strings.Repeat("x", 60)),
		"long": repeated(1000, strings.Repeat("all is well\n", 500)),
	} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for _, m := range messages {
				size += len(m) + 1
			}
			for range b.N {
				p, _ := stateless(b, map[string]any{"compression.strategy": "top-down-truncation"})
				compressed(b, p, "", api.CompressMessages{Messages: repeated(3, "warm")})
				used := func() float64 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					return float64(m.HeapAlloc)
				}
				runtime.GC()
				before, peak, stop, stopped := used(), 0.0, make(chan bool), make(chan bool)
				go func() {
					defer close(stopped)
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Millisecond):
							peak = max(peak, used())
						}
					}
				}()
				compressed(b, p, "", api.CompressMessages{Messages: messages})
				close(stop)
				<-stopped
				runtime.GC()
				values := float64(3 * len(messages))
				b.ReportMetric((peak-before)/values, "B/value")
				b.ReportMetric((peak-before)/float64(size), "x-body")
				b.ReportMetric((used()-before)/float64(len(messages)), "B/message-kept")
			}
		})
	}
}
