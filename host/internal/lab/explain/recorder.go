package explain

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Recorder follows a replay and records what happens to each entry. Call its methods in the order of the replay:
// [Recorder.Entry] for each entry of the file, [Recorder.Turn] for each request. It is not safe for concurrent use. A
// turn costs time in proportion to its changes, not to the history. Memory grows with the entries and their events;
// contents are not kept.
type Recorder struct {
	transcript *transcript.Transcript
	// In the host's tokens, as everything here.
	tokens     func(entry int) int
	taxonomy   *tools.Taxonomy
	what       []string
	boundaries map[int]bool // entries before which the recorder compacted, and that were not reached yet

	turns   int
	entries []Entry
	made    []Made
	// Of a history since the recorder's last compaction; an id of before is unknown.
	places   map[string]place // by id in the history of now
	problems map[problem]bool
	rules    map[ruleKey]*Rule
}

// place refers to an entry: an index into made or into entries. A place stays valid: entries and made only grow.
type place struct {
	made  bool
	index int
}

// problem is the key by which problems are reported once rather than at every turn.
type problem struct {
	at     place
	kind   outcome.ProblemKind
	callID string
}

// ruleKey identifies a rule: different steps may use the same name for theirs.
type ruleKey struct{ step, rule string }

// NewRecorder returns a recorder for a transcript. tokens returns the count of an entry of the file; taxonomy says
// which tool calls concern which files, for the descriptions.
func NewRecorder(t *transcript.Transcript, tokens func(entry int) int, taxonomy *tools.Taxonomy) *Recorder {
	r := &Recorder{
		entries: []Entry{}, transcript: t, tokens: tokens, taxonomy: taxonomy, what: Describe(t.Entries, taxonomy),
		boundaries: t.Replaced(), places: map[string]place{}, problems: map[problem]bool{}, rules: map[ruleKey]*Rule{},
	}
	delete(r.boundaries, len(t.Entries)) // nothing comes behind it that could replace anything
	return r
}

// Entry records that the entry at index was added to the history under id.
func (r *Recorder) Entry(index int, id string) {
	r.begin(index)
	c := r.transcript.Entries[index]
	e := Entry{
		Index: index, State: State{Speaker: c.Speaker, What: r.what[index], Tokens: r.tokens(index), Status: Kept},
	}
	e.Now = e.Tokens
	if c.Pinned() {
		e.KeptBy = cmp.Or(check.KeptBy(c), KeptByAgent)
	}
	if index < len(r.transcript.Lines) {
		// A transcript that was made and not read has no lines.
		e.Line = r.transcript.Lines[index]
	}
	r.places[id] = place{index: len(r.entries)}
	r.entries = append(r.entries, e)
}

// Turn records the changes and problems of the turn whose request the entry at index answers. Entries that were made
// come first, as they may supersede others in the same turn. Changes of unknown ids are ignored.
func (r *Recorder) Turn(index int, changes []outcome.Change, problems []outcome.Problem) {
	r.begin(index)
	r.turns++
	for _, c := range changes {
		if c.Kind == outcome.Added {
			r.add(c)
		}
	}
	// Only now: what superseded an entry may be one that the same turn made.
	for _, c := range changes {
		if at, known := r.places[c.EntryID]; known && c.Kind != outcome.Added {
			r.change(at, c)
		}
	}
	for _, p := range problems {
		at, known := r.places[p.EntryID]
		// One problem is in the outcome of every turn until it is mended.
		if key := (problem{at, p.Kind, p.CallID}); known && !r.problems[key] {
			r.problems[key] = true
			s := r.state(at)
			s.Problems = append(s.Problems, Problem{Turn: r.turns, Kind: p.Kind, CallID: p.CallID})
		}
	}
}

// begin starts over where the recorder compacted its history: everything that was in it until then is removed. Ids
// start over as well, so the places are cleared.
func (r *Recorder) begin(index int) {
	if !r.boundaries[index] {
		return
	}
	delete(r.boundaries, index)
	gone := make([]place, 0, len(r.places))
	for _, at := range r.places {
		gone = append(gone, at)
	}
	slices.SortFunc(gone, func(a, b place) int { return cmp.Compare(a.index, b.index) }) // the order of a map is none
	for _, at := range gone {
		if s := r.state(at); s.Status != Removed {
			r.event(
				s,
				Event{Turn: r.turns + 1, Kind: outcome.Removed, Step: StepRecorder, Rule: RuleCompacted, Before: s.Now},
			)
		}
	}
	clear(r.places)
	clear(r.problems)
}

// add records an entry that a strategy made. One placed behind another made entry takes over that entry's position in
// the file.
func (r *Recorder) add(c outcome.Change) {
	m := Made{
		Index: len(r.made), Turn: r.turns, Step: c.Step, After: -1,
		State: State{Speaker: c.Speaker, Tokens: c.After, Now: c.After, Status: Kept},
	}
	if c.Made != nil {
		m.What = Describe([]content.Content{*c.Made}, r.taxonomy)[0]
	}
	if behind, ok := r.places[c.Behind]; ok && behind.made {
		m.After = r.made[behind.index].After
	} else if ok {
		m.After = r.entries[behind.index].Index
	}
	r.places[c.EntryID] = place{made: true, index: len(r.made)}
	r.made = append(r.made, m)
	rule := r.rule(c.Step, c.Rule)
	rule.Made++
	rule.Saved -= c.After
}

func (r *Recorder) change(at place, c outcome.Change) {
	switch c.Kind {
	case outcome.Kept:
		r.state(at).KeptBy = c.Rule
		return
	case outcome.Released:
		r.state(at).KeptBy = ""
		return
	}
	e := Event{Turn: r.turns, Kind: c.Kind, Step: c.Step, Rule: c.Rule, Before: c.Before, After: c.After}
	if by, ok := r.places[c.By]; ok && by.made {
		e.ByMade = new(by.index)
	} else if ok {
		e.By = new(r.entries[by.index].Index)
	}
	r.event(r.state(at), e)
}

// event applies an event to an entry and to the sums of its rule.
func (r *Recorder) event(s *State, e Event) {
	s.Events = append(s.Events, e)
	s.Now = e.After
	rule := r.rule(e.Step, e.Rule)
	rule.Saved += e.Before - e.After
	if e.Kind == outcome.Removed {
		s.Status, s.KeptBy = Removed, ""
		rule.Removed++
	} else {
		s.Status = Trimmed
		rule.Trimmed++
	}
}

// state returns the entry at a place. The pointer is valid until the next entry is added, which may move the slice.
func (r *Recorder) state(at place) *State {
	if at.made {
		return &r.made[at.index].State
	}
	return &r.entries[at.index].State
}

func (r *Recorder) rule(step, name string) *Rule {
	key := ruleKey{step, name}
	if r.rules[key] == nil {
		r.rules[key] = &Rule{Step: step, Rule: name}
	}
	return r.rules[key]
}

// Explanation returns what was recorded so far. It shares slices with the recorder: do not record after calling it.
func (r *Recorder) Explanation() Explanation {
	out := Explanation{Turns: r.turns, Entries: r.entries, Made: r.made}
	for _, e := range r.entries {
		out.Tokens += e.Tokens
		out.Now += e.Now
	}
	for _, m := range r.made {
		out.Now += m.Now
	}
	for _, rule := range r.rules {
		out.Rules = append(out.Rules, *rule)
	}
	slices.SortFunc(out.Rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.Saved, a.Saved), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}
