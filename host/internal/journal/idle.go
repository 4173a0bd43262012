package journal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
)

// Keeper is what the journals of one host share. Sessions in a store need not be in memory: it keeps the most recently
// used ones, and reads a session again when it is used. Make it with [NewKeeper].
type Keeper struct {
	// Store is where sessions are kept; nil if they end with the host.
	Store store.Store
	// Name is the host's name in leases: no other host has it.
	Name string
	// MaxMemory returns how many bytes the sessions may take in all; 0 is any number.
	MaxMemory func() int64
	// LeaseTime is how long a lease lasts unless it is extended, and SnapshotEvery after how many records a snapshot is
	// written, at least. They are constant except in tests.
	LeaseTime     time.Duration
	SnapshotEvery int

	memory    atomic.Int64 // what the sessions take, in bytes, about
	releasing sync.Mutex   // held while memory is released

	mu    sync.Mutex // guards what follows; nothing else is locked under it
	open  map[*Journal]struct{}
	marks []byte // the key of ids; nil until one is needed
}

func NewKeeper(s store.Store, name string, maxMemory func() int64) *Keeper {
	return &Keeper{Store: s, Name: name, MaxMemory: maxMemory, LeaseTime: leaseTime, SnapshotEvery: snapshotEvery,
		open: map[*Journal]struct{}{}}
}

func (k *Keeper) enter(j *Journal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[j] = struct{}{}
}

// Forget no longer counts the memory of a session that has ended.
func (k *Keeper) Forget(j *Journal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, j)
	k.memory.Add(j.resize(0))
}

// Memory is what the sessions take, in bytes, about.
func (k *Keeper) Memory() int64 { return k.memory.Load() }

// release releases the least recently used sessions until the rest is within the limit.
func (k *Keeper) release() {
	limit := k.MaxMemory()
	if limit == 0 || k.memory.Load() <= limit || !k.releasing.TryLock() {
		return
	}
	defer k.releasing.Unlock()
	// Down to nine tenths, so not every use of a session releases another.
	for k.memory.Load() > limit/10*9 {
		j := k.leastRecentlyUsed()
		if j == nil {
			return
		}
		j.Sleep()
	}
}

// leastRecentlyUsed returns the idle session that was used least recently, or nil. It walks all sessions of the host,
// but only while they exceed the limit.
func (k *Keeper) leastRecentlyUsed() (found *Journal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for j := range k.open {
		if j.using.Load() == 0 && j.bytes.Load() > 0 && (found == nil || j.used.Load() < found.used.Load()) {
			found = j
		}
	}
	return found
}

// Enter marks the session as in use until leave is called, and reads it again from the store if its memory was
// released. leave must be deferred even after an error, and directly, to see a panic: that ends the session, because
// its memory may no longer match the log. Sessions without a store are never released, so their uses are not counted.
func (j *Journal) Enter() (leave func(), err error) {
	if j.store == nil {
		return func() {}, nil
	}
	// Before the flag is read: Sleep reads the two in the other order, so one of them sees the other.
	j.using.Add(1)
	if j.released.Load() {
		defer func() {
			if p := recover(); p != nil { // leave is not deferred yet
				j.abandon()
				panic(p)
			}
		}()
		err = j.wake()
	}
	return j.leave, err
}

// leave ends a use. The last one counts the session's memory, and makes the host release any excess.
func (j *Journal) leave() {
	if p := recover(); p != nil {
		j.abandon()
		panic(p)
	}
	j.used.Store(time.Now().UnixNano())
	if j.using.Add(-1) == 0 && j.done.Err() == nil {
		j.keeper.memory.Add(j.resize(int64(j.history.Bytes())))
		j.keeper.release()
	}
}

// abandon ends a session after a panic. The next opening reads it from the store.
func (j *Journal) abandon() {
	j.session.End()
	_ = j.CloseLog() // nobody is left to be told
}

func (j *Journal) resize(bytes int64) int64 { return bytes - j.bytes.Swap(bytes) }

func (j *Journal) wake() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if !j.released.Load() {
		return nil
	}
	if j.done.Err() != nil {
		return j.failed("read", ErrClosed)
	}
	ctx, cancel := store.Within(j.done)
	defer cancel()
	at := j.seen.at
	found, err := j.load(ctx)
	switch {
	case err != nil:
		j.empty() // of what was read before the error
		j.seen.at = at
		return err
	case !found:
		return j.deleted()
	}
	j.released.Store(false)
	return nil
}

// Sleep releases the memory of an idle session, unless it is in use again or has nothing in the store.
func (j *Journal) Sleep() {
	j.writing.Lock()
	defer j.writing.Unlock()
	if !j.seen.exists || j.released.Swap(true) {
		return
	}
	// A use that begins now sees that it is released, and waits for the lock.
	if j.using.Load() > 0 || j.done.Err() != nil {
		j.released.Store(false)
		return
	}
	j.empty()
	j.keeper.memory.Add(j.resize(0))
}

// Released reports whether the session's memory is released.
func (j *Journal) Released() bool { return j.released.Load() }

func (j *Journal) empty() {
	_ = j.history.Restore(history.State{}, nil) // nothing cannot be wrong
	j.tasks, j.additions = todos.Tracker{}, nil
	was := j.seen
	// at is for Position.
	j.seen = seen{exists: true, created: was.created, at: was.at, lost: was.lost, groups: sessionlog.Groups{}}
	j.session.Release()
}
