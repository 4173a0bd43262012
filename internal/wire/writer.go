package wire

import (
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Writer frames a sequence of messages into chunks: each message behind its length as a varint, cut wherever a chunk is
// full. All chunks but the last have exactly chunkSize bytes. Call [Writer.Flush] at the end. A Writer is for one
// goroutine and useless after an error.
type Writer struct {
	send func(chunk []byte) error
	enc  encoder // its buffer holds what is not sent yet
}

// chunkSize is how large the chunks are that this version sends, in bytes. It is well below [MaxChunk], so that a long
// history is encoded, sent and decoded at the same time. Much smaller ones cost more than that gains.
const chunkSize = 256 << 10

// NewWriter returns a Writer that hands each chunk to send. The chunk is reused once send returns, so send must not
// keep it. gRPC's SendMsg has encoded it by then. Only stats handlers and tracing may look at a message later; neither
// side installs any.
func NewWriter(send func(chunk []byte) error) *Writer { return &Writer{send: send} }

// Entry writes an entry with its id and its size in tokens. Content that cannot be sent is [ErrBadContent], and nothing
// of it is written then; so it is for all messages.
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

// Edit writes one edit of an Optimize.
func (w *Writer) Edit(e rewrite.Edit) error {
	begin := w.begin()
	w.enc.edit(e)
	return w.end(begin)
}

// Piece writes one piece of a compressed history.
func (w *Writer) Piece(p rewrite.Piece) error {
	begin := w.begin()
	w.enc.piece(p)
	return w.end(begin)
}

// MirrorPiece writes one piece of a rewritten history.
func (w *Writer) MirrorPiece(p MirrorPiece) error {
	begin := w.begin()
	w.enc.mirrorPiece(p)
	return w.end(begin)
}

// Flush sends the rest as a last, shorter chunk. Without messages it sends nothing.
func (w *Writer) Flush() error {
	if len(w.enc.buf) == 0 {
		return nil
	}
	err := w.send(w.enc.buf)
	w.enc.buf = w.enc.buf[:0]
	return err
}

// begin leaves room for the length of a message. Short streams, such as most answers, keep a small buffer. Once more
// than 32 KiB wait, the buffer grows to a full chunk at once, because doubling on the way there would copy it five
// times. The slack leaves room for the message that completes the chunk.
func (w *Writer) begin() int {
	const little, slack = 32 << 10, 32 << 10
	if n := len(w.enc.buf); n > little && cap(w.enc.buf) < chunkSize+slack {
		w.enc.buf = slices.Grow(w.enc.buf, chunkSize+slack-n)
	}
	return w.enc.room()
}

// end writes the length of the message and sends all full chunks. What is left moves to the front, once per message,
// however many chunks the message filled; otherwise a message of 256 MiB would take quadratic time.
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
