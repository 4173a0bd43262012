package network

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a server without plugins, so that a Prepare fails with the history as it is.
type served struct {
	t     *testing.T
	url   string
	store store.Store
	log   *strings.Builder // complete when the server has ended
	stop  func()
	conns *http.Transport
}

const localToken = "thresh__local"

// serve serves on a listener until the test ends.
func serve(t *testing.T, l net.Listener, drain time.Duration) *served {
	t.Helper()
	h, err := host.Open(host.Options{Config: settings.Load(t, "", nil), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return serveHost(t, l, drain, h, store.NewMemory())
}

// serveHost serves a host, which it closes, and a store.
func serveHost(t *testing.T, l net.Listener, drain time.Duration, h *host.Host, kept store.Store) *served {
	t.Helper()
	s := &served{t: t, url: "http://" + l.Addr().String(), store: kept, log: &strings.Builder{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, l, nil, drain, Options{
			Host: h, Guard: access.NewGuard(s.store, localToken, hclog.NewNullLogger()), Store: s.store,
			Ready: s.store.Ready,
			Log:   hclog.New(&hclog.LoggerOptions{Output: s.log, JSONFormat: true}),
		})
	}()
	s.conns = &http.Transport{}
	if u, ok := l.Addr().(*net.UnixAddr); ok {
		s.url = "http://thresh"
		s.conns.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", u.Name)
		}
	}
	s.stop = sync.OnceFunc(func() {
		s.conns.CloseIdleConnections() // HTTP/2 gives one that is kept open a second
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.conns.CloseIdleConnections()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

func loopback(t *testing.T) *served {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, time.Minute)
}

func (s *served) token(name string, l access.Limits) string {
	s.t.Helper()
	token, err := access.Create(s.t.Context(), s.store, name, l)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

const human = `{"speaker":"human","blocks":[{"type":"text","text":"SECRET words"}]}`

// object is JSON, as a client without types has it.
type object = map[string]any

// answered is what a request got: a result, or lines of one, or the error.
type answered struct {
	status int
	lines  []object // of a whole answer, the only one
	err    object   // nil if it succeeded
	text   string
}

// result is the last line.
func (a answered) result() object {
	if len(a.lines) == 0 {
		return nil
	}
	return a.lines[len(a.lines)-1]
}

// call calls a method with a body.
func (s *served) call(token, method, body string, header ...string) answered {
	s.t.Helper()
	a, err := s.try(token, method, body, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *served) try(token, method, body string, header ...string) (a answered, err error) {
	answer, err := s.begin(s.t.Context(), token, method, body, header...)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	a.status, a.text = answer.StatusCode, string(text)
	for dec := json.NewDecoder(strings.NewReader(a.text)); err == nil; {
		var line object
		if err := dec.Decode(&line); err != nil {
			break
		}
		if of, ok := line["error"].(object); ok && line["session"] == nil {
			a.err = of
		} else {
			a.lines = append(a.lines, line)
		}
	}
	return a, err
}

// begin makes a request whose answer may be without an end. header are names and values.
func (s *served) begin(ctx context.Context, token, method, body string, header ...string) (*http.Response, error) {
	if !strings.HasPrefix(method, "/") {
		method = Path + method
	}
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+method, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return s.conns.RoundTrip(r)
}

// add is the body of an addition to a session.
func add(session string, entries ...string) string {
	return fmt.Sprintf(`{"session":%q,"entries":[%s]}`, session, strings.Join(entries, ","))
}

// wants checks the status and the kind of an answer's error; "" for none.
func (a answered) wants(t *testing.T, what string, status int, kind string) object {
	t.Helper()
	got, _ := a.err["kind"].(string)
	if a.status != status || got != kind {
		t.Errorf("%s: %d %s, want %d %s", what, a.status, a.text, status, kind)
	}
	return a.err
}

// TestASessionOverHTTP: a conversation as curl would have it, over HTTP/1.1 and HTTP/2.
func TestASessionOverHTTP(t *testing.T) {
	s := loopback(t)
	for name, protocol := range map[string]func(*http.Protocols, bool){
		"HTTP/1.1": (*http.Protocols).SetHTTP1, "HTTP/2": (*http.Protocols).SetUnencryptedHTTP2,
	} {
		protocols := new(http.Protocols)
		protocol(protocols, true)
		s.conns.CloseIdleConnections()
		s.conns = &http.Transport{Protocols: protocols}
		opened := s.call(localToken, "session.open",
			`{"settings":{"model.contextLimit":32000},"system":"be brief"}`)
		opened.wants(t, name, http.StatusOK, "")
		id, _ := opened.result()["session"].(string)
		added := s.call(localToken, "history.add", add(id, human))
		if added.wants(t, name, http.StatusOK, ""); added.result()["revision"] != 1.0 || added.result()["tokens"] == 0.0 {
			t.Errorf("%s: %s", name, added.text)
		}
		// There is no strategy: the error has the history as it is, in the form that was asked for.
		failed := s.call(localToken, "window.prepare", `{"session":"`+id+`","format":"anthropic"}`).
			wants(t, name, http.StatusUnprocessableEntity, "strategy")
		ready, _ := failed["prepared"].(object)
		if messages, _ := ready["messages"].([]any); len(messages) != 1 || !strings.Contains(fmt.Sprint(ready["system"]),
			"be brief") || ready["outcome"] == nil {
			t.Errorf("%s: %v", name, failed)
		}
		refused := s.call(localToken, "history.add", add(id, human, `{"speaker":"robot"}`)).
			wants(t, name, http.StatusBadRequest, "entry")
		if refused["field"] != "entries[1].speaker" || refused["entry"] != 1.0 {
			t.Errorf("%s: %v", name, refused)
		}
		if got := s.call(localToken, "session.get", `{"session":"`+id+`"}`).result(); got["entries"] != 1.0 {
			t.Errorf("%s: %v", name, got)
		}
		s.call(localToken, "session.close", `{"session":"`+id+`"}`).wants(t, name, http.StatusOK, "")
		if got := s.call(localToken, "session.get", `{"session":"`+id+`"}`).result(); got["entries"] != 1.0 {
			t.Errorf("%s: after it was closed: %v", name, got)
		}
		s.call(localToken, "session.delete", `{"session":"`+id+`"}`).wants(t, name, http.StatusOK, "")
		s.call(localToken, "session.get", `{"session":"`+id+`"}`).wants(t, name, http.StatusNotFound, "session")
	}
}

// TestOpenGoesOn: an agent that lost its connection opens the session again.
func TestOpenGoesOn(t *testing.T) {
	s := loopback(t)
	for want := range 3 {
		opened := s.call(localToken, "session.open", `{"id":"s"}`).result()
		if opened["entries"] != float64(want) || opened["revision"] != float64(want) {
			t.Fatalf("%v", opened)
		}
		s.call(localToken, "history.add", add("s", human)).wants(t, "add", http.StatusOK, "")
	}
}

func TestATokenSeesItsOwnSessionsOnly(t *testing.T) {
	s := loopback(t)
	alice, bob := s.token("alice", access.Limits{}), s.token("bob", access.Limits{})
	s.call(alice, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	other := s.call(bob, "session.get", `{"session":"s"}`)
	none := s.call(bob, "session.get", `{"session":"t"}`)
	other.wants(t, "another's", http.StatusNotFound, "session")
	if strings.ReplaceAll(other.text, `\"s\"`, `\"t\"`) != none.text {
		t.Errorf("another's session is told from none: %s; %s", other.text, none.text)
	}
	if opened := s.call(bob, "session.open", `{"id":"s"}`).result(); opened["entries"] != 0.0 {
		t.Errorf("the same id: %v", opened)
	}
	for token, want := range map[string]int{alice: 1, localToken: 0} {
		list := s.call(token, "session.list", `{}`)
		if sessions, _ := list.result()["sessions"].([]any); len(sessions) != want {
			t.Errorf("%s", list.text)
		}
	}
	for _, token := range []string{"", "thresh_alice_x", "x"} {
		s.call(token, "session.open", `{}`).wants(t, token, http.StatusUnauthorized, "access")
	}
	for _, method := range []string{"plugins.reset", "plugins.lock"} {
		s.call(bob, method, `{}`).wants(t, "plugins of all", http.StatusForbidden, "access")
	}
	s.call(localToken, "plugins.reset", `{"name":"x"}`).wants(t, "the local user", http.StatusOK, "")
}

func TestRefusalsNameTheLimit(t *testing.T) {
	s := loopback(t)
	small, one := s.token("small", access.Limits{Sessions: 1, RequestBytes: 1000}),
		s.token("one", access.Limits{Requests: 1})
	for range 2 { // one that is open is none more
		s.call(small, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	}
	if e := s.call(small, "session.open", `{"id":"t"}`).wants(t, "sessions", http.StatusTooManyRequests,
		"limit"); e["limit"] != "sessions" {
		t.Errorf("%v", e)
	}
	large := strings.Replace(human, "SECRET", strings.Repeat("x", 1000), 1)
	if e := s.call(small, "history.add", add("s", large)).wants(t, "bytes", http.StatusRequestEntityTooLarge,
		"limit"); e["limit"] != "requestBytes" {
		t.Errorf("%v", e)
	}
	_, leave := s.watch(one, `{}`)
	if e := s.call(one, "initialize", `{}`).wants(t, "in progress", http.StatusTooManyRequests,
		"limit"); e["limit"] != "requests" || e["retryable"] != true {
		t.Errorf("%v", e)
	}
	leave()
}

// watch begins a watch. next returns the next line; nil at the end.
func (s *served) watch(token, body string) (next func() object, leave func()) {
	s.t.Helper()
	answer, err := s.begin(s.t.Context(), token, "session.watch", body)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := json.NewDecoder(answer.Body)
	next = func() (line object) {
		_ = lines.Decode(&line)
		return line
	}
	if first := next(); first == nil || len(first) > 0 {
		s.t.Fatalf("the first line: %v", first)
	}
	return next, func() { _ = answer.Body.Close() }
}

func TestWebPagesAreRefused(t *testing.T) {
	s := loopback(t)
	own := strings.TrimPrefix(s.url, "http://")
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{own, "", http.StatusOK},
		{"localhost:1", "", http.StatusOK},
		{own, s.url, http.StatusOK},
		{"evil.example", "", http.StatusForbidden},
		{"evil.example", "http://evil.example", http.StatusForbidden},
		{own, "http://evil.example", http.StatusForbidden},
		{own, "null", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/initialize", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		r.Header.Set("Authorization", "Bearer "+localToken)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		answer, err := s.conns.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("Host %s, Origin %s: %d", c.host, c.origin, answer.StatusCode)
		}
	}
}

// TestBadRequests: the error says what is wrong, and where.
func TestBadRequests(t *testing.T) {
	s := loopback(t)
	s.call(localToken, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	const entry = `{"speaker":"human","blocks":[{"type":"text","text":"x"}]}`
	for _, c := range []struct {
		method, body, field, text string
		status                    int
	}{
		{"session.open", `{"sesion":"s"}`, "sesion", "unknown field", 400},
		{"session.open", ``, "", "the request is empty", 400},
		{"session.open", `{"id":7}`, "id", "must be text", 400},
		{"session.open", `[]`, "", "must be an object", 400},
		{"session.open", `{"id":`, "", "ends in the middle", 400},
		{"session.open", `{"id":"s"} {}`, "", "something follows", 400},
		{"session.open", `{"id":"a"b}`, "", "not JSON at byte 10", 400},
		{"session.open", `{"id":"u","settings":{"model.contextLimit":-1}}`, "settings.model.contextLimit", "", 400},
		{"session.set", `{"session":"s","key":"model.contextLimit","value":"x"}`, "value", "", 400},
		{"session.set", `{"session":"s","key":"model.contextLimits","value":"1"}`, "key", "", 400},
		{"session.get", `{}`, "session", "is missing", 400},
		{"session.delete", `{}`, "session", "is missing", 400},
		{"todos.set", `{"session":"s","todos":[{"status":7}]}`, "todos[0].status", "must be text", 400},
		{"todos.set", ` {"session":"s","todos":[{"id":"a","subtasks":[]},{"subtasks":[{"id":"]"},{},{"content":[]}]}]}`,
			"todos[1].subtasks[2].content", "must be text", 400},
		{"todos.set", `{"session":"s","todos":[{},{"subtasks":{}}]}`, "todos[1].subtasks", "must be a list", 400},
		{"todos.set", `{"session":"s","todos":[{"content":"x","status":"done"}]}`, "todos[0].status", "allowed are", 400},
		{"plugins.lock", `{"names":["a","b",{}]}`, "names[2]", "must be text", 400},
		{"session.set", `{"session":["` + strings.Repeat("x", 2<<20) + `"]}`, "session", "must be text", 400},
		{"session.set", `{"value":"` + strings.Repeat("x", 2<<20) + `","session":7}`, "session", "must be text", 400},
		{"session.setSystem", `{"session":"s","system":[{"type":"text","text":"a"},{"type":"image"}]}`, "system[1]", "", 400},
		{"session.setSystem", `{"session":"s","system":7}`, "system", "", 400},
		{"history.add", `{"session":"s","entries":[7]}`, "entries[0]", "", 400},
		{"history.add", `{"session":"s","entries":[` + entry + `,{"speaker":"human","blocks":[{"type":"text","text":3}]}]}`,
			"entries[1].blocks[0].text", "a text block needs text", 400},
		{"history.add", `{"session":"s","entries":[{"speaker":"ai","blocks":[{"type":"code","code":"x"},{"type":"nosuch"}]}]}`,
			"entries[0].blocks[1].type", "unknown type", 400},
		{"history.add", `{"session":"s","entries":[{"speaker":"ai","blocks":[{"type":"tool_call","id":"c","name":""}]}]}`,
			"entries[0].blocks[0].name", "a tool_call block needs name", 400},
		{"history.add", `{"session":"s","entries":[` + entry + `,{"speaker":7}]}`, "entries[1].speaker", "", 400},
		{"history.add", `{"session":"s","entries":[` + entry + `,{"speaker":"human"}]}`, "entries[1].blocks", "", 400},
		{"history.add", `{"session":"s","format":"anthropic","messages":[{"role":"user","content":"a"},{"role":"x"}]}`,
			"messages[1]", "", 400},
		{"history.add", `{"session":"s","format":"anthropic","messages":[{"role":"user","content":[{"type":"text"}]}]}`,
			"messages[0].content[0]", "", 400},
		{"history.add", `{"session":"s","format":"anthropic","messages":[],"instructions":[7]}`, "instructions[0]", "", 400},
		{"window.prepare", `{"session":"s","since":-1}`, "since", "at least 0", 400},
		{"window.prepare", `{"session":"s","format":"native"}`, "format", "unknown form", 400},
		{"tokens.count", `{"entries":[{"speaker":"human","blocks":[]},7]}`, "entries[1]", "", 400},
		{"cancel", `{"id":1}`, "", "unknown method", 404},
		{"nosuch", `{}`, "", "want one of: initialize, session.open", 404},
	} {
		got := s.call(localToken, c.method, c.body)
		message, _ := got.err["message"].(string)
		if field, _ := got.err["field"].(string); got.status != c.status || field != c.field ||
			!strings.Contains(message, c.text) {
			t.Errorf("%s %s: %d %s", c.method, c.body, got.status, got.text)
		}
	}
	if got := s.call(localToken, "initialize", `{}`, Timeout, "soon"); got.err["field"] != Timeout {
		t.Errorf("%s", got.text)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/v1/session.get", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+localToken)
	answer, err := s.conns.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %s", answer.Status)
	}
}

// TestLongHistoriesComeInLines of about a megabyte, with all of it in the end.
func TestLongHistoriesComeInLines(t *testing.T) {
	s := loopback(t)
	s.call(localToken, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	empty := s.call(localToken, "history.get", `{"session":"s"}`)
	if empty.text != `{"history":[],"tokens":0,"revision":0}`+"\n" {
		t.Errorf("an empty history: %s", empty.text)
	}
	long := strings.Replace(human, "SECRET", strings.Repeat("some words ", 30_000), 1)
	const n = 20 // 6 MB
	for range n {
		s.call(localToken, "history.add", add("s", long)).wants(t, "add", http.StatusOK, "")
	}
	whole, entries := s.call(localToken, "history.get", `{"session":"s"}`), 0
	for _, line := range whole.lines {
		part, _ := line["history"].([]any)
		entries += len(part)
	}
	if entries != n || len(whole.lines) < 5 || whole.result()["revision"] != float64(n) {
		t.Errorf("%d entries in %d lines: %v", entries, len(whole.lines), whole.result()["revision"])
	}
}

// TestLargeAnswersToOtherMachinesAreCompressed, if they take it. [http.Transport] does, and says what it undid.
func TestLargeAnswersToOtherMachinesAreCompressed(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, l, time.Minute)
	s.url = strings.Replace(s.url, "[::]", "127.0.0.1", 1)
	token := s.token("alice", access.Limits{})
	s.call(token, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	s.call(token, "history.add", add("s", strings.Replace(human, "SECRET", strings.Repeat("word ", 10_000), 1))).
		wants(t, "add", http.StatusOK, "")
	for method, want := range map[string]bool{"history.get": true, "window.prepare": true, "session.get": false} {
		answer, err := s.begin(t.Context(), token, method, `{"session":"s"}`)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || !json.Valid(text) || answer.Uncompressed != want {
			t.Errorf("%s: compressed %v, %v", method, answer.Uncompressed, err)
		}
	}
}

func TestWatchReportsTurns(t *testing.T) {
	s := loopback(t)
	for _, id := range []string{"s", "other"} {
		s.call(localToken, "session.open", `{"id":"`+id+`"}`).wants(t, "open", http.StatusOK, "")
	}
	next, leave := s.watch(localToken, `{"session":"s"}`)
	defer leave()
	for _, id := range []string{"other", "s"} {
		s.call(localToken, "history.add", add(id, human)).wants(t, "add", http.StatusOK, "")
		s.call(localToken, "window.prepare", `{"session":"`+id+`"}`)
	}
	turn := next()
	failed, _ := turn["error"].(object)
	if turn["session"] != "s" || turn["method"] != "prepare" || failed["kind"] != "strategy" {
		t.Errorf("%v", turn)
	}
	go s.stop() // the end of the server ends a watch, which has none of its own
	end, _ := next()["error"].(object)
	if end["kind"] != "shutdown" || end["retryable"] != true || next() != nil {
		t.Errorf("at the end: %v", end)
	}
	s.stop()
}

func TestAUnixSocketNeedsNoToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sock")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, l, time.Minute)
	s.call("", "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	if _, err := Listen("unix:" + path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server: %v", err)
	}
}

// A host that was killed may leave its socket to a process that is only just starting, and that ends with it.
// selfSigned makes a certificate with a serial number.
func selfSigned(t *testing.T, serial int64) *tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	form := x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	made, err := x509.CreateCertificate(nil, &form, &form, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{made}, PrivateKey: private}
}

// A certificate that was renewed is shown from the next connection on.
func TestACertificateIsRenewed(t *testing.T) {
	t.Parallel()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var shown Certificate
	shown.Store(selfSigned(t, 1))
	go func() { ended <- Run(ctx, &http.Server{}, l, &shown, time.Second, hclog.NewNullLogger()) }()
	serial := func() int64 {
		t.Helper()
		c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("serial %d", got)
	}
	shown.Store(selfSigned(t, 2))
	if got := serial(); got != 2 {
		t.Errorf("serial %d after the renewal", got)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The next host listens at the path while the last one finishes its requests, and does so after its end.
func TestASocketOfTheNextHostStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	last, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = last.Close() // when the drain begins
	next, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	_ = last.Close() // when the host has ended
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the next host cannot be reached: %v", err)
	}
	_ = c.Close()
}

func TestASocketThatIsJustGoingIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	old, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	go func() { // closes at the first connection, which is when the next host looks
		c, err := old.Accept()
		if err == nil {
			_ = c.Close()
		}
		_ = old.Close()
	}()
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := Listen("unix:" + path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second host on the same socket: %v, %v", other, err)
	}
	_ = l.Close()
}
