package postgres

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// broken says whether a call that failed with err is worth another try, and whether it may have taken effect.
func broken(err error) (again, maybe bool) {
	var (
		answer  *pgconn.PgError
		connect *pgconn.ConnectError
	)
	switch {
	case isAnswer(err):
		return false, false
	case errors.As(err, &answer):
		switch {
		case strings.HasPrefix(answer.Code, "57P"): // the database shuts down, or starts
			// A backend that is told to end may have committed first.
			return true, answer.Code == "57P01" || answer.Code == "57P02"
		case strings.HasPrefix(answer.Code, "08"), strings.HasPrefix(answer.Code, "53300"): // connections
			return true, false
		case strings.HasPrefix(answer.Code, "40"), answer.Code == "23503":
			// Rolled back because of a concurrent call: a deadlock, or a reference to a content that was just deleted.
			return true, answer.Code == "40003"
		}
		return false, false
	case errors.As(err, &connect):
		return true, false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The end of a context closes the connection in the middle of a statement; the driver knows whether it was
		// sent.
		return true, !pgconn.SafeToRetry(err)
	case pgconn.SafeToRetry(err):
		return true, false
	}
	// Something was sent and no answer came, so a commit may have been made. An unknown error may be such a case too.
	return isNetwork(err), true
}

// isNetwork says whether a connection failed. Not all of the driver's errors for this have a type.
func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network) || pgconn.Timeout(err) || strings.Contains(err.Error(), "EOF") ||
		strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool")
}

// isAnswer says whether err is not to be tried again, and means what it says.
func isAnswer(err error) bool {
	_, ours := errors.AsType[*store.Fault](err)
	return err == nil || ours || store.IsRefusal(err) || errors.Is(err, store.ErrClosed)
}

// fault says what an error means; it keeps our own errors and the context's.
func (s *Store) fault(ctx context.Context, err error) error {
	switch {
	case isAnswer(err):
		return err
	case s.alive.Err() != nil:
		return store.ErrClosed
	case errors.Is(context.Cause(ctx), store.ErrSlow):
		return &store.Fault{Cause: store.Slow, Store: s.name, Err: store.ErrSlow}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &store.Fault{Cause: cause(err), Store: s.name, Err: err}
}

// cause maps PostgreSQL's error codes, whose first two characters are a class. An error without a code comes from the
// connection or the driver.
func cause(err error) store.Cause {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		if errors.Is(err, store.ErrMissing) {
			return store.Corrupt
		}
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || isNetwork(err) {
			return store.Gone
		}
		return store.Broken
	}
	switch answer.Code {
	case "53100", "53200": // disk full, out of memory
		return store.Full
	case "42501", "3F000", "25006": // insufficient privilege, no schema to use, read-only transaction
		return store.Denied
	case "55P03": // lock not available
		return store.Locked
	case "3D000", "53300": // no such database, too many connections
		return store.Gone
	}
	switch answer.Code[:2] {
	case "57", "08":
		return store.Gone
	case "28": // authentication
		return store.Denied
	case "XX":
		return store.Corrupt
	}
	return store.Broken
}
