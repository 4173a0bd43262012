package proxy_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Each request is measured by what was done with it, and with what the provider reported; nothing of a client's own
// words is a label.
func TestWhatIsMeasured(t *testing.T) {
	e, err := endpoint.New(endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	up := provider(t, modelapi.Options{Script: work(8), ContextLimit: 9000})
	var lines bytes.Buffer
	var small string
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"}, func(o *proxy.Options) {
		if o.Measured, err = metrics.NewProxy(e.Meter(), "test"); err != nil {
			t.Fatal(err)
		}
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &lines})
		o.Guard, o.Open = access.NewGuard(o.Host.Store(), "", o.Logger), true
		if small, err = access.Create(t.Context(), o.Host.Store(), "small", access.Limits{RequestBytes: 9}); err != nil {
			t.Fatal(err)
		}
	})
	send := func(path, body string, header http.Header) {
		if _, _, err := post(p.url+path, header, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(path, body string) { send(path, body, http.Header{}) }
	for range 2 {
		send("/v1/messages", `{}`, http.Header{"Origin": {"http://secret.example"}})
		send("/v1/secret", `{}`, http.Header{"X-Thresh-Token": {"thresh_secret_x"}})
	}
	q := httptest.NewRequest(http.MethodPost, "http://secret.example/v1/responses", strings.NewReader(`{}`))
	p.proxy.ServeHTTP(httptest.NewRecorder(), q)
	if n := strings.Count(lines.String(), "a request was refused: "); n != 2 ||
		strings.Count(lines.String(), "access refused: ") != 2 || strings.Contains(lines.String(), "secret") {
		t.Errorf("the log does not have each reason once, and nothing of the requests:\n%s", lines.String())
	}
	send("/v1/messages", `{"model":"m"}`, http.Header{"X-Thresh-Token": {small}})
	a := &agent{form: messagesForm{"secret-session"}, base: p.url, result: files}
	_ = a.run(t, "Fix it.") // refused once, which teaches the limit
	ask("/v1/messages", `{"model":"secret-model","messages":[{"role":"user","content":"A title."}]}`)
	ask("/v1/chat/completions", `{"messages":"none"}`)
	up.Close()
	ask("/v1/responses", `{}`)
	seen := httptest.NewRecorder()
	e.Handler().ServeHTTP(seen, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := seen.Body.String()
	for _, want := range []string{
		`thresh_proxy_requests_total{api="messages",outcome="edited"`,
		`thresh_proxy_requests_total{api="messages",outcome="passed",reason="single-question"} 1`,
		`thresh_proxy_requests_total{api="chat",outcome="passed",reason="unknown-form"} 1`,
		`thresh_proxy_requests_total{api="messages",outcome="refused",reason="page"} 2`,
		`thresh_proxy_requests_total{outcome="refused",reason="token"} 2`,
		`thresh_proxy_requests_total{api="messages",outcome="refused",reason="limit"} 1`,
		`thresh_proxy_requests_total{api="responses",outcome="refused",reason="host"} 1`,
		`thresh_proxy_tokens_before_total{api="messages"}`, `thresh_proxy_tokens_after_total{api="messages"}`,
		`thresh_proxy_rewrites_total{api="messages"}`, `thresh_proxy_usage_total{api="messages",type="cache_read"}`,
		`thresh_proxy_usage_total{api="messages",type="output"}`, `thresh_proxy_limits_total{api="messages"} 1`,
		`thresh_proxy_added_duration_seconds_count{api="messages"}`,
		`thresh_proxy_upstream_duration_seconds_count{api="messages",outcome="ok"}`,
		`thresh_proxy_upstream_duration_seconds_count{api="messages",outcome="4xx"}`,
		`thresh_proxy_upstream_duration_seconds_count{api="responses",outcome="unreachable"} 1`,
		`thresh_proxy_active{api="messages"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not measured: %s", want)
		}
	}
	if t.Failed() || strings.Contains(text, "secret") {
		t.Log(text)
		t.Errorf("a client's words: %v", strings.Contains(text, "secret"))
	}
}
