package statements

import (
	"fmt"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Kind is what a sentence is about.
type Kind string

// The kinds of sentences, and what is found besides.
const (
	Omitted    Kind = "omitted lines"
	Repeated   Kind = "repeated lines"
	OneLine    Kind = "one-line result"
	Pointer    Kind = "recency pointer"
	Inclusion  Kind = "inclusion marker"
	Fold       Kind = "fold"
	Removed    Kind = "removed result"
	Middle     Kind = "result cut in its middle"
	Rest       Kind = "message cut at its end"
	Recall     Kind = "recall mark"
	Unanswered Kind = "answer to an interrupted call"
	// Silent is text that closes up over a gap without a mark.
	Silent Kind = "gap without a mark"
	// Unknown is text that was not in the conversation and is no sentence that is known.
	Unknown Kind = "unknown text"
	// Changed is a name, parameter or outcome of a call that is another one.
	Changed Kind = "changed call or outcome"
	// Failure is a result of which nothing is left that says that the call failed.
	Failure Kind = "failure that is gone"
)

// Entry is an entry of a conversation or of a view, with the id that the host gave it. An entry that the host made for
// a view has none.
type Entry struct {
	ID      string
	Content content.Content
}

// Finding is a sentence that was read, or text that should not be there.
type Finding struct {
	Kind Kind
	// Entry is the id of the entry in the view, "" if it has none, and Index its position there.
	Entry    string
	Index    int
	Sentence string
	// Why says why it is not true; "" if it is.
	Why string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s, entry %s (%d): %.200q: %s", f.Kind, f.Entry, f.Index, f.Sentence, f.Why)
}

// Report is what was read in a view.
type Report struct {
	// All are the sentences in their order, true ones too.
	All []Finding
}

// False returns what is not true.
func (r Report) False() (out []Finding) {
	for _, f := range r.All {
		if f.Why != "" {
			out = append(out, f)
		}
	}
	return out
}

// Options say what a checker cannot know from a conversation.
type Options struct {
	// Root is the directory that relative paths are in.
	Root string
	// Tokens counts a block in tokens, as the host does; nil: counts of tokens are not checked.
	Tokens func(content.Block) int
	// Foreign is for strategies that do not ship: lines may go without a mark, any whole line in square brackets may
	// stand for what went, and new entries may say anything.
	Foreign bool
}

// Checker knows a conversation. It is used by one goroutine.
type Checker struct {
	o        Options
	original []Entry
	at       map[string]int // positions in original, by id

	pairs *turns.Pairs // of original, made when it is needed
	// last is the view before, by id: a block that goes may have been cut before.
	last map[string]content.Content
	cut  map[string]bool // what was said of such blocks and was true when they went
}

// New returns a checker of an empty conversation.
func New(o Options) *Checker { return &Checker{o: o, at: map[string]int{}, cut: map[string]bool{}} }

// Add takes in what was added to the conversation, before any strategy saw it.
func (c *Checker) Add(entries ...Entry) {
	for _, e := range entries {
		c.at[e.ID] = len(c.original)
		c.original = append(c.original, e)
	}
	c.pairs = nil
}

// Check reads a view. It takes time for the entries of the conversation and of the view, and for the text that differs:
// a session is checked where it was rewritten and at its end, not at each turn.
func (c *Checker) Check(view []Entry) Report {
	if c.pairs == nil {
		c.pairs = turns.Pair(contents(c.original))
	}
	r := reading{Checker: c, view: view, pairs: turns.Pair(contents(view)),
		shown: make([]bool, len(c.original))}
	for _, e := range view {
		if at, known := c.at[e.ID]; known && e.ID != "" {
			r.shown[at] = true
		}
	}
	for i := range view {
		r.entry(i)
	}
	c.last = make(map[string]content.Content, len(view))
	for _, e := range view {
		c.last[e.ID] = e.Content
	}
	return r.report
}

func contents(entries []Entry) []content.Content {
	out := make([]content.Content, len(entries))
	for i, e := range entries {
		out[i] = e.Content
	}
	return out
}

// reading is one Check.
type reading struct {
	*Checker
	view   []Entry
	pairs  *turns.Pairs // of view
	shown  []bool       // which entries of the conversation the view has, in whatever form
	report Report

	index int // the entry of the view that is read
	// Made when the first sentence refers to them.
	results   map[string][]result
	inclusion []included
}

// said takes in a sentence; why is "" if it is true.
func (r *reading) said(k Kind, sentence, why string) {
	r.report.All = append(r.report.All, Finding{k, r.view[r.index].ID, r.index, sentence, why})
}

// wrong takes in what should not be there.
func (r *reading) wrong(k Kind, sentence, why string) { r.said(k, sentence, why) }

// entry reads one entry of the view.
func (r *reading) entry(i int) {
	r.index = i
	e := r.view[i]
	at, known := r.at[e.ID]
	switch {
	case e.ID == "":
		r.made(e.Content)
	case known:
		r.blocks(r.original[at].Content, e.Content)
	default:
		r.added(e.Content)
	}
}

// added reads an entry that is new in the history.
func (r *reading) added(c content.Content) {
	for _, b := range c.Blocks {
		text, ok := b.(content.Text)
		if (!ok || c.Speaker != content.AI || !r.fold(text.Text)) && !check.Summary(c) && !r.o.Foreign {
			r.wrong(Unknown, describe(b), "no one added this entry, and it is not marked as made")
		}
	}
}

// made reads an entry that the host made for the view: the answers to calls that have none.
func (r *reading) made(c content.Content) {
	for j, b := range c.Blocks {
		response, ok := b.(content.ToolResponse)
		if !ok || c.Speaker != content.Tool || len(response.Result) > 0 || response.Error != neverAnswered {
			r.wrong(Unknown, describe(b), "the host made this entry for the view")
			continue
		}
		r.said(Unanswered, response.Error, r.neverAnswered(turns.At{Entry: r.index, Block: j}))
	}
}

// neverAnswered says why a call was answered after all; "" if it was not before the AI spoke again.
func (r *reading) neverAnswered(response turns.At) string {
	call, ok := r.pairs.Call(response)
	if !ok {
		return "it answers no call of the view"
	}
	id := r.view[call.Entry].ID
	asked := r.view[call.Entry].Content.Blocks[call.Block].(content.ToolCall)
	at, known := r.at[id]
	if !known {
		return "its call was never made"
	}
	// Of several calls with one id and name, one without an answer will do.
	for j, b := range r.original[at].Content.Blocks {
		was, ok := b.(content.ToolCall)
		if !ok || was.ID != asked.ID || was.Name != asked.Name {
			continue
		}
		answer, answered := r.Checker.pairs.Response(turns.At{Entry: at, Block: j})
		if !answered || r.Checker.pairs.Late(answer) {
			return ""
		}
	}
	return "the call has a result"
}

// describe is the beginning of a block's text.
func describe(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return b.Text
	case content.ToolResponse:
		return b.ResultText() + b.Error
	case content.ToolCall:
		return b.Name + " " + string(b.Parameters)
	}
	return string(content.AppendBlock(nil, b))
}
