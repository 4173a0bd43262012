package main

import (
	"errors"
	"testing"
	"time"
)

func says(mark int, speaker string, blocks ...block) entry {
	e := entry{Speaker: speaker, Blocks: blocks}
	e.Metadata.Mark = mark
	return e
}

func TestWhatProvidersRefuseIsFound(t *testing.T) {
	text := func(s string) block { return block{Type: "text", Text: s} }
	call := func(id string) block { return block{Type: "tool_call", ID: id} }
	answer := func(id string) block { return block{Type: "tool_response", CallID: id} }
	human, ai := says(1, "human", text("hello")), says(2, "ai", call("a"), call("b"))
	last := says(5, "human", text("x"))
	for name, test := range map[string]struct {
		history []entry
		pending []string
		good    bool
	}{
		"answered": {
			[]entry{human, ai, says(3, "tool", answer("b")), says(4, "tool", answer("a")), last}, nil, true,
		},
		"answered in one entry":  {[]entry{ai, says(3, "tool", answer("a"), answer("b"))}, nil, true},
		"pending":                {[]entry{human, ai, says(3, "tool", answer("b"))}, []string{"a"}, true},
		"late response":          {[]entry{ai, says(6, "tool", answer("a"), answer("b")), last}, nil, true},
		"not said to be pending": {[]entry{ai, says(3, "tool", answer("b"))}, nil, false},
		"unanswered":             {[]entry{ai, says(3, "tool", answer("a")), says(4, "human", text("x"))}, nil, false},
		"answered too late":      {[]entry{ai, last, says(6, "tool", answer("a"), answer("b"))}, nil, false},
		"answered twice":         {[]entry{ai, says(3, "tool", answer("a"), answer("a"), answer("b"))}, nil, false},
		"never called":           {[]entry{human, says(3, "tool", answer("a"))}, nil, false},
		"empty":                  {[]entry{says(1, "ai")}, nil, false},
		"called by a person":     {[]entry{says(1, "human", call("a"))}, []string{"a"}, false},
		"twice":                  {[]entry{human, human}, nil, false},
		"out of order":           {[]entry{says(2, "ai", text("x")), human}, nil, false},
	} {
		err := errors.Join(acceptable(test.history, test.pending), inOrder(test.history))
		if (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWordsOfPeopleThatAreGoneAreFound(t *testing.T) {
	said := []entry{says(1, "human", block{Text: "one"}), says(2, "ai"), says(3, "human", block{Text: "three"})}
	reported := func(marks ...int) func(int) bool {
		return func(mark int) bool { return len(marks) > 0 && marks[0] == mark }
	}
	for name, test := range map[string]struct {
		history []entry
		may     func(int) bool
		good    bool
	}{
		"all there":         {said, reported(), true},
		"gone":              {said[1:], reported(), false},
		"gone, as was said": {said[1:], reported(1), true},
		"another's may go":  {said[1:], reported(3), false},
		"other words":       {[]entry{said[0], says(3, "human", block{Text: "four"})}, reported(), false},
	} {
		if err := keepsPeople(test.history, said, test.may); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsThatAnAgentCannotActOnAreFound(t *testing.T) {
	yes := true
	failed := func(kind, plugin, message string, retryable *bool) *rpcError {
		e := &rpcError{Message: message}
		e.Data = &struct {
			Kind, Plugin string
			Retryable    *bool
			Prepared     *prepared
		}{kind, plugin, retryable, nil}
		return e
	}
	for name, test := range map[string]struct {
		err  *rpcError
		good bool
	}{
		"clear":              {failed("plugin", "high-density", "it crashed", &yes), true},
		"no data":            {&rpcError{Message: "x"}, false},
		"no kind":            {failed("internal", "", "x", &yes), false},
		"no plugin":          {failed("plugin", "", "x", &yes), false},
		"retry or not":       {failed("plugin", "x", "x", nil), false},
		"words of a library": {failed("plugin", "x", "rpc error: code = Unavailable desc = EOF", &yes), false},
	} {
		r := newReport(options{})
		if r.prepared(time.Second, 0, test.err); r.good() != test.good {
			t.Errorf("%s: %v", name, r.shown)
		}
	}
}
