package wire

import (
	"errors"
	"fmt"
	"io"
)

// UntilEnd as [Limits.Count] means that the number of messages was not announced: io.EOF between two is the regular
// end.
const UntilEnd = -1

// Limits says what a stream may hold. Message and Total of 0 mean the protocol's maximum; a Count of 0 is an announced
// stream without messages.
type Limits struct {
	// Of is the word for one message in errors, for example "entry".
	Of string
	// Count is how many messages were announced, or [UntilEnd]. Fewer are [ErrTruncated], more are [ErrTrailing].
	Count int
	// Message is the most bytes of one message; 0 is [MaxMessage].
	Message int
	// Total is the most bytes of the stream; 0 is [MaxHistory].
	Total int
	// Charge is told what the stream takes of this process's memory, in bytes, before it takes it: chunks as they
	// arrive, and what decoding adds. An error ends the reading. nil: not accounted.
	Charge func(bytes int) error
}

func (l Limits) charge(bytes int) error {
	if l.Charge == nil {
		return nil
	}
	return l.Charge(bytes)
}

// Reader takes messages out of a stream of chunks, wherever the sender cut it: a message, even its length prefix, may
// span chunks, and chunks may be empty. The time is linear in the bytes. A Reader is for one goroutine.
type Reader struct {
	recv   func() ([]byte, error)
	limits Limits
	chunk  []byte // the unread rest of the last chunk
	joined []byte
	stable bool // messages stay valid: neither chunks nor joined are reused
	index  int
	total  int
}

// NewReader returns a Reader of the chunks that recv returns, each valid until the next call. recv returns io.EOF at
// the stream's end; its other errors are returned unchanged, which keeps gRPC statuses.
func NewReader(recv func() ([]byte, error), limits Limits) *Reader {
	if limits.Message == 0 {
		limits.Message = MaxMessage
	}
	if limits.Total == 0 {
		limits.Total = MaxHistory
	}
	if limits.Of == "" {
		limits.Of = "message"
	}
	return &Reader{recv: recv, limits: limits}
}

// ReadAll decodes all messages of a stream. decode gets a slice that is valid only during its call; its error ends the
// reading and is wrapped with the message's position.
func ReadAll[T any](recv func() ([]byte, error), limits Limits, decode func(msg []byte) (T, error)) ([]T, error) {
	r := NewReader(recv, limits)
	out := make([]T, 0, max(0, min(limits.Count, trusted)))
	for {
		msg, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		v, err := decode(msg)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", r.limits.Of, len(out), err)
		}
		out = append(out, v)
	}
}

// trusted is the announced count up to which memory is allocated in advance: a peer that announces two billion entries
// and sends none must not exhaust the memory.
const trusted = 1 << 14

// Next returns the next message, valid until the following call, or io.EOF after the last one. A broken stream is
// [ErrTruncated], [ErrTrailing], [ErrTooLarge] or [ErrMalformed], wrapped.
func (r *Reader) Next() ([]byte, error) {
	if r.index == r.limits.Count {
		return nil, r.end()
	}
	size, err := r.size()
	if err != nil {
		return nil, err
	}
	// Checked before take, which would allocate what the length claims.
	if size > uint64(r.limits.Message) {
		return nil, fmt.Errorf(
			"%w: %s %d takes %d bytes, at most %d are allowed", ErrTooLarge, r.limits.Of, r.index, size,
			r.limits.Message,
		)
	}
	msg, err := r.take(int(size))
	if err != nil {
		return nil, err
	}
	r.index++
	return msg, nil
}

// size reads the length prefix of the next message, a varint of up to ten bytes. io.EOF before its first byte is the
// regular end of a stream without an announced count.
func (r *Reader) size() (uint64, error) {
	var size uint64
	for shift := 0; shift < 64; shift += 7 {
		for len(r.chunk) == 0 {
			err := r.fill()
			if errors.Is(err, io.EOF) && shift == 0 && r.limits.Count == UntilEnd {
				return 0, io.EOF
			}
			if err != nil {
				return 0, r.ended(err)
			}
		}
		b := r.chunk[0]
		r.chunk = r.chunk[1:]
		size |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if shift == 63 && b > 1 {
				break // more than 64 bits
			}
			return size, nil
		}
	}
	return 0, fmt.Errorf(
		"%w: the length of %s %d is not a varint of at most 64 bits", ErrMalformed, r.limits.Of, r.index,
	)
}

// take returns the next size bytes: a part of the chunk if they lie within one, which copies nothing, otherwise a
// buffer that the next call overwrites unless messages stay valid. The buffer grows with what arrives, not to the
// claimed size.
func (r *Reader) take(size int) ([]byte, error) {
	if size <= len(r.chunk) {
		msg := r.chunk[:size:size]
		r.chunk = r.chunk[size:]
		return msg, nil
	}
	if r.joined = r.joined[:0]; r.stable {
		r.joined = nil
	}
	for {
		n := min(size-len(r.joined), len(r.chunk))
		r.joined = append(r.joined, r.chunk[:n]...)
		r.chunk = r.chunk[n:]
		if len(r.joined) == size {
			return r.joined, nil
		}
		if err := r.fill(); err != nil {
			return nil, r.ended(err)
		}
	}
}

func (r *Reader) fill() error {
	chunk, err := r.recv()
	if err != nil {
		return err
	}
	if len(chunk) > MaxChunk {
		return fmt.Errorf("%w: a chunk of %d bytes, at most %d are allowed", ErrTooLarge, len(chunk), MaxChunk)
	}
	if r.total += len(chunk); r.total > r.limits.Total {
		return fmt.Errorf("%w: the stream takes more than %d bytes", ErrTooLarge, r.limits.Total)
	}
	if err := r.limits.charge(len(chunk)); err != nil {
		return err
	}
	r.chunk = chunk
	return nil
}

func (r *Reader) ended(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case r.limits.Count == UntilEnd:
		return fmt.Errorf("%w: inside of %s %d", ErrTruncated, r.limits.Of, r.index)
	default:
		return fmt.Errorf("%w: inside of or before %s %d of the %d announced", ErrTruncated, r.limits.Of, r.index,
			r.limits.Count)
	}
}

// end checks that nothing follows the last announced message and returns io.EOF. It reads to the end of the stream,
// because only there gRPC reports the peer's final status, which may be an error.
func (r *Reader) end() error {
	for len(r.chunk) == 0 {
		if err := r.fill(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: data behind the last of %d announced (%s)", ErrTrailing, r.limits.Count, r.limits.Of)
}
