package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

func testMigrations(t *testing.T, c *cluster.Cluster) {
	storetest.Migrated(t, storetest.Schema{Migrations: os.DirFS("."), Prefix: "thresh_",
		Mark: "UPDATE thresh_schema SET version = %d",
		New: func(*testing.T) storetest.Database {
			url := c.Database()
			return storetest.Database{
				Open: func(ctx context.Context, steps []store.Migration) (store.Store, error) {
					return postgres.OpenWith(ctx, url, steps)
				},
				Exec: func(_ *testing.T, statement string) { c.Exec(url, statement) },
			}
		}})
}
