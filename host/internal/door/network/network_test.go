package network

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1/sessionv1connect"
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
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	s.conns = &http.Transport{Protocols: protocols}
	if u, ok := l.Addr().(*net.UnixAddr); ok {
		s.url = "http://thresh"
		s.conns.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", u.Name)
		}
	}
	done := false
	s.stop = func() {
		if done {
			return
		}
		done = true
		s.conns.CloseIdleConnections() // HTTP/2 gives one that is kept open a second
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.conns.CloseIdleConnections()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
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

// bearer adds a token to every request.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

func (s *served) client(token string, o ...connect.ClientOption) sessionv1connect.SessionServiceClient {
	return sessionv1connect.NewSessionServiceClient(&http.Client{Transport: bearer{s.conns, token}}, s.url, o...)
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

// wantCode checks a status and the kind in its detail; "" for a status without one.
func wantCode(t *testing.T, what string, err error, code connect.Code, kind string) *sessionv1.ErrorDetail {
	t.Helper()
	var status *connect.Error
	if !errors.As(err, &status) || status.Code() != code {
		t.Errorf("%s: %v, want %v", what, err, code)
		return nil
	}
	detail := &sessionv1.ErrorDetail{}
	for _, d := range status.Details() {
		if value, err := d.Value(); err == nil {
			detail, _ = value.(*sessionv1.ErrorDetail)
		}
	}
	if detail.GetKind() != kind {
		t.Errorf("%s: kind %q, want %q", what, detail.GetKind(), kind)
	}
	return detail
}

// TestOneHandlerSpeaksAllProtocols: the same session through each of them.
func TestOneHandlerSpeaksAllProtocols(t *testing.T) {
	s := loopback(t)
	for name, o := range map[string][]connect.ClientOption{
		"grpc": {connect.WithGRPC()}, "grpc-web": {connect.WithGRPCWeb()}, "connect": nil,
		"connect json": {connect.WithProtoJSON()},
	} {
		c, ctx := s.client(localToken, o...), t.Context()
		opened, err := c.Open(ctx, &sessionv1.OpenRequest{
			Settings: map[string]string{"model.contextLimit": "32000"},
			System:   &sessionv1.System{Prompt: &sessionv1.System_Text{Text: "be brief"}},
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id := opened.GetSession()
		added, err := c.Add(ctx, &sessionv1.AddRequest{Session: id, Entries: []string{human}})
		if err != nil || added.GetRevision() != 1 || added.GetTokens() == 0 {
			t.Errorf("%s: %v, %v", name, added, err)
		}
		ready, err := c.Prepare(ctx, &sessionv1.PrepareRequest{Session: id, Unprepared: true, Format: "anthropic"})
		if err != nil || len(ready.GetMessages()) != 1 || !strings.Contains(ready.GetSystem(), "be brief") ||
			ready.GetError().GetDetail().GetKind() != "strategy" || !json.Valid([]byte(ready.GetOutcome())) {
			t.Errorf("%s: %v, %v", name, ready, err)
		}
		// The error names the entry, whatever the protocol.
		_, err = c.Add(ctx, &sessionv1.AddRequest{Session: id, Entries: []string{human, `{"speaker":"robot"}`}})
		if d := wantCode(t, name, err, connect.CodeInvalidArgument, "entry"); d.GetEntry() != 1 {
			t.Errorf("%s: %v", name, d)
		}
		state, err := c.Get(ctx, &sessionv1.GetRequest{Session: id})
		if err != nil || state.GetEntries() != 1 || state.GetRevision() != 1 {
			t.Errorf("%s: %v, %v", name, state, err)
		}
		if _, err := c.Close(ctx, &sessionv1.CloseRequest{Session: id}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err = c.Get(ctx, &sessionv1.GetRequest{Session: id})
		wantCode(t, name, err, connect.CodeNotFound, "session")
	}
}

// TestOpenGoesOn: an agent that lost its connection opens the session again.
func TestOpenGoesOn(t *testing.T) {
	c, ctx := loopback(t).client(localToken), t.Context()
	for want := range 3 {
		opened, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "s"})
		if err != nil || int(opened.GetEntries()) != want || int(opened.GetRevision()) != want {
			t.Fatalf("%v, %v", opened, err)
		}
		if _, err := c.Add(ctx, &sessionv1.AddRequest{Session: "s", Entries: []string{human}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATokenSeesItsOwnSessionsOnly(t *testing.T) {
	s, ctx := loopback(t), t.Context()
	alice, bob := s.client(s.token("alice", access.Limits{})), s.client(s.token("bob", access.Limits{}))
	carol := s.token("carol", access.Limits{})
	if _, err := alice.Open(ctx, &sessionv1.OpenRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	_, other := bob.Get(ctx, &sessionv1.GetRequest{Session: "s"})
	_, none := bob.Get(ctx, &sessionv1.GetRequest{Session: "t"})
	wantCode(t, "another's", other, connect.CodeNotFound, "session")
	if strings.ReplaceAll(other.Error(), `"s"`, `"t"`) != none.Error() {
		t.Errorf("another's session is told from none: %v; %v", other, none)
	}
	if opened, err := bob.Open(ctx, &sessionv1.OpenRequest{Session: "s"}); err != nil || opened.GetEntries() != 0 {
		t.Errorf("the same id: %v, %v", opened, err)
	}
	clients := map[string]sessionv1connect.SessionServiceClient{"alice": alice, "local": s.client(localToken)}
	for name, c := range clients {
		list, err := c.List(ctx, &sessionv1.ListRequest{})
		if want := map[string]int{"alice": 1}[name]; err != nil || len(list.GetSessions()) != want {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	for _, token := range []string{"", "thresh_alice_x", "x"} {
		_, err := s.client(token).Open(ctx, &sessionv1.OpenRequest{})
		wantCode(t, token, err, connect.CodeUnauthenticated, "access")
	}
	admin := func(token string) error {
		c := sessionv1connect.NewPluginServiceClient(&http.Client{Transport: bearer{s.conns, token}}, s.url)
		_, err := c.ResetPlugin(ctx, &sessionv1.ResetPluginRequest{Name: "x"})
		return err
	}
	wantCode(t, "plugins of all", admin(carol), connect.CodePermissionDenied, "access")
	if err := admin(localToken); err != nil {
		t.Error(err)
	}
}

func TestRefusalsNameTheLimit(t *testing.T) {
	s, ctx := loopback(t), t.Context()
	small := access.Limits{Sessions: 1, RequestBytes: 1000}
	tokens := map[string]string{"grpc": s.token("grpc", small), "json": s.token("json", small)}
	one := s.token("one", access.Limits{Requests: 1})
	// As gRPC and in JSON: what is too large is noticed in two ways.
	for name, o := range map[string]connect.ClientOption{"grpc": connect.WithGRPC(), "json": connect.WithProtoJSON()} {
		c := s.client(tokens[name], o)
		if _, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "s"}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "s"}); err != nil {
			t.Errorf("%s: a session that is open: %v", name, err)
		}
		_, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "t"})
		if d := wantCode(t, name, err, connect.CodeResourceExhausted, "limit"); d.GetLimit() != "sessions" {
			t.Errorf("%s: %v", name, d)
		}
		large := strings.Replace(human, "SECRET", strings.Repeat("x", 1000), 1)
		_, err = c.Add(ctx, &sessionv1.AddRequest{Session: "s", Entries: []string{large}})
		if d := wantCode(t, name, err, connect.CodeResourceExhausted, "limit"); d.GetLimit() != "requestBytes" {
			t.Errorf("%s: %v", name, d)
		}
	}
	c := s.client(one)
	watch, err := c.Watch(ctx, &sessionv1.WatchRequest{})
	if err != nil || !watch.Receive() {
		t.Fatal(err, watch.Err())
	}
	_, err = c.Describe(ctx, &sessionv1.DescribeRequest{})
	if d := wantCode(t, "in progress", err, connect.CodeResourceExhausted, "limit"); d.GetLimit() != "requests" ||
		!d.GetRetryable() {
		t.Errorf("%v", d)
	}
	_ = watch.Close()
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
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/thresh.v1.SessionService/Describe",
			strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
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

// TestWhatIsMisspeltIsRefused, because it would otherwise mean nothing at all.
func TestWhatIsMisspeltIsRefused(t *testing.T) {
	s := loopback(t)
	for body, want := range map[string]int{
		`{"session":"s"}`: http.StatusOK,
		`{"sesion":"s"}`:  http.StatusBadRequest,
		``:                http.StatusBadRequest,
		`{"session":7}`:   http.StatusBadRequest,
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/thresh.v1.SessionService/Open",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+localToken)
		answer, err := s.conns.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d", body, answer.StatusCode)
		}
	}
}

// TestLongHistoriesComeInParts that a client with the usual bound of 4 MiB takes.
func TestLongHistoriesComeInParts(t *testing.T) {
	c, ctx := loopback(t).client(localToken, connect.WithGRPC(), connect.WithReadMaxBytes(4<<20)), t.Context()
	if _, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	long := strings.Replace(human, "SECRET", strings.Repeat("some words ", 30_000), 1)
	const n = 20 // 6 MB
	for range n {
		if _, err := c.Add(ctx, &sessionv1.AddRequest{Session: "s", Entries: []string{long}}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := c.GetHistory(ctx, &sessionv1.GetHistoryRequest{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	entries, received := 0, 0
	for whole.Receive() {
		received++
		entries += len(whole.Msg().GetHistory())
	}
	if whole.Err() != nil || entries != n || received < 5 {
		t.Errorf("history: %d entries in %d parts, %v", entries, received, whole.Err())
	}
	turn, err := c.PrepareStream(ctx, &sessionv1.PrepareRequest{Session: "s", Unprepared: true})
	if err != nil {
		t.Fatal(err)
	}
	entries = 0
	for received = 0; turn.Receive(); received++ {
		if entries += len(turn.Msg().GetHistory()); (received == 0) != (turn.Msg().GetOutcome() != "") {
			t.Errorf("part %d has outcome %q", received, turn.Msg().GetOutcome())
		}
	}
	if turn.Err() != nil || entries != n || received < 5 {
		t.Errorf("prepare: %d entries in %d parts, %v", entries, received, turn.Err())
	}
}

func TestWatchReportsTurns(t *testing.T) {
	s, ctx := loopback(t), t.Context()
	c := s.client(localToken)
	for _, id := range []string{"s", "other"} {
		if _, err := c.Open(ctx, &sessionv1.OpenRequest{Session: id}); err != nil {
			t.Fatal(err)
		}
	}
	watch, err := c.Watch(ctx, &sessionv1.WatchRequest{Session: "s"})
	if err != nil || !watch.Receive() || watch.Msg().GetSession() != "" {
		t.Fatal(err, watch.Err())
	}
	for _, id := range []string{"other", "s"} {
		if _, err := c.Add(ctx, &sessionv1.AddRequest{Session: id, Entries: []string{human}}); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Prepare(ctx, &sessionv1.PrepareRequest{Session: id})
	}
	if !watch.Receive() || watch.Msg().GetSession() != "s" || watch.Msg().GetMethod() != "prepare" ||
		watch.Msg().GetError().GetDetail().GetKind() != "strategy" {
		t.Errorf("%v, %v", watch.Msg(), watch.Err())
	}
	s.stop() // the end of the server ends a watch, which has none of its own
	if watch.Receive() || connect.CodeOf(watch.Err()) != connect.CodeUnavailable {
		t.Errorf("at the end: %v", watch.Err())
	}
}

func TestAUnixSocketNeedsNoToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sock")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, l, time.Minute)
	if _, err := s.client("", connect.WithGRPC()).Open(t.Context(), &sessionv1.OpenRequest{Session: "s"}); err != nil {
		t.Error(err)
	}
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
