package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

const stream = `{"type":"init","session_id":"s","model":"m"}
{"type":"message","timestamp":"T","role":"user","content":"go"}
{"type":"message","timestamp":"T","role":"assistant","content":"yes"}
`

func TestWhatAnAgentSaysBeforeItsFirstRecordIsLeftOut(t *testing.T) {
	tr := read(t, "Loaded cached credentials.\n\nMCP: [x] \"{\n"+stream)
	if len(tr.Entries) != 2 || tr.ID != "s" || tr.Lines[0] != 5 ||
		!strings.Contains(fmt.Sprint(tr.Notes), "3 × line of text") {
		t.Errorf("%d entries, the first on line %v: %v", len(tr.Entries), tr.Lines, tr.Notes)
	}
	for _, text := range []string{"# A page\n\n{\n  x: 1\n}\n", "text alone"} {
		if _, err := transcript.Read(strings.NewReader(text), transcript.Options{}); !errors.Is(err, transcript.ErrUnknownFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestARecordingIsReadAsItIsCompressed(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := z.EncodeAll([]byte(stream), nil)
	tr, err := transcript.Read(bytes.NewReader(whole), transcript.Options{})
	if err != nil || len(tr.Entries) != 2 {
		t.Fatal(tr, err)
	}
	if _, err := transcript.Read(bytes.NewReader(whole[:len(whole)-8]), transcript.Options{}); err == nil {
		t.Error("half of it is read as if it were all")
	}
	// The limit is on what is in it.
	large := z.EncodeAll(bytes.Repeat([]byte(stream), 1000), nil)
	if _, err := transcript.Read(bytes.NewReader(large), transcript.Options{MaxBytes: 5000}); !errors.Is(err, transcript.ErrTooLarge) {
		t.Error(err)
	}
}
