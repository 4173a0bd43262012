// Package backends opens the store that the setting sessions.store names, for package window and the commands that
// manage stored sessions.
// It is apart from package store so that code that needs only the interface links no databases.
package backends

import (
	"context"
	"errors"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
)

// ErrNoPlace means that there is no home directory for the file of "sqlite".
var ErrNoPlace = errors.New("sessions.store: there is no home directory: give a path, sqlite:PATH")

// Open opens the store of a value of sessions.store, with an absolute path. The store is nil for memory: sessions then
// end with the host. The caller closes it.
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
	s, err := postgres.Open(ctx, setting)
	if err != nil {
		return nil, err
	}
	return s, nil
}
