package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/sdk/content"
)

// errKilled is the error of a request that was not answered because thresh was killed.
var errKilled = errors.New("thresh was killed")

// victim is a 'thresh run' that is going to be killed.
type victim struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply // nil: it has ended
}

func startVictim(t *testing.T, cmd *exec.Cmd) *victim {
	t.Helper()
	v := &victim{cmd: cmd, waiting: map[int]chan reply{}}
	var err error
	if v.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var r reply
			var id int
			if json.Unmarshal(lines.Bytes(), &r) != nil || json.Unmarshal(r.ID, &id) != nil {
				continue // cut off by the kill
			}
			v.mu.Lock()
			if c := v.waiting[id]; c != nil {
				c <- r
				delete(v.waiting, id)
			}
			v.mu.Unlock()
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, c := range v.waiting {
			close(c)
		}
		v.waiting = nil
	}()
	return v
}

// call sends a request and waits for its answer.
func (v *victim) call(method string, params, result any) error {
	answer := make(chan reply, 1)
	v.mu.Lock()
	if v.waiting == nil {
		v.mu.Unlock()
		return errKilled
	}
	v.next++
	v.waiting[v.next] = answer
	line, err := json.Marshal(object{"jsonrpc": "2.0", "id": v.next, "method": method, "params": params})
	if err == nil {
		_, _ = v.stdin.Write(append(line, '\n')) // if it fails, no answer comes
	}
	v.mu.Unlock()
	r, ok := <-answer
	switch {
	case err != nil:
		return err
	case !ok:
		return errKilled
	case r.Error != nil:
		return fmt.Errorf("%s: %s", method, r.Error.Message)
	case result == nil:
		return nil
	}
	return json.Unmarshal(r.Result, result)
}

// twin is a session that lives in the test's process and is never closed.
func twins(t *testing.T, p *place, settings map[string]string) *engine.Host {
	t.Helper()
	o := config.Options{WorkDir: p.path("work"), Env: []string{}}
	set := func(key string, value any) {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	set("plugins.dirs", []string{p.plugins})
	set("plugins.isolation", "off")
	set("model.encoding", "r50k_base") // as the environment of the place says
	for key, value := range settings {
		set(key, value)
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Open(engine.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// survivor is an agent that goes on with its session however often thresh is killed.
type survivor struct {
	t       *testing.T
	id      string
	twin    *engine.Session
	current func() *victim // waits until there is one
	turns   int            // that were acknowledged
}

// turn adds a call with its response and prepares a request, and compares both with the twin.
func (s *survivor) turn(v *victim) error {
	call := fmt.Sprintf("%s-%d", s.id, s.turns)
	file := fmt.Sprint("f", s.turns%5, ".go")
	entries := []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: call, Name: "read_file",
			Parameters: json.RawMessage(`{"file_path":"` + file + `"}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: call, ToolName: "read_file",
			Result: content.String(strings.Repeat(call+" ", 60))}}},
	}
	// The addition may have arrived before the kill: then it must not be made again.
	recorded := object{"session": s.id, "id": call}
	if err := v.call("history.recorded", recorded, nil); errors.Is(err, errKilled) {
		return err
	} else if err != nil {
		if err := v.call("history.add", object{"session": s.id, "entries": entries}, nil); err != nil {
			return err
		}
	}
	if s.twin.History().Added == uint64(2*s.turns) {
		if _, _, err := s.twin.Add(s.t.Context(), entries...); err != nil {
			return err
		}
	}
	var got struct {
		History  json.RawMessage
		Revision uint64
	}
	if err := v.call("window.prepare", object{"session": s.id}, &got); err != nil {
		return err
	}
	want, err := s.twin.Prepare(s.t.Context(), engine.PrepareOptions{})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(want.History)
	if diff := cmp.Diff(string(raw), string(got.History)); diff != "" || got.Revision != want.Revision {
		s.t.Errorf("session %s, turn %d: revision %d, want %d\n%s", s.id, s.turns, got.Revision, want.Revision, diff)
	}
	s.turns++
	return err
}

// work goes on until stop is closed. Killing thresh is no error; everything else is.
func (s *survivor) work(stop <-chan struct{}) {
	var opened *victim
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
		var err error
		if v != opened {
			if err = v.call("session.open", object{"id": s.id}, nil); err == nil {
				opened = v
			}
		}
		if err == nil {
			err = s.turn(v)
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
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("THRESH_KILLS")); err == nil {
		kills = n
	}
	p := newPlace(t)
	settings := map[string]string{"model.contextLimit": "6000", "compression.density.recencyPruning": "true"}
	store := "sqlite:" + p.path("work", "sessions.db")
	if url := os.Getenv("THRESH_KILL_STORE"); url != "" { // a database, in place of a file
		store = url
	}
	args := []string{"run", "--set", "sessions.store=" + store}
	for key, value := range settings {
		args = append(args, "--set", key+"="+value)
	}
	t.Cleanup(func() { // what was being looked at when it was killed
		left, _ := filepath.Glob(p.path("tmp", "thresh-*"))
		for _, dir := range left {
			_ = os.RemoveAll(dir)
		}
	})
	host := twins(t, p, settings)
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	var now *victim
	ended := false
	current := func() *victim {
		mu.Lock()
		defer mu.Unlock()
		for now == nil && !ended {
			changed.Wait()
		}
		return now
	}
	set := func(v *victim, end bool) {
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
		twin, err := host.Session(engine.SessionOptions{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		s := &survivor{t: t, id: id, twin: twin, current: current}
		all = append(all, s)
		agents.Go(func() { s.work(stop) })
	}
	for range kills {
		v := startVictim(t, p.command(args...))
		set(v, false)
		time.Sleep(time.Duration(100+rand.IntN(700)) * time.Millisecond) // the moment is what is tried, not waited for
		set(nil, false)
		_ = syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
		_ = v.cmd.Wait()
	}
	last := startVictim(t, p.command(args...))
	set(last, false)
	start := all[0].turns
	eventually(patience, func() bool { return all[0].twin.History().Added > uint64(2*start+4) })
	close(stop)
	agents.Wait()
	turns := 0
	for _, s := range all {
		turns += s.turns
		for i := range s.turns {
			err := last.call("history.recorded", object{"session": s.id, "id": fmt.Sprintf("%s-%d", s.id, i)}, nil)
			if err != nil {
				t.Errorf("turn %d of session %s was acknowledged and is lost: %v", i, s.id, err)
			}
		}
	}
	t.Logf("%d turns of %d sessions, killed %d times", turns, len(all), kills)
	if turns == 0 {
		t.Error("no turn was ever acknowledged: the test shows nothing")
	}
	_ = last.stdin.Close()
	_ = last.cmd.Wait()
	set(nil, true)
}
