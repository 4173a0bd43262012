package main_test

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// gone waits until the client of a call has gone.
func gone(t *testing.T, call *modelapi.Request) {
	t.Helper()
	select {
	case <-call.Ended():
	case <-time.After(patience):
		t.Error("the model is still asked")
	}
}

// silent makes a place whose model says nothing, and a channel of what it is asked.
func silent(t *testing.T) (*llmPlace, chan *modelapi.Request) {
	t.Helper()
	calls := make(chan *modelapi.Request, 10)
	p := newLLMPlace(t, "openai", modelapi.Options{OnRequest: func(r *modelapi.Request) { calls <- r }})
	p.server.Queue(modelapi.Reply{Fault: modelapi.FaultHang})
	return p, calls
}

// TestCtrlCEndsTheModelCall of a command, and everything with it.
func TestCtrlCEndsTheModelCall(t *testing.T) {
	t.Parallel()
	p, calls := silent(t)
	p.file("s.jsonl", workday(60))
	cmd := p.command("plugins", "try", "s.jsonl")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	call := <-calls
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	gone(t, call)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 1 || stdout.Len() > 0 || stderr.String() != "thresh: interrupted\n" {
		t.Errorf("exit status %d, %q, %q", got, stdout.String(), stderr.String())
	}
	if n := len(p.server.Requests()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestASignalEndsTheModelCallOfAnAgent(t *testing.T) {
	t.Parallel()
	p, calls := silent(t)
	a := p.serve()
	s := a.open("s", object{"model.contextLimit": 5000})
	a.call("history.add", object{"session": s, "entries": entries(t, turns(60))}, nil)
	id := a.send("window.prepare", object{"session": s})
	call := <-calls
	a.signal(syscall.SIGTERM)
	gone(t, call)
	a.exits(0)
	if e := a.refusal(a.wait(id), -32000); e.Data.Kind != "canceled" {
		t.Errorf("the prepare under way: %+v", e)
	}
}

// TestAPluginThatDiesTakesItsModelCallAlong, and the next turn begins with a new one.
func TestAPluginThatDiesTakesItsModelCallAlong(t *testing.T) {
	t.Parallel()
	p, calls := silent(t)
	a := p.serve()
	s := a.open("s", object{"model.contextLimit": 20_000})
	session := entries(t, turns(60))
	a.call("history.add", object{"session": s, "entries": session}, nil)
	id := a.send("window.prepare", object{"session": s})
	call := <-calls
	if err := syscall.Kill(p.plugin(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, call)
	e := a.refusal(a.wait(id), -32000, "middle-out", "process crashed", "a retry may help")
	if e.Data.Kind != "plugin" || !e.Data.Retryable || e.Data.Prepared == nil {
		t.Fatalf("kind %s, retryable %v", e.Data.Kind, e.Data.Retryable)
	}
	for _, entry := range e.Data.Prepared.History {
		delete(entry, "metadata") // says that the newest message stays
	}
	if diff := cmp.Diff(session, e.Data.Prepared.History); diff != "" {
		t.Error(diff)
	}
	if c := a.prepare(s).Outcome["compress"].(object); c["kind"] != "applied" {
		t.Errorf("the next turn: %v", c)
	}
	a.end()
}

// plugin is the process id of the one plugin that runs.
func (p *place) plugin() int {
	p.t.Helper()
	for _, pid := range p.pids() {
		return pid
	}
	p.t.Fatal("no plugin runs")
	return 0
}
