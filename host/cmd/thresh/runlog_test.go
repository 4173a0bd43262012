package main_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// TestWhatIsAcknowledgedIsOnDiskOrReported: the file of the transcript takes 8 KiB, then a whole disk.
func TestWhatIsAcknowledgedIsOnDiskOrReported(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	for name, c := range map[string]struct {
		room bool
		code int
	}{"the disk stays full": {false, 1}, "there is room again": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.program = "thresh-race"
			cmd := p.command("run", "--set", "transcript.dir=kept")
			limited := exec.Command("/bin/sh",
				append([]string{"-c", `ulimit -S -f 16 && exec "$@"`, "sh"}, cmd.Args...)...)
			limited.Dir, limited.Env, limited.SysProcAttr = cmd.Dir, cmd.Env, cmd.SysProcAttr
			a := p.talk(limited)
			in := object{"session": a.open("s", nil)}
			for i := range 30 {
				entry := says("human", fmt.Sprint(i, strings.Repeat(" word", 100)))
				a.call("history.add", with(in, object{"entries": []object{entry}}), nil)
			}
			e := a.refused(-32000, "session.close", in, `session "s"`, "16 of the entries", "s.jsonl", "file too large",
				"stays open")
			if e.Data.Kind != "host" || !e.Data.Retryable {
				t.Errorf("data: %+v", e.Data)
			}
			var now prepared
			if a.call("history.get", in, &now); len(now.History) != 30 {
				t.Errorf("the session holds %d entries", len(now.History))
			}
			want := 14
			if c.room {
				all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
				if err := unix.Prlimit(a.cmd.Process.Pid, unix.RLIMIT_FSIZE, &all, nil); err != nil {
					t.Fatal(err)
				}
				a.call("session.close", in, nil)
				want = 30
			}
			_ = a.stdin.Close()
			a.exits(c.code)
			if got := len(entries(t, read(t, p.path("work", "kept", "s.jsonl")))); got != want {
				t.Errorf("the transcript holds %d entries, want %d", got, want)
			}
			lost := `thresh: session "s": 16 of the entries added are not in the transcript `
			if got := a.stderr.String(); strings.Contains(got, lost) == c.room {
				t.Errorf("on standard error:\n%s", got)
			}
		})
	}
}

func TestWhatIsAcknowledgedSurvivesAKill(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	p := newPlace(t)
	a := p.serve("--set", "transcript.dir=kept")
	a.open("s", nil)
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.exits(-1)
	if got := len(entries(t, read(t, p.path("work", "kept", "s.jsonl")))); got != 1 {
		t.Errorf("the transcript holds %d entries", got)
	}
}
