package service

import (
	"fmt"

	"github.com/thresh-dev/thresh/host"
)

// RequestError says that a request is wrong in itself, whatever the session holds: a member is missing, or two exclude
// each other. All other errors are package host's.
type RequestError struct{ Message string }

func (e *RequestError) Error() string { return e.Message }

func wrongRequest(format string, values ...any) error {
	return &RequestError{fmt.Sprintf(format, values...)}
}

// Do calls a method for a door, under the door's name for it. A panic in it is an error of kind internal to its caller.
func Do[T any](s *Service, method string, f func() (T, error)) (answer T, err error) {
	defer s.host.Guard(method, &err)
	return f()
}

func checkForm(f host.Form) error {
	switch f {
	case "", host.Anthropic, host.OpenAIChat, host.OpenAIResponses:
		return nil
	}
	return wrongRequest(`"format": %.40q: %v`, string(f), host.ErrForm)
}
