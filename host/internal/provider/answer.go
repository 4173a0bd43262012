package provider

import (
	"encoding/json"
	"slices"
)

// Refusal is what a refusal of a request as too long says. The zero value says that it is too long, and no numbers.
type Refusal struct {
	// Limit is the most that a request may have, and Tokens how many this one had, both in the provider's tokens; 0 if
	// it does not say.
	Limit, Tokens int
}

// Question is a request for a text, or for calls of tools.
type Question struct {
	Model, System string
	Turns         []Turn
	// Tools may be called, unless NoCalls. With tools the prompt is cached, as far as that must be asked for: the results
	// of calls come behind it.
	Tools     []Tool
	NoCalls   bool
	MaxOutput int
	// OldLimit: the server knows only the older name of the limit of the answer, if the form has two.
	OldLimit bool
}

// Turn is what one side says. Roles alternate.
type Turn struct {
	Role string // "user" or "assistant"
	// Results are the user's: of all calls of the turn before.
	Results []ToolResult
	Texts   []string
	// Thought is the assistant's reasoning, as far as it must come back; Calls are what it asks for.
	Thought string
	Calls   []ToolCall
}

// Tool is what a model may call. Schema is that of its arguments.
type Tool struct {
	Name, Description string
	Schema            any
}

// ToolCall is a call of a tool. Arguments are a JSON object. Extra is what else the server sent with it and wants back.
type ToolCall struct {
	ID, Name  string
	Arguments string
	Extra     json.RawMessage
}

// ToolResult is what the call with an ID brought. Failed: the text says why it brought nothing.
type ToolResult struct {
	ID, Text string
	Failed   bool
}

// Heard is what one event of an answer says; what it does not say is zero.
type Heard struct {
	Text, Model, Finish string
	// Thought is reasoning of an API that wants it back with the results of calls.
	Thought string
	// Usage is what was counted so far. Some events count the output only.
	Usage Usage
}

// Piece is a part of a tool call in an answer: all of it, or what one event of a stream has of it.
type Piece struct {
	// Call tells which of the answer's calls it is of, where a call comes in pieces; "" for a whole one.
	Call string
	// ID and Name are the call's, "" in later pieces of it, and Arguments what the piece has of their text.
	ID, Name, Arguments string
	Extra               json.RawMessage
}

// Bounds of the calls of an answer: how many there are, and how many bytes the arguments of each have.
const MaxCalls, MaxArguments = 64, 16 << 10

// Calls are the calls of an answer, put together from its pieces. The zero value has none.
type Calls []Called

// Called is a call as far as it was heard. Arguments need not be JSON.
type Called struct {
	ID, Name  string
	Arguments []byte
	Extra     json.RawMessage

	at string // tells which one later pieces belong to
}

// Take adds pieces. Calls beyond [MaxCalls] are left out, and so are pieces beyond [MaxArguments].
func (c *Calls) Take(pieces []Piece) {
	for _, p := range pieces {
		i := -1
		if p.Call != "" {
			i = slices.IndexFunc(*c, func(c Called) bool { return c.at == p.Call && (p.ID == "" || p.ID == c.ID) })
		}
		switch {
		case i >= 0:
		case p.Name == "" || len(*c) == MaxCalls:
			continue
		default:
			i = len(*c)
			*c = append(*c, Called{ID: p.ID, Name: p.Name, at: p.Call})
		}
		one := &(*c)[i]
		if len(one.Arguments)+len(p.Arguments) <= MaxArguments {
			one.Arguments = append(one.Arguments, p.Arguments...)
		}
		if p.Extra != nil {
			one.Extra = p.Extra
		}
	}
}
