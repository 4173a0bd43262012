package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// These rules say what a provider takes. They know nothing of how the host pairs calls and responses, so that both
// cannot be wrong in the same way.

// markOf is the number of an entry that an agent added; 0 for those that strategies and the host made.
func markOf(c content.Content) int {
	var m struct{ Mark int }
	_ = json.Unmarshal(c.Metadata, &m)
	return m.Mark
}

// acceptable returns an error if a provider would refuse the history: it takes a call only if what follows answers it at
// once. pending are the calls at its end that the host says wait for their responses.
func acceptable(history []content.Content, pending []string) error {
	var open []string // ids of calls that the entries so far leave unanswered
	for i, e := range history {
		if len(e.Blocks) == 0 {
			return fmt.Errorf("entry %d is empty", i)
		}
		if e.Speaker != content.Tool && len(open) > 0 {
			return fmt.Errorf("entry %d, of %s, follows the unanswered calls %q", i, e.Speaker, open)
		}
		for _, b := range e.Blocks {
			call, calls := b.(content.ToolCall)
			answer, answers := b.(content.ToolResponse)
			// Ids may repeat in a conversation, but only the calls right before count, and each once.
			at := slices.Index(open, answer.CallID)
			switch {
			case calls && e.Speaker == content.AI:
				open = append(open, call.ID)
			case answers && e.Speaker == content.Tool && at >= 0:
				open = slices.Delete(open, at, at+1)
			case calls || answers || e.Speaker == content.Tool:
				return fmt.Errorf("entry %d has a %T of %s that answers nothing", i, b, e.Speaker)
			}
		}
	}
	slices.Sort(open)
	pending = slices.Sorted(slices.Values(pending))
	if !slices.Equal(open, pending) { // an agent waits for them
		return fmt.Errorf("the calls %q are unanswered at the end, said to be pending are %q", open, pending)
	}
	return nil
}

// inOrder returns an error if entries of the agent come twice, or not in the order in which it added them. A response
// belongs behind its call, also if a person spoke before it came.
func inOrder(history []content.Content) error {
	last, seen := 0, map[int]bool{0: false}
	for i, e := range history {
		mark := markOf(e)
		switch {
		case mark == 0:
			continue
		case seen[mark]:
			return fmt.Errorf("entry %d is number %d once more", i, mark)
		case e.Speaker != content.Tool && mark < last:
			return fmt.Errorf("entry %d is number %d, after number %d", i, mark, last)
		case e.Speaker != content.Tool:
			last = mark
		}
		seen[mark] = true
	}
	return nil
}

// keepsPeople returns an error if words of a person are missing, or others than they were. may says which of them
// something was allowed to take away.
func keepsPeople(history, said []content.Content, may func(mark int) bool) error {
	there := map[int]content.Content{}
	for _, e := range history {
		there[markOf(e)] = e
	}
	for i, e := range said {
		if now, ok := there[i+1]; e.Speaker == content.Human && !may(i+1) && !(ok && now.Equal(e)) {
			return fmt.Errorf("number %d, of a person, is %s", i+1, now.AppendJSON(nil))
		}
	}
	return nil
}

// unclear says why an agent could not act on an error; "" if it can.
func unclear(err *rpcError) string {
	switch d := err.Data; {
	case d.Kind == "" || d.Kind == "internal":
		return "has no kind"
	case d.Plugin == "" && (d.Kind == "plugin" || d.Kind == "host" || d.Kind == "model"):
		return "names no plugin"
	}
	for _, words := range []string{ // of libraries, about a connection or a process that broke
		"rpc error", "code = ", "transport:", "EOF", "broken pipe", "connection reset", "connection refused",
		"use of closed", "context canceled", "nil pointer", "runtime error", "%!", "<nil>", "error reading from server",
	} {
		if strings.Contains(err.Message, words) {
			return "says " + words
		}
	}
	return ""
}

func TestHistoriesThatProvidersRefuseAreFound(t *testing.T) {
	t.Parallel()
	human, call := gen.Said(content.Human, "x"), gen.Call("a", "read_file", "{}")
	both := call
	both.Blocks = append(slices.Clone(call.Blocks), content.ToolCall{ID: "b", Name: "read_file"})
	a, b := gen.Answer("a", "read_file", "x"), gen.Answer("b", "read_file", "x")
	for name, test := range map[string]struct {
		history []content.Content
		pending []string
		good    bool
	}{
		"answered":               {[]content.Content{human, both, b, a, human}, nil, true},
		"pending":                {[]content.Content{human, both, b}, []string{"a"}, true},
		"not said to be pending": {[]content.Content{both, b}, nil, false},
		"unanswered":             {[]content.Content{both, a, human}, nil, false},
		"answered too late":      {[]content.Content{call, human, a}, nil, false},
		"answered twice":         {[]content.Content{call, a, a}, nil, false},
		"never called":           {[]content.Content{human, a}, nil, false},
		"empty":                  {[]content.Content{{Speaker: content.AI}}, nil, false},
	} {
		if err := acceptable(test.history, test.pending); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
