package todos

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
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

// state is a [Tracker] as JSON.
type state struct {
	List    []contract.Todo `json:"list,omitempty"`
	Next    int             `json:"next,omitempty"`
	Entries int             `json:"entries,omitempty"`
	Seen    []seen          `json:"seen,omitempty"`
	Waiting []waiting       `json:"waiting,omitempty"`
}

// waiting is a call about tasks that is not answered.
type waiting struct {
	At   turns.At `json:"at"`
	Name string   `json:"name"`
	// Parameters is a text, as the parameters of a recorded call may be no JSON.
	Parameters string `json:"parameters,omitempty"`
}

// MarshalJSON writes down what the tracker knows, so that one that reads it goes on without the entries before.
func (t *Tracker) MarshalJSON() ([]byte, error) {
	s := state{List: t.list, Next: t.next, Entries: t.entries, Seen: t.seen}
	for _, k := range t.seen { // in their order, as a map has none
		if k.At == nil {
			continue
		}
		if c, ok := t.waiting[*k.At]; ok {
			s.Waiting = append(s.Waiting, waiting{*k.At, c.Name, string(c.Parameters)})
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON replaces what the tracker knows.
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
