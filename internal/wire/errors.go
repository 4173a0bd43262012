package wire

import (
	"errors"
	"fmt"
)

// ErrProtocol is wrapped by every error that reports a breach of the protocol by the other side.
var ErrProtocol = errors.New("protocol error")

// The ways in which a stream can be broken. Each wraps [ErrProtocol].
var (
	// ErrTruncated: the stream ended before the announced messages were complete.
	ErrTruncated = fmt.Errorf("%w: stream ended early", ErrProtocol)
	// ErrTrailing: there was more than the announced messages.
	ErrTrailing = fmt.Errorf("%w: more data than announced", ErrProtocol)
	// ErrTooLarge: a chunk, a message or the whole stream is over its limit.
	ErrTooLarge = fmt.Errorf("%w: over the size limit", ErrProtocol)
	// ErrMalformed: the bytes of a message are not what the protocol says.
	ErrMalformed = fmt.Errorf("%w: malformed message", ErrProtocol)
)

// ErrBadContent is wrapped by errors about content that cannot be sent because it is none of the model's blocks.
var ErrBadContent = errors.New("content cannot be sent")
