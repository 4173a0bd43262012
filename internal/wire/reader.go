package wire

import (
	"errors"
	"fmt"
	"io"
)

// UntilEnd as [Limits.Count] means that the number of messages was not announced: the end of the stream is the end.
const UntilEnd = -1

// Limits says what a stream may hold.
type Limits struct {
	// Of is the word for one message in errors, for example "entry".
	Of string
	// Count is how many messages were announced, or [UntilEnd].
	Count int
	// Message is the most bytes of one message; 0 is [MaxMessage].
	Message int
	// Total is the most bytes of the stream; 0 is [MaxHistory].
	Total int
}

// Reader takes messages out of a stream of chunks, however it was cut. The time it needs is proportional to the bytes.
type Reader struct {
	recv   func() ([]byte, error)
	limits Limits
	chunk  []byte // what is unread of the last chunk
	joined []byte // a message that was cut, put together
	index  int    // how many messages were read
	total  int
}

// NewReader returns a Reader of the chunks that recv returns. recv returns io.EOF at the stream's end; its other errors
// are passed on as they are.
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

// ReadAll decodes all messages of a stream. It allocates as messages arrive, not as they were announced.
func ReadAll[T any](recv func() ([]byte, error), limits Limits, decode func(msg []byte) (T, error)) ([]T, error) {
	const trust = 1 << 14 // announced counts up to here are believed
	r := NewReader(recv, limits)
	out := make([]T, 0, max(0, min(limits.Count, trust)))
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

// Next returns the next message, valid until the following call, or io.EOF after the last one. It returns
// [ErrTruncated], [ErrTrailing], [ErrTooLarge] or [ErrMalformed], wrapped, if the stream is broken.
func (r *Reader) Next() ([]byte, error) {
	if r.index == r.limits.Count {
		return nil, r.end()
	}
	size, err := r.size()
	if err != nil {
		return nil, err
	}
	if size > uint64(r.limits.Message) {
		return nil, fmt.Errorf("%w: %s %d takes %d bytes, at most %d are allowed", ErrTooLarge, r.limits.Of, r.index, size,
			r.limits.Message)
	}
	msg, err := r.take(int(size))
	if err != nil {
		return nil, err
	}
	r.index++
	return msg, nil
}

// size reads the length of the next message.
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
	return 0, fmt.Errorf("%w: the length of %s %d is no varint of 64 bits", ErrMalformed, r.limits.Of, r.index)
}

// take returns the next size bytes: in place if they lie in one chunk, else joined.
func (r *Reader) take(size int) ([]byte, error) {
	if size <= len(r.chunk) {
		msg := r.chunk[:size:size]
		r.chunk = r.chunk[size:]
		return msg, nil
	}
	r.joined = r.joined[:0]
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

// fill receives a chunk, which may be empty.
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
	r.chunk = chunk
	return nil
}

// ended says what was missing if err is the end of the stream.
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

// end returns io.EOF if nothing follows.
func (r *Reader) end() error {
	for len(r.chunk) == 0 {
		if err := r.fill(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: data behind the last of %d announced (%s)", ErrTrailing, r.limits.Count, r.limits.Of)
}
