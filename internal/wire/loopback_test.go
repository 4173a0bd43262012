package wire

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"testing"
)

func TestOnlyAProcessAndItsHostSpeakOverLoopback(t *testing.T) {
	t.Parallel()
	mine, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	server, err := TLS(mine)
	if err != nil {
		t.Fatal(err)
	}
	others, _ := NewIdentity()
	for name, tt := range map[string]struct {
		identity []byte
		ok       bool
	}{"the host": {mine, true}, "a stranger": {others, false}} {
		file := filepath.Join(t.TempDir(), "attach")
		if err := WriteLoopback(file, "127.0.0.1:1", tt.identity); err != nil {
			t.Fatal(err)
		}
		address, client, err := ReadLoopback(file)
		if err != nil || address != "127.0.0.1:1" {
			t.Fatalf("%s: %q, %v", name, address, err)
		}
		if tt.identity != nil && !tt.ok {
			client.RootCAs = server.RootCAs // it does not mind whom it reaches
		}
		here, there := net.Pipe()
		done := make(chan error, 1)
		go func() {
			conn := tls.Server(there, server)
			done <- conn.Handshake()
			_ = conn.Close()
		}()
		conn := tls.Client(here, client)
		_, _ = conn.Read(make([]byte, 1)) // until the server has closed it
		if err := <-done; (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
}
