package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

const (
	// longest is how many entries a session has before its agent closes it and opens the next: it is compressed several
	// times by then.
	longest = 300
	// pause is how long an agent waits after an error, as one that asks its user would.
	pause = 50 * time.Millisecond
	// callTimeout is the host's for a call of a plugin: one that is stopped for longer is replaced.
	callTimeout = 5 * time.Second
)

// disturbed are the strategies of the sessions. They need no model.
var disturbed = []string{"high-density", "top-down-truncation"}

// Agents work over 'thresh run' while plugins are killed, stopped, replaced and removed. Errors are no fault, but they
// say what to do. No history is one that a provider refuses, no acknowledged entry is lost, every session recovers, and
// nothing is left behind. THRESH_CHAOS says for how many seconds; it is short without.
func TestPluginsDisturbedAtRandomMoments(t *testing.T) {
	race.Watch(t)
	seconds, sessions := 3, 9
	if n, _ := fmt.Sscan(os.Getenv("THRESH_CHAOS"), &seconds); n == 1 {
		sessions = 50
	} else {
		t.Parallel()
	}
	p := newPlace(t)
	p.program = "thresh-race"
	for _, name := range disturbed {
		p.install(name)
	}
	args := []string{"run"}
	for key, value := range map[string]any{
		// A small window and a low threshold: sessions are compressed every few dozen entries.
		"transcript.dir": p.path("work", "kept"), "model.contextLimit": 30_000, "compression.threshold": 0.15,
		"compression.density.cadence": "every-turn", // or most turns would change nothing
		"plugins.startTimeout":        patience, "plugins.optimizeTimeout": callTimeout,
		"plugins.compressTimeout": callTimeout, "log.level": "error",
		"plugins.integrity": "off", // a plugin that is replaced is used
	} {
		args = append(args, "--set", fmt.Sprintf("%s=%v", key, value))
	}
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	v := startRun(t, cmd)
	seed := rand.Uint64()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var agents, monkeys sync.WaitGroup
	done := &counts{n: map[string]int{}, changed: make(chan struct{})}
	go func() { // on a busy machine the time may be over before anything has happened
		<-time.After(time.Duration(seconds) * time.Second)
		select {
		case <-done.changed:
		case <-time.After(patience):
		}
		cancel()
	}()
	monkeys.Go(func() {
		m := &monkey{place: p, v: v, counts: done, rnd: rand.New(rand.NewPCG(seed, 0)), absent: map[string]bool{}}
		m.disturb(ctx)
	})
	for i := range sessions {
		agents.Go(func() {
			a := &sufferer{t: t, v: v, logs: p.path("work", "kept"), number: i, counts: done,
				rnd: rand.New(rand.NewPCG(seed, uint64(i+1)))}
			if err := a.work(ctx, monkeys.Wait); err != nil {
				t.Errorf("agent %d: %v", i, err)
			}
		})
	}
	agents.Wait()
	v.end()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	p.calm(stderr.String())
	for _, what := range slices.Sorted(maps.Keys(done.n)) {
		t.Logf("%-40s %d", what, done.n[what])
	}
	if done.n[changing] == 0 || done.n["sessions closed"] < sessions {
		t.Error("too little happened: the test shows nothing")
	}
}

const changing = "prepares that changed the history"

// counts counts what happened.
type counts struct {
	mu      sync.Mutex
	n       map[string]int
	changed chan struct{} // closed when a prepare has changed a history
}

func (c *counts) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if what == changing && c.n[what] == 0 {
		close(c.changed)
	}
	c.n[what] += n
}

// sufferer is an agent whose plugins are disturbed. It has one session after the other.
type sufferer struct {
	t      *testing.T
	v      *runs
	logs   string // the directory of the transcript logs
	number int    // decides which strategy its sessions have
	counts *counts
	rnd    *rand.Rand
	*talking
}

// talking is what an agent knows about its session, apart from what the host says.
type talking struct {
	id, strategy string
	source       *source
	said         []content.Content // what was acknowledged: number n, its mark, is at n-1
	ids          []string          // that the host gave these entries, as the transcript log has them
	// changed is what the last outcome about an entry said, by its id.
	changed map[string]change
	failed  bool // the last prepare failed
}

// change is what an outcome says about one entry.
type change struct {
	Entry, Kind, Step string

	strategy string // the one that was in force; not part of the outcome
}

// viewed is the result of window.prepare, as far as it is judged.
type viewed struct {
	History []content.Content
	Outcome struct {
		Pending []string
		Changes []change
	}
}

// work goes on until ctx ends, then waits until nothing is disturbed any more, and the session must recover. No plugin
// has a part in opening and closing sessions and in adding entries, so that these may not fail.
func (a *sufferer) work(ctx context.Context, calm func()) error {
	for round := 0; ; round++ {
		err := a.open(round)
		for refused := (*rpcError)(nil); errors.As(err, &refused) && ctx.Err() == nil; { // its file is away
			err = a.open(round)
		}
		if err != nil && ctx.Err() != nil {
			calm()
			err = a.open(round)
		}
		for err == nil && ctx.Err() == nil && len(a.said) < longest {
			err = a.turn()
		}
		if err == nil && ctx.Err() != nil {
			calm()
			err = a.recover()
		}
		if err == nil {
			err = a.close()
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

func (a *sufferer) open(round int) error {
	a.talking = &talking{id: fmt.Sprintf("a%d-%d", a.number, round), strategy: disturbed[a.number%3%2],
		source: &source{rnd: a.rnd}, changed: map[string]change{}}
	return a.v.call("session.open", object{"id": a.id, "settings": object{"compression.strategy": a.strategy}}, nil)
}

// turn adds something and prepares. Meanwhile a tool may answer or a person may speak: the prepare does not see that,
// but must not lose it. After a failed prepare, an agent tries again with nothing new, or goes on.
func (a *sufferer) turn() error {
	if !a.failed || a.rnd.IntN(2) == 0 {
		if err := a.add(a.source.next(1 + a.rnd.IntN(3))); err != nil {
			return err
		}
	}
	if a.number%3 == 2 && a.rnd.IntN(10) == 0 {
		next := disturbed[a.rnd.IntN(2)]
		err := a.v.call("session.set", object{"session": a.id, "key": "compression.strategy", "value": next}, nil)
		switch refused := (*rpcError)(nil); {
		case err == nil:
			a.strategy = next
		case !errors.As(err, &refused): // it is refused while the file is away
			return err
		}
	}
	before, done := slices.Clone(a.said), make(chan error, 1)
	var got viewed
	go func() {
		done <- a.v.call("window.prepare", object{"session": a.id, "pendingTokens": 100}, &got)
	}()
	var late error
	if a.rnd.IntN(4) == 0 {
		late = a.add(a.source.next(1))
	}
	err := <-done
	if late != nil {
		return late
	}
	return a.judge(before, got, err)
}

// judge checks what came of a prepare, also of one that failed. Its error is one after which nothing can go on.
func (a *sufferer) judge(before []content.Content, got viewed, err error) error {
	a.counts.add("prepares", 1)
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	if a.failed = refused != nil; a.failed {
		a.counts.add(fmt.Sprintf("errors of kind %s, retryable %v", refused.Data.Kind, refused.Data.Retryable), 1)
		if why := unclear(refused); why != "" {
			a.t.Errorf("session %s: an error %s: %+v", a.id, why, refused)
		}
		time.Sleep(pause) // without it, a file that is away for a second would be most of the run
		if refused.Data.Prepared == nil {
			return nil // it came before the turn began
		}
		raw, err := json.Marshal(refused.Data.Prepared)
		if err == nil {
			err = json.Unmarshal(raw, &got)
		}
		if err != nil {
			return err
		}
	}
	if len(got.Outcome.Changes) > 0 {
		a.counts.add(changing, 1)
	}
	for _, c := range got.Outcome.Changes { // before the rules, which ask what was allowed to go
		c.strategy = a.strategy
		a.changed[c.Entry] = c
	}
	// All rules, and not the first that is broken: one cause often breaks several, which helps to find it.
	for _, bad := range []error{
		acceptable(got.History, got.Outcome.Pending), inOrder(got.History), keepsPeople(got.History, before, a.mayGo),
	} {
		if bad != nil {
			a.t.Errorf("session %s, %s, after %d entries: %v", a.id, a.strategy, len(before), bad)
		}
	}
	return nil
}

// mayGo reports whether an outcome names a reason for which the words of a person may be gone: room had to be made, or
// top-down-truncation dropped the oldest messages.
func (a *sufferer) mayGo(mark int) bool {
	switch c := a.changed[a.ids[mark-1]]; c.Step {
	case "", "optimize":
		return false
	case "compress":
		return c.strategy == "top-down-truncation"
	default: // a step of the ladder
		return true
	}
}

// add adds entries. What is acknowledged is in the transcript log at that moment, as it was sent.
func (a *sufferer) add(entries []content.Content) error {
	// The number survives in the metadata, which strategies carry along: text repeats.
	for i := range entries {
		entries[i].Metadata = fmt.Appendf(nil, `{"mark":%d}`, len(a.said)+i+1)
	}
	if err := a.v.call("history.add", object{"session": a.id, "entries": entries}, nil); err != nil {
		return fmt.Errorf("add to %s: %w", a.id, err)
	}
	a.said = append(a.said, entries...)
	a.counts.add("entries added", len(entries))
	text, err := os.ReadFile(a.logs + "/" + a.id + ".jsonl")
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(lines) != len(a.said) {
		return fmt.Errorf("session %s: %d entries were acknowledged, %d are in the log", a.id, len(a.said), len(lines))
	}
	for i := len(a.ids); i < len(lines); i++ {
		id, entry := transcriptlog.CutID(lines[i])
		if !bytes.Equal(entry, a.said[i].AppendJSON(nil)) {
			return fmt.Errorf("session %s: the log has another entry as number %d: %s", a.id, i+1, entry)
		}
		a.ids = append(a.ids, id)
	}
	return nil
}

// recover prepares until that succeeds. The first try may fail still, as the last process that was killed is noticed
// only now; on a busy machine a start may time out by itself.
func (a *sufferer) recover() error {
	for limit := time.Now().Add(2 * patience); ; {
		a.failed = true // so that little is added
		if err := a.turn(); err != nil || !a.failed {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("session %s, %s, does not recover", a.id, a.strategy)
		}
		if err := a.v.call("plugins.reset", object{"name": a.strategy}, nil); err != nil {
			return err
		}
	}
}

// close closes the session. Everything that was acknowledged is in the owned history then, or was reported as removed.
func (a *sufferer) close() error {
	var owned struct{ History []content.Content }
	if err := a.v.call("history.get", object{"session": a.id}, &owned); err != nil {
		return fmt.Errorf("history of %s: %w", a.id, err)
	}
	there := map[int]bool{}
	for _, e := range owned.History {
		there[markOf(e)] = true
	}
	for i, id := range a.ids {
		if !there[i+1] && a.changed[id].Kind != "removed" {
			a.t.Errorf("session %s, %s: number %d of %d is gone, and no outcome said so", a.id, a.strategy, i+1, len(a.said))
		}
	}
	a.counts.add("sessions closed", 1)
	return a.v.call("session.close", object{"session": a.id}, nil)
}
