package sse_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/sse"
)

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"names and comments": {"event: a\nid: 1\n: ping\ndata: {}\n\n\n\ndata:x\n\n", []string{"{}", "x"}},
		"line breaks":        {"data: a\r\n\r\ndata: b\r\rdata: c\n\n", []string{"a", "b", "c"}},
		"several lines":      {"data: a\ndata:\ndata: b\n\n", []string{"a\n\nb"}},
		"no data":            {"event: a\n\ndata\n\n", nil},
		"cut":                {"data: a\n\ndata: b\ndata: c", []string{"a", "b\nc"}},
		"too long":           {"data: a\n\ndata: " + strings.Repeat("x", 100) + "\ndata: y\n\ndata: c\n\n", []string{"a", "c"}},
		"too many lines":     {strings.Repeat("data: 1\n", 10) + "\ndata: c\n\n", []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.stream); size++ {
				var got []string
				r := sse.Reader{Max: 16, Skip: true, Data: func(data []byte) error {
					got = append(got, string(data))
					return nil
				}}
				for piece := range slices.Chunk([]byte(c.stream), size) {
					if _, err := r.Write(piece); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.End(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Fatalf("in pieces of %d bytes:\n%s", size, diff)
				}
			}
		})
	}
}

func TestAnErrorEndsTheReading(t *testing.T) {
	wrong := errors.New("wrong")
	r := sse.Reader{Max: 16, Data: func([]byte) error { return wrong }}
	if _, err := r.Write([]byte("data: a\n\n")); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	r = sse.Reader{Max: 16, Data: func([]byte) error { return nil }}
	if _, err := r.Write([]byte("data: " + strings.Repeat("x", 100))); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("got %v", err)
	}
}
