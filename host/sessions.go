package host

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// named refuses what no session can be called.
func named(field, owner, id string) error {
	if !utf8.ValidString(id) {
		return api.NotText(field)
	}
	if err := (store.Key{Owner: owner, ID: id}).Check(); err != nil {
		return at(field, err)
	}
	return nil
}

// Open opens a session; on an error there is none. An earlier one continues where it was, with its settings, and with
// the setting sessions.store also after a crash. What is kept in memory, the default, ends with the host: delete
// sessions that are not opened again, or set sessions.keep. The error wraps [ErrSessionExists] if a session with the
// same id is open, and [ErrNoSession] if there is none that [api.OpenRequest.Existing] asks for.
func (h *Host) Open(ctx context.Context, r api.OpenRequest) (*Session, error) {
	if err := named("id", r.Owner, r.ID); err != nil {
		return nil, err
	}
	opened, err := h.window.Open(window.Opening{Key: store.Key{Owner: r.Owner, ID: r.ID}, Settings: r.Settings,
		Existing: r.Existing})
	if err != nil {
		return nil, inSettings(r.Settings, err)
	}
	s, begun := &Session{window: opened}, false
	defer func() {
		if !begun {
			_ = opened.Close() // nothing was added
		}
	}()
	if r.System != nil {
		if _, err := s.SetSystem(ctx, api.SystemRequest{System: r.System}); err != nil {
			return nil, err
		}
	}
	begun = true
	return s, nil
}

// Opened returns a session that is open already, in this program; nil if it is not.
func (h *Host) Opened(owner, id string) *Session {
	if s := h.window.Opened(store.Key{Owner: owner, ID: id}); s != nil {
		return &Session{window: s}
	}
	return nil
}

// Delete closes and deletes a session. The error wraps [ErrNoSession] if there is none with this id.
func (h *Host) Delete(ctx context.Context, of api.Of) error {
	if err := named("session", of.Owner, of.Session); err != nil {
		return err
	}
	return failed(h.window.Delete(ctx, of.Owner, of.Session))
}

// defaultPage is how many sessions a list has, unless the request says. There is no upper bound: a session in a list
// takes some hundred bytes.
const defaultPage = 100

// Sessions returns what is in the store and, where nothing is stored, what is open. Both have the order of ids, so that
// the last id of a page is where the next one begins. Where a session is in both, the store's has more to say.
func (h *Host) Sessions(ctx context.Context, r api.ListRequest) (api.ListAnswer, error) {
	switch {
	case r.Limit < 0:
		return api.ListAnswer{}, api.Refuse("limit", `"limit" must not be negative`)
	case r.Limit == 0:
		r.Limit = defaultPage
	}
	if err := named("after", r.Owner, r.After); err != nil {
		return api.ListAnswer{}, err
	}
	found, last := map[string]api.Listed{}, ""
	if kept := h.window.Store(); kept != nil {
		// One more than the page, to know whether there are more.
		page := store.Filter{Owner: r.Owner, After: store.Key{Owner: r.Owner, ID: r.After}, Limit: min(r.Limit, math.MaxInt-1) + 1}
		for head, err := range kept.List(ctx, page) {
			if err != nil {
				return api.ListAnswer{}, failed(err)
			}
			last = head.ID
			found[last] = api.Listed{Session: last, Entries: head.Entries, Tokens: head.Tokens, Bytes: head.Bytes,
				Created: head.Created.UTC(), Used: head.Used.UTC()}
		}
	}
	beyond := len(found) > r.Limit // what comes after last is of the next page
	for _, session := range h.window.OpenOf(r.Owner) {
		id := session.ID()
		if _, stored := found[id]; id <= r.After || stored || beyond && id > last {
			continue
		}
		_, tokens, entries, err := session.Size(nil)
		if err != nil {
			return api.ListAnswer{}, failed(err)
		}
		found[id] = api.Listed{Session: id, Entries: entries, Tokens: tokens}
	}
	answer := api.ListAnswer{Sessions: []api.Listed{}}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if answer.More = len(answer.Sessions) == r.Limit; answer.More {
			break
		}
		answer.Sessions = append(answer.Sessions, found[id])
	}
	return answer, nil
}

// maxEvents is how many events wait for a slow watcher. Turns never wait for it.
const maxEvents = 64

// Watch reports turns until ctx or the host ends, or the loop is left. Events that are not taken in time are dropped and
// counted in the next one's Missed: a slow watch must not hold up a turn.
func (h *Host) Watch(ctx context.Context, r api.WatchRequest) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		if err := named("session", r.Owner, r.Session); err != nil {
			yield(api.Event{}, err)
			return
		}
		var mu sync.Mutex
		events, missed := make(chan api.Event, maxEvents), 0
		stop := h.window.Watch(func(t window.Turn) {
			if t.Key.Owner != r.Owner || r.Session != "" && r.Session != t.Key.ID {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			select {
			case events <- api.Event{Session: t.Key.ID, Method: t.Method, Revision: t.Revision, Tokens: t.Tokens,
				Pending: t.Pending, Outcome: t.Outcome, Error: ErrorOf(t.Err), Missed: missed}:
				missed = 0
			default:
				missed++
			}
		})
		defer stop()
		// The first goes out at once: who watches can wait for it before doing what it wants to see.
		for next := (api.Event{}); yield(next, nil); {
			select {
			case next = <-events:
			case <-h.window.Done():
				yield(api.Event{}, failed(ErrClosed))
				return
			case <-ctx.Done():
				yield(api.Event{}, failed(context.Cause(ctx)))
				return
			}
		}
	}
}
