package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// flood does what the name says to a host from which it wants memory or time. It begins with a call; those whose names
// end in "unasked" go on behind it.
func (s *strategy) flood(ctx context.Context, callID string) {
	switch s.name {
	case "floods-estimates":
		for range 30 {
			go s.unfinished(ctx, callID)
		}
		<-ctx.Done()
	case "opens-streams":
		openStreams(5_000)
		<-ctx.Done()
	case "sends-unasked":
		for range 6 { // its own memory is bounded too
			go s.oneMessage(callID)
		}
	case "asks-unasked":
		go func() {
			for range 77_000 {
				_, _ = s.host.ResolvePrompt(context.Background(), &threshv1.ResolvePromptRequest{CallId: callID})
			}
			time.Sleep(time.Hour)
		}()
	case "writes-to-the-log":
		fmt.Fprint(os.NewFile(2, "stderr"), strings.Join(injections, ""))
	case "floods-the-log":
		line := []byte(strings.Repeat(`{"@level":"error","@message":"`+strings.Repeat("x", 900)+"\"}\n", 100))
		for range 200 {
			_, _ = os.NewFile(2, "stderr").Write(line)
		}
	case "spins":
		go func() {
			for {
			}
		}()
	case "closes-its-directory":
		_ = os.MkdirAll("deep/er", 0o700)
		_ = os.WriteFile("deep/er/file", nil, 0)
		_ = os.Symlink("/etc", "deep/link")
		for _, dir := range []string{"deep/er", "deep", "."} {
			_ = os.Chmod(dir, 0)
		}
	}
}

// injections are lines on standard error that try to look like the host's own, or to make a terminal act.
var injections = []string{
	`{"@level":"error","@message":"one\n2026-01-01T00:00:00.000Z [ERROR] thresh: forged by a message"}` + "\n",
	`{"@level":"error","@message":"two","k\n[ERROR] thresh: forged by a key":"v\n[ERROR] thresh: forged by a value"}` + "\n",
	`{"@level":"error","@message":"three","list":["\n[ERROR] thresh: forged in a list",{"a":"\u001b[2J"}]}` + "\n",
	"panic: \x1b]0;title\x07\x1b[2J\r[ERROR] thresh: forged by a panic\n",
}

// unfinished sends 60 MB of an entry that is longer, and waits.
func (s *strategy) unfinished(ctx context.Context, callID string) {
	stream, err := s.host.EstimateTokens(ctx)
	if err != nil {
		return
	}
	chunk := make([]byte, 1<<20)
	_ = stream.Send(&threshv1.EstimateTokensRequest{CallId: callID, Chunk: protowire.AppendVarint(nil, 63<<20)})
	for range 60 {
		if stream.Send(&threshv1.EstimateTokensRequest{Chunk: chunk}) != nil {
			break
		}
	}
	<-stream.Context().Done()
}

// oneMessage sends 8 MB in one message, again and again.
func (s *strategy) oneMessage(callID string) {
	message := &threshv1.EstimateTokensRequest{CallId: callID, Chunk: make([]byte, 8<<20)}
	for {
		stream, err := s.host.EstimateTokens(context.Background())
		if err != nil {
			time.Sleep(time.Hour)
		}
		_ = stream.Send(message)
		time.Sleep(10 * time.Millisecond)
	}
}

// openStreams opens requests on the host's socket without regard to how many the host allows, and finishes none.
func openStreams(n int) {
	dir := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")
	sockets, _ := filepath.Glob(filepath.Join(dir, "*"))
	ofHost, _ := filepath.Glob(filepath.Join(dir, "*", "*")) // where isolation shows them
	sockets = append(sockets, ofHost...)
	for _, path := range sockets {
		conn, err := net.Dial("unix", path)
		if err != nil {
			continue
		}
		go func() { // what the host says about it must be read, or the host would wait
			b := make([]byte, 1<<16)
			for {
				if _, err := conn.Read(b); err != nil {
					return
				}
			}
		}()
		_, _ = conn.Write([]byte(http2.ClientPreface))
		framer := http2.NewFramer(conn, nil)
		_ = framer.WriteSettings()
		var header bytes.Buffer
		for i := range n {
			header.Reset()
			encoder := hpack.NewEncoder(&header)
			for _, f := range []hpack.HeaderField{
				{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "x"},
				{Name: ":path", Value: "/thresh.v1.HostService/EstimateTokens"}, {Name: "content-type", Value: "application/grpc"},
				{Name: "te", Value: "trailers"},
			} {
				_ = encoder.WriteField(f)
			}
			if framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: uint32(2*i + 1), BlockFragment: header.Bytes(), EndHeaders: true,
			}) != nil {
				break
			}
		}
	}
}
