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
	// First and Last are the lines to return of what has the ID; 0 for all. Tokens bounds the answer, Limit what is found
	// for a query; 0 for the default.
	First, Last, Tokens, Limit int
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
	// Also and Result are the ids of those of the passage.
	Also   []string
	Result string
}

// Answer is what is given back. More and Absent are those of [search.Found].
type Answer struct {
	Parts  []Part
	More   int
	Absent []string
}

// Answered makes an answer of what was found. name returns the id of a block and its seal; ok is false for one that has
// no id now, which is left out.
func Answered(found search.Found, name func(entry string, block int) (id, seal string, ok bool)) Answer {
	a := Answer{More: found.More, Absent: found.Absent}
	for _, p := range found.Passages {
		part := Part{Passage: p}
		var ok bool
		if part.ID, part.Seal, ok = name(p.Entry, p.Block); !ok {
			continue
		}
		for _, also := range p.Also {
			id, _, _ := name(also.Entry, also.Block)
			part.Also = append(part.Also, id)
		}
		if p.Result != nil {
			part.Result, _, _ = name(p.Result.Entry, p.Result.Block)
		}
		a.Parts = append(a.Parts, part)
	}
	return a
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
	lines, tokens, limit := text("lines"), text("tokens"), text("limit")
	switch {
	case a.ID == "" && a.Query == "":
		return a, errors.New(`give "query", words to search for, or "id"`)
	case a.ID != "" && a.Query != "":
		return a, errors.New(`give "query" or "id", not both`)
	case lines != "" && a.ID == "":
		return a, errors.New(`"lines" are of what has an "id": give that as well`)
	}
	if limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n <= 0 || n > search.MaxPassages {
			return a, fmt.Errorf(`"limit" is %.40q: give 1 to %d passages, or leave it out`, limit, search.MaxPassages)
		}
		a.Limit = n
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
		out.WriteString(marks.Recalled(p.Turn, p.where(), p.Seal) + "\n" + p.Text + p.beside())
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("%.100q has %d lines", a.ID, parts[0].Of)
	}
	return out.String(), nil
}

// beside returns what stands below a part: the ends of a call's result, and where else the same was.
func (p Part) beside() string {
	var out strings.Builder
	if p.Passage.Result != nil && p.Result != "" {
		fmt.Fprintf(&out, "\n[its result: %s, id %s]", lines(p.Passage.Result.Of), p.Result)
		if p.Passage.Result.Text != "" {
			out.WriteString("\n" + strings.TrimSuffix(p.Passage.Result.Text, "\n"))
		}
	}
	var also []string
	for i, id := range p.Also {
		if len(also) == maxAlso {
			also = append(also, fmt.Sprintf("%d more", len(p.Also)-i))
			break
		}
		if id == "" {
			continue
		}
		at := fmt.Sprintf("id %s, line %d", id, p.Passage.Also[i].Line)
		if p.Passage.Also[i].Changed {
			at += ", changed since"
		}
		also = append(also, at)
	}
	if also != nil {
		out.WriteString("\n[also at " + strings.Join(also, "; ") + "]")
	}
	if out.Len() > 0 && strings.HasSuffix(p.Text, "\n") {
		return out.String()[1:]
	}
	return out.String()
}

// maxAlso is how many other places of a passage are named.
const maxAlso = 3

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return strconv.Itoa(n) + " lines"
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
