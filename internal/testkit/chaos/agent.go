package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// longest is how many entries a session has before its agent closes it and opens the next. Long enough to be
	// compressed several times at the run's context limit.
	longest = 300
	// pause is how long an agent waits after an error, as one that asks its user would.
	pause = 50 * time.Millisecond
	// recovery is how long a session may take to be well again once nothing is disturbed any more. It is for hangs.
	recovery = time.Minute
)

// agent has one session after the other. It runs on one goroutine; only client and report are shared with others.
type agent struct {
	client *client // shared by all agents
	report *report // shared by all agents
	logs   string  // the directory of the transcript logs
	// number tells agents apart, and decides which strategy the agent's sessions have.
	number int
	rnd    *rand.Rand

	// session is the one that is open. It is another one after each open.
	*session
}

// session is what an agent knows about its session. What the host should know, kept apart from what the host says.
type session struct {
	id       string
	strategy string  // the one in force; see strategies
	source   *source // what it is going to say
	// said is what was acknowledged: the entry with number n is at n-1. An entry that was refused is not in it, so that
	// nothing is missed that the host never had.
	said []entry
	log  logReader // the session's transcript log, read as far as it goes
	// changed is what outcomes said about an entry, by the id that the host gave it. It is kept for the whole session:
	// what was taken away once is missing in all later histories. Later outcomes replace earlier ones.
	changed map[string]change
	failed  bool // the last prepare failed
}

// prepared is the result of window.prepare, as far as it is judged. Pending and Changes are believed only as an
// explanation: what is missing without one is a fault.
type prepared struct {
	History []entry
	Outcome struct {
		Pending []string
		Changes []change
	}
}

// change is what an outcome says about one entry; see docs/json-rpc.md for the values.
type change struct {
	Entry, Kind, Step string

	strategy string // the one that was in force; not part of the outcome
}

// work goes on until ctx ends. Then it waits until nothing is disturbed any more, and the session must recover. An
// error means that thresh itself failed: no plugin has a part in opening and closing sessions, or in adding entries, so
// these may not fail, however plugins are disturbed.
func (a *agent) work(ctx context.Context, calm func()) error {
	// Each round has a session of its own, so that ids are not used twice.
	for round := 0; ; round++ {
		err := a.open(round)
		// It is refused while the strategy's file is away.
		for refused := (*rpcError)(nil); errors.As(err, &refused) && ctx.Err() == nil; {
			err = a.open(round)
		}
		if err != nil && ctx.Err() != nil {
			calm()
			err = a.open(round)
		}
		if err != nil {
			return err
		}
		for ctx.Err() == nil && len(a.said) < longest {
			if err := a.turn(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			// Returns when no plugin is killed or away any more; only then can recovery be asked for.
			calm()
			if err := a.recover(); err != nil {
				return err
			}
		}
		if err := a.close(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// strategies are the two that need no model, so that a run costs nothing and depends on no server. A third of the
// sessions have the one, a third the other, and a third change from one to the other and back.
var strategies = []string{"high-density", "top-down-truncation"}

// open begins a session. Each agent's sessions have ids of their own, so that their logs can be told apart. open opens
// the next session, with an empty history.
func (a *agent) open(round int) error {
	id := fmt.Sprintf("a%d-%d", a.number, round)
	// By number and not by chance, so that every run has all kinds.
	kind := a.number % 3
	a.session = &session{
		id: id, strategy: strategies[kind%2], source: newSource(a.rnd), log: logReader{dir: a.logs, session: id},
		changed: map[string]change{},
	}
	return a.client.call("session.open", map[string]any{
		"id": id, "settings": map[string]any{"compression.strategy": a.strategy},
	}, nil)
}

// turn adds something, and prepares. Meanwhile a tool may answer, or a person may say something more: the prepare does
// not see that, but must not lose it either. After a failed prepare, an agent may try again with nothing new, or go on.
func (a *agent) turn() error {
	// After a failed prepare some agents go on adding, others only try again.
	if !a.failed || a.rnd.IntN(2) == 0 {
		if err := a.add(a.source.next(1 + a.rnd.IntN(3))); err != nil {
			return err
		}
	}
	if a.number%3 == 2 && a.rnd.IntN(10) == 0 {
		next := strategies[a.rnd.IntN(2)]
		err := a.client.call("session.set", a.with("key", "compression.strategy", "value", next), nil)
		switch refused := (*rpcError)(nil); {
		case err == nil:
			a.strategy = next
		case !errors.As(err, &refused): // it is refused while the strategy's file is away
			return err
		}
	}
	// before is what the prepare sees. It is sent but not waited for yet: what is added next is not in its answer.
	before, start := slices.Clone(a.said), time.Now()
	wait := a.client.send("window.prepare", a.with("pendingTokens", 100))
	if a.rnd.IntN(4) == 0 {
		if err := a.add(a.source.next(1)); err != nil {
			return err
		}
	}
	var p prepared
	err := wait(&p)
	return a.judge(before, p, time.Since(start), err)
}

// judge checks what came of a prepare. A prepare may fail while plugins are disturbed, but then it says why, and the
// history that comes with the error obeys the same rules. It returns only an error after which nothing can go on.
func (a *agent) judge(before []entry, p prepared, took time.Duration, err error) error {
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	// An error of the host is not a fault in itself: plugins are being killed. What it says is judged by the report.
	if a.failed = refused != nil; a.failed {
		// An error that came before the turn began brings no history.
		if refused.Data == nil || refused.Data.Prepared == nil {
			a.report.prepared(took, 0, refused)
			time.Sleep(pause)
			return nil
		}
		p = *refused.Data.Prepared // what an agent may send in spite of the error
	}
	a.report.prepared(took, len(p.Outcome.Changes), refused)
	// Before the rules, which ask what was allowed to go.
	for _, c := range p.Outcome.Changes {
		c.strategy = a.strategy
		a.changed[c.Entry] = c
	}
	// All rules, and not the first that is broken: one cause often breaks several, which helps to find it.
	for _, bad := range []error{
		acceptable(p.History, p.Outcome.Pending), inOrder(p.History), keepsPeople(p.History, before, a.mayGo),
	} {
		if bad != nil {
			a.report.fault(invalid, "session %s, %s, after %d entries: %v", a.id, a.strategy, len(before), bad)
		}
	}
	if a.failed {
		time.Sleep(pause) // without it, a file that is away for a second would be most of the run
	}
	return nil
}

// mayGo reports whether an outcome names a reason for which the words of a person may be gone: room had to be made, or
// top-down-truncation dropped the oldest messages. No strategy prunes what people say (there are no inclusions in it
// here), and high-density does not compress it either.
func (a *agent) mayGo(mark int) bool {
	c, ok := a.changed[a.log.id(mark)]
	switch {
	case !ok || c.Step == "optimize":
		return false
	case c.Step == "compress":
		return c.strategy == "top-down-truncation"
	default: // a step of the ladder
		return true
	}
}

// add adds entries, and numbers them. What is acknowledged must be in the transcript log at that moment, as it was
// sent: the machine may fail right after.
func (a *agent) add(entries []entry) error {
	// The numbers survive in the metadata, which strategies carry along: text is no identity, as it repeats.
	for i := range entries {
		entries[i].Metadata.Mark = len(a.said) + i + 1
	}
	if err := a.client.call("history.add", a.with("entries", entries), nil); err != nil {
		return fmt.Errorf("add to %s: %w", a.id, err) // no plugin has a part in it
	}
	a.said = append(a.said, entries...)
	// From here on the host may not lose them, whatever happens to plugins.
	a.report.acknowledged(len(entries))
	if err := a.log.read(a.said); err != nil {
		a.report.fault(lost, "session %s: %v", a.id, err)
	}
	return nil
}

// recover prepares until that succeeds. The first try may fail still, as the last process that was killed is noticed
// only now.
func (a *agent) recover() error {
	// Bounded by time and not by tries, since a try takes from a millisecond up to the timeout of a call.
	for limit := time.Now().Add(recovery); ; {
		a.failed = true // so that little is added
		if err := a.turn(); err != nil {
			return err
		}
		// A prepare that succeeded is the proof.
		if !a.failed {
			return nil
		}
		if time.Now().After(limit) {
			a.report.fault(unrecovered, "session %s, %s", a.id, a.strategy)
			return nil
		}
		// On a busy machine a start may time out by itself, again and again.
		if err := a.client.call("plugins.reset", map[string]any{"name": a.strategy}, nil); err != nil {
			return err
		}
	}
}

// close closes the session. Everything that was acknowledged must be in its history then, or be reported as removed.
func (a *agent) close() error {
	var owned struct{ History []entry }
	if err := a.client.call("history.get", a.with(), &owned); err != nil {
		return fmt.Errorf("history of %s: %w", a.id, err)
	}
	// Not the view: the owned history, which also has what is not sent to a model. By mark. Entries that strategies
	// made have none and count as mark 0.
	there := map[int]bool{}
	for _, e := range owned.History {
		there[e.Metadata.Mark] = true
	}
	for _, e := range a.said {
		mark := e.Metadata.Mark
		// An entry may be gone only if some outcome said so.
		if c := a.changed[a.log.id(mark)]; !there[mark] && c.Kind != "removed" {
			a.report.fault(lost, "session %s, %s: number %d of %d (%s, of %s) is gone, and no outcome said so",
				a.id, a.strategy, mark, len(a.said), a.log.id(mark), e.Speaker)
		}
	}
	// Now, and not before the history was read: a closed session has none.
	if err := a.client.call("session.close", a.with(), nil); err != nil {
		return fmt.Errorf("close %s: %w", a.id, err)
	}
	a.report.sessionClosed()
	return nil
}

// with returns the parameters of a call: the session, and pairs of names and values.
func (a *agent) with(more ...any) map[string]any {
	params := map[string]any{"session": a.id}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return params
}
