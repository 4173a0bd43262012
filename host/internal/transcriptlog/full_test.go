package transcriptlog

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// A full disk is what /dev/full is for.
func TestFullDiskLosesNothing(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system: a full disk cannot be shown here")
	}
	j := &Log{path: "/dev/full", file: f}
	j.Add([]string{"e1"}, []content.Content{{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "a"}}}})
	for range 2 {
		if err := j.Flush(); err == nil || !strings.Contains(err.Error(), "nothing was lost") {
			t.Errorf("got %v, want an error each time until there is room", err)
		}
	}
	if len(j.pending) == 0 {
		t.Error("what could not be written was dropped")
	}
	_ = j.Close() // it fails as Flush does
}
