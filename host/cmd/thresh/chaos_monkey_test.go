package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/procs"
	"github.com/thresh-dev/thresh/sdk/content"
)

// monkey disturbs plugins: their processes, as the OOM killer or an overloaded machine would, their files, as an
// installer would, and their run directories, as a cleaner of temporary files would.
type monkey struct {
	*place
	v       *runs
	counts  *counts
	rnd     *rand.Rand
	pending sync.WaitGroup // what is to be undone

	// mu guards absent and the files.
	mu     sync.Mutex
	absent map[string]bool // strategies whose file is away
}

// disturb goes on until ctx ends. When it returns, everything is as it was before, so that every session must work.
func (m *monkey) disturb(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			m.pending.Wait()
			for _, name := range disturbed {
				m.reset(name)
			}
			return
		// Not chosen by what the host is doing: every step of a start and a call gets hit.
		case <-time.After(m.between(10, 120)):
		}
		name := disturbed[m.rnd.IntN(len(disturbed))]
		if m.rnd.IntN(4) > 0 { // otherwise delays grow, up to quarantine
			m.reset(name)
		}
		switch n := m.rnd.IntN(20); {
		case n < 10:
			m.signal(name, "plugins killed", syscall.SIGKILL)
		case n < 15:
			m.stop(ctx, name)
		case n < 17:
			m.replace(name)
		case n < 18:
			m.sweepAll()
		default:
			m.remove(ctx, name)
		}
	}
}

// reset ends the delay after a crash, and quarantine.
func (m *monkey) reset(name string) { _ = m.v.call("plugins.reset", object{"name": name}, nil) }

// between is a random time in milliseconds.
func (m *monkey) between(least, most int) time.Duration {
	return time.Duration(least+m.rnd.IntN(most-least)) * time.Millisecond
}

// signal sends a signal to a process of the strategy, if there is one, and returns its id.
func (m *monkey) signal(name, how string, s syscall.Signal) int {
	for pid, command := range procs.Running(m.plugins) {
		if strings.HasPrefix(command, m.file(name)) && syscall.Kill(pid, s) == nil {
			m.counts.add(how, 1)
			return pid
		}
	}
	return 0
}

func (m *monkey) file(name string) string { return filepath.Join(m.plugins, "thresh-strategy-"+name) }

// stop stops a process, as a suspended laptop does, sometimes for longer than the host's timeout.
func (m *monkey) stop(ctx context.Context, name string) {
	d := m.between(50, 1500)
	if m.rnd.IntN(6) == 0 {
		d += callTimeout
	}
	pid := m.signal(name, "plugins stopped", syscall.SIGSTOP)
	if pid == 0 {
		return
	}
	m.later(ctx, d, func() {
		if _, ok := procs.Running(m.plugins)[pid]; ok { // the id may be another process's by now
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	})
}

// replace puts a new version in the place of a file, in one step: bytes after the end of a program change nothing that
// it does.
func (m *monkey) replace(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	program, err := os.ReadFile(m.file(name))
	if err != nil {
		return // it is away, and comes back as it was
	}
	next := m.path("work", "next")
	if err = os.WriteFile(next, fmt.Appendf(program, "\n%d", m.rnd.Uint64()), 0o755); err == nil {
		err = os.Rename(next, m.file(name))
	}
	if err != nil {
		m.t.Errorf("replacing a plugin: %v", err)
	}
	m.counts.add("plugins replaced", 1)
}

// remove takes a file away for a while: the strategy that is built in takes over.
func (m *monkey) remove(ctx context.Context, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.absent[name] {
		return
	}
	away := m.path("work", "away-"+name)
	if err := os.Rename(m.file(name), away); err != nil {
		m.t.Errorf("removing a plugin: %v", err)
	}
	m.absent[name] = true
	m.counts.add("plugins removed and put back", 1)
	m.later(ctx, m.between(50, 1000), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.absent[name] = false
		if err := os.Rename(away, m.file(name)); err != nil {
			m.t.Errorf("putting back a plugin: %v", err)
		}
	})
}

// sweepAll removes everything in the temporary directory, the sockets of running plugins too. Their connections hold.
func (m *monkey) sweepAll() {
	found, _ := os.ReadDir(m.path("tmp"))
	for _, e := range found {
		_ = os.RemoveAll(m.path("tmp", e.Name())) // the host may be making files there meanwhile
	}
	m.counts.add("run directories removed", 1)
}

// later undoes something after a time, or at once when ctx ends.
func (m *monkey) later(ctx context.Context, d time.Duration, undo func()) {
	m.pending.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
		undo()
	})
}

// source makes what an agent says: a generated coding session with parallel calls, ids that repeat, and people who speak
// while a tool is at work.
type source struct {
	rnd  *rand.Rand
	rest []content.Content // of the generated session; when it is used up, another follows
	held []content.Content // a response that comes first in the next batch
}

// next returns some exchanges. It may end with a call whose response comes with the next ones.
func (s *source) next(exchanges int) []content.Content {
	out := s.held
	s.held = nil
	for range exchanges {
		e := s.exchange()
		if s.rnd.IntN(6) == 0 {
			e = parallel(append(e, s.exchange()...))
		}
		out = append(out, e...)
	}
	last := len(out) - 1
	switch s.rnd.IntN(8) {
	case 0: // the call is at the end of the history for a turn, and pending
		s.held = out[last:]
		out = out[:last:last]
	case 1: // a person does not wait for the tool
		s.held = []content.Content{out[last]}
		out[last] = gen.Said(content.Human, fmt.Sprint("And one more thing, number ", s.rnd.IntN(1000)))
	}
	if len(out) == 0 { // it was the held response alone
		return s.next(exchanges)
	}
	return out
}

// exchange returns what is said up to the next response of a tool.
func (s *source) exchange() (out []content.Content) {
	for {
		if len(s.rest) == 0 {
			s.rest = gen.Session(100, s.rnd.Uint64())
			for s.rest[len(s.rest)-1].Speaker != content.Tool { // so that sessions can follow each other
				s.rest = s.rest[:len(s.rest)-1]
			}
		}
		e := s.rest[0]
		s.rest = s.rest[1:]
		out = append(out, e)
		if e.Speaker != content.Tool {
			continue
		}
		if s.rnd.IntN(10) == 0 { // some agents number the calls of each turn from 1
			call := out[len(out)-2].Blocks[1].(content.ToolCall)
			answer := e.Blocks[0].(content.ToolResponse)
			call.ID, answer.CallID = "call_1", "call_1"
			out[len(out)-2].Blocks[1], e.Blocks[0] = call, answer
		}
		return out
	}
}

// parallel makes one entry of all calls, before all responses, as models do that call several tools at once. Calls with
// the same id stay apart: no provider takes two in one message.
func parallel(entries []content.Content) []content.Content {
	var talk, responses []content.Content
	calls := content.Content{Speaker: content.AI}
	ids := map[string]bool{}
	for _, e := range entries {
		switch e.Speaker {
		case content.AI:
			calls.Blocks = append(calls.Blocks, e.Blocks...)
			ids[e.Blocks[1].(content.ToolCall).ID] = true
		case content.Tool:
			responses = append(responses, e)
		default:
			talk = append(talk, e)
		}
	}
	if len(ids) < len(responses) {
		return entries
	}
	return append(append(talk, calls), responses...)
}
