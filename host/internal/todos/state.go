package todos

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// seen is a call or, without At, a response that a [Tracker] gave to its matcher.
type seen struct {
	At   *turns.At `json:"at,omitempty"`
	ID   string    `json:"id,omitempty"`
	Name string    `json:"name,omitempty"`
}

// see gives a call or a response to the matcher. For a response it returns the call that it answers.
func (t *Tracker) see(s seen) (call turns.At, ok bool) {
	t.seen = append(t.seen, s)
	if s.At != nil {
		t.match.Call(s.ID, s.Name, *s.At)
		return *s.At, true
	}
	return t.match.Response(s.ID, s.Name)
}

type state struct {
	List    []sdk.Todo `json:"list,omitempty"`
	Next    int        `json:"next,omitempty"`
	Entries int        `json:"entries,omitempty"`
	Seen    []seen     `json:"seen,omitempty"`
	Waiting []waiting  `json:"waiting,omitempty"`
}

// waiting is an unanswered call about tasks.
type waiting struct {
	At   turns.At `json:"at"`
	Name string   `json:"name"`
	// Parameters is text: a recorded call's may not be JSON.
	Parameters string `json:"parameters,omitempty"`
}

// MarshalJSON writes the tracker's state: a tracker that reads it can continue without the earlier entries.
func (t *Tracker) MarshalJSON() ([]byte, error) {
	s := state{List: t.list, Next: t.next, Entries: t.entries, Seen: t.seen}
	for _, k := range t.seen { // in order, as a map has none
		if k.At == nil {
			continue
		}
		if c, ok := t.waiting[*k.At]; ok {
			s.Waiting = append(s.Waiting, waiting{*k.At, c.Name, string(c.Parameters)})
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON replaces the tracker's state.
func (t *Tracker) UnmarshalJSON(raw []byte) error {
	var s state
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("task list: %w", err)
	}
	*t = Tracker{list: s.List, next: s.Next, entries: s.Entries}
	for _, k := range s.Seen {
		t.see(k)
	}
	for _, w := range s.Waiting {
		if t.waiting == nil {
			t.waiting = map[turns.At]content.ToolCall{}
		}
		t.waiting[w.At] = content.ToolCall{Name: w.Name, Parameters: []byte(w.Parameters)}
	}
	return nil
}
