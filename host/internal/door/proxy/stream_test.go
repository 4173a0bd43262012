package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Events are passed on as they come, with their headers; a client that leaves cancels the request.
func TestAStreamIsPassedOnUnbuffered(t *testing.T) {
	open := make(chan struct{})
	up := provider(t, modelapi.Options{Script: work(1), Fault: func(n int) modelapi.Reply {
		return modelapi.Reply{Stall: open}
	}})
	p := stand(t, up.URL, nil)
	f := messagesForm{"s"}
	streamed := bytes.Replace(f.body([]rawItem{f.user("x")}), []byte(`{"model"`), []byte(`{"stream":true,"model"`), 1)
	ask := func(ctx context.Context) *http.Response {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, p.url+f.path(), bytes.NewReader(streamed))
		req.Header = f.header()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	ctx, cancel := context.WithCancel(t.Context())
	res := ask(ctx)
	begin := make([]byte, len("event: message_start"))
	if _, err := io.ReadFull(res.Body, begin); err != nil || string(begin) != "event: message_start" {
		t.Errorf("while the provider stalls: %q, %v", begin, err)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || res.Header.Get("X-Thresh-Outcome") == "" {
		t.Errorf("headers %v", res.Header)
	}
	cancel()
	res.Body.Close()
	up.WaitIdle() // the stalled request ends because its client left
	close(open)
	res = ask(t.Context())
	defer res.Body.Close()
	if all, err := io.ReadAll(res.Body); err != nil || !bytes.HasSuffix(all, []byte("message_stop\"}\n\n")) {
		t.Errorf("%v, the stream ends with %q", err, all[max(0, len(all)-40):])
	}
}

// An answer that stalls is given up: its client sees a stream that broke, and may ask again.
func TestAStalledAnswerIsGivenUp(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	up := provider(t, modelapi.Options{Script: work(1), Fault: func(int) modelapi.Reply {
		return modelapi.Reply{Stall: open}
	}})
	p := stand(t, up.URL, nil)
	p.proxy.SetIdle(time.Millisecond)
	f := messagesForm{"s"}
	streamed := bytes.Replace(f.body([]rawItem{f.user("x")}), []byte(`{"model"`), []byte(`{"stream":true,"model"`), 1)
	if _, answer, err := post(p.url+f.path(), f.header(), streamed); err == nil {
		t.Errorf("the answer is %q", answer)
	}
	up.WaitIdle()
}

// An answer that its client does not take is given up as well.
func TestAnAnswerThatIsNotTakenIsGivenUp(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for piece := make([]byte, 1<<20); r.Context().Err() == nil; {
			_, _ = w.Write(piece)
		}
	}))
	defer up.Close()
	p := stand(t, up.URL, nil)
	p.proxy.SetIdle(10 * time.Millisecond)
	ended := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		p.proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	res, err := http.Get(front.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-ended
}

// A stream that breaks breaks for the client too, in the same place.
func TestABrokenStreamIsNotMended(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(1),
		Fault: func(int) modelapi.Reply { return modelapi.Reply{CutAfter: 300} }})
	p := stand(t, up.URL, nil)
	f := messagesForm{"s"}
	_, answer, err := post(p.url+f.path(), f.header(), f.body([]rawItem{f.user("x")}))
	if err == nil || len(answer) != 300 {
		t.Errorf("%d bytes, %v", len(answer), err)
	}
	if n := len(up.Requests()); n != 1 {
		t.Errorf("%d requests: the proxy repeats none", n)
	}
}

// Web pages and other machines are not served, nor whoever lacks the token. WebSockets are refused with 426.
func TestWhoIsServed(t *testing.T) {
	up := provider(t, modelapi.Options{})
	p := stand(t, up.URL, nil)
	guarded := stand(t, up.URL, nil, func(o *proxy.Options) {
		o.Guard = access.NewGuard(store.NewMemory(), "secret", hclog.NewNullLogger())
	})
	ask := func(url string, change func(*http.Request)) int {
		req, _ := http.NewRequest(http.MethodGet, url+"/v1/models", nil)
		req.Header.Set("Anthropic-Version", "2023-06-01")
		change(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	for name, tt := range map[string]struct {
		url    string
		change func(*http.Request)
		want   int
	}{
		"the agent":           {p.url, func(*http.Request) {}, 200},
		"a name for loopback": {p.url, func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		"a web page":          {p.url, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"without the token":   {guarded.url, func(*http.Request) {}, 403},
		"with another token": {guarded.url, func(r *http.Request) { r.Header.Set("X-Thresh-Token", "secres") },
			403},
		"with the token": {guarded.url, func(r *http.Request) { r.Header.Set("X-Thresh-Token", "secret") },
			200},
		"a tunnel": {p.url, func(r *http.Request) {
			r.Method, r.URL.Opaque = http.MethodConnect, "localhost:443" // HTTP/1.1 sends what is to be connected to
		}, 421},
		"an address of another server": {p.url, func(r *http.Request) {
			r.URL.Opaque = "//localhost/v1/models" // with the scheme, as a proxy gets it
		}, 421},
		"an upgrade to WebSocket": {p.url, func(r *http.Request) { r.Header.Set("Upgrade", "websocket") }, 426},
	} {
		if got := ask(tt.url, tt.change); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	for _, r := range up.Requests() {
		if r.Header.Get("X-Thresh-Token") != "" {
			t.Error("the token was passed on")
		}
	}
}

// A dry run sends the client's bytes and says what would have been saved.
func TestADryRun(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(8)})
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"},
		func(o *proxy.Options) { o.DryRun = true })
	a := &agent{form: messagesForm{"s"}, base: p.url, result: files}
	a.run(t, "Fix it.")
	for i, r := range up.Models() {
		if !bytes.Equal(r.Body, a.sent[i]) {
			t.Errorf("request %d is not the client's", i)
		}
	}
	if got := p.proxy.Totals(); got.Whole <= got.Sent {
		t.Errorf("totals %+v", got)
	}
}

// A compressed body is read like any other. What was edited goes on as it is, what was not as it came.
func TestACompressedBody(t *testing.T) {
	gzipped := func(body []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(body)
		_ = z.Close()
		return out.Bytes()
	}
	zstandard := func(body []byte) []byte {
		z, _ := zstd.NewWriter(nil)
		return z.EncodeAll(body, nil)
	}
	up := provider(t, modelapi.Options{Script: work(8)})
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
	plain := &agent{form: messagesForm{"s"}, base: p.url, result: files}
	plain.run(t, "Fix it.")
	all := up.Requests()
	for encoding, encode := range map[string]func([]byte) []byte{"gzip": gzipped, "zstd": zstandard} {
		for i, want := range [][]byte{encode(plain.sent[0]), all[len(all)-1].Body} {
			header := plain.form.header()
			header.Set("X-Thresh-Session", encoding)
			header.Set("Content-Encoding", encoding)
			header.Set("Accept-Encoding", "br, "+encoding)
			if _, _, err := post(p.url+plain.form.path(), header, encode(plain.sent[i*(len(plain.sent)-1)])); err != nil {
				t.Fatal(err)
			}
			now := up.Requests()
			got := now[len(now)-1]
			if edited := i == 1; !bytes.Equal(got.Body, want) || (got.Header.Get("Content-Encoding") == "") != edited {
				t.Errorf("%s, request %d: sent %d bytes in %q, want %d", encoding, i, len(got.Body),
					got.Header.Get("Content-Encoding"), len(want))
			}
			// In another encoding, the usage could not be read.
			if accepted := got.Header.Get("Accept-Encoding"); accepted != "identity" {
				t.Errorf("%s, request %d: the answer may be in %q", encoding, i, accepted)
			}
		}
	}
	if got := p.proxy.Totals(); got.Failed > 0 || len(got.Passed) > 0 {
		t.Errorf("%+v", got)
	}
}
