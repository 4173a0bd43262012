//go:build thresh_no_sqlite

package backends

import (
	"context"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/store"
)

func openSQLite(context.Context, string) (store.Store, error) {
	return nil, errors.New("sessions.store: this program was built without SQLite (tag thresh_no_sqlite): use memory, " +
		"or build it without the tag")
}
