package summary

import (
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// What [Run] fails of, beyond what the host's services fail of, for errors.Is.
var (
	// ErrNoModel: no model can be asked. It is an [sdk.ErrNotGranted].
	ErrNoModel = fmt.Errorf("%w: no model is configured for compression; "+
		"configure an LLM profile and name it in compression.profile", sdk.ErrNotGranted)
	// ErrWindowTooSmall: next to prompt and answer, the model's window leaves no room for the conversation.
	ErrWindowTooSmall = errors.New("the model's context window is too small for compression")
	// ErrEmpty: the model answered nothing, or a snapshot without content.
	ErrEmpty = errors.New("the model's summary is empty")
	// ErrNoSnapshot: the answer has no closed <state_snapshot>.
	ErrNoSnapshot = errors.New("the model's answer is no state snapshot")
	// ErrTooLong: the snapshot leaves no room for the parts of the conversation that are still to come.
	ErrTooLong = errors.New("the model's snapshot is too long")
)

// ReplyError says what was wrong with an answer of the model. It holds none of the answer, which may be anything.
type ReplyError struct {
	// Model and FinishReason are what the provider said; they may be empty.
	Model, FinishReason string
	// Bytes is the length of the answer.
	Bytes int
	// Err wraps [ErrEmpty], [ErrNoSnapshot] or [ErrTooLong].
	Err error
}

// Error says what was wrong, and of whom the answer was.
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

// Unwrap returns what the error means.
func (e *ReplyError) Unwrap() error { return e.Err }
