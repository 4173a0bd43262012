package main_test

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
)

// More clients connect than there are descriptors: who is there already is served, with a plugin that starts only then;
// who comes is refused at once, on every door, and the log says so once.
func TestMoreConnectionsThanDescriptors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	server := p.listening(limited("-n 96", p.command("serve", "--set", "serve.listen=127.0.0.1:0",
		"--set", "proxy.listen=127.0.0.1:0")))
	s := server.session(api.OpenRequest{ID: "before"})
	var flood []net.Conn
	dial := func(door string) net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(door, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		flood = append(flood, c)
		return c
	}
	// get asks on a connection of its own, and returns the status.
	get := func(door, path string) string {
		c, answer := dial(door), make([]byte, 12)
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		n, err := io.ReadFull(c, answer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%s%s hangs", door, path)
		}
		return strings.TrimPrefix(string(answer[:n]), "HTTP/1.1 ")
	}
	var got []string
	for range 100 {
		got = append(got, get(server.address, "/readyz"))
	}
	if got = slices.Compact(got); !slices.Equal(got, []string{"200", "503"}) {
		t.Errorf("answers: %q", got)
	}
	if status := get(server.address, "/healthz"); status != "200" {
		t.Errorf("whether it lives: %q", status)
	}
	if status := get(server.proxy, "/v1/models"); status != "503" {
		t.Errorf("the proxy: %q", status)
	}
	for range 100 { // they ask for nothing, and hold what they get
		dial(server.proxy)
	}
	if _, err := s.Add(t.Context(), api.Entries(words("hello"))); err != nil {
		t.Error(err)
	}
	if _, err := s.Prepare(t.Context(), api.PrepareRequest{}); err != nil {
		t.Error(err)
	}
	if text := server.log.String(); strings.Count(text, "connections are refused") != 2 { // once for each door
		t.Errorf("logged:\n%s", text)
	}
	for _, c := range flood {
		_ = c.Close()
	}
	if !eventually(patience, func() bool { return get(server.address, "/readyz") == "200" }) {
		t.Error("it is not ready after they have gone")
	}
	server.end(syscall.SIGTERM)
}
