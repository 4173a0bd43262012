package summary

import (
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// What [Run] fails of, beyond what the host's services fail of, for errors.Is.
var (
	// ErrNoModel: no model is available. It is an [sdk.ErrNotGranted], so the host reports a missing configuration
	// instead of a broken strategy.
	ErrNoModel = fmt.Errorf("%w: no model is configured for compression; "+
		"configure an LLM profile and name it in compression.profile", sdk.ErrNotGranted)
	// ErrWindowTooSmall: the model's context window leaves no room for the conversation next to prompt and answer.
	ErrWindowTooSmall = errors.New("the model's context window is too small for compression")
	// ErrEmpty: the model's answer is empty, or its snapshot has no content.
	ErrEmpty = errors.New("the model's summary is empty")
	// ErrNoSnapshot: the answer has no closed <state_snapshot>, often because it was cut at the output limit.
	ErrNoSnapshot = errors.New("the model's answer is not a state snapshot")
	// ErrTooLong: the snapshot leaves no room for the parts of the conversation that are still to come.
	ErrTooLong = errors.New("the model's snapshot is too long")
)

// ReplyError reports an unusable answer of the model. It holds none of the answer, which may contain anything from the
// conversation, while errors go to logs.
type ReplyError struct {
	// Model and FinishReason are what the provider said; they may be empty.
	Model, FinishReason string
	// Bytes is the length of the answer.
	Bytes int
	// Err wraps [ErrEmpty], [ErrNoSnapshot] or [ErrTooLong].
	Err error
}

// Error returns the problem, followed by the answer's length, model and finish reason, as far as they are known.
func (e *ReplyError) Error() string {
	s := fmt.Sprintf("%v (answer of %d bytes", e.Err, e.Bytes)
	if e.Model != "" {
		s += ", model " + e.Model
	}
	if e.FinishReason != "" {
		s += ", finish reason " + e.FinishReason
	}
	return s + ")"
}

// Unwrap returns Err, for errors.Is.
func (e *ReplyError) Unwrap() error { return e.Err }
