//go:build thresh_no_postgres

package backends

import (
	"context"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/store"
)

func openPostgres(context.Context, string) (store.Store, error) {
	return nil, errors.New("sessions.store: this program was built without PostgreSQL (tag thresh_no_postgres): use memory, " +
		"or build it without the tag")
}
