package sessionlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// State is what a session remembers besides its history. The zero value is a new session's.
type State struct {
	// Overrides are the session's settings by key, as JSON: a setting which only another version knows survives.
	Overrides map[string]json.RawMessage
	// Model is the model's name, and Settings a hash of the settings that turns depend on, when the state was written.
	// They tell whether the configuration has changed.
	Model    string
	Settings []byte
	// System is the system prompt, nil if the agent has set none.
	System []content.Block
	// TodosSet says that the agent set its task list itself, and Todos is the list then.
	TodosSet bool
	Todos    []sdk.Todo
	// Turns is what is remembered between turns, without the view in it: Sent is the view's place.
	Turns prepare.State
	Sent  Place
	// Last is the view that the last Prepare returned, LastTokens its tokens, pending ones included.
	Last       Place
	LastTokens int
}

// Place says what a view was made of: the history of an epoch, up to a point. The zero value is no view. The view's
// entries are not written: the log up to the point gives them again, and a copy would repeat the history in every turn.
type Place struct {
	// Made tells a view of an empty history from none.
	Made  bool
	Epoch uint64
	Point history.Point
	// Marks is the name of the marker that it was made with; "" for none.
	Marks string
}

// PlaceOf returns a view's place, with Made set.
func PlaceOf(v history.View) Place {
	return Place{Made: true, Epoch: v.Epoch, Point: v.Point(), Marks: v.Marks}
}

// A state is written in groups of what changes together. The number of a group is its field in the record and part of
// the format: it must never be reused. 1 is the tag of a record.
const (
	groupOverrides   = 2
	groupModel       = 3
	groupSystem      = 4
	groupTodos       = 5
	groupTurn        = 6 // what nearly every turn changes
	groupNoOp        = 7
	groupFailure     = 8
	groupCalibration = 9
	groupSent        = 10
	groupLast        = 11
)

// Groups are the encoded groups of a state, by number. A missing group has its zero value. Groups of a later version
// are among them, and are written on in snapshots. A nil value is a group that became empty; it is written, and readers
// learn of it.
type Groups map[int32][]byte

// Groups encodes a state. The error is a setting or a task list that cannot be written as JSON.
func (s State) Groups() (Groups, error) {
	// Every group is there: one that became empty is written.
	g := Groups{groupOverrides: nil, groupTodos: nil}
	if len(s.Overrides) > 0 {
		raw, err := json.Marshal(s.Overrides)
		if err != nil {
			return nil, fmt.Errorf("settings of the session: %w", err)
		}
		g[groupOverrides] = raw
	}
	var model message
	model.string(1, s.Model)
	model.string(2, string(s.Settings))
	g[groupModel] = model
	// Whole: a state has no place for contents of its own.
	var system message
	for _, b := range s.System {
		system.nested(1, func() { (&Writer{whole: true}).block(&system, b) })
	}
	g[groupSystem] = system
	if s.TodosSet {
		raw, err := json.Marshal(s.Todos)
		if err != nil {
			return nil, fmt.Errorf("task list of the session: %w", err)
		}
		g[groupTodos] = raw
	}
	s.turnGroups(g)
	return g, nil
}

// turnGroups encodes what turns change: the first group with nearly every turn, the others now and then.
func (s State) turnGroups(g Groups) {
	t := s.Turns
	var turn, noop, failure, sent, last message
	turn.uint(1, t.Optimized)
	turn.bool(2, t.Held)
	turn.bool(3, t.Stuck)
	turn.uint(5, uint64(t.Growth.Requests))
	turn.uint(6, uint64(t.Growth.Since))
	turn.int(7, int64(t.Growth.Base))
	turn.uint(8, t.Growth.Epoch)
	turn.uint(9, uint64(t.Left))
	turn.uint(10, uint64(t.Failing))
	if n := t.NoOp; n != nil {
		noop.string(1, n.Strategy)
		noop.uint(2, n.Added)
		noop.string(3, string(n.Reason))
	}
	// A nil pointer leaves its group empty, and an empty group is decoded as nil.
	if f := t.Failure; f != nil {
		failure.string(1, f.Strategy)
		failure.string(2, f.Error)
		failure.int(3, f.Until.UnixNano())
	}
	if s.Sent.Made {
		sent.place(s.Sent)
		sent.int(4, t.Sent.At.UnixNano())
	}
	if s.Last.Made {
		last.place(s.Last)
		last.uint(4, uint64(s.LastTokens))
	}
	g[groupTurn], g[groupNoOp], g[groupFailure], g[groupSent], g[groupLast] = turn, noop, failure, sent, last
	g[groupCalibration] = calibration(t.Calibration)
}

func (m *message) place(p Place) {
	added, appends := p.Point.Counts()
	m.uint(1, added)
	m.uint(2, appends)
	m.uint(3, p.Epoch)
	m.string(5, p.Marks) // 4 is the group's own
}

// calibration of one that learned nothing takes no bytes.
func calibration(c tokens.Calibration) (m message) {
	l := c.Learned()
	m.float(1, l.Counted)
	m.float(2, l.Grown)
	m.float(3, l.Overhead)
	m.uint(4, uint64(l.Samples))
	m.float(5, l.LastCounted)
	m.float(6, l.LastReported)
	m.float(7, l.Level)
	return m
}

// State decodes groups; it ignores those that this version does not know. The error is [ErrDamaged].
func (g Groups) State() (s State, err error) {
	if raw := g[groupOverrides]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &s.Overrides); err != nil {
			return s, damaged("settings: %v", err)
		}
	}
	// The group is there only if the agent set the list, even an empty one.
	if raw := g[groupTodos]; len(raw) > 0 {
		s.TodosSet = true
		if err := json.Unmarshal(raw, &s.Todos); err != nil {
			return s, damaged("task list: %v", err)
		}
	}
	for _, decode := range []struct {
		group int32
		field func(field) error
	}{
		{groupModel, s.model}, {groupSystem, s.system}, {groupTurn, s.turn}, {groupNoOp, s.noop},
		{groupFailure, s.failure}, {groupSent, s.sent}, {groupLast, s.last},
	} {
		if err := fields(g[decode.group], decode.field); err != nil {
			return s, err
		}
	}
	s.Turns.Calibration, err = readCalibration(g[groupCalibration])
	return s, err
}

// The decoders below take one field each and skip unknown numbers: a later version may add fields to a group, but this
// one loses them when it writes the group again.
func (s *State) model(f field) error {
	switch f.number {
	case 1:
		s.Model = f.string()
	case 2:
		s.Settings = f.raw()
	}
	return nil
}

func (s *State) system(f field) error {
	if f.number != 1 {
		return nil
	}
	b, err := (&Reader{}).block(f.bytes)
	s.System = append(s.System, b)
	return err
}

func (s *State) turn(f field) (err error) {
	t := &s.Turns
	switch f.number {
	case 1:
		t.Optimized = f.varint
	case 2:
		t.Held = f.bool()
	case 3:
		t.Stuck = f.bool()
	case 4:
		// Of earlier versions: how many Compress calls failed in a row.
		if f.varint > 0 {
			t.Failing |= prepare.CallCompress
		}
	case 5:
		t.Growth.Requests, err = f.count()
	case 6:
		t.Growth.Since, err = f.count()
	case 7:
		t.Growth.Base = int(f.int())
	case 8:
		t.Growth.Epoch = f.varint
	case 9:
		t.Left, err = f.count()
	case 10:
		t.Failing = prepare.Calls(f.varint)
	}
	return err
}

// noop is called only for a group with fields: NoOp is nil without one.
func (s *State) noop(f field) error {
	if s.Turns.NoOp == nil {
		s.Turns.NoOp = &prepare.NoOp{}
	}
	switch n := s.Turns.NoOp; f.number {
	case 1:
		n.Strategy = f.string()
	case 2:
		n.Added = f.varint
	case 3:
		n.Reason = sdk.NoOpReason(f.string())
	}
	return nil
}

func (s *State) failure(f field) error {
	if s.Turns.Failure == nil {
		s.Turns.Failure = &prepare.Failure{}
	}
	switch n := s.Turns.Failure; f.number {
	case 1:
		n.Strategy = f.string()
	case 2:
		n.Error = f.string()
	case 3:
		n.Until = time.Unix(0, f.int())
	}
	return nil
}

func (s *State) sent(f field) error {
	if f.number == 4 {
		s.Turns.Sent.At = time.Unix(0, f.int())
	}
	s.Sent.take(f)
	return nil
}

func (s *State) last(f field) (err error) {
	if f.number == 4 {
		s.LastTokens, err = f.count()
	}
	s.Last.take(f)
	return err
}

// take sets one field of a place. The two numbers of a point come one by one: each call replaces one of them.
func (p *Place) take(f field) {
	p.Made = true
	added, appends := p.Point.Counts()
	switch f.number {
	case 1:
		added = f.varint
	case 2:
		appends = f.varint
	case 3:
		p.Epoch = f.varint
	case 5:
		p.Marks = f.string()
	}
	p.Point = history.PointOf(added, appends)
}

func readCalibration(data []byte) (tokens.Calibration, error) {
	var l tokens.Learned
	err := fields(data, func(f field) (err error) {
		switch f.number {
		case 1:
			l.Counted = f.float()
		case 2:
			l.Grown = f.float()
		case 3:
			l.Overhead = f.float()
		case 4:
			l.Samples, err = f.count()
		case 5:
			l.LastCounted = f.float()
		case 6:
			l.LastReported = f.float()
		case 7:
			l.Level = f.float()
		}
		return err
	})
	return l.Calibration(), err
}

// Changed returns the groups of g that differ in before. Both are whole states: every known group is in g.
func (g Groups) Changed(before Groups) Groups {
	changed := Groups{}
	for n, raw := range g {
		if string(before[n]) != string(raw) {
			changed[n] = raw
		}
	}
	return changed
}

// Take copies the groups of changed into g. Their values are shared and never changed.
func (g Groups) Take(changed Groups) { maps.Copy(g, changed) }

// Views reports whether the groups change what was sent, or what the last Prepare returned.
func (g Groups) Views() (sent, last bool) {
	_, sent = g[groupSent]
	_, last = g[groupLast]
	return sent, last
}

// AppendState encodes a record with groups, which replace those before. The tag is as in [Added]. Callers give only the
// groups that changed.
func AppendState(tag uint64, g Groups) []byte {
	m := record()
	m.uint(recordTag, tag)
	m.groups(g)
	return m.sealed(store.State)
}

// groups adds the fields of groups by number, which makes the encoding reproducible.
func (m *message) groups(g Groups) {
	for _, n := range slices.Sorted(maps.Keys(g)) {
		m.bytes(protowire.Number(n), g[n])
	}
}

// ReadState decodes the groups that a record changes. Every field but the tag is a group. Groups share the memory of
// data.
func ReadState(data []byte) (Groups, error) {
	data, err := body(store.State, data)
	if err != nil {
		return nil, err
	}
	g := Groups{}
	return g, fields(data, func(f field) error {
		if f.number != recordTag {
			g[int32(f.number)] = f.raw()
		}
		return nil
	})
}
