package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// Asked is what a call of the tool asks for: what has an ID, or what is found by a Query.
type Asked struct {
	ID, Query string
	// First and Last are the lines to return of what has the ID; 0 for all. Tokens bounds the answer; 0 for the default.
	First, Last, Tokens int
	// Arguments and Meta are as the client sent them: they may tell which conversation's model asks.
	Arguments, Meta json.RawMessage
}

// Part is a part of a conversation that is given back. With ID, more of it can be read; all of it, if it was asked for
// by its ID.
type Part struct {
	search.Passage
	ID string
	// Seal tells the host later that it gave this back; "" where nobody asks.
	Seal string
}

// asked reads the arguments of a call. Models write numbers as texts, and texts as numbers. The error is one that the
// model can mend. Unknown arguments are ignored: the schema forbids them, and models make them up all the same.
func asked(arguments json.RawMessage) (a Asked, err error) {
	var given map[string]json.RawMessage
	if len(bytes.TrimSpace(arguments)) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return a, errors.New("the arguments are no object")
		}
	}
	text := func(name string) string {
		raw := given[name]
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return strings.TrimSpace(s)
		}
		return string(raw)
	}
	a = Asked{ID: text("id"), Query: text("query"), Arguments: arguments}
	lines, tokens := text("lines"), text("tokens")
	switch {
	case a.ID == "" && a.Query == "":
		return a, errors.New(`give "query", words to search for, or "id"`)
	case a.ID != "" && a.Query != "":
		return a, errors.New(`give "query" or "id", not both`)
	case lines != "" && a.ID == "":
		return a, errors.New(`"lines" are of what has an "id": give that as well`)
	}
	if tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n <= 0 || n > search.MaxTokens {
			return a, fmt.Errorf(`"tokens" is %.40q: give 1 to %d, or leave it out`, tokens, search.MaxTokens)
		}
		a.Tokens = n
	}
	if lines != "" {
		first, last, isRange := strings.Cut(lines, "-")
		if !isRange {
			last = first
		}
		var failed [2]error
		a.First, failed[0] = strconv.Atoi(strings.TrimSpace(first))
		a.Last, failed[1] = strconv.Atoi(strings.TrimSpace(last))
		if errors.Join(failed[:]...) != nil || a.First < 1 || a.Last < a.First {
			return a, fmt.Errorf(`"lines" is %.40q: give the first and the last line, such as "120-200"`, lines)
		}
	}
	return a, nil
}

// bytesOfToken is about how many bytes a token has, at least, of what is read again by its id.
const bytesOfToken = 3

// text returns what the model reads.
func (a Asked) text(parts []Part) (string, error) {
	var out strings.Builder
	left := a.Tokens * bytesOfToken
	for _, p := range parts {
		if a.ID != "" && (a.First > p.Of || a.Tokens > 0 && left <= 0) {
			continue
		}
		if a.First > 0 {
			at := search.Lines(p.Text, a.First, a.Last)
			p.Text, p.Line, p.Lines = at.Text, at.Line, at.Lines
		}
		if a.ID != "" && a.Tokens > 0 {
			p.Text, p.Lines = begins(p.Text, left)
			left -= len(p.Text)
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(marks.Recalled(p.Turn, p.where(), p.Seal) + "\n" + p.Text)
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("%.100q has %d lines", a.ID, parts[0].Of)
	}
	return out.String(), nil
}

// begins returns the lines at the beginning of a text that fit into some bytes, at least a part of the first, and how
// many there are.
func begins(text string, most int) (string, int) {
	if len(text) > most {
		end := strings.LastIndexByte(text[:most], '\n') + 1
		if end == 0 {
			end = len(strings.ToValidUTF8(text[:most], ""))
		}
		text = text[:end]
	}
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return text, n
}

// where says where a part stood.
func (p Part) where() string {
	said := "said by the user"
	switch {
	case p.Kind == content.KindToolCall:
		said = "call of " + p.tool()
	case p.Kind == content.KindToolResponse:
		said = p.tool()
	case p.Speaker == content.AI:
		said = "said by the assistant"
	}
	return fmt.Sprintf("%s, lines %d-%d of %d, id %s", said, p.Line, p.Line+p.Lines-1, p.Of, p.ID)
}

// tool names a tool and what its call was about.
func (p Part) tool() string {
	return strings.TrimSpace(p.Tool + " " + p.Argument)
}
