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

// send writes an answer: in one piece, or event by event.
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
			panic(http.ErrAbortHandler)
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		sent += len(piece)
		_ = flush.Flush()
	}
}

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

// chunks cuts a text into pieces of at most n bytes, between characters.
func chunks(s string, n int) (out []string) {
	for len(s) > n {
		i := n
		for i > 0 && s[i]&0xc0 == 0x80 {
			i--
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return append(out, s)
}

// encoded is a value as JSON text.
func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
