package service

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// FailureOf makes what an agent gets of an error, and of the result beside it: of a failed turn, the history as it is.
func FailureOf(result any, err error) *api.Error {
	f := *host.ErrorOf(err)
	if ready, ok := result.(api.PrepareAnswer); ok && (ready.History != nil || ready.Messages != nil) {
		f.Prepared = &ready
	}
	f.Message = f.Error()
	switch {
	case f.Status != 0:
	case errors.Is(err, host.ErrSessionExists):
		f.Status = http.StatusConflict
	case errors.Is(err, store.ErrID):
		f.Status = http.StatusBadRequest
	case errors.Is(err, host.ErrNotRecorded):
		f.Status = http.StatusNotFound
	default:
		f.Status = StatusOf(&f)
	}
	return &f
}

// StatusOf is the status of HTTP for an error's kind.
func StatusOf(e *api.Error) int {
	status := http.StatusInternalServerError
	for _, row := range api.Kinds() {
		if row.Kind == e.Kind {
			status = row.Status
		}
	}
	if status == http.StatusInternalServerError && e.Retryable {
		return http.StatusServiceUnavailable
	}
	return status
}

// NotOpen is the error for a session that was never opened or is closed again. It clips the id, as that may be any text.
func NotOpen(id string) error {
	return &api.Error{Kind: api.KindSession, Message: fmt.Sprintf("session %.100q is not open", id)}
}

// Do calls a method for a door, under the door's name for it. A panic in it is an error of kind internal to its caller.
func Do[T any](s *Service, method string, f func() (T, error)) (answer T, err error) {
	defer s.host.Guard(method, &err)
	return f()
}
