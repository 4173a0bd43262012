package main_test

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// chaff is what the gate strategy removes: no words, so it leaves no mark.
func chaff() object {
	return object{"speaker": "ai", "blocks": []any{object{"type": "thinking", "thought": "chaff"}}}
}

// began opens the session s with two entries, of which the gate strategy removes the second.
func (a *agent) began() (session object) {
	a.t.Helper()
	session = object{"session": a.open("s", nil)}
	a.call("history.add", with(session, object{"entries": []object{says("human", "first"), chaff()}}), nil)
	return session
}

// slowPrepare begins a prepare that goes on until release is called. The gate strategy is working when it returns.
func slowPrepare(a *agent, session string) (id int, release func()) {
	a.t.Helper()
	if err := syscall.Mkfifo(a.path("work", "gate"), 0o600); err != nil {
		a.t.Fatal(err)
	}
	id = a.send("window.prepare", object{"session": session})
	pipe, err := os.OpenFile(a.path("work", "gate"), os.O_WRONLY, 0) // waits for its reader
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = pipe.Close() })
	return id, func() {
		_ = os.Remove(a.path("work", "gate"))
		_ = pipe.Close()
	}
}

// TestAPrepareSeesWhatWasSentBeforeIt, though it begins after a later addition was acknowledged, which waits for no
// prepare and is kept; nor do other sessions wait.
func TestAPrepareSeesWhatWasSentBeforeIt(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	a.open("other", object{"workspace.root": "/"})
	in := a.began()
	one, release := slowPrepare(a, "s")
	two := a.send("window.prepare", in)
	get := a.send("history.get", in)
	set := a.send("session.set", with(in, object{"key": "compression.threshold", "value": 0.5}))
	a.call("history.add", with(in, object{"entries": []object{says("human", "late"), chaff()}}), nil)
	three := a.send("window.prepare", in)
	a.prepare("other")
	for _, id := range []int{one, two, get, set, three} {
		if slices.Contains(a.answers(), fmt.Sprint(id)) {
			t.Fatalf("request %d did not wait for the strategy", id)
		}
	}
	release()
	for id, want := range map[int][]string{one: {"first"}, two: {"first"}, get: {"first"}, three: {"first", "late"}} {
		var got prepared
		a.result(id, &got)
		if diff := cmp.Diff(want, texts(got.History)); diff != "" {
			t.Errorf("request %d:\n%s", id, diff)
		}
	}
	a.end()
}

func TestCancelEndsAPrepare(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	in := a.began()
	one, _ := slowPrepare(a, "s")
	two := a.send("window.prepare", in) // waits for the first
	for _, id := range []int{two, one} {
		var r struct{ Canceled bool }
		if a.call("cancel", object{"id": id}, &r); !r.Canceled {
			t.Errorf("request %d was not in progress", id)
		}
	}
	for _, id := range []int{one, two} {
		e := a.refusal(a.wait(id), -32000)
		if e.Data.Kind != "canceled" || e.Data.Prepared == nil || len(e.Data.Prepared.History) != 2 {
			t.Errorf("request %d: %+v", id, e)
		}
	}
	a.call("history.get", in, nil) // the session goes on
	a.end()
}

// TestASignalEndsIt while a plugin is at work that does not mind being asked to stop.
func TestASignalEndsIt(t *testing.T) {
	t.Parallel()
	// Programs inherit it if signals are ignored, as nohup and shells arrange it; a program keeps to that. It does not
	// inherit that they are handled.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			a := newPlace(t, "gate").serve("--strategy", "gate")
			a.began()
			id, _ := slowPrepare(a, "s")
			if len(a.processes()) != 1 {
				t.Errorf("processes: %v", a.processes())
			}
			a.signal(sig)
			a.signal(sig) // timeout(1) sends it to the process and to its group
			a.exits(0)
			if e := a.refusal(a.wait(id), -32000); e.Data.Kind != "canceled" {
				t.Errorf("the prepare under way: %+v", e)
			}
		})
	}
}

// TestAClosedStandardOutputIsSaid: an agent that ended left replies unread, and whoever looks at the log must know why.
// Its end of the input may still be open.
func TestAClosedStandardOutputIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	a := p.serve("--strategy", "gate")
	a.began()
	a.prepare("s")
	a.stdout.Close()
	a.send("history.get", object{"session": "s"})
	a.exits(1)
	if got := a.stderr.String(); got !=
		"thresh: standard output was closed: the program that reads the replies has ended\n" {
		t.Errorf("printed %q", got)
	}
}
