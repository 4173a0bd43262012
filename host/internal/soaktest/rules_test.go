package soaktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// These rules say what a provider takes. They know nothing of how the host pairs calls and responses, so that both
// cannot be wrong in the same way.

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

// unclear says why an agent could not act on an error; "" if it can.
func unclear(err error) string {
	for _, words := range []string{ // of libraries, about a connection or a process that broke
		"rpc error", "code = ", "transport:", "EOF", "broken pipe", "connection reset", "connection refused",
		"use of closed", "context canceled", "nil pointer", "runtime error", "%!", "<nil>", "error reading from server",
	} {
		if strings.Contains(err.Error(), words) {
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
