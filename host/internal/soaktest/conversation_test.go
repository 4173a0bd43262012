package soaktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// longest is how many entries a conversation has before its agent begins the next one.
const longest = 300

// agent has one conversation after the other, all with the same strategy.
type agent struct {
	t        *testing.T
	host     *window.Host
	strategy string
	number   int
	tally    *tally
}

// work goes on until ctx ends. Then it waits until nothing is killed any more, and the conversation must come to a
// good end.
func (a agent) work(ctx context.Context, calm func()) {
	for round := uint64(0); ; round++ {
		c, err := a.begin(round)
		for err == nil && (ctx.Err() == nil || len(c.said) == 0) && len(c.said) < longest {
			err = c.turn(a.t.Context())
		}
		if ctx.Err() != nil {
			calm()
		}
		if err == nil {
			err = c.end(ctx, calm)
		}
		if err != nil {
			a.t.Errorf("%s, agent %d, conversation %d: %v", a.strategy, a.number, round, err)
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// conversation is one session, and what its agent knows about it.
type conversation struct {
	agent
	session *window.Session
	rnd     *rand.Rand
	source  *source
	said    []content.Content
	owned   history.Snapshot // after the last turn
	failed  bool             // the last Prepare failed; it is repeated before anything else is said
}

func (a agent) begin(round uint64) (*conversation, error) {
	s, err := a.host.Open(window.Opening{Settings: map[string]any{"compression.strategy": a.strategy}})
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(*seed, 2+uint64(a.number)<<32+round))
	return &conversation{agent: a, session: s, rnd: rnd, source: &source{rnd: rnd}}, nil
}

// turn says something, prepares the history, and looks at what became of it. While it is prepared, a tool may answer
// or a person may say something more.
func (c *conversation) turn(ctx context.Context) error {
	var now, late []content.Content
	if !c.failed {
		now, late = c.next()
		if err := c.say(now); err != nil {
			return err
		}
		if err := c.isAsItWas(now); err != nil {
			return fmt.Errorf("after %d entries were added: %w", len(now), err)
		}
	}
	if c.number%8 == 7 && c.rnd.IntN(10) == 0 { // some try one strategy after the other
		if err := c.session.Set(ctx, "compression.strategy",
			strategies[c.rnd.IntN(len(strategies))]); err != nil {
			return err
		}
	}
	before, err := c.session.History()
	if err != nil {
		return err
	}
	var adding sync.WaitGroup
	var lateErr error
	if len(late) > 0 {
		adding.Go(func() { lateErr = c.say(late) })
	}
	p, err := c.session.Prepare(ctx, window.Sending{})
	adding.Wait()
	if lateErr != nil {
		return lateErr
	}
	c.tally.turn(p.Outcome, err)
	c.failed = err != nil
	if err := c.judge(err); err != nil {
		return err
	}
	if c.owned, err = c.session.History(); err != nil {
		return err
	}
	if err := acceptable(p.Contents(), p.Outcome.Pending); err != nil {
		return fmt.Errorf("what is to be sent: %w", err)
	}
	if err := rewritten(before, c.owned, late, p.Outcome); err != nil {
		return fmt.Errorf("after a turn that did %+v: %w", p.Outcome, err)
	}
	return nil
}

// next returns what is said before the Prepare and what comes in while it runs.
func (c *conversation) next() (now, late []content.Content) {
	now = c.source.next(1 + c.rnd.IntN(3))
	switch last := len(now) - 1; c.rnd.IntN(4) {
	case 0:
		return now[:last], now[last:]
	case 1:
		return now, []content.Content{gen.Said(content.Human, fmt.Sprint("And one more thing, number ", len(c.said)))}
	default:
		return now, nil
	}
}

func (c *conversation) say(entries []content.Content) error {
	c.said = append(c.said, entries...)
	_, err := c.session.Add(context.Background(), window.Entries(entries...))
	return err
}

// judge accepts the errors that a disturbed plugin may cause: typed, marked as retryable, and in words of our own.
func (c *conversation) judge(err error) error {
	if err == nil {
		return nil
	}
	var failure *plugins.Error
	var compress *prepare.CompressError
	switch why := unclear(err); {
	case !errors.As(err, &failure):
		return fmt.Errorf("not a plugin's error: %w", err)
	case !failure.Retryable || errors.As(err, &compress) && !compress.Retryable:
		return fmt.Errorf("not marked as retryable: %w", err)
	case why != "":
		return fmt.Errorf("an error %s: %w", why, err)
	}
	return nil
}

// end prepares the history once more, which must succeed once nothing is killed any more, and closes the session. Then
// every entry must be counted right, and the transcript hold all that was said. Until ctx ends, plugins are killed.
func (c *conversation) end(ctx context.Context, calm func()) error {
	const most = 3 // the last kill may be noticed only now
	for attempt := 1; ; attempt++ {
		_, err := c.session.Prepare(c.t.Context(), window.Sending{})
		if err == nil {
			break
		}
		if bad := c.judge(err); bad != nil || attempt == most {
			return fmt.Errorf("the last turn: %w", err)
		}
		if ctx.Err() == nil {
			attempt = 0
			continue
		}
		calm()
	}
	if err := c.countsRight(); err != nil {
		return err
	}
	path := c.session.TranscriptPath()
	if err := c.session.Close(); err != nil {
		return err
	}
	kept, err := transcript.ReadFile(path, transcript.Options{})
	if err != nil {
		return err
	}
	if len(kept.Entries) != len(c.said) {
		return fmt.Errorf("the transcript has %d entries, %d were added", len(kept.Entries), len(c.said))
	}
	for i, e := range kept.Entries {
		if !e.Equal(c.said[i]) {
			return fmt.Errorf("entry %d of the transcript is not the one that was added", i)
		}
	}
	return nil
}
