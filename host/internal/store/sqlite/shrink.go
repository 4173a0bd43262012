package sqlite

import (
	"context"
	"fmt"
	"time"
)

// The space of deleted sessions is used again, and once it is much of the file, it is returned to the file system: by
// the writer, a step at a time while no call waits, and for a moment when the store closes.
const (
	shrinkFrom  = 1 << 8          // pages that are free before it is worth it: 1 MB
	shrinkStep  = 1 << 10         // pages that are returned at a time
	shrinkAtEnd = 2 * time.Second // after that, the next to open the file goes on
)

// shrink takes a step, if a quarter of the file is free, and reports whether there may be another. A failure costs
// nothing but the space.
func (w *writer) shrink() (more bool) {
	if !w.freed || w.conn == nil {
		return false
	}
	err := w.connected(func(ctx context.Context) error {
		var free, pages, incremental int64
		if err := w.conn.QueryRowContext(ctx, `SELECT freelist_count, page_count, auto_vacuum = 2
			FROM pragma_freelist_count, pragma_page_count, pragma_auto_vacuum`).Scan(&free, &pages, &incremental); err != nil {
			return err
		}
		if incremental == 0 || free < shrinkFrom || free < pages/4 {
			return nil
		}
		more = true
		// A row for each page: reading them all is what returns them.
		rows, err := w.conn.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkStep))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
	w.freed = more && err == nil
	return w.freed
}

func (w *writer) shrinkFor(most time.Duration) {
	for until := time.Now().Add(most); w.shrink() && time.Now().Before(until); {
	}
}
