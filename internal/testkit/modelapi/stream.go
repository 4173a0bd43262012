package modelapi

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// event is a server-sent event; name may be "". Data is JSON, or a text that is sent as it is.
type event struct {
	name string
	data any
}

// send writes an answer: in one piece, or event by event. Each piece is flushed, so that a client sees it before the
// next one is written; a body in one piece is sent in two halves, which faults need.
func (s *Server) send(w http.ResponseWriter, r *http.Request, p prompt, a answer, f Fault) {
	var pieces [][]byte
	if p.stream {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range a.events {
			pieces = append(pieces, e.bytes())
		}
	} else {
		w.Header().Set("Content-Type", "application/json")
		whole, _ := json.Marshal(a.whole)
		pieces = [][]byte{whole[:len(whole)/2], whole[len(whole)/2:]}
	}
	flush := http.NewResponseController(w)
	sent := 0
	for i, piece := range pieces {
		// In the middle, so that the client has seen a part of the answer and must hold on to the connection.
		if f.Stall != nil && i == len(pieces)/2 {
			select {
			case <-f.Stall:
			case <-r.Context().Done():
				return
			}
		}
		if f.CutAfter > 0 && sent+len(piece) > f.CutAfter {
			_, _ = w.Write(piece[:max(0, f.CutAfter-sent)])
			_ = flush.Flush()
			// The way to break a connection from a handler: net/http closes it without an end of the body, and logs
			// nothing.
			panic(http.ErrAbortHandler)
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		sent += len(piece)
		_ = flush.Flush()
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
