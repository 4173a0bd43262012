package network

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

const (
	// partBytes is the size of a line of a long result, in bytes: large enough that lines cost nothing, and small enough
	// for a client that takes them one by one. One entry is never divided.
	partBytes = 1 << 20
	// minCompressed is from what size on answers are compressed on their way to other machines, in bytes: those of
	// ordinary turns are smaller, and gain nothing.
	minCompressed = 16 << 10
)

func acceptsGzip(r *http.Request) bool {
	for _, one := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		if name, q, _ := strings.Cut(strings.TrimSpace(one), ";"); name == "gzip" && strings.TrimSpace(q) != "q=0" {
			return true
		}
	}
	return false
}

// answerer writes one answer: a whole one, or lines.
type answerer struct {
	w    http.ResponseWriter
	gzip bool // the client takes it
	out  io.Writer
	zip  *gzip.Writer // nil if the answer is not compressed
}

// begin writes the header. size is that of the answer, or of its first line.
func (a *answerer) begin(kind string, status, size int, whole bool) {
	h := a.w.Header()
	h.Set("Content-Type", kind)
	a.out = a.w
	if a.gzip && size >= minCompressed {
		h.Set("Content-Encoding", "gzip")
		a.zip = gzip.NewWriter(a.w)
		a.out = a.zip
	} else if whole {
		h.Set("Content-Length", strconv.Itoa(size))
	}
	a.w.WriteHeader(status)
}

// whole answers with one value.
func (a *answerer) whole(status int, value any) {
	text, err := rawjson.Encode(value)
	if err != nil {
		text, status = []byte(`{"error":{"message":"the answer cannot be encoded","kind":"internal","retryable":false}}`+
			"\n"), http.StatusInternalServerError
	}
	a.begin("application/json", status, len(text), true)
	_, _ = a.out.Write(text) // the connection may be gone
}

// line sends a line at once.
func (a *answerer) line(value any) error {
	text, err := rawjson.Encode(value)
	if err != nil {
		return err
	}
	return a.send(text)
}

func (a *answerer) send(line []byte) error {
	if a.out == nil {
		a.begin("application/jsonl", http.StatusOK, len(line), false)
	}
	if _, err := a.out.Write(line); err != nil {
		return err
	}
	if a.zip != nil {
		if err := a.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(a.w).Flush()
}

// fail answers with an error, or ends lines with it.
func (a *answerer) fail(f *api.Error) {
	answer := struct {
		Error *api.Error `json:"error"`
	}{f}
	if a.out == nil {
		if f.Status == http.StatusServiceUnavailable && f.Retryable {
			a.w.Header().Set("Retry-After", "1") // second
		}
		a.whole(f.Status, answer)
		return
	}
	_ = a.line(answer)
}

func (a *answerer) close() {
	if a.zip != nil {
		_ = a.zip.Close()
	}
}

// result answers in lines: with values as they come, or with a result that may be long, whose list continues from one to
// the next.
func (a *answerer) result(ctx context.Context, result any) error {
	if values, endless := result.(iter.Seq2[any, error]); endless {
		for value, err := range values {
			if err == nil {
				err = a.line(value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return a.parts(ctx, reflect.ValueOf(result))
}

// parts sends the list of a struct in lines {"NAME":[…]}; the last one has its other members.
func (a *answerer) parts(ctx context.Context, of reflect.Value) error {
	var open, more []byte
	var list reflect.Value
	for i, f := range reflect.VisibleFields(of.Type()) {
		name := `"` + f.Tag.Get("json") + `":`
		if f.Type.Kind() == reflect.Slice {
			open, list = []byte(`{`+name+`[`), of.Field(i)
			continue
		}
		text, err := encoded(of.Field(i))
		if err != nil {
			return err
		}
		more = append(append(append(more, ','), name...), text...)
	}
	line := bytes.Clone(open)
	for i := range list.Len() {
		text, err := encoded(list.Index(i))
		if err != nil {
			return err
		}
		if len(line) > len(open) {
			if len(line)+len(text) > partBytes {
				// A connection may be gone before a write tells it.
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := a.send(append(line, "]}\n"...)); err != nil {
					return err
				}
				line = append(line[:0], open...)
			} else {
				line = append(line, ',')
			}
		}
		line = append(line, text...)
	}
	return a.send(append(append(append(line, ']'), more...), "}\n"...))
}

// encoded is a value as JSON. Package json would read again what writes itself.
func encoded(v reflect.Value) ([]byte, error) {
	if own, ok := v.Interface().(json.Marshaler); ok {
		return own.MarshalJSON()
	}
	text, err := rawjson.Encode(v.Interface())
	return bytes.TrimSuffix(text, []byte("\n")), err
}
