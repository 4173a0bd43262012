// Package sse reads server-sent events, in which providers stream their answers: the proxy reads those that pass it, and
// package llm those of its own requests.
package sse

import (
	"bytes"
	"errors"
)

// ErrTooLong is returned for an event that is longer than [Reader.Max].
var ErrTooLong = errors.New("an event of the stream is too long")

// Reader takes a stream piece by piece, however it is cut. It keeps the event that is being read and no more.
type Reader struct {
	// Max bounds the data of one event and the length of one line, in bytes. A longer one is an error, or with Skip is
	// left out.
	Max  int
	Skip bool
	// Data takes the data of an event, without the last line break; it must not be kept. Its error ends the reading.
	Data func(data []byte) error

	line, data []byte
	any        bool // the event has data, perhaps empty
	long       bool // the event is left out
	afterCR    bool // a line feed is part of the line break before it
}

// Write takes a piece of the stream. Its error is that of Data, or [ErrTooLong].
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if r.afterCR && p[0] == '\n' {
			p = p[1:]
		}
		r.afterCR = false
		i := bytes.IndexAny(p, "\r\n")
		piece := p
		if i >= 0 {
			piece = p[:i]
		}
		switch {
		case len(r.data)+len(r.line)+len(piece) <= r.Max:
			r.line = append(r.line, piece...)
		case r.Skip:
			r.long, r.line, r.data = true, append(r.line[:0], 'x'), nil // not empty: no end of an event
		default:
			return 0, ErrTooLong
		}
		if i < 0 {
			break
		}
		r.afterCR = p[i] == '\r'
		p = p[i+1:]
		if err := r.endLine(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (r *Reader) endLine() error {
	if len(r.line) == 0 {
		return r.End()
	}
	// Fields other than data are not needed: providers name the kind of an event in its data, too.
	if data, ok := bytes.CutPrefix(r.line, []byte("data:")); ok && !r.long {
		if r.any {
			r.data = append(r.data, '\n')
		}
		r.data, r.any = append(r.data, bytes.TrimPrefix(data, []byte(" "))...), true
	}
	r.line = reused(r.line)
	return nil
}

// End ends the event that is being read, as an empty line does. At the end of a stream it is for readers that want an
// event which may be cut.
func (r *Reader) End() error {
	if len(r.line) > 0 {
		if err := r.endLine(); err != nil {
			return err
		}
	}
	data, any := r.data, r.any && !r.long
	r.any, r.long = false, false
	defer func() { r.data = reused(r.data) }()
	if !any {
		return nil
	}
	return r.Data(data)
}

// reused returns an empty buffer. One of megabytes, of an image perhaps, is not kept for the rest of the stream.
func reused(b []byte) []byte {
	if cap(b) > 64<<10 {
		return nil
	}
	return b[:0]
}
