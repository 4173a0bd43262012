package main_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// TestWhatIsAcknowledgedIsOnDiskOrReported: the file of the transcript takes 8 KiB, then a whole disk. What was
// acknowledged before is in the file at once, whatever becomes of the process.
func TestWhatIsAcknowledgedIsOnDiskOrReported(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	for name, stillFull := range map[string]bool{"the disk stays full": true, "there is room again": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.program = "thresh-race"
			a := p.talk(limited("-S -f 16", p.command("run", "--set", "transcript.dir=kept")))
			in := object{"session": a.open("s", nil)}
			for i := range 30 {
				entry := says("human", fmt.Sprint(i, strings.Repeat(" word", 100)))
				a.call("history.add", with(in, object{"entries": []object{entry}}), nil)
			}
			holds := func(want int) {
				t.Helper()
				if got := strings.Count(p.read("kept/s.jsonl"), "\n"); got != want {
					t.Errorf("the transcript holds %d entries, want %d", got, want)
				}
			}
			holds(14)
			e := a.refused(-32000, "session.close", in, `session "s"`, "16 of the entries", "s.jsonl", "file too large",
				"stays open")
			if e.Data.Kind != "host" || !e.Data.Retryable {
				t.Errorf("data: %+v", e.Data)
			}
			var now prepared
			if a.call("history.get", in, &now); len(now.History) != 30 {
				t.Errorf("the session holds %d entries", len(now.History))
			}
			code := 1
			if !stillFull {
				all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
				if err := unix.Prlimit(a.cmd.Process.Pid, unix.RLIMIT_FSIZE, &all, nil); err != nil {
					t.Fatal(err)
				}
				a.call("session.close", in, nil)
				holds(30)
				code = 0
			}
			_ = a.stdin.Close()
			a.exits(code)
			lost := `thresh: session "s": 16 of the entries added are not in the transcript `
			if got := a.stderr.String(); strings.Contains(got, lost) != stillFull {
				t.Errorf("on standard error:\n%s", got)
			}
		})
	}
}
