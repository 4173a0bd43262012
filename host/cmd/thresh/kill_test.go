package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/postgres"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// twins is a host in the test's process: its sessions are never closed.
func twins(t *testing.T, p *place, changes map[string]string) *window.Host {
	t.Helper()
	// As the environment of the place says.
	set := map[string]any{"plugins.isolation": "off", "model.encoding": "cl100k_base"}
	for key, value := range changes {
		set[key] = value
	}
	h, err := window.Open(window.Options{Config: settings.Load(t, p.plugins, set), Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// survivor is an agent that goes on with its session however often thresh is killed.
type survivor struct {
	t       testing.TB
	id      string
	twin    *window.Session
	current func() victim // waits until there is one
	opened  victim        // where at leads
	at      talk
	turns   int // that were acknowledged
}

// reach opens the session, if it is not open in v yet.
func (s *survivor) reach(v victim) (err error) {
	if v == s.opened {
		return nil
	}
	if s.at, err = v.open(s.id); err == nil {
		s.opened = v
	}
	return err
}

// turn adds a call with its response and prepares a request, and compares both with the twin.
func (s *survivor) turn() error {
	call := fmt.Sprintf("%s-%d", s.id, s.turns)
	file := fmt.Sprint("f", s.turns%5, ".go")
	entries := []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: call, Name: "read_file",
			Parameters: json.RawMessage(`{"file_path":"` + file + `"}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: call, ToolName: "read_file",
			Result: content.String(strings.Repeat(call+" ", 60))}}},
	}
	// The addition may have arrived before the kill: then it must not be made again.
	if err := s.at.recorded(call); errors.Is(err, errKilled) {
		return err
	} else if err != nil {
		if err := s.at.add(entries); err != nil {
			return err
		}
	}
	if h, err := s.twin.History(); err != nil {
		return err
	} else if h.Added == uint64(2*s.turns) {
		if _, err := s.twin.Add(s.t.Context(), window.Entries(entries...)); err != nil {
			return err
		}
	}
	history, revision, err := s.at.prepare()
	if err != nil {
		return err
	}
	want, err := s.twin.Prepare(s.t.Context(), window.Sending{})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(want.Contents())
	if diff := cmp.Diff(string(raw), string(history)); diff != "" || revision != want.Revision {
		s.t.Errorf("session %s, turn %d: revision %d, want %d\n%s", s.id, s.turns, revision, want.Revision, diff)
	}
	s.turns++
	return err
}

// work goes on until stop is closed. Killing thresh is no error; everything else is.
func (s *survivor) work(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		v := s.current()
		if v == nil {
			return
		}
		err := s.reach(v)
		if err == nil {
			err = s.turn()
		}
		if err != nil && !errors.Is(err, errKilled) {
			s.t.Errorf("session %s, turn %d: %v", s.id, s.turns, err)
			return
		}
	}
}

// Thresh is killed at random moments while agents work. Nothing that was acknowledged is lost, every session opens
// again, and each goes on as a twin does that nothing ever happened to. THRESH_KILLS says how often; it is short
// without.
func TestKilledAtRandomMoments(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	const few = 3
	kills := rounds(few)
	file := func(p *place) string { return "sqlite:" + p.path("work", "sessions.db") }
	run := func(p *place, args ...string) victim {
		return startRun(p.t, p.command(append([]string{"run"}, args...)...))
	}
	serve := func(p *place, args ...string) victim { return startServe(p, args...) }
	database := func(p *place) string { return postgres.Shared(p.t).Database() }
	for name, of := range map[string]struct {
		start func(p *place, args ...string) victim
		store func(p *place) string
		short bool // also where it is short; a service that is killed, TestServicesOnOneStoreAreOne has
	}{
		"run on sqlite":     {run, file, true},
		"run on postgres":   {run, database, false},
		"serve on sqlite":   {serve, file, false},
		"serve on postgres": {serve, database, false},
	} {
		if kills == few && !of.short {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			killed(t, p, kills, of.store(p), of.start)
		})
	}
}

func killed(t *testing.T, p *place, kills int, database string, start func(p *place, args ...string) victim) {
	changes := map[string]string{"model.contextLimit": "6000", "compression.density.recencyPruning": "true"}
	args := []string{"--set", "sessions.store=" + database}
	for key, value := range changes {
		args = append(args, "--set", key+"="+value)
	}
	t.Cleanup(p.sweep) // what was being looked at when it was killed
	host := twins(t, p, changes)
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	var now victim
	ended := false
	current := func() victim {
		mu.Lock()
		defer mu.Unlock()
		for now == nil && !ended {
			changed.Wait()
		}
		return now
	}
	set := func(v victim, end bool) {
		mu.Lock()
		now, ended = v, end
		changed.Broadcast()
		mu.Unlock()
	}
	stop := make(chan struct{})
	var agents sync.WaitGroup
	var all []*survivor
	for i := range 4 {
		id := fmt.Sprintf("s%d-%d", i, os.Getpid())
		twin, err := host.Open(window.Opening{Key: store.Key{ID: id}})
		if err != nil {
			t.Fatal(err)
		}
		s := &survivor{t: t, id: id, twin: twin, current: current}
		all = append(all, s)
		agents.Go(func() { s.work(stop) })
	}
	for range kills {
		v := start(p, args...)
		set(v, false)
		time.Sleep(time.Duration(100+rand.IntN(700)) * time.Millisecond) // the moment is what is tried, not waited for
		set(nil, false)
		v.kill()
	}
	last := start(p, args...)
	set(last, false)
	added := func() uint64 {
		h, err := all[0].twin.History()
		if err != nil {
			t.Error(err)
		}
		return h.Added
	}
	before := added()
	eventually(patience, func() bool { return added() > before+4 })
	close(stop)
	agents.Wait()
	turns := 0
	for _, s := range all {
		turns += s.turns
		if err := s.reach(last); err != nil {
			t.Fatalf("session %s does not open again: %v", s.id, err)
		}
		for i := range s.turns {
			if err := s.at.recorded(fmt.Sprintf("%s-%d", s.id, i)); err != nil {
				t.Errorf("turn %d of session %s was acknowledged and is lost: %v", i, s.id, err)
			}
		}
	}
	t.Logf("%d turns of %d sessions, killed %d times", turns, len(all), kills)
	if turns == 0 {
		t.Error("no turn was ever acknowledged: the test shows nothing")
	}
	last.end()
	set(nil, true)
}
