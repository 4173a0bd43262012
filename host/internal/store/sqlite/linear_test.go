package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func TestProcessesOnOneFileAreLinearizable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	storetest.Linearizable(ctx, t, true, open(t, path), open(t, path))
}
