package watch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What is known of each session while the host runs, in memory and bounded. Doors report turns; readers get copies.
// It is for people who look at a screen, so that losing the oldest turns is no loss.

// Bounds of what is kept. Beyond them the oldest goes: a host may run for months.
const (
	maxSessions = 500
	maxTurns    = 1000 // of a session
	maxChanges  = 1000 // of a session, and as many kept entries
)

// Recorder keeps what turns did. It is safe for concurrent use.
type Recorder struct {
	host  *window.Host
	name  string
	began time.Time
	note  func(owner string, used store.Used)

	// mu guards what follows. It is never held while a store is asked.
	mu    sync.Mutex
	byKey map[store.Key]*record
	plans map[string][]Plan // by owner
	// stored are the sessions of viewers in the store, as of a moment ago.
	stored map[Viewer]kept
}

// kept are the sessions of a viewer that a store has, when it was asked last.
type kept struct {
	sessions []Session
	month    Total
	err      error
	asked    time.Time
}

// askStore is how old what is known of the store may be: people watch it every second, and it may be a database.
const askStore = 10 * time.Second

type record struct {
	Detail
	// ledger and the following are for sessions whose door does not count by itself.
	ledger *pricing.Ledger
	whole  int // tokens of everything that was ever added
	tokens int // of the history after the last turn
}

// New makes a recorder of a host that is shown under a name. note is told what each turn came to, for as long as the
// store keeps it; nil for nobody.
func New(h *window.Host, name string, note func(owner string, used store.Used)) *Recorder {
	if note == nil {
		note = func(string, store.Used) {}
	}
	r := &Recorder{host: h, name: name, began: time.Now(), note: note, byKey: map[store.Key]*record{},
		plans: map[string][]Plan{}, stored: map[Viewer]kept{}}
	h.Watch(r.Observe) // until the host ends
	return r
}

// Turn takes in a turn whose sizes the door knows.
func (r *Recorder) Turn(key store.Key, t Turn, about About, o outcome.Outcome, failed error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.of(key, t.At)
	rec.About = about
	rec.turn(t, &o, failed)
	rec.changed(&o)
	r.noted(key.Owner, t)
}

// noted tells of a turn.
func (r *Recorder) noted(owner string, t Turn) {
	r.note(owner, store.Used{Requests: 1, Whole: int64(t.Whole), Sent: int64(t.Sent), Saved: micros(t.Saved)})
}

// micros is an amount in US dollars as the store has it.
func micros(usd float64) int64 { return int64(math.Round(usd * 1e6)) }

// Observe takes in a turn of the host's. One whose sizes a door knows, that reports itself: see [Recorder.Turn].
func (r *Recorder) Observe(e window.Turn) {
	if e.Identified {
		return
	}
	key, now := e.Key, time.Now()
	// Held while the ledger is made at most: everything else is a few additions.
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.of(key, now)
	if rec.ledger == nil { // the first turn, or one after the record was forgotten
		rec.ledger = pricing.NewLedger(r.host.PriceListOf(key))
	}
	// What was added is what is there before the turn, less what the last one left.
	rec.whole += max(e.Outcome.TokensBefore-rec.tokens, 0)
	rec.tokens = e.Tokens
	if e.Method == "prepare" { // a compress by hand sends nothing
		t := Turn{At: now, Whole: rec.whole + e.Pending, Sent: e.Tokens + e.Pending}
		charge := rec.ledger.Request(pricing.Size{Sent: t.Sent, Whole: t.Whole, Pending: e.Pending},
			e.Outcome.Stable.Tokens, now)
		t.Saved, t.Rewrote = charge.Saved, charge.Rewrote
		rec.turn(t, &e.Outcome, e.Err)
		r.noted(key.Owner, t)
	}
	rec.changed(&e.Outcome)
}

// Usage takes in what a provider reported for a request, and how much more the turn of that time saved by it. That is
// known when the answer has passed, which may be long after the turn.
func (r *Recorder) Usage(key store.Key, u Usage, turn time.Time, more float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.of(key, time.Now())
	rec.Usage.Prompt += u.Prompt
	rec.Usage.Cached += u.Cached
	rec.Saved += more
	r.note(key.Owner, store.Used{Saved: micros(more)})
	for i := len(rec.History) - 1; i >= 0; i-- { // the last one, but for requests at the same time
		if rec.History[i].At.Equal(turn) {
			rec.History[i].Saved += more
			return
		}
	}
}

// Planned takes in what an owner used of plans with providers, all of it.
func (r *Recorder) Planned(owner string, all []Plan) {
	for i := range all {
		all[i].Owner = owner
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plans[owner] = all
}

// of returns the record of a session. The caller holds the lock.
func (r *Recorder) of(key store.Key, now time.Time) *record {
	rec := r.byKey[key]
	if rec == nil {
		rec = &record{Detail: Detail{Session: Session{ID: key.ID, Owner: key.Owner}, History: []Turn{}, Changes: []Change{}, Kept: []Kept{}}}
		r.byKey[key] = rec
		// One at a time: records come one at a time too.
		if len(r.byKey) > maxSessions {
			r.forget(key)
		}
	}
	rec.Used = now
	return rec
}

// forget drops the session that was used longest ago, other than one.
func (r *Recorder) forget(but store.Key) {
	var oldest store.Key
	var used time.Time
	for k, rec := range r.byKey {
		if k != but && (used.IsZero() || rec.Used.Before(used)) {
			oldest, used = k, rec.Used
		}
	}
	delete(r.byKey, oldest)
}

// turn adds a turn to the sums. The caller holds the recorder's lock, as for all methods of a record.
func (rec *record) turn(t Turn, o *outcome.Outcome, failed error) {
	rec.Turns++
	t.Turn, t.Reason = rec.Turns, reasonOf(o)
	if failed == nil {
		failed = errors.Join(o.Failures...)
	}
	if failed != nil {
		t.Error = store.Public(failed)
	}
	// An outcome of a turn that failed early names no strategy; the error is that of the last turn alone.
	rec.Strategy, rec.Error = cmp.Or(o.Strategy, rec.Strategy), t.Error
	rec.Whole, rec.Sent, rec.Saved = rec.Whole+t.Whole, rec.Sent+t.Sent, rec.Saved+t.Saved
	if t.Rewrote {
		rec.Rewrites++
	}
	rec.History = last(append(rec.History, t), maxTurns)
}

// changed takes in what was done to entries. What was in them is in the store, which bounds what it takes.
func (rec *record) changed(o *outcome.Outcome) {
	rec.Reason = cmp.Or(reasonOf(o), rec.Reason)
	for _, c := range o.Changes {
		if !c.Kind.Sent() {
			rec.Kept = slices.DeleteFunc(rec.Kept, func(k Kept) bool { return k.Entry == c.EntryID })
			if c.Kind == outcome.Kept {
				rec.Kept = append(rec.Kept, Kept{Turn: rec.Turns, Entry: c.EntryID, Speaker: string(c.Speaker), Rule: c.Rule,
					Tokens: c.After})
			}
			continue
		}
		rec.Changes = append(rec.Changes, Change{Turn: rec.Turns, Entry: c.EntryID, Kind: string(c.Kind),
			Speaker: string(c.Speaker), Step: c.Step, Rule: c.Rule, By: c.By, Before: c.Before, After: c.After,
			Why: whyOf(c), Calls: c.Calls})
	}
	rec.Changes, rec.Kept = last(rec.Changes, maxChanges), last(rec.Kept, maxChanges)
}

// last returns the last elements of a list in a list of its own, so that what goes before is not kept.
func last[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	return slices.Clone(list[len(list)-most:])
}

// list returns the sessions that a viewer may see, the one that was used last first: those that had a turn, and those that are
// only stored.
func (r *Recorder) list(ctx context.Context, by Viewer) List {
	in := r.keptOf(ctx, by)
	r.mu.Lock()
	defer r.mu.Unlock()
	l := List{Name: r.name, Began: r.began, Month: in.month, Sessions: []Session{}}
	if in.err != nil {
		l.Error = store.Public(in.err)
	}
	for _, s := range in.sessions {
		if r.byKey[store.Key{Owner: s.Owner, ID: s.ID}] == nil {
			l.Sessions = append(l.Sessions, s)
		}
	}
	for k, rec := range r.byKey {
		if by.All || k.Owner == by.Owner {
			l.Sessions = append(l.Sessions, rec.Session)
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(r.plans)) {
		if by.All || owner == by.Owner {
			l.Plan = append(l.Plan, r.plans[owner]...)
		}
	}
	slices.SortFunc(l.Sessions, func(a, b Session) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Owner, b.Owner))
	})
	l.Sessions = l.Sessions[:min(len(l.Sessions), maxSessions)]
	return l
}

// keptOf returns the sessions in the store that a viewer may see; none if the host has no store. Two requests at the same time
// may both ask the store; the later answer is kept.
func (r *Recorder) keptOf(ctx context.Context, by Viewer) kept {
	in := r.host.Store()
	r.mu.Lock()
	known := r.stored[by]
	r.mu.Unlock()
	if in == nil || time.Since(known.asked) < askStore {
		return known
	}
	known = kept{asked: time.Now()}
	for h, err := range in.List(ctx, store.Filter{Owner: by.Owner, AllOwners: by.All}) { // without the lock
		if err != nil {
			known.err = err
			break
		}
		known.sessions = append(known.sessions, storedSession(h))
	}
	all, err := in.Accounts(ctx, time.Now().UTC().AddDate(0, 0, 1-monthDays).Format(time.DateOnly))
	known.err = cmp.Or(known.err, err)
	known.month = totalOf(all, by)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored[by] = known
	return known
}

// totalOf adds up what a viewer may see of accounts.
func totalOf(all []store.Account, by Viewer) Total {
	var sum store.Used
	for _, a := range all {
		if by.All || a.Name == by.Owner {
			sum = sum.Plus(a.Used)
		}
	}
	return TotalOf(sum)
}

// TotalOf is what a store has added up, in units for people.
func TotalOf(u store.Used) Total {
	return Total{Requests: u.Requests, Whole: u.Whole, Sent: u.Sent, Saved: float64(u.Saved) / 1e6,
		Spent: float64(u.Spent) / 1e6}
}

// storedSession is a session that had no turn since the host began.
func storedSession(h store.Head) Session {
	return Session{ID: h.ID, Owner: h.Owner, About: About{Parent: h.Parent.ID}, Used: h.Used,
		Stored: &Stored{Entries: h.Entries, Tokens: h.Tokens}}
}

// detail returns a session with its turns and changes; of one that is only stored, what was added to it. The error
// wraps [store.ErrNotFound] if there is none.
func (r *Recorder) detail(ctx context.Context, key store.Key) (Detail, error) {
	r.mu.Lock()
	if rec := r.byKey[key]; rec != nil {
		defer r.mu.Unlock()
		// Clones: what is kept grows while they are written.
		d := rec.Detail
		d.History, d.Changes, d.Kept = slices.Clone(d.History), slices.Clone(d.Changes), slices.Clone(d.Kept)
		return d, nil
	}
	r.mu.Unlock()
	in := r.host.Store()
	if in == nil {
		return Detail{}, store.ErrNotFound
	}
	all, err := journal.Read(ctx, in, key)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Session: storedSession(all.Head), History: []Turn{}, Changes: []Change{}, Kept: []Kept{}}
	for _, a := range all.Added {
		d.Stored.Added++
		d.Stored.AddedTokens += a.Tokens
	}
	return d, nil
}

// original returns an entry as it was added; none if it is not kept.
func (r *Recorder) original(ctx context.Context, key store.Key, id string) ([]content.Content, error) {
	if in := r.host.Store(); in != nil {
		return journal.Find(ctx, in, key, id)
	}
	return nil, nil
}

// found are passages of a session.
type found struct {
	Passages []outcome.Passage `json:"passages"`
}

// maxFound bounds what a search returns: what a person looks through.
const maxFound, maxFoundTokens = 20, 20_000

// search finds passages of all that was added to a session, sent or not, by the words of query, or reads the lines at
// entry, block, line and lines.
func (r *Recorder) search(ctx context.Context, key store.Key, asked url.Values) (found, error) {
	in := r.host.Store()
	if in == nil {
		return found{}, store.ErrNotFound
	}
	if _, err := in.Head(ctx, key); err != nil {
		return found{}, err
	}
	t, err := window.Taxonomy(r.host.Config().Settings())
	if err != nil {
		return found{}, err
	}
	if entry := asked.Get("entry"); entry != "" {
		number := func(name string) int { n, _ := strconv.Atoi(asked.Get(name)); return n }
		p, err := journal.Lines(ctx, in, key, t, entry, number("block"), number("line"),
			number("line")+number("lines")-1)
		return found{[]outcome.Passage{p}}, err
	}
	all, err := journal.Search(ctx, in, []store.Key{key}, t,
		search.Query{Words: asked.Get("query"), Limit: maxFound, Tokens: maxFoundTokens})
	f := found{Passages: []outcome.Passage{}}
	for _, one := range all.Found {
		f.Passages = append(f.Passages, one.Passage)
	}
	return f, err
}
