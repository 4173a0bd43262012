package main_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// certificate makes an authority of its own and a certificate for 127.0.0.1, and writes the latter and its key where
// the place works, as NAME.pem and NAME.key.
func (p *place) certificate(name string) (authority *x509.CertPool) {
	p.t.Helper()
	issue := func(of, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			p.t.Fatal(err)
		}
		if by == nil {
			by, byKey = of, key
		}
		of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		raw, err := x509.CreateCertificate(rand.Reader, of, by, key.Public(), byKey)
		if err != nil {
			p.t.Fatal(err)
		}
		made, err := x509.ParseCertificate(raw)
		if err != nil {
			p.t.Fatal(err)
		}
		return made, key
	}
	root, rootKey := issue(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name + " authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leaf, leafKey := issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, root, rootKey)
	key, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		p.t.Fatal(err)
	}
	p.file(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})))
	p.file(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	authority = x509.NewCertPool()
	authority.AddCert(root)
	return authority
}

// TestServingOtherMachinesWithTLS: to our client, and to one of HTTP/1.1 and HTTP/2.
func TestServingOtherMachinesWithTLS(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	trusted, other := p.certificate("a"), p.certificate("b")
	for flags, want := range map[string]string{
		"--set serve.tls.cert=a.pem":                           "serve.tls.cert and serve.tls.key",
		"--set serve.tls.cert=a.pem --set serve.tls.key=b.key": "private key does not match",
	} {
		args := append([]string{"serve", "--set", "serve.listen=0.0.0.0:0"}, strings.Fields(flags)...)
		if r := p.run(args...); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d: %s", flags, r.code, r.stderr)
		}
	}
	token := strings.TrimSpace(p.run("access", "set", "alice").stdout)
	s := p.serveNetwork("--set", "serve.listen=0.0.0.0:0", "--set", "serve.tls.cert=a.pem",
		"--set", "serve.tls.key=a.key")
	if strings.Contains(s.log.String(), "--insecure") {
		t.Errorf("with TLS: %s", s.log)
	}
	s.address = strings.Replace(s.address, "[::]", "127.0.0.1", 1)
	for name, c := range map[string]struct {
		address, token string
		authority      *x509.CertPool
		kind, text     string // of the error; "" for none
		json           string // what the request gets as JSON over HTTP, which has no client here
	}{
		"as it should be":   {s.address, token, trusted, "", "", "200 200"},
		"without a token":   {s.address, "", trusted, "access", "valid token", "401 401"},
		"another authority": {s.address, token, other, "connection", "unknown authority", "unknown authority"},
		"without TLS":       {strings.Replace(s.address, "https", "http", 1), token, nil, "connection", "", "400 failed:"},
	} {
		t.Run(name, func(t *testing.T) {
			remote, err := client.New(c.address, client.Options{Token: c.token, TLS: &tls.Config{RootCAs: c.authority}})
			if err != nil {
				t.Fatal(err)
			}
			defer remote.Close()
			_, err = remote.Open(t.Context(), api.OpenRequest{})
			var failed *api.Error
			if err == nil {
				failed = &api.Error{}
			}
			if err != nil && !errors.As(err, &failed) || string(failed.Kind) != c.kind ||
				!strings.Contains(failed.Error(), c.text) {
				t.Errorf("the client: %v", err)
			}
			var got string
			for _, http2 := range []bool{false, true} {
				got += " " + asJSON(t, c.address, c.token, c.authority, http2)
			}
			for _, want := range strings.Fields(c.json) {
				if !strings.Contains(got, want) {
					t.Errorf("JSON: %s, want %s", got, c.json)
				}
			}
		})
	}
	measured := s.metrics(t, token, trusted)
	for _, want := range []string{
		`thresh_service_duration_seconds_count{method="session.open",outcome="ok"} 1`,
		`thresh_service_duration_seconds_count{method="initialize",outcome="ok"} 2`,
		`thresh_service_duration_seconds_count{outcome="access"} 3`,
	} {
		if !strings.Contains(measured, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, measured)
		}
	}
	s.end(syscall.SIGTERM)
}

// metrics asks for measurements as Prometheus does that has a token.
func (s *server) metrics(t *testing.T, token string, authority *x509.CertPool) string {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", answer.Status, err, text)
	}
	return string(text)
}

// asJSON makes a request without a client of ours, and returns its status, or why there is none.
func asJSON(t *testing.T, address, token string, authority *x509.CertPool, http2 bool) string {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	protocols.SetUnencryptedHTTP2(http2)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}, Protocols: protocols}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/v1/initialize",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "failed: " + err.Error()
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return fmt.Sprint(answer.StatusCode)
}

// TestTheEndWaitsForWhatIsInProgress, for as long as serve.drain says, and not when it is told twice.
func TestTheEndWaitsForWhatIsInProgress(t *testing.T) {
	t.Parallel()
	const over = "requests in progress are cancelled: serve.drain is over"
	for name, c := range map[string]struct {
		drain    string
		finish   bool // the strategy finishes while the server waits
		twice    bool // the signal
		prepared bool // the request is answered
		logs     string
	}{
		"finished in time": {"1m", true, false, true, ""},
		"not in time":      {"100ms", false, false, false, over},
		"told twice":       {"1m", false, true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "gate")
			if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := p.serveNetwork("--strategy", "gate", "--set", "serve.listen=127.0.0.1:0",
				"--set", "serve.drain="+c.drain)
			session := s.session(api.OpenRequest{})
			if _, err := session.Add(t.Context(), api.Entries(words("hello"))); err != nil {
				t.Fatal(err)
			}
			answered := make(chan error, 1)
			go func() {
				_, err := session.Prepare(t.Context(), api.PrepareRequest{})
				answered <- err
			}()
			gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0) // waits until the strategy is at work
			if err != nil {
				t.Fatal(err)
			}
			defer gate.Close()
			other := s.session(api.OpenRequest{})
			s.signal(syscall.SIGTERM)
			if !eventually(patience, func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the client would wait for the next host
				defer cancel()
				_, err := other.State(ctx)
				return err != nil
			}) {
				t.Error("new requests are still accepted")
			}
			if c.finish {
				_ = gate.Close()
			}
			if c.twice && !eventually(patience, func() bool { // the first one may still be on its way through the host
				s.signal(syscall.SIGTERM)
				select {
				case <-s.log.done:
					return true
				default:
					return false
				}
			}) {
				t.Error("it goes on after a second signal")
			}
			err = <-answered
			var failed *api.Error
			if c.prepared && err != nil || !c.prepared && (!errors.As(err, &failed) || !failed.Retryable) {
				t.Errorf("the request in progress: %v", err)
			}
			if !c.twice {
				if log := s.ended(); strings.Contains(log, over) != (c.logs != "") {
					t.Errorf("the log:\n%s", log)
				}
				return
			}
			<-s.log.done
			if err := s.cmd.Wait(); err == nil || err.Error() != "signal: terminated" {
				t.Errorf("it ended by itself: %v", err)
			}
			p.sweep()
		})
	}
}

// sweep removes what a host leaves behind that was not let end, as the next host does.
func (p *place) sweep() {
	left, _ := filepath.Glob(p.path("tmp", "thresh-*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}

func words(text string) content.Content {
	return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
}

// session opens a session of the local user.
func (s *server) session(o api.OpenRequest) *client.Session {
	s.t.Helper()
	session, err := s.client().Open(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// TestLimitsAndDeadlinesOfAClientWithAModel: what a token may, and that a model is not asked for a client that has gone
// or whose time is over.
func TestLimitsAndDeadlinesOfAClientWithAModel(t *testing.T) {
	t.Parallel()
	calls := make(chan *modelapi.Request, 10)
	p := newLLMPlace(t, "openai", modelapi.Options{OnRequest: func(c *modelapi.Request) { calls <- c }})
	token := strings.TrimSpace(p.run("access", "set", "alice", "--sessions", "1", "--requests", "1",
		"--request-bytes", "500000", "--store-bytes", "20000", "--usd-per-day", "0.3").stdout)
	serve := func(listen string) (*server, *client.Client) {
		s := p.listening(p.command("serve", "--set", "serve.listen="+listen))
		c, err := client.New(s.address, client.Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return s, c
	}
	limited := func(name string, err error) {
		t.Helper()
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Kind != "limit" || refused.Limit != name ||
			!strings.Contains(err.Error(), fmt.Sprintf("limit %q of access token %q", name, "alice")) {
			t.Errorf("limit %s: %v", name, err)
		}
	}
	s, c := serve("127.0.0.1:0")
	session, err := c.Open(t.Context(),
		api.OpenRequest{ID: "a", Settings: map[string]any{"model.contextLimit": "20000"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Open(t.Context(), api.OpenRequest{ID: "b"})
	limited("sessions", err)
	_, err = session.Add(t.Context(), api.Entries(words(strings.Repeat("x", 500_001))))
	limited("requestBytes", err)
	if _, err := session.Add(t.Context(), api.Entries(transcript(t, turns(60))...)); err != nil {
		t.Fatal(err)
	}

	// While a model is asked for a client that then goes, or has no time left, no other request is accepted; then the
	// model is not asked any longer.
	compress := func(ctx context.Context) (call *modelapi.Request, done chan error) {
		done = make(chan error, 1)
		go func() {
			_, err := session.Compress(ctx)
			done <- err
		}()
		select {
		case call = <-calls:
		case err := <-done:
			done <- err
			select {
			case call = <-calls: // it was asked in the last moment
			default:
			}
		}
		return call, done
	}
	ended := func(call *modelapi.Request, done chan error, kind string) {
		t.Helper()
		gone(t, call)
		var failed *api.Error
		if err := <-done; !errors.As(err, &failed) || string(failed.Kind) != kind {
			t.Errorf("the compress, %s: %v", kind, err)
		}
		if !eventually(patience, func() bool { _, err := session.State(t.Context()); return err == nil }) {
			t.Error("the request still counts")
		}
	}
	p.server.Queue(modelapi.Reply{Fault: modelapi.FaultHang}, modelapi.Reply{Fault: modelapi.FaultHang})
	ctx, leave := context.WithCancel(t.Context())
	call, done := compress(ctx)
	if call == nil {
		t.Fatal(<-done)
	}
	_, err = session.State(t.Context())
	limited("requests", err)
	leave()
	ended(call, done, "canceled")
	call = nil
	for limit := 500 * time.Millisecond; call == nil; limit *= 2 { // a busy machine may need longer to ask the model
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		call, done = compress(ctx)
	}
	ended(call, done, "deadline")
	// Both calls count as estimated, about 0.09 dollars each. This one costs more than its estimate, and the rest.
	p.server.Queue(modelapi.Reply{Text: snapshot, Usage: modelapi.Usage{Input: 40_000, Output: 200}})
	if made, err := session.Compress(t.Context()); err != nil || made.Outcome.Compress.LLM.CostUSD == 0 {
		t.Fatalf("it was not compressed: %+v, %v", made, err)
	}
	_, err = session.Compress(t.Context())
	limited("usdPerDay", err)
	_, err = session.Prepare(t.Context(), api.PrepareRequest{})
	limited("usdPerDay", err)
	log := s.end(syscall.SIGTERM)
	if strings.Contains(log, key) || !strings.Contains(log, "outcome=limit") {
		t.Errorf("the log:\n%s", log)
	}
	// What was spent and what is stored count for the next host too. A host looks at the store every 5 seconds.
	s, _ = serve(strings.TrimPrefix(s.address, "http://"))
	_, err = session.Compress(t.Context())
	limited("usdPerDay", err)
	_, err = session.Add(t.Context(), api.Entries(words("more")))
	limited("storeBytes", err)
	s.end(syscall.SIGTERM)
}

// transcript are entries of the native form as a Go client takes them.
func transcript(t *testing.T, lines string) []content.Content {
	t.Helper()
	var out []content.Content
	for line := range strings.Lines(lines) {
		out = append(out, parseJSON[content.Content](t, line))
	}
	return out
}

// TestSystemdStartsAndReloadsTheService plays systemd: it opens the address, passes it on, and is told of what happens.
func TestSystemdStartsAndReloadsTheService(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: p.path("work", "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	next := func(want string) {
		t.Helper()
		text := make([]byte, 1000)
		_ = told.SetReadDeadline(time.Now().Add(patience))
		n, err := told.Read(text)
		if err != nil || !strings.HasPrefix(string(text[:n]), want) {
			t.Errorf("systemd was told %q, %v; want %q", text[:n], err, want)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	// The id of the process is known only when it runs.
	cmd := p.command("serve", "--set", "serve.listen=127.0.0.1:1")
	cmd.Args[0] = cmd.Path
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh"}, cmd.Args...)
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1", "NOTIFY_SOCKET="+p.path("work", "n"))
	cmd.ExtraFiles = []*os.File{socket} // descriptor 3
	s := p.listening(cmd)
	_, _ = l.Close(), socket.Close()
	next("READY=1")
	if s.address != "http://"+l.Addr().String() {
		t.Errorf("it serves at %s, and systemd's address is %s", s.address, l.Addr())
	}
	s.session(api.OpenRequest{})
	s.signal(syscall.SIGHUP)
	next("RELOADING=1\nMONOTONIC_USEC=")
	next("READY=1")
	s.signal(syscall.SIGTERM)
	next("STOPPING=1")
	s.ended()
}

// TestTheUnitsAreValid for systemd, with a program that is there.
func TestTheUnitsAreValid(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		const missing = "systemd-analyze is not installed: the units are not checked"
		fmt.Fprintln(os.Stderr, "NOTE: "+missing)
		t.Skip("SKIPPED: " + missing)
	}
	dir := t.TempDir()
	args := []string{"verify"}
	for _, name := range []string{"thresh.service", "thresh.socket"} {
		unit, err := os.ReadFile(repo.Path(t) + "/packaging/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(unit), "/usr/bin/thresh", filepath.Join(bin, "thresh"), -1)
		text = strings.Replace(text, "Documentation=man:thresh-serve(1)\n", "", 1) // the page is not installed here
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	// What is left is what isolating plugins takes: namespaces, mounts, control groups; and a network.
	exposed := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=29", args[1])
	if out, err := exposed.CombinedOutput(); err != nil {
		t.Errorf("the service may do more than it did: %v\n%s", err, out)
	}
}
