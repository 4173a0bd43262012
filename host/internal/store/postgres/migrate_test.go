package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

func testMigrations(t *testing.T, c *cluster.Cluster) {
	storetest.Migrated(t, os.DirFS("migrations"), os.DirFS("testdata"),
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
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Spend(context.Background(), "a", "day", 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if sum, err := open(t, url).Spend(t.Context(), "a", "day", 0); sum != 8 || err != nil {
		t.Errorf("%d hosts wrote, want 8 (%v)", sum, err)
	}
}
