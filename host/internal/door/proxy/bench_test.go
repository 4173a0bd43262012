package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
)

// conversationOf returns a conversation of about size bytes of results of 6 kB.
func conversationOf(size int) (items []rawItem) {
	f := messagesForm{"bench"}
	items = append(items, f.user("Fix it."))
	for total := 0; total < size; total += 6000 {
		items = append(items, exchangeOf(len(items))...)
	}
	return items
}

// exchangeOf is a call and its result, which differs from all others.
func exchangeOf(i int) []rawItem {
	id := fmt.Sprintf("toolu_%d", i)
	return []rawItem{raw(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s%d"},`+
		`{"type":"tool_use","id":"%s","name":"bash","input":{"command":"make %d"}}]}`, i, id, i),
		raw(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s}]}`, id,
			quoted(strings.Repeat(fmt.Sprintf("line %d of \"make\": all is well\n", i), 170)))}
}

// BenchmarkRequest is a request with one exchange more than the one before: directly to a provider that answers at
// once, and through the proxy; first is the first request of a conversation. The difference is what the proxy adds.
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
		for _, way := range []string{"direct", "first", "known"} {
			b.Run(fmt.Sprintf("%dkB/%s", size/1000, way), func(b *testing.B) {
				base, items := p.url, conversationOf(size)
				if way == "direct" {
					base = up.URL
				}
				session++
				ask := func() {
					f := messagesForm{fmt.Sprint("bench", session)}
					request := f.body(items)
					b.StartTimer()
					status, answer, err := post(base+f.path(), f.header(), request)
					b.StopTimer()
					if err != nil || status != http.StatusOK {
						b.Fatal(status, err, string(answer))
					}
				}
				b.StopTimer()
				ask()
				b.ResetTimer()
				for i := range b.N {
					if way == "first" {
						session++
					} else {
						items = append(items, exchangeOf(len(items)+i)...)
					}
					ask()
				}
			})
		}
	}
}

// BenchmarkBody is what reading a body of the Messages API takes.
func BenchmarkBody(b *testing.B) {
	raw := messagesForm{"s"}.body(conversationOf(4_000_000))
	for name, work := range map[string]func(*body.Request){
		"index":   func(*body.Request) {},
		"chain":   func(r *body.Request) { r.Chain() },
		"entries": func(r *body.Request) { r.Entries(0) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				r, err := body.Index(body.Messages, bytes.Clone(raw))
				if err != nil {
					b.Fatal(err)
				}
				work(r)
			}
		})
	}
}
