package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
)

// A key goes to the provider that it was sent for, whatever the path; a request that does not show one goes to none.
func TestAKeyGoesToItsProvider(t *testing.T) {
	address := func(name, path string) *url.URL {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, name+" "+r.URL.Path)
		}))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	ups := proxy.Upstreams{Anthropic: address("anthropic", ""), OpenAI: address("openai", "/v1"),
		Gemini: address("gemini", "")}
	of := map[string]*standing{}
	for _, client := range []string{"", "anthropic", "gemini"} {
		of[client] = stand(t, "", nil, func(o *proxy.Options) { o.Client, o.Upstreams = client, ups })
	}
	versioned := ups
	versioned.Anthropic = address("anthropic", "/v1")
	of["versioned"] = stand(t, "", nil, func(o *proxy.Options) { o.Upstreams = versioned })
	bearer := func(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }
	none, claude := http.Header{}, http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
	type asked struct {
		client, path string
		header       http.Header
		want         string
	}
	cases := []asked{
		{"", "/v1/files", claude, "anthropic /v1/files"},
		{"", "/v1/files", bearer("sk-ant-oat01-x"), "anthropic /v1/files"},
		{"", "/v1/models", claude, "anthropic /v1/models"},
		{"", "/v1/files", http.Header{"X-Goog-Api-Key": {"k"}}, "gemini /v1/files"},
		{"", "/v1beta/cachedContents", bearer("ya29.x"), "gemini /v1beta/cachedContents"},
		{"", "/upload/v1beta/files", none, "gemini /upload/v1beta/files"},
		{"", "/v1/embeddings", none, "openai /v1/embeddings"},
		{"", "/embeddings", none, "openai /v1/embeddings"},
		{"", "/v1/what-is-new", bearer("k"), "openai /v1/what-is-new"},
		{"", "/v1/files", none, "tells which provider"},
		{"", "/v1/what-is-new", none, "tells which provider"},
		{"anthropic", "/v1/files", bearer("k"), "anthropic /v1/files"},
		{"anthropic", "/v1/embeddings", bearer("k"), "openai /v1/embeddings"},
		{"gemini", "/v1/what-is-new", none, "gemini /v1/what-is-new"},
		{"", "/messages", none, "anthropic /v1/messages"},
		{"versioned", "/messages", none, "anthropic /v1/messages"},
		{"versioned", "/v1/messages/count_tokens", none, "anthropic /v1/messages/count_tokens"},
	}
	for _, path := range []string{"embeddings", "models", "files", "images/generations", "audio/speech", "moderations",
		"completions", "batches", "vector_stores/vs_1/search", "conversations"} {
		cases = append(cases, asked{"", "/v1/" + path, bearer("sk-proj-k"), "openai /v1/" + path})
	}
	for _, c := range cases {
		status, answer, err := post(of[c.client].url+c.path, c.header, []byte(`{"input":"x"}`))
		if err != nil || !strings.Contains(string(answer), c.want) || (status == 200) == strings.Contains(c.want, "tells") {
			t.Errorf("%q %s %v: %d %s %v, want %s", c.client, c.path, c.header, status, answer, err, c.want)
		}
	}
}
