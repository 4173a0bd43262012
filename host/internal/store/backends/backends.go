// Package backends opens the store that the setting sessions.store names, for package window and the commands that
// manage stored sessions.
// It is apart from package store so that code that needs only the interface links no databases. A program that is built
// with the tags thresh_no_sqlite and thresh_no_postgres links none either.
package backends

import (
	"context"
	"errors"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
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
		return openSQLite(ctx, rest)
	default:
		return openPostgres(ctx, setting)
	}
}
