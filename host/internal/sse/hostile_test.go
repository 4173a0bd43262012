package sse_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/sse"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// Whatever a provider streams, in small pieces or at once, takes time in proportion.
func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		for _, size := range []int{10, len(text)} {
			r := sse.Reader{Max: 64 << 10, Skip: true, Data: func([]byte) error { return nil }}
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = r.Write(rest[:min(size, len(rest))])
			}
			_ = r.End()
		}
	}, hostile.Text{Open: "data: {}\n"}, hostile.Text{Open: "data: {}\n\n"}, hostile.Text{Open: "data:"},
		hostile.Text{Open: "\n"}, hostile.Text{Open: "\r"}, hostile.Text{Open: ": ping\n"}, hostile.Text{Open: "data"})
}
