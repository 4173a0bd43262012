package supervise

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
)

// A call that waits for the end of a process to be noticed is answered, also if the file of the plugin is gone by then.
func TestACallThatWaitsForADeadProcessIsAnswered(t *testing.T) {
	dir := t.TempDir()
	spawner, err := process.NewSpawner("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spawner.Close() })
	start, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dead, err := client.Launch(start, spawner, client.Options{Logger: hclog.NewNullLogger()}, client.Spec{
		Binary: discover.Socket(discover.Candidate{Name: "x", Path: filepath.Join(dir, "x"), Attached: true}),
	})
	if err == nil {
		t.Fatal("a process answers at a socket that is not there")
	}
	gone := errors.New("there is no such file")
	ctx, end := context.WithCancel(t.Context())
	s := New(&Host{Ctx: ctx, Log: hclog.NewNullLogger(), MaxCrashes: 3, Start: func(string, Start) (*client.Plugin, error) {
		return nil, gone
	}}, "x")
	o := newOwner(s)
	o.current = newInstance(dead)
	answer := make(chan lease, 1)
	o.acquire(answer)
	if len(o.demand.waiting) != 1 {
		t.Fatal("it does not wait")
	}
	o.look(discover.Candidate{}, false)
	defer end()
	if !o.coming.starting {
		t.Fatal("a call waits, and no process is started")
	}
	go o.run()
	if l := <-answer; !errors.Is(l.err, gone) {
		t.Errorf("got %v", l.err)
	}
	end()
	<-s.ended
}
