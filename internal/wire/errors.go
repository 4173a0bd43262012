package wire

import (
	"errors"
	"fmt"
)

// ErrProtocol is wrapped by every error about a breach of the protocol by the other side. On the host it counts as a
// failure of the strategy; at a plugin it becomes INVALID_ARGUMENT (status.go).
var ErrProtocol = errors.New("protocol error")

// The ways in which a stream can be broken. Each wraps [ErrProtocol].
var (
	// ErrTruncated: the stream ended before the announced messages were complete. A strategy that stopped midway must
	// not look like one that returned a shorter history.
	ErrTruncated = fmt.Errorf("%w: stream ended early", ErrProtocol)
	ErrTrailing  = fmt.Errorf("%w: more data than announced", ErrProtocol)
	// ErrTooLarge: a chunk, a message or the stream exceeds its Max constant.
	ErrTooLarge  = fmt.Errorf("%w: over the size limit", ErrProtocol)
	ErrMalformed = fmt.Errorf("%w: malformed message", ErrProtocol)
)

// ErrBadContent is wrapped by errors about content that is not one of the model's blocks. It is this side's fault,
// hence not an [ErrProtocol].
var ErrBadContent = errors.New("content cannot be sent")
