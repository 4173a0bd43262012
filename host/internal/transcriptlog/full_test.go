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
		t.Skip("SKIPPED: no /dev/full on this system: a full disk cannot be shown here")
	}
	j := &Log{path: "/dev/full", file: f}
	j.Add("e1", content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "a"}}})
	for range 2 {
		want := "1 of the entries added are not in the transcript /dev/full: no space left on device"
		for _, try := range []func() error{j.Flush, j.Close} {
			if err := try(); err == nil || err.Error() != want {
				t.Errorf("got %v, want an error each time until there is room", err)
			}
		}
	}
	if len(j.pending) == 0 {
		t.Error("what could not be written was dropped")
	}

	room, err := os.Create(t.TempDir() + "/room")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	j.file = room // there is room again
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(room.Name())
	if err != nil || strings.Count(string(got), "\n") != 1 {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
