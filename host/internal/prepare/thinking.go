package prepare

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Some models take thinking back only behind exactly what it was made behind. So a request depends on the one before:
// if anything changes that was sent, whoever changed it, the thinking behind it must go, and stay out for good.

// seals reports whether the model refuses thinking behind a change.
func (r Request) seals() bool { return r.Settings.Seals || r.Thinking != ThinkingOfModel }

// unseal takes out the thinking that stands behind the first change since the last request. before is the view as this
// turn found it, with which a session begins of which nothing was sent yet.
func (t *turn) unseal(before history.View) error {
	if !t.req.seals() {
		return nil
	}
	t.mu.Lock()
	sent := t.known.Sent.View
	t.mu.Unlock()
	if sent.Contents() == nil {
		sent = before
	}
	same, _ := t.view.Shared(sent)
	if same == len(sent.Entries) {
		return nil
	}
	behind := map[string]bool{}
	for _, e := range t.view.Entries[same:] {
		behind[e.ID] = true
	}
	return t.dropThinking(behind)
}

// hold is all that a turn may do whose model wants the newest thinking back: the results behind it are all that may
// change, and these are of the calls that were just answered.
func (t *turn) hold() error {
	t.outcome.Optimize.Skipped = outcome.SkippedHeld
	if t.fits() {
		return nil
	}
	err := t.overflow()
	err.Held, err.Ladder = true, false
	return err
}

// dropThinking takes thinking out of the entries with some ids.
func (t *turn) dropThinking(of map[string]bool) error {
	plan := t.snapshot().PlanThoughtless(of)
	if plan == nil {
		return nil
	}
	if err := t.apply(plan, outcome.StepThinking); err != nil {
		return fmt.Errorf("leave out thinking behind a change: %w", err)
	}
	t.refresh()
	return nil
}

// DropThinking takes the thinking that models refuse behind a change out of the entries with some ids, and returns the
// history as it is safe to send then: in the place of the last turn's view, if that was not sent yet.
func (p *Pipeline) DropThinking(ctx context.Context, req Request, of map[string]bool) (history.View, error) {
	if err := p.wait(ctx); err != nil {
		return history.View{}, err
	}
	defer p.running.Release(1)
	t := p.newTurn(req)
	t.begin()
	err := t.dropThinking(of)
	if err == nil {
		p.mu.Lock()
		if p.known.Sent.View.Contents() != nil {
			p.known.Sent.View = t.view
		}
		p.mu.Unlock()
	}
	return t.view, err
}
