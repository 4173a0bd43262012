package postgres_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

func TestPostgres(t *testing.T) {
	c := cluster.Start(t)
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		url := c.Database()
		return open(t, url), open(t, url)
	})
	for name, test := range map[string]func(*testing.T, *cluster.Cluster){
		"hosts are linearizable":                           testLinearizable,
		"hosts are linearizable while connections are cut": testCutConnections,
		"a holder that was stopped cannot write":           testStoppedHolder,
		"a schema of any version is brought up to date":    testMigrations,
		"hosts that start together make the tables once":   testStartTogether,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

func BenchmarkPostgres(b *testing.B) {
	c := cluster.Start(b, "fsync=on")
	storetest.Benchmark(b, func(b *testing.B) store.Store { return open(b, c.Database()) })
}

func open(tb testing.TB, url string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}
