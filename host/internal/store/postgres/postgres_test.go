package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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
		"migrations":                                       testMigrations,
		"nothing is lost when the database is restarted":   testRestarts,
		"errors say what is wrong":                         testErrors,
		"missing records are found":                        testMissingRecords,
		"a database that stalls":                           testStalls,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// Hosts whose clocks are wrong: leases, fences and what is too old go by the database's clock alone. It is the
// database's clock that is shifted here, against all hosts.
func TestClocksThatDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short")
	}
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			c := cluster.StartShifted(t, by)
			conn, err := pgx.Connect(t.Context(), c.Database())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			var now time.Time
			if err := conn.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now); err != nil {
				t.Fatal(err)
			}
			if off := time.Until(now) - by; off.Abs() > time.Minute {
				t.Fatalf("the database's clock is off by %v", time.Until(now))
			}
			storetest.Run(t, func(t *testing.T) (a, b store.Store) {
				url := c.Database()
				return open(t, url), open(t, url)
			})
			testStoppedHolder(t, c)
		})
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
