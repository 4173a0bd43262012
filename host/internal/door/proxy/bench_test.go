package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// conversationOf returns a conversation of about size bytes of results of 6 kB. Its words tell it from all others.
func conversationOf(size int, words string) (items []rawItem) {
	f := messagesForm{"bench"}
	items = append(items, f.user(words))
	for total := 0; total < size; total += 6000 {
		items = append(items, exchangeOf(len(items), words)...)
	}
	return items
}

// exchangeOf is a call and its result, which differs from all others. Where the words are "pruned", each fourth reads
// the same file, so that a strategy removes what the ones before said.
func exchangeOf(i int, words string) []rawItem {
	id, call := fmt.Sprintf("toolu_%d", i), fmt.Sprintf(`"name":"bash","input":{"command":"make %d"}`, i)
	if words == "pruned" && i/2%4 == 0 { // an exchange is two items
		call = `"name":"Read","input":{"file_path":"main.go"}`
	}
	return []rawItem{raw(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s%d"},`+
		`{"type":"tool_use","id":"%s",%s}]}`, i, id, call),
		raw(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s}]}`, id,
			quoted(strings.Repeat(fmt.Sprintf("line %d of \"make\": all is well\n", i), 170)))}
}

// BenchmarkRequest is a request with one exchange more than the one before: directly to a provider that answers at
// once, and through the proxy. first is the first request of a conversation; of pruned a fourth is removed before it is
// sent. The difference is what the proxy adds.
func BenchmarkRequest(b *testing.B) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":1}}`)
	}))
	defer up.Close()
	p := stand(b, up.URL, map[string]any{"model.contextLimit": 100_000_000})
	session := 0
	for _, size := range []int{200_000, 4_000_000} {
		for _, way := range []string{"direct", "first", "known", "pruned"} {
			b.Run(fmt.Sprintf("%dkB/%s", size/1000, way), func(b *testing.B) {
				base, items := p.url, conversationOf(size, way)
				if way == "direct" {
					base = up.URL
				}
				whole, begun := len(items)*5/4, slices.Clone(items)
				var took []time.Duration
				ask := func(counts bool) {
					f := messagesForm{fmt.Sprint("bench", session)}
					request := f.body(items)
					if counts {
						b.StartTimer()
					}
					start := time.Now()
					status, answer, err := post(base+f.path(), f.header(), request)
					if counts {
						b.StopTimer()
						took = append(took, time.Since(start))
					}
					if err != nil || status != http.StatusOK {
						b.Fatal(status, err, string(answer))
					}
				}
				begin := func() {
					session++
					items = slices.Clone(begun)
					ask(false)
				}
				b.StopTimer()
				begin()
				b.ResetTimer()
				b.StopTimer()
				for range b.N {
					if way == "first" {
						session++
						items[0] = messagesForm{}.user(fmt.Sprint("Fix it: ", session))
					} else {
						if len(items) >= whole { // the size is that of the name, however often this runs
							begin()
						}
						items = append(items, exchangeOf(len(items), way)...)
					}
					ask(true)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/p50")
			})
		}
	}
}

// BenchmarkFirstByte is streams that are all open at a time, directly and through the proxy, each for a request of
// 200 kB: the time until all have begun, and as µs/first-byte the median from the provider's first event to the client.
func BenchmarkFirstByte(b *testing.B) {
	var hold atomic.Pointer[chan struct{}]
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "%d\n", time.Now().UnixNano())
		_ = http.NewResponseController(w).Flush()
		<-*hold.Load()
	}))
	defer up.Close()
	p := stand(b, up.URL, map[string]any{"model.contextLimit": 100_000_000})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	base := conversationOf(200_000, "Fix it.")
	for _, streams := range []int{1, 200} {
		for name, url := range map[string]string{"direct": up.URL, "proxy": p.url} {
			b.Run(fmt.Sprintf("%d/%s", streams, name), func(b *testing.B) {
				forms := make([]messagesForm, streams)
				var late []time.Duration
				var mu sync.Mutex
				var items []rawItem
				for i := 0; i < b.N; {
					// The first round begins the sessions; what is measured is that they go on. Before the requests become
					// much larger, others begin.
					first := len(items) == 0 || len(items) > len(base)*5/4
					if first {
						for k := range forms {
							forms[k] = messagesForm{fmt.Sprintf("first%d.%d.%d.%d", streams, k, b.N, i)}
						}
						items = slices.Clone(base)
					}
					items = append(items, exchangeOf(len(items), "")...)
					var begun, ended sync.WaitGroup
					end := make(chan struct{})
					hold.Store(&end)
					b.StopTimer()
					var requests []*http.Request
					for _, f := range forms {
						req, _ := http.NewRequest(http.MethodPost, url+f.path(), bytes.NewReader(f.body(items)))
						req.Header = f.header()
						requests = append(requests, req)
					}
					if !first {
						b.StartTimer()
						i++
					}
					for _, req := range requests {
						begun.Add(1)
						ended.Go(func() {
							res, err := client.Do(req)
							if err != nil {
								b.Error(err)
								begun.Done()
								return
							}
							defer res.Body.Close()
							line := make([]byte, 64)
							n, _ := res.Body.Read(line)
							took := time.Now().UnixNano()
							sent, _ := strconv.ParseInt(strings.TrimSpace(string(line[:n])), 10, 64)
							if !first {
								mu.Lock()
								late = append(late, time.Duration(took-sent))
								mu.Unlock()
							}
							begun.Done()
							_, _ = io.Copy(io.Discard, res.Body)
						})
					}
					begun.Wait()
					b.StopTimer()
					close(end)
					ended.Wait()
				}
				slices.Sort(late)
				b.ReportMetric(float64(late[len(late)/2].Microseconds()), "µs/first-byte")
			})
		}
	}
}

// BenchmarkBody is what reading a body of the Messages API takes.
func BenchmarkBody(b *testing.B) {
	raw := messagesForm{"s"}.body(conversationOf(4_000_000, "Fix it."))
	for name, work := range map[string]func(*body.Request){
		"index":   func(*body.Request) {},
		"chain":   func(r *body.Request) { r.Chain() },
		"entries": func(r *body.Request) { r.Entries(0) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				r, err := body.Index("messages", bytes.Clone(raw))
				if err != nil {
					b.Fatal(err)
				}
				work(r)
			}
		})
	}
}
