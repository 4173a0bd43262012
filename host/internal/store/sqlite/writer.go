package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

const (
	// maxBatch is how many calls share a transaction at most, which bounds how long the first waits for the rest.
	maxBatch = 128
	// pollInterval is how often the writer checks whether another process has written, while someone watches.
	pollInterval = 200 * time.Millisecond
)

// job is a writing call. Either its caller withdraws it or the writer takes it, never both, so a caller knows whether
// its call had an effect, unless the disk does not answer in time.
type job struct {
	// do runs in a transaction that other jobs share. If its error is a refusal, such as a conflict, it has changed
	// nothing, and the others are committed anyway.
	do func(*statements) error
	// frees: a call that deletes.
	frees bool
	// notice, if do sets it, is passed to watchers after the commit.
	notice store.Notice
	owned  atomic.Bool // set by who takes the job: the writer to do it, the caller to withdraw it
	err    error       // valid once done is closed
	done   chan struct{}
}

// write has the writer do a job, and returns its result once it is committed. The end of ctx withdraws the job only if
// the writer has not taken it. A job that its caller gave up may run on, and must share no memory with it.
func write[T any](ctx context.Context, s *Store, do func(*statements, *job) (T, error)) (T, error) {
	var answer, none T
	j := &job{done: make(chan struct{})}
	j.do = func(st *statements) (err error) {
		answer, err = do(st, j)
		return err
	}
	ctx, cancel := store.Within(ctx)
	defer cancel()
	if err := s.submit(ctx, j); err != nil {
		s.doubt.Note(err)
		return none, err
	}
	return answer, nil
}

func (s *Store) change(ctx context.Context, do func(*statements, *job) error) error {
	_, err := write(ctx, s, func(st *statements, j *job) (struct{}, error) { return struct{}{}, do(st, j) })
	return err
}

// submit hands a job to the writer and waits for it. The error is the job's, [store.ErrClosed] if the store closed
// before the writer took it, or that of ctx if the caller withdrew it.
func (s *Store) submit(ctx context.Context, j *job) error {
	// Checked first, because a select takes any of its ready cases.
	if ctx.Err() != nil {
		return s.fault(ctx, ctx.Err())
	}
	if s.closed() {
		return store.ErrClosed
	}
	until := time.Now().Add(store.CallTimeout)
	select {
	case s.jobs <- j:
	case <-ctx.Done():
		return s.fault(ctx, ctx.Err())
	case <-s.stop:
		return store.ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		if j.owned.CompareAndSwap(false, true) {
			return s.fault(ctx, ctx.Err())
		}
		// The writer has taken it and will finish it: only its answer tells whether it had an effect.
		if errors.Is(context.Cause(ctx), store.ErrSlow) || !j.isDone(until) {
			return &store.Fault{Cause: store.Slow, Store: s.path, Unknown: true, Err: store.ErrSlow}
		}
		<-j.done
		return j.err
	case <-s.stopped: // after its last batch
		if j.owned.CompareAndSwap(false, true) {
			return store.ErrClosed
		}
		<-j.done
		return j.err
	}
}

func (j *job) isDone(until time.Time) bool {
	select {
	case <-j.done:
		return true
	case <-time.After(time.Until(until)):
		return false
	}
}

// writer is the goroutine that writes. SQLite has one writer at a time anyway; with one goroutine nothing in the
// process waits for locks, and calls that arrive during a commit share the next one.
type writer struct {
	*Store
	db      *sql.DB
	conn    *sql.Conn // nil after a failure, until the next batch connects
	st      statements
	version int64 // PRAGMA data_version: it changes with the commits of others
	logSize int64 // of the write-ahead log after the last commit, in bytes
	// freed: sessions were deleted since the file last had little free space, maybe before it was opened.
	freed bool
}

func (w *writer) connect(ctx context.Context) (err error) {
	if w.db, err = sql.Open("sqlite", dsn(w.path)); err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		w.disconnect()
	}
	return err
}

func (w *writer) prepare(ctx context.Context) error {
	if err := w.st.prepare(ctx, w.conn); err != nil {
		return err
	}
	_, err := w.others(ctx)
	w.seeLog()
	return err
}

// disconnect closes the connection, rolling back any open transaction. The writer may have failed to connect.
func (w *writer) disconnect() {
	w.log.Store(nil) // SQLite removes it with the last connection
	w.st.close()
	if w.conn != nil {
		_ = w.conn.Close()
	}
	_ = w.db.Close()
	w.conn = nil
}

// run is the writer's goroutine. No call's context reaches SQLite: none may end a batch for the others.
func (w *writer) run() {
	defer close(w.stopped)
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	batch := make([]*job, 0, maxBatch)
	for {
		select {
		case <-w.stop:
			if w.conn != nil && !w.replaced() {
				w.shrinkFor(shrinkAtEnd)
			}
			if w.conn != nil && !w.replaced() {
				w.disconnect()
			}
			return
		case <-poll.C:
			w.poll()
			w.shrink()
		case first := <-w.jobs:
			batch = w.take(batch[:0], first)
			w.perform(batch)
			clear(batch)
		}
	}
}

// take collects the waiting jobs, and drops withdrawn ones. It does not wait for more: under load a batch fills during
// the last commit, and without load no call should be delayed.
func (w *writer) take(batch []*job, first *job) []*job {
	for j := first; ; {
		if j.owned.CompareAndSwap(false, true) {
			batch = append(batch, j)
		}
		if len(batch) == maxBatch {
			return batch
		}
		select {
		case j = <-w.jobs:
		default:
			return batch
		}
	}
}

func (w *writer) perform(batch []*job) {
	if len(batch) == 0 {
		return
	}
	err := w.commit(batch)
	// One that is too large for the space left must not fail the others. While the file is locked, each would wait for
	// the lock again.
	if err != nil && len(batch) > 1 && !store.IsCause(err, store.Locked) && !store.IsCause(err, store.Displaced) {
		for i := range batch {
			w.finish(batch[i:i+1], w.commit(batch[i:i+1]))
		}
		return
	}
	w.finish(batch, err)
}

// commit does jobs in one transaction. A refused job has its own error; any other failure rolls back all and is
// returned.
func (w *writer) commit(batch []*job) error {
	return w.connected(func(ctx context.Context) error {
		if _, err := w.st.begin.ExecContext(ctx); err != nil {
			return err
		}
		for _, j := range batch {
			j.err, j.notice = nil, store.Notice{} // of a try before, in a larger batch
			if err := j.do(&w.st); store.IsRefusal(err) {
				j.err = err
			} else if err != nil {
				_, _ = w.st.rollback.ExecContext(ctx)
				return err
			}
		}
		// A failed commit has changed nothing visible. Its frames may be in the log on disk, where the next commit
		// overwrites them.
		_, err := w.st.commit.ExecContext(ctx)
		if err != nil {
			_, _ = w.st.rollback.ExecContext(ctx)
		}
		w.freed = w.freed || slices.ContainsFunc(batch, func(j *job) bool { return j.frees })
		return err
	})
}

// connected calls f, at most once, with a connection. After a failure the next call opens another connection, so the
// store works again once the cause is gone, whatever state SQLite was in.
func (w *writer) connected(f func(context.Context) error) error {
	ctx := context.Background()
	if err := w.displaced(); err != nil {
		return err // the connection is kept: the file may come back, and this is what can be copied until then
	}
	if w.conn == nil { // the last batch failed
		err := w.connect(ctx)
		if err == nil {
			err = w.prepare(ctx)
		}
		if err != nil {
			if w.conn != nil {
				w.disconnect()
			}
			return w.fault(ctx, err)
		}
	}
	if err := w.checkLog(ctx); err != nil {
		return err
	}
	err := w.fault(ctx, f(ctx))
	if err == nil {
		// No caller is told that a write to a displaced file is kept.
		if gone := (*store.Fault)(nil); errors.As(w.displaced(), &gone) {
			gone.Unknown = true
			return gone
		}
		w.seeLog()
	}
	if err != nil && !store.IsCause(err, store.Locked) && !store.IsCause(err, store.Displaced) {
		w.disconnect()
	}
	return err
}

// finish wakes the callers of jobs, watchers first. err is the transaction's, for all of them.
func (w *writer) finish(jobs []*job, err error) {
	for _, j := range jobs {
		if err != nil {
			j.err = err
		} else if j.notice != (store.Notice{}) {
			w.hub.Notify(j.notice)
		}
		close(j.done)
	}
}

// poll tells watchers if another process has written. An error is told as a change: watchers then get it from the store
// itself.
func (w *writer) poll() {
	if w.conn == nil || !w.hub.Watched() {
		return
	}
	if changed, err := w.others(context.Background()); err != nil || changed {
		w.hub.Notify(store.Notice{})
	}
}

// others says whether other connections have committed since the last call: SQLite changes this number only for their
// commits.
func (w *writer) others(ctx context.Context) (changed bool, err error) {
	var version int64
	if err := w.st.version.QueryRowContext(ctx).Scan(&version); err != nil {
		return false, err
	}
	changed = version != w.version
	w.version = version
	return changed, nil
}
