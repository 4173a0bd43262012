package modelapi

import (
	"cmp"
	"net/http"
)

// Reply is an answer that a test decides, for a server that has replies instead of a script. Counts are in tokens;
// Input excludes those that were read from the cache and written to it.
type Reply struct {
	// Thinking is reasoning before the text.
	Thinking, Text string
	// Finish is the stop reason, and Model the name of the model; "" is the usual.
	Finish, Model string
	// Chunk is how many bytes of text an event has at most; 0 is 12.
	Chunk                          int
	Input, Cached, Written, Output int
}

func (r Reply) chunk() int { return cmp.Or(r.Chunk, 12) }

// model is the name of the model that an answer reports.
func (p prompt) model() any {
	if p.reply.Model != "" {
		return p.reply.Model
	}
	return p.body["model"]
}

// Wire is one of the APIs, for a server that has replies.
type Wire struct{ of api }

// WireOf returns the API of a request; false if it is of none.
func WireOf(r *http.Request) (Wire, bool) {
	a, counts := apiOf(r)
	return Wire{a}, a != nil && !counts
}

// Judge returns why a request is refused, in the API's words.
func (w Wire) Judge(r *http.Request, body map[string]any) error {
	_, err := w.of.judge(newState(Options{}), r, body)
	return err
}

// Fail is the body of an error. Its kind and code are the API's own for the status where they are "".
func (w Wire) Fail(status int, kind, code, message string) any {
	return w.of.fail(status, kind, code, message)
}

// Answer returns an answer in one piece, and as events, each as it is sent; the events from closing on say that it is
// whole. id tells answers apart.
func (w Wire) Answer(body map[string]any, reply Reply, id int) (whole any, events [][]byte, closing int) {
	s := newState(Options{})
	s.ids = id - 1
	var says []say
	if reply.Thinking != "" {
		says = append(says, say{text: reply.Thinking, thought: true})
	}
	a := w.of.answer(s, prompt{body: body, reply: reply},
		usage{reply.Input, reply.Cached, reply.Written, reply.Output}, append(says, say{text: reply.Text}))
	for _, e := range a.events {
		events = append(events, e.bytes())
	}
	return a.whole, events, a.closing
}
