package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

func testMigrations(t *testing.T, c *cluster.Cluster) {
	storetest.Migrated(t, os.DirFS("."), os.DirFS("testdata"),
		func(t *testing.T, schema []store.Migration, sample string) store.Store {
			url := c.Database()
			script := []string{"CREATE TABLE thresh_schema (version bigint NOT NULL)",
				fmt.Sprint("INSERT INTO thresh_schema (version) VALUES (", len(schema), ")")}
			for _, step := range schema {
				script = append(script, step.SQL)
			}
			c.Exec(url, strings.Join(append(script, sample), ";\n"))
			return open(t, url)
		})
}

func testStartTogether(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	storetest.StartTogether(t, func(ctx context.Context) (store.Store, error) { return postgres.Open(ctx, url) })
}
