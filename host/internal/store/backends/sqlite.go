//go:build !thresh_no_sqlite

package backends

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
)

func openSQLite(ctx context.Context, path string) (store.Store, error) {
	s, err := sqlite.Open(ctx, path)
	if err != nil { // not s, which would be a store that is no nil
		return nil, err
	}
	return s, nil
}
