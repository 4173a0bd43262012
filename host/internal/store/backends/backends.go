// Package backends opens the store that the setting sessions.store names.
//
// It is for package engine and for the commands that manage stored sessions. It is apart from package store so that
// what only needs the interface does not link databases.
package backends

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
)

// Errors of Open about the setting, for errors.Is.
var (
	// ErrNoPlace: there is no home directory for the file.
	ErrNoPlace = errors.New("sessions.store: there is no home directory: give a path, sqlite:PATH")
	// ErrUnsupported: this program has no such store.
	ErrUnsupported = errors.New("sessions.store: this store is not supported")
)

// Open opens the store of a value of sessions.store, with an absolute path. It is nil for memory: sessions then end
// with the host. The caller closes it.
func Open(ctx context.Context, setting string) (store.Store, error) {
	kind, rest, _ := strings.Cut(setting, ":")
	switch {
	case setting == "memory":
		return nil, nil
	case setting == "sqlite":
		return nil, ErrNoPlace
	case kind == "sqlite":
		s, err := sqlite.Open(ctx, rest)
		if err != nil { // not s, which would be a store that is no nil
			return nil, err
		}
		return s, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnsupported, kind)
}
