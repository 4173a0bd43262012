package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/sdk/content"
)

// errKilled is the error of a request that was not answered because thresh was killed.
var errKilled = errors.New("thresh was killed")

// A victim is a thresh that is going to be killed.
type victim interface {
	open(session string) (talk, error)
	kill()
	end() // in good order
}

// talk is an agent's way to its session. The errors are errKilled when there was no answer because of the kill.
type talk interface {
	recorded(id string) error
	add(entries []content.Content) error
	prepare() (history []byte, revision uint64, err error)
}

// runs is a 'thresh run'.
type runs struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply // nil: it has ended
}

func startRun(t testing.TB, cmd *exec.Cmd) *runs {
	t.Helper()
	v := &runs{cmd: cmd, waiting: map[int]chan reply{}}
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
func (v *runs) call(method string, params, result any) error {
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
		return fmt.Errorf("%s: %w", method, r.Error)
	case result == nil:
		return nil
	}
	return json.Unmarshal(r.Result, result)
}

func (v *runs) open(session string) (talk, error) {
	return runTalk{v, session}, v.call("session.open", object{"id": session}, nil)
}

func (v *runs) kill() {
	_ = syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
	_ = v.cmd.Wait()
}

func (v *runs) end() {
	_ = v.stdin.Close()
	_ = v.cmd.Wait()
}

type runTalk struct {
	v       *runs
	session string
}

func (r runTalk) recorded(id string) error {
	return r.v.call("history.recorded", object{"session": r.session, "id": id}, nil)
}

func (r runTalk) add(entries []content.Content) error {
	return r.v.call("history.add", object{"session": r.session, "entries": entries}, nil)
}

func (r runTalk) prepare() ([]byte, uint64, error) {
	var got struct {
		History  json.RawMessage
		Revision uint64
	}
	err := r.v.call("window.prepare", object{"session": r.session}, &got)
	return got.History, got.Revision, err
}

// serves is a 'thresh serve'.
type serves struct {
	*server
	c      *client.Client
	killed atomic.Bool
}

// startServe waits until it is ready. It takes a free port each time: what is tried is the sessions.
func startServe(p *place, args ...string) *serves {
	s := p.serveNetwork(append([]string{"--set", "serve.listen=127.0.0.1:0"}, args...)...)
	return &serves{server: s, c: s.client()}
}

func (v *serves) open(session string) (talk, error) {
	s, err := v.c.Open(v.t.Context(), api.OpenRequest{ID: session})
	return serveTalk{v, s}, v.failure(err)
}

func (v *serves) kill() {
	v.killed.Store(true)
	_ = syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
	_ = v.cmd.Wait()
	v.c.Close()
}

func (v *serves) end() {
	v.c.Close()
	v.server.end(syscall.SIGTERM)
}

// failure is errKilled if the connection broke because of the kill, and not for another reason.
func (v *serves) failure(err error) error {
	var broken *api.Error
	if errors.As(err, &broken) && broken.Kind == "connection" && v.killed.Load() {
		return errKilled
	}
	return err
}

type serveTalk struct {
	v *serves
	s *client.Session
}

func (s serveTalk) recorded(id string) error {
	_, err := s.s.Recorded(s.v.t.Context(), api.RecordedRequest{ID: id})
	return s.v.failure(err)
}

func (s serveTalk) add(entries []content.Content) error {
	_, err := s.s.Add(s.v.t.Context(), api.Entries(entries...))
	return s.v.failure(err)
}

func (s serveTalk) prepare() ([]byte, uint64, error) {
	got, err := s.s.Prepare(s.v.t.Context(), api.PrepareRequest{})
	if err != nil {
		return nil, 0, s.v.failure(err)
	}
	history, err := json.Marshal(got.History)
	return history, got.Revision, err
}
