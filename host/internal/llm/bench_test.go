package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
)

// BenchmarkGenerate sends conversations of about a hundred thousand and a million tokens to a server that reads them
// and says one word: what is left is the work of the client, its library and the network of this machine.
func BenchmarkGenerate(b *testing.B) {
	answers := map[string]string{
		config.KindOpenAI: "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"}," +
			"\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		config.KindAnthropic: "event: content_block_delta\ndata: " +
			"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}}\n\n" +
			"event: message_delta\ndata: " +
			"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n",
	}
	for _, kind := range kinds {
		for _, size := range []int{400_000, 4_000_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, answers[kind])
				}))
				defer server.Close()
				client, err := llm.Open(llm.Profile{Name: "p",
					Provider: config.Provider{Kind: kind, Model: "m", BaseURL: server.URL}}, llm.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer client.Close()
				text := strings.Repeat("A line of \"text\" with <marks> and\ttabs.\n", size/40)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := client.Generate(b.Context(),
						llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
