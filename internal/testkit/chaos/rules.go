package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// These rules say what a provider takes. They are written from the providers' documentation and know nothing of how
// the host pairs calls and responses, so that both cannot be wrong in the same way.

// entry is one message, as it is sent and comes back.
type entry struct {
	Speaker  string  `json:"speaker"`
	Blocks   []block `json:"blocks"`
	Metadata struct {
		// Mark tells an entry of an agent from all others of its session: 1 for the first. Strategies carry it along;
		// what they make themselves has none.
		Mark int `json:"chaosMark,omitempty"`
	} `json:"metadata"`
}

// block holds the fields of the kinds of blocks that agents here use. Fields of another kind are empty.
type block struct {
	// The fields of all kinds of blocks that the source makes.
	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	ID         string          `json:"id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	CallID     string          `json:"callId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
}

// text is what was said in an entry, without calls and responses. text is what a person reads of the entry.
func (e entry) text() (text string) {
	// Calls and responses must match exactly, by id and adjacency.
	for _, b := range e.Blocks {
		text += b.Text
	}
	return text
}

// acceptable returns an error if a provider would refuse the history. pending are the calls at its end that the host
// says wait for their responses.
func acceptable(history []entry, pending []string) error {
	// Providers take a call only if what follows answers it at once: Anthropic wants all responses in the next message,
	// OpenAI in the next messages. Entries of tools that follow the call become both.
	var open []string // ids of calls that the entries so far leave unanswered
	for i, e := range history {
		if len(e.Blocks) == 0 {
			return fmt.Errorf("entry %d is empty", i)
		}
		if e.Speaker != "tool" && len(open) > 0 {
			return fmt.Errorf("entry %d, of %s, follows the unanswered calls %q", i, e.Speaker, open)
		}
		for _, b := range e.Blocks {
			switch {
			case b.Type == "tool_call" && e.Speaker == "ai":
				open = append(open, b.ID)
			case b.Type == "tool_response" && e.Speaker == "tool":
				// Ids may repeat in a conversation, but only the calls right before count, and each once.
				at := slices.Index(open, b.CallID)
				if at < 0 {
					return fmt.Errorf("entry %d answers %q, which was not called right before", i, b.CallID)
				}
				open = slices.Delete(open, at, at+1)
			// A call of a person, a response of the AI, or something else than responses in the entry of a tool.
			case b.Type == "tool_call" || b.Type == "tool_response" || e.Speaker == "tool":
				return fmt.Errorf("entry %d: a %s of %s", i, b.Type, e.Speaker)
			case e.Speaker != "human" && e.Speaker != "ai":
				return fmt.Errorf("entry %d is of %q", i, e.Speaker)
			}
		}
	}
	// At the end calls may be unanswered, as their tools are at work. The host must know which, so that the agent does.
	slices.Sort(open)
	slices.Sort(pending)
	// The host must know which calls still run: an agent would wait for them.
	if !slices.Equal(open, pending) {
		return fmt.Errorf("the calls %q are unanswered at the end, said to be pending are %q", open, pending)
	}
	return nil
}

// inOrder returns an error if entries of the agent come twice, or not in the order in which it added them. A response
// belongs behind its call, also if a person spoke before it came.
func inOrder(history []entry) error {
	last, seen := 0, map[int]bool{}
	for i, e := range history {
		mark := e.Metadata.Mark
		switch {
		case mark == 0: // made by the strategy, or by the host
			continue
		case seen[mark]:
			return fmt.Errorf("entry %d is number %d once more", i, mark)
		case e.Speaker != "tool" && mark < last:
			return fmt.Errorf("entry %d is number %d, after number %d", i, mark, last)
		// Responses may move, everything else may not.
		case e.Speaker != "tool":
			last = mark
		}
		seen[mark] = true
	}
	return nil
}

// keepsPeople returns an error if words of a person are missing, or others than they were. said are the entries that
// the agent added; may says which of them something was allowed to take away.
func keepsPeople(history, said []entry, may func(mark int) bool) error {
	// Summaries have the mark 0, which no entry of a person has.
	there := map[int]entry{}
	for _, e := range history {
		there[e.Metadata.Mark] = e
	}
	for _, e := range said {
		mark := e.Metadata.Mark
		if e.Speaker != "human" {
			continue
		}
		now, ok := there[mark]
		switch {
		case !ok && !may(mark):
			return fmt.Errorf("number %d, of a person, is gone", mark)
		// Fewer words are as bad as none: what is left must not read as something else than was said.
		case ok && now.text() != e.text() && !may(mark):
			return fmt.Errorf("number %d, of a person, is %.80q", mark, now.text())
		}
	}
	return nil
}
