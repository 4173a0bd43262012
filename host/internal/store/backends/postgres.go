//go:build !thresh_no_postgres

package backends

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
)

func openPostgres(ctx context.Context, url string) (store.Store, error) {
	s, err := postgres.Open(ctx, url)
	if err != nil { // not s, which would be a store that is no nil
		return nil, err
	}
	return s, nil
}
