package modelapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// event is a server-sent event; name may be "". Data is JSON, or a text that is sent as it is.
type event struct {
	name string
	data any
}

// send writes an answer: in one piece, or event by event. Each piece is flushed, so that a client sees it before the
// next one is written; a body in one piece is sent in two halves, which faults need. Those strike after the text.
func (s *Server) send(w http.ResponseWriter, r *http.Request, p prompt, a answer, form api) {
	reply, gone := p.reply, r.Context().Done()
	flush := http.NewResponseController(w)
	sent := 0
	// write returns false when the client is gone.
	write := func(piece []byte) bool {
		if reply.Pace > 0 {
			select {
			case <-time.After(reply.Pace):
			case <-gone:
			}
		}
		if reply.CutAfter > 0 && sent+len(piece) > reply.CutAfter {
			_, _ = w.Write(piece[:max(0, reply.CutAfter-sent)])
			_ = flush.Flush()
			// The way to break a connection from a handler: net/http closes it without an end of the body, and logs
			// nothing.
			panic(http.ErrAbortHandler)
		}
		sent += len(piece)
		_, err := w.Write(piece)
		return err == nil && flush.Flush() == nil && r.Context().Err() == nil
	}
	var pieces [][]byte
	switch {
	case reply.Fault == FaultHang:
		<-gone
		return
	case reply.Fault == FaultGarbage:
		w.Header().Set("Content-Type", "text/html")
		write([]byte(reply.Text))
		return
	case p.stream:
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range a.events {
			pieces = append(pieces, e.bytes())
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		whole, _ := json.Marshal(a.whole)
		pieces, a.closing = [][]byte{whole[:len(whole)/2], whole[len(whole)/2:]}, 1
	}
	for i, piece := range pieces {
		if i == a.closing {
			switch {
			case reply.Stall != nil:
				select {
				case <-reply.Stall:
				case <-gone:
				}
			case reply.Fault == FaultStall:
				<-gone
			case reply.Fault == FaultReset:
				panic(http.ErrAbortHandler)
			case reply.Fault == FaultInStream:
				write(event{"error", reply.failure(form)}.bytes())
			case reply.Fault == FaultEndless:
				for write(pieces[i-1]) {
				}
			}
			if reply.Fault != "" {
				return // the stream ends in order: only the protocol tells that it is not whole
			}
		}
		if !write(piece) {
			return
		}
		if reply.Fault == FaultGarbled {
			write(event{"content_block_delta", reply.Text}.bytes())
			return
		}
	}
}

// Chat Completions and Gemini name no events; the other APIs name each.
func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	if s, ok := e.data.(string); ok {
		b.WriteString(s)
	} else {
		data, _ := json.Marshal(e.data)
		b.Write(data)
	}
	b.WriteString("\n\n")
	return b.Bytes()
}

// chunks cuts a text into pieces of at most n bytes, between characters, at least one in each; none for an empty text.
func chunks(s string, n int) (out []string) {
	for len(s) > n {
		i := n
		for i > 0 && s[i]&0xc0 == 0x80 {
			i--
		}
		for i == 0 || i < len(s) && s[i]&0xc0 == 0x80 {
			i++
		}
		out, s = append(out, s[:i]), s[i:]
	}
	if s == "" {
		return out
	}
	return append(out, s)
}

// encoded is a value as JSON text. Keys are sorted, so that equal values have equal texts, which signatures rely on.
func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
