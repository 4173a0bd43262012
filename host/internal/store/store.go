package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Store keeps sessions and access tokens. All methods may be called concurrently, and by several processes on the same
// store. Errors are those of errors.go, or the context's.
type Store interface {
	Sessions
	Searches
	Accesses

	// Secret returns the named random secret of 32 bytes. The first call makes it; all hosts of a store get the same
	// one.
	Secret(ctx context.Context, name string) ([]byte, error)

	// Watch calls changed for sessions that this process or another one has changed, until ctx ends; it returns the
	// cause. The zero Notice means that any session may have changed. Notices may be late or lost, which must do no
	// harm. changed must return quickly and must not call the store.
	Watch(ctx context.Context, changed func(Notice)) error

	// Ready returns why calls would fail now, or nil. It tries once, and costs a look-up, or a small write while writes
	// are known to fail.
	Ready(ctx context.Context) error
	// Size returns what the store holds.
	Size(ctx context.Context) (Size, error)
	// Check reads the whole store and returns an error of cause [Corrupt] that lists the damage.
	Check(ctx context.Context) error
	// Close ends the store's work: waiting calls get an error, acknowledged writes are kept.
	Close() error
}

// Sessions is the part of a [Store] that keeps sessions.
type Sessions interface {
	// Ephemeral reports whether the sessions end with this process. Only then may records be made when they are read
	// ([Record.Later]).
	Ephemeral() bool
	// Create makes a session without records. The error is [ErrExists] if one has this key, and [ErrID] if none can.
	Create(ctx context.Context, key Key, origin Origin) (Head, error)
	// Head returns the state of a session. The error is [ErrNotFound] if there is none.
	Head(ctx context.Context, key Key) (Head, error)
	// Append writes the records and contents of change after the revision at, all or nothing, and returns when they are
	// durable. The error is a [*ConflictError] if the session has moved on from at, and [ErrNotFound] if it is gone.
	// After an error with [Fault.Unknown] set the records may have been written: read the session's head and tail.
	//
	// An append takes the same time whatever the length of the log.
	Append(ctx context.Context, key Key, at Position, change Change) (Head, error)
	// Records returns the chosen records in the order of the log, up to the first error. The loop may call the store.
	Records(ctx context.Context, key Key, choice Choice) iter.Seq2[Record, error]
	// Contents returns the contents with these hashes that a session of owner refers to. The error is of cause
	// [Corrupt] if one is missing.
	Contents(ctx context.Context, owner string, hashes []Hash) (map[Hash][]byte, error)
	// Lease takes or extends the lease of a session for ttl from now, by the store's clock. The error is a
	// [*LeasedError] while another holder has it; that lease then lasts for ttl at most, so a clock that was set back
	// makes no lease last. The head has the fence to append with.
	Lease(ctx context.Context, key Key, holder string, ttl time.Duration) (Head, error)
	// Release ends the lease if holder has it, and otherwise does nothing.
	Release(ctx context.Context, key Key, holder string) error
	// List returns the chosen sessions ordered by owner and id. The loop may call the store.
	List(ctx context.Context, filter Filter) iter.Seq2[Head, error]
	// Delete removes a session with its records, and the contents that no other session of its owner refers to. The
	// error is [ErrNotFound] if there is none.
	Delete(ctx context.Context, key Key) error
	// Expire deletes the sessions that were last written longer than unused ago, and returns how many.
	Expire(ctx context.Context, unused time.Duration) (int, error)
}

// Searches is the part of a [Store] that keeps the indexes of sessions, which package search makes and reads. An index
// is in parts, one behind the other, and a part in numbered pieces. To a store they are opaque bytes.
type Searches interface {
	// Index adds a part at the end of a session's index, all or nothing; a part after 0 replaces the index. It reports
	// false, and writes nothing, if the index ends elsewhere: another host was faster. The error is [ErrNotFound] if the
	// session is gone. A session's index is deleted with it.
	Index(ctx context.Context, key Key, part Part) (bool, error)
	// Find returns the parts of a session's index, without After, with their pieces 0 and those of these numbers, as of
	// one moment. The bytes must not be changed.
	Find(ctx context.Context, key Key, pieces []int) ([]Part, error)
	// Last returns the last of what Find returns, with piece 0 alone; the zero Part if there is none.
	Last(ctx context.Context, key Key) (Part, error)
}

// Part is what an index has of a run of a session's log.
type Part struct {
	// After and Until say what of the log it is about, in a measure that only the writer knows and that grows from 0.
	// After is the Until of the part before it.
	After, Until uint64
	// Pieces are those it has, by number, from 0 to 32,767. Each part has piece 0.
	Pieces map[int][]byte
}

// Accesses is the part of a [Store] that keeps access tokens, so all hosts of a store accept the same ones.
type Accesses interface {
	// CreateAccess adds a token. The error is [ErrExists] if one of this name is valid; a revoked one is replaced, and
	// the new one has its sessions.
	CreateAccess(ctx context.Context, access Access) error
	// ChangeAccess gives a valid token the hash and the limits of to, if it still has those of from, whose name counts;
	// with another hash it is created anew. The error is [ErrNotFound] if there is no such token.
	ChangeAccess(ctx context.Context, from, to Access) error
	// Accesses returns all tokens ordered by name, revoked ones too.
	Accesses(ctx context.Context) ([]Access, error)
	// RevokeAccess marks a token as revoked. The error is [ErrNotFound] if no valid one has this name.
	RevokeAccess(ctx context.Context, name string) error
	// Account adds to what name used on day, such as 2006-01-02, and returns the sums. The zero Used asks for them.
	Account(ctx context.Context, name, day string, add Used) (Used, error)
	// Accounts returns what names used from the day since on, ordered by day and name.
	Accounts(ctx context.Context, since string) ([]Account, error)
	// Usage returns what the sessions of owner hold.
	Usage(ctx context.Context, owner string) (Usage, error)
}

// Used is what the sessions of a name came to.
type Used struct {
	// Spent is what model calls of compressions cost, and Saved what turns took off the bill, less what they added to it,
	// in millionths of a US dollar.
	Spent, Saved int64
	// Requests are those that turns were for. Whole is how many tokens they would have had, Sent how many they had.
	Requests, Whole, Sent int64
}

// Plus returns the sum of both.
func (u Used) Plus(v Used) Used {
	return Used{Spent: u.Spent + v.Spent, Saved: u.Saved + v.Saved, Requests: u.Requests + v.Requests,
		Whole: u.Whole + v.Whole, Sent: u.Sent + v.Sent}
}

// Account is what a name used on a day.
type Account struct {
	Name, Day string
	Used
}

// Key names a session.
type Key struct {
	// Owner is the name of the access token that the session belongs to, or "" for the local user.
	Owner string
	// ID is unique among the sessions of its owner.
	ID string
}

// MaxID is the greatest length of an id in bytes.
const MaxID = 512

// Check returns an error that wraps [ErrID] if no session can have this key: ids appear in logs, file names and
// database columns.
func (k Key) Check() error {
	for i, text := range []string{k.ID, k.Owner} {
		what := []string{"id", "owner"}[i]
		switch {
		case len(text) > MaxID:
			return fmt.Errorf("%w: its %s has %d bytes, at most %d are allowed", ErrID, what, len(text), MaxID)
		case !utf8.ValidString(text):
			return fmt.Errorf("%w: its %s is not valid UTF-8", ErrID, what)
		case strings.ContainsFunc(text, unicode.IsControl):
			return fmt.Errorf("%w: its %s has a control character, at byte %d", ErrID, what,
				strings.IndexFunc(text, unicode.IsControl))
		}
	}
	return nil
}

// Head is the state of a session without its records.
type Head struct {
	Key
	// Revision is the sequence number of the last record, 0 without records.
	Revision uint64
	// Snapshot is the sequence number of the last [Snapshot] record, 0 without one.
	Snapshot uint64
	// Fence must be named by the next append; see the package's documentation.
	Fence uint64
	Origin
	// Created is when the session was created, Used when it was last appended to, by the store's clock.
	Created, Used time.Time
	Summary
	// Bytes is the size of the session's records and of the contents they refer to, each content once.
	Bytes int64
}

// Position returns where the next append must continue.
func (h Head) Position() Position { return Position{Revision: h.Revision, Fence: h.Fence} }

// Origin says what a session was forked from; the zero value means that it was not.
type Origin struct {
	Parent Key
	// ForkedAt is the parent's revision that the session continues, and ForkedEntries how many entries the parent had
	// been given by then.
	ForkedAt      uint64
	ForkedEntries int
}

// Summary is what a list of sessions shows of each. The store only keeps it.
type Summary struct {
	Entries int
	Tokens  int
}

// Position is what the writer of an append has seen of the session.
type Position struct {
	Revision, Fence uint64
	// Holder, if not "", refuses the append unless this holder has the lease then, by the store's clock.
	Holder string
}

// Change is what one append writes. Its bytes must not change afterwards: a store may keep them.
type Change struct {
	// Records are appended in order. Their sequence numbers are ignored.
	Records []Record
	// Contents are large values that the records refer to in a way that only the writer knows. A value that the owner
	// already has may be given again, and is kept once.
	Contents [][]byte
	// Summary replaces the session's.
	Summary Summary
}

// Kind says what a record is, so readers can choose. The store gives a meaning only to [Snapshot].
type Kind uint8

const (
	// Added records entries that were added.
	Added Kind = iota + 1
	// Rewritten records a rewrite of the history.
	Rewritten
	// State records other changes of a session.
	State
	// Snapshot records enough to read a session from here on.
	Snapshot
)

// Record is one step in the life of a session.
type Record struct {
	Seq  uint64
	Kind Kind
	Data []byte
	// Later makes Data, of about Size bytes, for an ephemeral store, which need not copy what is in memory already. It is
	// nil for a record that has its data, as all records of [Sessions.Records] do.
	Later func() []byte
	Size  int
}

func (r Record) Bytes() []byte {
	if r.Later != nil {
		return r.Later()
	}
	return r.Data
}

func (r Record) size() int {
	if r.Later != nil {
		return r.Size
	}
	return len(r.Data)
}

// Choice chooses records. The zero value chooses all.
type Choice struct {
	// From and To are the first and the last sequence number, 0 for no bound.
	From, To uint64
	// Seqs, if not nil, are the sequence numbers to read, in ascending order.
	Seqs []uint64
	// Kinds, if not empty, are the kinds to read.
	Kinds []Kind
}

// Filter chooses sessions.
type Filter struct {
	// Owner chooses the sessions of one owner, unless AllOwners is set.
	Owner     string
	AllOwners bool
	// After skips the sessions up to this key, for reading a list in pages.
	After Key
	// Limit is how many sessions to return at most, 0 for all.
	Limit int
}

// Hash names a content.
type Hash [sha256.Size]byte

func HashOf(content []byte) Hash { return sha256.Sum256(content) }

// Access is a token that opens the sessions of its name.
type Access struct {
	Name string
	// Hash is what the store knows of the token's text.
	Hash    []byte
	Created time.Time
	// Revoked is zero while the token is valid.
	Revoked time.Time
	// Limits is what the token may do, in a form that package access reads.
	Limits []byte
}

// Usage is what the sessions of one owner hold.
type Usage struct {
	Sessions int
	Bytes    int64
}

// Size is what a store holds.
type Size struct {
	Sessions int
	Records  int64
	// Bytes is what the store takes on disk, or in memory for a store that ends with the process.
	Bytes int64
	// Free is the part of Bytes that deleted sessions took, and later ones will take.
	Free int64
}

// Notice says that a session was changed. Revision is 0 if it was deleted.
type Notice struct {
	Key
	Revision uint64
}
