package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/host/internal/sse"
)

// Reading an answer without touching it. The readers see what passes, in the pieces in which it passes, and give up
// on what they do not understand; the client gets every byte when it arrives.

const (
	// maxEvent bounds one event, and maxAnswer an answer that is not streamed, in bytes. What is longer passes all the
	// same, and its usage is not read.
	maxEvent  = 8 << 20
	maxAnswer = 32 << 20
)

// tee passes an answer on and reads what it tells about usage and calls on the way. It never fails or changes anything.
type tee struct {
	io.ReadCloser
	reader answerReader
	left   int64 // bytes until the end; below 0 if that is not known
	done   func(provider.Usage, []byte)
}

// answerReader reads an answer piece by piece, however it is cut.
type answerReader interface {
	io.Writer
	// end returns what was read, and the beginning of an answer that is no stream.
	end() (provider.Usage, []byte)
}

// newTee returns a tee for an answer. done is called once, from the goroutine that reads or closes the answer. calls gets
// the answer or its events before the client does; nil if no one does. plan gets what events tell of the client's plan.
func newTee(answer *http.Response, api provider.API, calls *heard, plan func([]provider.Window),
	done func(provider.Usage, []byte)) *tee {
	t := &tee{ReadCloser: answer.Body, left: answer.ContentLength, done: done}
	events := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
	switch encoding := answer.Header.Get("Content-Encoding"); {
	case encoding == "" && events:
		t.reader = newEventReader(api, calls, plan)
	case encoding == "" || encoding == "gzip" && !events:
		t.reader = &wholeReader{api: api, calls: calls, gzip: encoding == "gzip"}
	default:
		t.reader = &wholeReader{api: api, skip: true} // an encoding that cannot be read here
	}
	return t
}

// Read passes a piece on, and reads its part of the report.
func (t *tee) Read(p []byte) (int, error) {
	// The pieces go on in the size in which they came, after they were looked at.
	n, err := t.ReadCloser.Read(p)
	if t.done != nil {
		_, _ = t.reader.Write(p[:n])
		if t.left -= int64(n); err != nil || t.left == 0 {
			t.finish()
		}
	}
	return n, err
}

// Close also comes when the client goes away in the middle.
func (t *tee) Close() error {
	t.finish()
	return t.ReadCloser.Close()
}

// finish reports what was read, once.
func (t *tee) finish() {
	if done := t.done; done != nil {
		t.done = nil
		done(t.reader.end())
	}
}

// eventReader reads server-sent events.
type eventReader struct {
	sse.Reader
	usage provider.Usage
}

func newEventReader(api provider.API, calls *heard, plan func([]provider.Window)) *eventReader {
	form := apis.Of(api)
	e, read := &eventReader{}, form.Counts
	e.Reader = sse.Reader{Max: maxEvent, Skip: true, Data: func(data []byte) error {
		// Most events are deltas without usage: a search for the word saves decoding them.
		if bytes.Contains(data, []byte(`"usage`)) {
			if u, ok := read.Usage(data); ok {
				e.usage.Add(u)
			}
		}
		if form.PlanEvent != nil && bytes.Contains(data, []byte(`.rate_limits"`)) {
			plan(form.PlanEvent(data))
		}
		if calls != nil {
			calls.take(data)
		}
		return nil
	}}
	return e
}

func (e *eventReader) end() (provider.Usage, []byte) {
	_ = e.End()
	return e.usage, nil
}

// wholeReader keeps an answer that is no stream. skip: it is too long or cannot be decoded, and nothing of it is kept.
type wholeReader struct {
	api        provider.API
	calls      *heard
	gzip, skip bool
	all        []byte
}

// Write keeps a piece, unless the answer is too long to be of use.
func (w *wholeReader) Write(p []byte) (int, error) {
	if w.skip = w.skip || len(w.all)+len(p) > maxAnswer; w.skip {
		w.all = nil
	} else {
		w.all = append(w.all, p...)
	}
	return len(p), nil
}

// end reads the whole answer. What is no report gives a zero usage, and its beginning may be a refusal.
func (w *wholeReader) end() (provider.Usage, []byte) {
	if w.gzip {
		z, err := gzip.NewReader(bytes.NewReader(w.all))
		if err != nil {
			return provider.Usage{}, nil
		}
		// A cut answer is read as far as it goes; what it expands to is bounded.
		w.all, _ = io.ReadAll(io.LimitReader(z, maxAnswer))
	}
	if w.calls != nil {
		w.calls.take(w.all)
	}
	u, _ := apis.Of(w.api).Counts.Usage(w.all)
	return u, w.all
}
