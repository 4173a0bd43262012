package llmtest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"time"
	"unicode/utf8"
)

// event is one event of a stream. The protocols differ in it: Anthropic names events, OpenAI does not.
type event struct {
	// name is "" if the protocol does not name its events.
	name string
	// data is marshalled to JSON. A string is sent verbatim.
	data any
}

// answer sends a reply, or misbehaves as its Fault says. It returns when the client has its answer, or has gone.
func answer(w http.ResponseWriter, r *http.Request, p protocol, req Request, reply Reply) {
	maps.Copy(w.Header(), reply.Header)
	switch {
	case reply.Fault == FaultStatus:
		p.fail(w, reply.failure())
	case reply.Fault == FaultGarbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, reply.Text)
	// No header is sent either: this is what a server does that accepts connections and nothing more.
	case reply.Fault == FaultHang:
		<-r.Context().Done()
	case req.Stream:
		s := &stream{w: w, ctx: r.Context(), pace: reply.Pace}
		s.answer(p, req, reply)
	// Without a stream there is no middle: the connection breaks before the answer.
	case reply.Fault == FaultReset || reply.Fault == FaultCut:
		// net/http closes the connection for it, and logs nothing.
		panic(http.ErrAbortHandler)
	case reply.Fault == FaultStall || reply.Fault == FaultEndless:
		<-r.Context().Done()
	case reply.Fault == FaultInStream:
		p.fail(w, reply.failure())
	default:
		if wait(r.Context(), reply.Pace) {
			writeJSON(w, http.StatusOK, p.whole(req, reply))
		}
	}
}

// stream writes events until the client disconnects.
type stream struct {
	w    http.ResponseWriter
	ctx  context.Context
	pace time.Duration
	// gone is set once the client has disconnected; nothing is sent from then on.
	gone bool
}

// answer sends the events of a reply up to the point where its Fault strikes.
func (s *stream) answer(p protocol, req Request, reply Reply) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
	// Without text there would be nothing to repeat, and the loop would spin.
	if reply.Fault == FaultEndless && reply.Text == "" {
		reply.Text = "and on "
	}
	s.send(p.open(req, reply))
	if reply.Thinking != "" {
		s.send(p.thinking(req, reply, pieces(reply.Thinking, reply.ChunkBytes)))
	}
	if reply.Fault == FaultGarbledStream {
		// A string is sent verbatim, so that the text of the reply is what breaks the client's parser.
		s.send([]event{{name: "content_block_delta", data: reply.Text}})
		return
	}
	var words []event
	for _, text := range pieces(reply.Text, reply.ChunkBytes) {
		words = append(words, p.text(req, reply, text))
	}
	if len(words) > 0 {
		s.send(p.openText(reply))
		s.send(words)
	}
	switch reply.Fault {
	// The stream ends in order, but without the event that ends an answer: only the protocol tells.
	case FaultCut:
		return
	case FaultReset:
		panic(http.ErrAbortHandler)
	case FaultInStream:
		s.send(p.trouble(reply.failure()))
		return
	case FaultStall:
		<-s.ctx.Done()
		return
	case FaultEndless:
		for !s.gone {
			s.send(words)
		}
		return
	}
	s.send(p.closing(req, reply))
}

// pieces cuts text into pieces of about size bytes, between characters. Real streams cut between tokens; clients must
// not depend on where.
//
// No text makes no piece. size is 64 unless it is positive.
func pieces(text string, size int) []string {
	if size <= 0 {
		size = 64
	}
	var list []string
	for len(text) > 0 {
		cut := min(size, len(text))
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		list, text = append(list, text[:cut]), text[cut:]
	}
	return list
}

// send writes and flushes events, each after a pause. It does nothing once the client has disconnected.
func (s *stream) send(events []event) {
	for _, e := range events {
		// Paces are pauses between events, for tests of timeouts.
		if s.gone || !wait(s.ctx, s.pace) {
			s.gone = true
			return
		}
		data, ok := e.data.(string)
		if !ok {
			encoded, err := json.Marshal(e.data)
			if err != nil {
				panic(err) // all data is maps of strings and numbers
			}
			data = string(encoded)
		}
		text := "data: " + data + "\n\n"
		if e.name != "" {
			text = "event: " + e.name + "\n" + text
		}
		if _, err := io.WriteString(s.w, text); err != nil {
			s.gone = true
			return
		}
		// Each event by itself: a client that waits for the next one must have got this one.
		if err := http.NewResponseController(s.w).Flush(); err != nil {
			s.gone = true
		}
	}
}

// wait pauses for d. It returns false if the client disconnected.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
