package wire

import (
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Writer frames messages into chunks: each behind its length as a varint, cut wherever a chunk is full. All chunks but
// the last have exactly chunkSize bytes. Call [Writer.Flush] at the end. A Writer is for one goroutine and useless
// after an error of send.
type Writer struct {
	send func(chunk []byte) error
	enc  encoder // its buffer holds what is not sent yet
}

// chunkSize is well below [MaxChunk], so a long history is encoded, sent and decoded at the same time. Much smaller
// chunks cost more than that gains.
const chunkSize = 256 << 10

// NewWriter returns a Writer that hands each chunk to send. The chunk is reused once send returns: gRPC's SendMsg has
// encoded it by then. Only stats handlers and tracing may look at a message later; neither side installs any.
func NewWriter(send func(chunk []byte) error) *Writer { return &Writer{send: send} }

// Entry writes an entry with its id and its size in tokens. Content that cannot be sent is [ErrBadContent], and none of
// it is written; so it is for all messages.
func (w *Writer) Entry(id string, tokens int, c content.Content) error {
	begin := w.begin()
	w.enc.entry(Entry{ID: id, Tokens: tokens, Content: c})
	return w.end(begin)
}

// Content writes an entry without id and size, as the host's services take them.
func (w *Writer) Content(c content.Content) error {
	begin := w.begin()
	w.enc.content(c)
	return w.end(begin)
}

func (w *Writer) Edit(e rewrite.Edit) error {
	begin := w.begin()
	w.enc.edit(e)
	return w.end(begin)
}

func (w *Writer) Piece(p rewrite.Piece) error {
	begin := w.begin()
	w.enc.piece(p)
	return w.end(begin)
}

func (w *Writer) MirrorPiece(p MirrorPiece) error {
	begin := w.begin()
	w.enc.mirrorPiece(p)
	return w.end(begin)
}

// Flush sends the rest as a last, shorter chunk, if there is any.
func (w *Writer) Flush() error {
	if len(w.enc.buf) == 0 {
		return nil
	}
	err := w.send(w.enc.buf)
	w.enc.buf = w.enc.buf[:0]
	return err
}

// begin leaves room for the length of a message. Short streams keep a small buffer. Above 32 KiB it grows to a full
// chunk at once, because doubling on the way there would copy it five times. The slack is for the message that
// completes the chunk.
func (w *Writer) begin() int {
	const little, slack = 32 << 10, 32 << 10
	if n := len(w.enc.buf); n > little && cap(w.enc.buf) < chunkSize+slack {
		w.enc.buf = slices.Grow(w.enc.buf, chunkSize+slack-n)
	}
	return w.enc.room()
}

// end writes the length of the message and sends all full chunks. What is left moves to the front once per message,
// however many chunks it filled; otherwise a message of 256 MiB would take quadratic time.
func (w *Writer) end(begin int) error {
	if err := w.enc.err; err != nil {
		w.enc = encoder{buf: w.enc.buf[:begin-lengthRoom]}
		return err
	}
	w.enc.shut(begin)
	buf, sent := w.enc.buf, 0
	for len(buf)-sent >= chunkSize {
		if err := w.send(buf[sent : sent+chunkSize]); err != nil {
			return err
		}
		sent += chunkSize
	}
	if sent > 0 {
		w.enc.buf = buf[:copy(buf, buf[sent:])]
	}
	return nil
}
