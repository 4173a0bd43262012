package network

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// attacked are the paths of the network door, and whether they are open without a token. A line of docs/security.md
// says the same of each group.
var attacked = map[string]bool{
	"/healthz": true, "/readyz": true, "/ui": true,

	"/v1/initialize": false, "/v1/session.open": false, "/v1/session.get": false, "/v1/session.list": false,
	"/v1/session.setSystem": false, "/v1/session.set": false, "/v1/history.add": false, "/v1/window.prepare": false,
	"/v1/history.compress": false, "/v1/todos.set": false, "/v1/usage.report": false, "/v1/history.get": false,
	"/v1/messages.compress": false, "/v1/messages.retrieve": false, "/v1/compress": false, "/v1/retrieve": false,
	"/v1/retrieve/{id}":    false,
	"/v1/history.recorded": false, "/v1/history.search": false, "/v1/history.explain": false, "/v1/session.watch": false,
	"/v1/session.close": false, "/v1/session.delete": false, "/v1/tokens.count": false, "/v1/plugins.list": false,
	"/v1/plugins.reset": false, "/v1/plugins.lock": false, "/v1/": false, "/v1/openapi.json": false,
	"/ui/": false, "/metrics": false, "/mcp": false,
}

// forwarded are paths of the proxy. All others are passed on as the last one is.
var forwarded = []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses",
	"/v1beta/models/m:generateContent", "/v1beta/models/m:countTokens", "/mcp", "/v1/../x", "/v1/files"}

// pathsOf are the paths that routes serve.
func pathsOf(all []route) map[string]bool {
	paths := map[string]bool{}
	for _, r := range all {
		paths[r.pattern[strings.Index(r.pattern, "/"):]] = r.open
	}
	return paths
}

// doors starts every door of a host, with clients that are given half a second where users get a minute.
type doors struct{ network, proxy, wrapped, metrics, token string }

func openDoors(t *testing.T) (d doors, all []route) {
	t.Helper()
	log := hclog.NewNullLogger()
	machine, err := window.Open(window.Options{Config: settings.Load(t, "", nil), Logger: log, Store: store.NewMemory(),
		Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(machine.Store(), localToken, hclog.NewNullLogger())
	guard.Patience = access.Patience{Stranger: 500 * time.Millisecond, Idle: 500 * time.Millisecond}
	if d.token, err = access.Create(t.Context(), machine.Store(), "ci", access.Limits{RequestBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	measured, err := endpoint.Listen("127.0.0.1:0", endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	base, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	seen := watch.New(machine, "serve", nil)
	p := proxy.New(proxy.Options{Host: machine, Guard: guard, Recall: &proxy.Recall{}, Logger: log,
		Upstreams: proxy.Upstreams{Anthropic: base, OpenAI: base, Gemini: base}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	listen := func(at string, run func(net.Listener) error) string {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- run(l) }()
		return strings.Replace(l.Addr().String(), "[::]", "127.0.0.1", 1)
	}
	o := Options{Host: host.Of(machine), Guard: guard, Store: machine.Store(), Recall: true, Watch: seen,
		Metrics: measured.Handler(), Log: log}
	// An address that other machines reach: what is compressed is refused there too.
	d.network = listen("0.0.0.0:0", func(l net.Listener) error { return Serve(ctx, l, nil, time.Second, o) })
	d.proxy = listen("127.0.0.1:0", func(l net.Listener) error { return Run(ctx, p.Server(), l, nil, time.Second, log) })
	d.wrapped = listen("127.0.0.1:0", func(l net.Listener) error {
		server := p.Server()
		server.Handler = seen.Before(server.Handler, localToken, true)
		return Run(ctx, server, l, nil, time.Second, log)
	})
	d.metrics = strings.TrimSuffix(strings.TrimPrefix(measured.URL(), "http://"), "/metrics")
	t.Cleanup(func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		p.Close()
		up.Close()
		if err := measured.Close(); err != nil {
			t.Error(err)
		}
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, routes(o, address{}, ctx.Done())
}

// attackTime is far above what any door waits.
const attackTime = 20 * time.Second

// request is what an attacker sends: to a path of a door, as HTTP/1.1 or HTTP/2.
type request struct {
	door, at, path, token string
	http2                 bool
}

func (q request) String() string {
	return fmt.Sprint(q.door, q.path, " token=", q.token != "", " HTTP/2=", q.http2)
}

// endless is a body that never ends, and counts what was taken of it.
type endless struct{ taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

// send makes a request and returns its status; 0 where the connection was closed without one.
func (q request) send(t *testing.T, body io.Reader, zipped bool) int {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!q.http2)
	protocols.SetUnencryptedHTTP2(q.http2)
	transport := &http.Transport{Protocols: protocols, DisableCompression: true}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), attackTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+q.at+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header
	h.Set("Content-Type", "application/json")
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	if q.token != "" {
		h.Set("Authorization", "Bearer "+q.token)
		h.Set("X-Thresh-Token", q.token)
	}
	answer, err := transport.RoundTrip(r)
	if ctx.Err() != nil {
		t.Errorf("%v: no end", q)
	}
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// bomb is 1 GiB in less than 1.1 MB.
func bomb(t *testing.T) []byte {
	t.Helper()
	var one bytes.Buffer
	z := gzip.NewWriter(&one)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat(one.Bytes(), 1<<10) // gzip goes on with a next member
}

// TestNoDoorIsHeldOpen sends to everything that a host serves what would take its memory or its connections: a body
// that becomes large, one that never ends, and one that never comes. With a token and without.
func TestNoDoorIsHeldOpen(t *testing.T) {
	d, all := openDoors(t)
	if diff := cmp.Diff(attacked, pathsOf(all)); diff != "" {
		t.Fatalf("what is served is not what is attacked here (-attacked +served):\n%s", diff)
	}
	var requests []request
	for _, path := range slices.Sorted(maps.Keys(attacked)) {
		for _, token := range []string{"", d.token} {
			requests = append(requests, request{"network", d.network, path, token, false},
				request{"network", d.network, path, token, true})
		}
	}
	for _, path := range forwarded {
		requests = append(requests, request{"proxy", d.proxy, path, "", false},
			request{"proxy", d.proxy, path, d.token, false})
	}
	for _, path := range []string{"/ui", "/ui/sessions", "/ui/session", "/ui/search", "/ui/original"} {
		requests = append(requests, request{"wrap", d.wrapped, path, "", false},
			request{"wrap", d.wrapped, path, localToken, false})
	}
	requests = append(requests, request{"metrics", d.metrics, "/metrics", "", false})
	zipped := bomb(t)
	for _, q := range requests { // one after the other, for what they take in memory
		most, wants := uint64(16<<20), http.StatusUnsupportedMediaType
		switch {
		case q.door == "proxy" && q.token != "":
			most, wants = 400<<20, 0 // it decodes what it forwards, up to 64 MiB in buffers that grow
		case q.door != "network":
			wants = 0
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status := q.send(t, bytes.NewReader(zipped), true)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > most || wants != 0 && status != wants {
			t.Errorf("%v: a bomb: status %d, took %d MiB", q, status, took>>20)
		}
	}
	var waiting sync.WaitGroup
	for _, q := range requests {
		waiting.Go(func() { q.neverEnds(t) })
		waiting.Go(func() { q.neverComes(t) })
	}
	waiting.Wait()
}

// neverEnds sends a body without an end, and one whose client says that it is compressed without naming how.
func (q request) neverEnds(t *testing.T) {
	body := &endless{}
	q.send(t, io.MultiReader(strings.NewReader(`{"session":"`), body), false)
	// A megabyte of it is the limit of the token; the rest is buffers of the kernel.
	if n := body.taken.Load(); n > 32<<20 {
		t.Errorf("%v: an endless body: %d MiB were taken", q, n>>20)
	}
}

// neverComes announces a body and does not send it.
func (q request) neverComes(t *testing.T) {
	if q.http2 {
		read, write := io.Pipe()
		defer write.Close()
		q.send(t, read, false)
		return
	}
	conn, err := net.Dial("tcp", q.at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nX-Thresh-Token: %[3]s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", q.path, q.at, q.token)
	_ = conn.SetReadDeadline(time.Now().Add(attackTime))
	if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("%v: a body that never comes: the connection is held: %v", q, err)
	}
}

// TestTheRestOfABodyIsNoRequest: where a body is larger than its token may send, no part of it is taken for a request.
func TestTheRestOfABodyIsNoRequest(t *testing.T) {
	d, _ := openDoors(t)
	hidden := "GET /healthz HTTP/1.1\r\nHost: " + d.network + "\r\nX-Thresh-Token: " + d.token + "\r\n\r\n"
	for at, path := range map[string]string{d.network: "/v1/initialize", d.proxy: "/v1/messages"} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := strings.Repeat(hidden, 4<<20/len(hidden)) // the kernel takes it
		go fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nX-Thresh-Token: %[3]s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, at, d.token, len(body), body)
		_ = conn.SetReadDeadline(time.Now().Add(attackTime))
		all, _ := io.ReadAll(conn) // what was not read resets the connection
		if n := bytes.Count(all, []byte("HTTP/1.1 ")); n > 1 {
			t.Errorf("%s: %d answers to one request: %q", path, n, all)
		}
	}
}
