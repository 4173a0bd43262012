package wire

import (
	"fmt"
	"hash/maphash"
	"testing"

	"google.golang.org/protobuf/proto"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

func encoded(tb testing.TB, n int) []byte {
	var stream []byte
	w := NewWriter(func(chunk []byte) error { stream = append(stream, chunk...); return nil })
	for i, c := range session(n) {
		if err := w.Entry(fmt.Sprint("entry-", i), 300, c); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return stream
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1250, 2500, 5000} {
		history := session(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(encoded(b, n))))
			b.ReportAllocs()
			for b.Loop() {
				w := NewWriter(func([]byte) error { return nil })
				for _, c := range history {
					if err := w.Entry("entry", 300, c); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1250, 2500, 5000} {
		stream := encoded(b, n)
		for _, size := range []int{1, MaxChunk} {
			b.Run(fmt.Sprintf("%d/chunk=%d", n, size), func(b *testing.B) {
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := ReadAll(chunks(stream, size), Limits{Count: n}, DecodeEntry); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	history, seed := session(3), maphash.MakeSeed()
	for b.Loop() {
		for i := range history {
			Fingerprint(seed, &history[i])
		}
	}
}

// The generated code alone, without making content of its messages: what Encode and Decode are compared with.
func BenchmarkGeneratedCode(b *testing.B) {
	var entries []*threshv1.Entry
	var encoded [][]byte
	for _, c := range session(5000) {
		e := &threshv1.Entry{Id: "entry", Tokens: 300, Content: pbContent(c)}
		msg, err := proto.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		entries, encoded = append(entries, e), append(encoded, msg)
	}
	b.Run("marshal/5000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range entries {
				if _, err := proto.Marshal(e); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("unmarshal/5000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, msg := range encoded {
				var e threshv1.Entry
				if err := proto.Unmarshal(msg, &e); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
