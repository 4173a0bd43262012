package wire

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Writer frames a sequence of messages into chunks: each message behind its length as a varint, cut wherever a chunk is
// full. All chunks but the last have exactly chunkSize bytes. Call [Writer.Flush] at the end. A Writer is for one
// goroutine and useless after an error.
type Writer struct {
	send func(chunk []byte) error
	buf  []byte
}

// chunkSize is how large the chunks are that this version sends, in bytes. It is well below [MaxChunk], so that a long
// history is encoded, sent and decoded at the same time. Much smaller ones cost more than that gains.
const chunkSize = 256 << 10

// NewWriter returns a Writer that hands each chunk to send. The chunk is reused once send returns, so send must not
// keep it. gRPC's SendMsg has encoded it by then. Only stats handlers and tracing may look at a message later; neither
// side installs any.
func NewWriter(send func(chunk []byte) error) *Writer { return &Writer{send: send} }

// Entry writes an entry with its id and its size in tokens. Content that cannot be sent is [ErrBadContent], and nothing
// of the entry is written then.
func (w *Writer) Entry(id string, tokens int, c content.Content) error {
	e, err := sendableEntry(Entry{ID: id, Tokens: tokens, Content: c})
	if err != nil {
		return err
	}
	w.begin(sizeEntry(e))
	w.buf = appendEntry(w.buf, e)
	return w.spill()
}

// Content writes an entry without id and size, as the host's services take them.
func (w *Writer) Content(c content.Content) error {
	c, err := sendable(c)
	if err != nil {
		return err
	}
	w.begin(sizeContent(c))
	w.buf = appendContent(w.buf, c)
	return w.spill()
}

// Edit writes one edit of an Optimize.
func (w *Writer) Edit(e rewrite.Edit) error {
	e, err := sendableEdit(e)
	if err != nil {
		return err
	}
	w.begin(sizeEdit(e))
	w.buf = appendEdit(w.buf, e)
	return w.spill()
}

// Piece writes one piece of a compressed history.
func (w *Writer) Piece(p rewrite.Piece) error {
	p, err := sendablePiece(p)
	if err != nil {
		return err
	}
	w.begin(sizePiece(p))
	w.buf = appendPiece(w.buf, p)
	return w.spill()
}

// Flush sends the rest as a last, shorter chunk. Without messages it sends nothing.
func (w *Writer) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.send(w.buf)
	w.buf = w.buf[:0]
	return err
}

// begin writes the length of a message. Short streams, such as most answers, keep a small buffer. Once more than 32 KiB
// wait, the buffer grows to a full chunk at once, because doubling on the way there would copy it five times. The slack
// leaves room for the message that completes the chunk.
func (w *Writer) begin(size int) {
	const little, slack = 32 << 10, 32 << 10
	if len(w.buf) > little && cap(w.buf) < chunkSize+slack {
		w.buf = slices.Grow(w.buf, chunkSize+slack-len(w.buf))
	}
	w.buf = protowire.AppendVarint(w.buf, uint64(size))
}

// spill sends all full chunks and moves the rest to the front. It moves once per message, however many chunks the
// message filled; otherwise a message of 256 MiB would take quadratic time.
func (w *Writer) spill() error {
	sent := 0
	for len(w.buf)-sent >= chunkSize {
		if err := w.send(w.buf[sent : sent+chunkSize]); err != nil {
			return err
		}
		sent += chunkSize
	}
	if sent > 0 {
		w.buf = w.buf[:copy(w.buf, w.buf[sent:])]
	}
	return nil
}
