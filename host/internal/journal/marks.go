package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// Marks has the ids by which a model asks for parts of its conversation. An id is bound to the conversation and to all
// that the part says, so it cannot be guessed, is the same each time, also in a fork or after a restart, and can never
// give back something else.
type Marks struct {
	// Key is [MarksKey] of the store: the ids must outlive the process, as the conversations do.
	Key                 []byte
	Owner, Conversation string
	// Hash gives ids and marks the form by which gateways know them in texts: Conversation then ends in 12 digits, with
	// which each id begins.
	Hash bool
}

// MarksKey returns the key of all ids of a store.
func MarksKey(ctx context.Context, in store.Store) ([]byte, error) { return in.Secret(ctx, "recall") }

// Ids have 15 digits, or 24 with Hash. Digits take fewer tokens than letters: five for 50 bits.
const (
	idDigits   = 15
	hashDigits = 12
)

// ID returns the id of a block; "" for one of a kind that is not given back.
func (m Marks) ID(b content.Block) string { return m.id(history.SumOf(b)) }

func (m Marks) id(of history.Sum) string {
	if of == (history.Sum{}) {
		return ""
	}
	mac := hmac.New(sha256.New, m.Key)
	_, _ = fmt.Fprintf(mac, "%q %q %x", m.Owner, m.Conversation, of)
	sum := binary.BigEndian.Uint64(mac.Sum(nil))
	if m.Hash {
		return fmt.Sprintf("%s%012d", m.Conversation[max(0, len(m.Conversation)-hashDigits):], sum%1e12)
	}
	return fmt.Sprintf("%015d", sum%1e15)
}

// Seal returns what stands beside an id in what is given back. It cannot be guessed, so whatever has it was given back
// by this conversation's host.
func (m Marks) Seal(id string) string {
	mac := hmac.New(sha256.New, m.Key)
	_, _ = fmt.Fprintf(mac, "seal %q %q %q", m.Owner, m.Conversation, id)
	return fmt.Sprintf("%09d", binary.BigEndian.Uint64(mac.Sum(nil))%1e9)
}

func (m Marks) idsOf(all []history.Sum) (ids []string) {
	for _, sum := range all {
		ids = append(ids, m.id(sum))
	}
	return ids
}

// A marker's name, which the log has with each view that it made.
const (
	recallMarks = "recall "
	hashMarks   = "hash "
)

// Marker makes the marks of views.
type Marker = history.Marker

// Marker returns what makes the marks of the conversation's views.
func (m Marks) Marker() *Marker {
	if m.Hash {
		return &Marker{Name: hashMarks + m.Conversation, Seal: m.Seal,
			Mark: func(was ...history.Sum) string { return " [hash=" + strings.Join(m.idsOf(was), ", ") + "]" }}
	}
	return &Marker{Name: recallMarks + m.Conversation, Seal: m.Seal,
		Mark: func(was ...history.Sum) string { return marks.Recall(strings.Join(m.idsOf(was), ", ")) }}
}

// MarksOf returns the ids of a stored session's own conversation.
func MarksOf(ctx context.Context, in store.Store, key store.Key) (Marks, error) {
	secret, err := MarksKey(ctx, in)
	return Marks{Key: secret, Owner: key.Owner, Conversation: key.ID}, err
}

// IsID reports whether a text has the form of an id of marks without Hash. No entry has such an id.
func IsID(text string) bool { return len(text) == idDigits && strings.Trim(text, "0123456789") == "" }

// Marks returns the ids of the session's own conversation. The error wraps [ErrNotStored] if the host keeps no sessions:
// then nothing can be given back.
func (j *Journal) Marks(ctx context.Context) (Marks, error) {
	if j.store == nil {
		return Marks{}, j.wrong(ErrNotStored)
	}
	key, err := j.keeper.marksKey(ctx)
	if err != nil {
		return Marks{}, j.wrong(err)
	}
	return Marks{Key: key, Owner: j.key.Owner, Conversation: j.key.ID}, nil
}

// Marker returns the marker with the name that a view has; nil for "" and for one that this version does not know.
func (j *Journal) Marker(ctx context.Context, name string) (*Marker, error) {
	of, recalls := strings.CutPrefix(name, recallMarks)
	of, hash := strings.CutPrefix(of, hashMarks)
	if !recalls && !hash {
		return nil, nil
	}
	m, err := j.Marks(ctx)
	if err != nil {
		return nil, err
	}
	m.Conversation, m.Hash = of, hash
	return m.Marker(), nil
}

// marksKey is read from the store once.
func (k *Keeper) marksKey(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	key := k.marks
	k.mu.Unlock()
	if key != nil {
		return key, nil
	}
	key, err := MarksKey(ctx, k.Store)
	if err == nil {
		k.mu.Lock()
		k.marks = key
		k.mu.Unlock()
	}
	return key, err
}
