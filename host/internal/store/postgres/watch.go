package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Commits that notify take a lock of the whole database, so appends do not. A goroutine collects what was appended and
// tells the other hosts at most ten times a second. A notice is late by up to that interval, and a busy session is told
// once and not for every append.
const (
	channel  = "thresh"
	interval = 100 * time.Millisecond
	// maxPayload is below PostgreSQL's limit for a notification, 8000 bytes.
	maxPayload = 7000
)

// outbox is what the other hosts have not been told yet.
type outbox struct {
	host string // tells a host its own notifications
	mu   sync.Mutex
	// pending is each session's last revision, 0 for a deleted one.
	pending map[store.Key]uint64
	wake    chan struct{} // has room for one
}

// newOutbox draws a unique host name: PostgreSQL sends a host its own notifications too.
func newOutbox() *outbox {
	return &outbox{host: rand.Text(), pending: map[store.Key]uint64{}, wake: make(chan struct{}, 1)}
}

// notification is the payload. No notices mean that any session may have changed. The names are short because a payload
// has 8000 bytes.
type notification struct {
	Host    string         `json:"h"`
	Notices []store.Notice `json:"n,omitempty"`
}

// notify tells this process of a change at once, and the others in a moment. It never waits, because appends call it.
func (s *Store) notify(n store.Notice) {
	s.hub.Notify(n)
	s.outbox.mu.Lock()
	s.outbox.pending[n.Key] = n.Revision
	s.outbox.mu.Unlock()
	select {
	case s.outbox.wake <- struct{}{}:
	default:
	}
}

// tell is the goroutine that notifies the other hosts. What it cannot send is lost, as notices may be: hosts that
// reconnect look at all sessions anyway.
func (s *Store) tell() {
	for {
		select {
		case <-s.alive.Done():
			return
		case <-s.outbox.wake:
		}
		s.outbox.mu.Lock()
		pending := s.outbox.pending
		s.outbox.pending = map[store.Key]uint64{}
		s.outbox.mu.Unlock()
		ctx, cancel := store.Within(s.alive)
		_, _ = s.pool.Exec(ctx, "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", channel,
			s.outbox.payloads(pending))
		cancel()
		select {
		case <-s.alive.Done():
			return
		case <-time.After(interval):
		}
	}
}

// payloads are notifications as large as allowed. If a name is too long for one, or there are very many, one
// notification says that anything may have changed.
func (n *outbox) payloads(pending map[store.Key]uint64) []string {
	// 16 notifications of some 60 sessions each; beyond that, "look at all" is shorter.
	const most = 16
	var all []string
	next := notification{Host: n.host}
	size := 0
	flush := func() {
		if text, err := json.Marshal(next); err == nil && len(next.Notices) > 0 {
			all = append(all, string(text))
		}
		next.Notices, size = nil, len(n.host)
	}
	for key, revision := range pending {
		notice := store.Notice{Key: key, Revision: revision}
		text, err := json.Marshal(notice)
		// Half, because a notice must fit into a notification with its host.
		if err != nil || len(text) > maxPayload/2 || len(all) == most {
			text, _ = json.Marshal(notification{Host: n.host})
			return []string{string(text)}
		}
		if size+len(text) > maxPayload {
			flush()
		}
		next.Notices, size = append(next.Notices, notice), size+len(text)+1
	}
	flush()
	return all
}

// Watch implements [store.Store]. One connection listens for all watchers of a process; a broken one does not end the
// call.
func (s *Store) Watch(ctx context.Context, changed func(store.Notice)) error {
	if s.alive.Err() != nil {
		return store.ErrClosed
	}
	s.listen.Do(func() { s.wait.Go(s.hear) })
	return s.hub.Watch(ctx, changed)
}

// hear is the goroutine that listens, again after a broken connection. Pauses grow only while the database cannot be
// reached.
func (s *Store) hear() {
	for pause := firstPause; s.alive.Err() == nil; pause = min(2*pause, longestPause) {
		if s.hearUntilBroken() {
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-s.alive.Done():
		}
	}
}

// hearUntilBroken listens on one connection, and says whether it got as far as listening.
func (s *Store) hearUntilBroken() (listening bool) {
	conn, err := pgx.ConnectConfig(s.alive, s.pool.Config().ConnConfig)
	if err != nil {
		return false
	}
	// Outside of the pool: it listens for as long as it lives.
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(s.alive, "LISTEN "+channel); err != nil {
		return false
	}
	// What was said before is lost, and watchers must be told so.
	s.hub.Notify(store.Notice{})
	for {
		heard, err := conn.WaitForNotification(s.alive)
		if err != nil {
			return true
		}
		// A payload that this version does not understand comes from another, and means at least a change.
		var n notification
		switch err := json.Unmarshal([]byte(heard.Payload), &n); {
		case err != nil || len(n.Notices) == 0 && n.Host != s.outbox.host:
			s.hub.Notify(store.Notice{})
		case n.Host != s.outbox.host:
			s.hub.Notify(n.Notices...)
		}
	}
}
