package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
)

// chunks returns a recv that cuts stream into chunks of size bytes.
func chunks(stream []byte, size int) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(stream) == 0 {
			return nil, io.EOF
		}
		n := min(size, len(stream))
		chunk := stream[:n]
		stream = stream[n:]
		return chunk, nil
	}
}

func framed(messages ...string) []byte {
	var b []byte
	for _, m := range messages {
		b = append(protowire.AppendVarint(b, uint64(len(m))), m...)
	}
	return b
}

func asString(msg []byte) (string, error) { return string(msg), nil }

func TestReaderYieldsTheSameMessagesHoweverTheyAreCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringN(0, 300, -1)).Draw(t, "messages")
		size := rapid.IntRange(1, 700).Draw(t, "chunk size")
		count := rapid.SampledFrom([]int{len(want), UntilEnd}).Draw(t, "count")
		got, err := ReadAll(chunks(framed(want...), size), Limits{Count: count}, asString)
		if diff := cmp.Diff(append([]string{}, want...), got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

func TestBrokenStreams(t *testing.T) {
	failed := errors.New("connection lost")
	tests := map[string]struct {
		recv   func() ([]byte, error)
		limits Limits
		want   error
		says   string
	}{
		"nothing at all, but two were announced": {chunks(nil, 1), Limits{Of: "entry", Count: 2}, ErrTruncated,
			"entry 0 of the 2"},
		"ends after one of two": {chunks(framed("one"), 9), Limits{Of: "entry", Count: 2}, ErrTruncated,
			"entry 1 of the 2"},
		"ends inside of a length": {chunks([]byte{0x80}, 1), Limits{Of: "entry", Count: UntilEnd},
			ErrTruncated, "inside of entry 0"},
		"ends inside of a message": {chunks(framed("abc")[:2], 1), Limits{Of: "edit", Count: 1}, ErrTruncated,
			"edit 0"},
		"more than announced": {chunks(framed("one", "two"), 100), Limits{Of: "piece", Count: 1},
			ErrTrailing, "piece"},
		"more than announced, in another chunk": {chunks(framed("one", "two"), 4), Limits{Of: "piece", Count: 1},
			ErrTrailing, "piece"},
		"something, though none was announced": {chunks(framed(""), 1), Limits{Count: 0}, ErrTrailing, ""},
		"a message over the limit": {chunks(framed("ok", "12345"), 3),
			Limits{Of: "entry", Count: 2, Message: 4}, ErrTooLarge, "entry 1 takes 5 bytes, at most 4"},
		"a length of 2^63 without the bytes": {chunks(protowire.AppendVarint(nil, 1<<63), 3), Limits{Count: 1},
			ErrTooLarge, ""},
		"a length of 70 bits": {chunks(bytes.Repeat([]byte{0xff}, 10), 3), Limits{Count: 1}, ErrMalformed,
			"varint"},
		"a stream over the limit": {chunks(framed("12345", "12345"), 4), Limits{Count: 2, Total: 11},
			ErrTooLarge, "more than 11 bytes"},
		"a chunk over the limit": {chunks(make([]byte, MaxChunk+1), MaxChunk+1), Limits{Count: UntilEnd},
			ErrTooLarge, "chunk"},
		"an error of the stream itself": {func() ([]byte, error) { return nil, failed }, Limits{Count: 1}, failed,
			""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadAll(tt.recv, tt.limits, asString)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v; want %v that says %q", err, tt.want, tt.says)
			}
			if ours := !errors.Is(tt.want, failed); errors.Is(err, ErrProtocol) != ours {
				t.Errorf("error %v: is ErrProtocol: %t, want %t", err, !ours, ours)
			}
		})
	}
}

func TestWriterCutsAtTheLimitAndLosesNothing(t *testing.T) {
	texts := []string{"", "short", strings.Repeat("x", 10<<20), "after", strings.Repeat("y", MaxChunk-40),
		strings.Repeat("z", 3*MaxChunk)}
	var stream []byte
	var sizes []int
	w := NewWriter(func(chunk []byte) error {
		stream = append(stream, chunk...)
		sizes = append(sizes, len(chunk))
		return nil
	})
	for _, s := range texts {
		if err := w.Content(content.Content{Blocks: []content.Block{content.Text{Text: s}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes[:len(sizes)-1] {
		if n != chunkSize {
			t.Errorf("chunk %d has %d bytes; all but the last are full", i, n)
		}
	}
	got, err := ReadAll(chunks(stream, MaxChunk), Limits{Count: len(texts)}, DecodeContent)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if c.Blocks[0].(content.Text).Text != texts[i] {
			t.Errorf("text %d came out different", i)
		}
	}
	want := (len(stream) + chunkSize - 1) / chunkSize
	if err := w.Flush(); err != nil || len(sizes) != want {
		t.Errorf("%d chunks after a second Flush (%v), want %d", len(sizes), err, want)
	}
}

func TestWriterStopsAtAFailedSend(t *testing.T) {
	gone := errors.New("gone")
	sends := 0
	w := NewWriter(func([]byte) error { sends++; return gone })
	err := w.Content(content.Content{Blocks: []content.Block{content.Text{Text: strings.Repeat("x", 5*MaxChunk)}}})
	if !errors.Is(err, gone) || sends != 1 {
		t.Errorf("error %v after %d sends", err, sends)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(framed("one", "", "three"), 3, 2)
	f.Add([]byte{0x80, 0x80}, 1, 1)
	f.Fuzz(func(t *testing.T, stream []byte, count, size int) {
		limits := Limits{Count: max(count, UntilEnd), Message: 1 << 16, Total: 1 << 20}
		got, err := ReadAll(chunks(stream, max(1, size)), limits, asString)
		whole, wholeErr := ReadAll(chunks(stream, MaxChunk), limits, asString)
		if len(stream) > MaxChunk {
			return
		}
		if diff := cmp.Diff(whole, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wholeErr) {
			t.Errorf("cut: %v, whole: %v\n%s", err, wholeErr, diff)
		}
		if err != nil && !errors.Is(err, ErrProtocol) {
			t.Errorf("error %v is no protocol error", err)
		}
	})
}
