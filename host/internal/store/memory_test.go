package store_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		m := store.NewMemory()
		t.Cleanup(func() { m.Close() })
		return m, m
	})
}
