package serve

import (
	"bytes"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"io"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// request is a session as it travels in an Optimize: the header, then chunks.
type request struct {
	threshv1.StrategyService_OptimizeServer
	messages []*threshv1.OptimizeRequest
}

func (r *request) Recv() (*threshv1.OptimizeRequest, error) {
	if len(r.messages) == 0 {
		return nil, io.EOF
	}
	m := r.messages[0]
	r.messages = r.messages[1:]
	return proto.CloneOf(m), nil // gRPC makes a new message each time
}

// received returns a function that reads the entries as a call does.
func received(tb testing.TB, entries []sdk.Content) func() *wire.Update {
	tb.Helper()
	header := &threshv1.OptimizeHeader{Call: &threshv1.CallHeader{Entries: uint64(len(entries))}}
	all := []*threshv1.OptimizeRequest{{Part: &threshv1.OptimizeRequest_Header{Header: header}}}
	w := wire.NewWriter(func(chunk []byte) error {
		part := &threshv1.OptimizeRequest_Chunk{Chunk: bytes.Clone(chunk)}
		all = append(all, &threshv1.OptimizeRequest{Part: part})
		return nil
	})
	for i, c := range entries {
		if err := w.Entry(fmt.Sprint("e", i), 200, c); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return func() *wire.Update {
		_, _, up, err := wire.ReceiveOptimize(&request{messages: all}, nil)
		if err != nil {
			tb.Fatal(err)
		}
		return up
	}
}

// What a mirror of a million tokens takes in memory, and what it costs to make. The heap is reported as a multiple of
// what the entries take on the wire, and as JSON in a file; accounted is what the limit counts.
func BenchmarkMirror(b *testing.B) {
	entries := gen.Session(5000, 1)
	whole, three := received(b, entries), received(b, entries[:3])
	text, native := 0, 0
	for _, c := range entries {
		text += len(wire.AppendContent(nil, c))
		native += len(c.AppendJSON(nil)) + 1
	}
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := newMirror("s")
			if err := m.apply(whole()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("memory", func(b *testing.B) {
		heap := func() int {
			runtime.GC()
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int(stats.HeapAlloc)
		}
		for b.Loop() {
			before := heap()
			m := newMirror("s")
			if err := m.apply(whole()); err != nil {
				b.Fatal(err)
			}
			took := heap() - before
			b.ReportMetric(float64(took)/float64(text), "heap-bytes/text-byte")
			b.ReportMetric(float64(took)/float64(native), "heap-bytes/json-byte")
			b.ReportMetric(float64(m.bytes)/float64(took), "accounted-bytes/heap-byte")
			runtime.KeepAlive(m)
		}
	})
	b.Run("turn", func(b *testing.B) { // of three entries, the check after it included
		b.ReportAllocs()
		m := newMirror("s")
		if err := m.apply(whole()); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			_, err := m.rewrite([]wire.MirrorPiece{{Kept: rewrite.Keep{To: 5000}}}) // without those of the turn before
			if err == nil {
				err = m.apply(three())
			}
			if err == nil {
				err = m.untouched()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
