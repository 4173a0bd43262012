package client

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// held is what the process's mirror of a session holds, as far as the host knows. A plugin that dropped it answers with
// resync.
type held struct {
	// entries are those of the last call. Entries are immutable and a history only grows within an epoch, so this is no
	// copy but the beginning of the session's own list.
	entries []*history.Entry
	count   uint64 // how many entries the mirror holds
	epoch   uint64
	digest  wire.Digest
	tools   []byte // of the last call
	// pieces make entries of what the mirror holds if the history was rewritten since; see [Plugin.Rewritten].
	pieces []wire.MirrorPiece
}

// sessions knows what the process holds of each session. It is safe for concurrent use.
//
// A call takes what is known and puts back what is known after it, so the second of two concurrent calls of a session
// sends everything, and so does the call after a failed one, whose effect on the mirror is unknown. Package sdk follows
// the same rule.
type sessions struct {
	mu    sync.Mutex
	known map[string]held
	uses  map[string]*use // of the sessions that are in use now
}

// use is the calls of a session that are under way. Of a session that ended meanwhile, they put nothing back.
type use struct {
	calls int
	ended bool
	told  bool // the process may hold entries of the session
}

// take returns what is known of a session and forgets it, until done is called. Without entries, nothing is known.
func (s *sessions) take(id string) (held, *use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.known[id]
	delete(s.known, id)
	u := s.uses[id]
	if u == nil {
		u = &use{}
		if s.uses == nil {
			s.known, s.uses = map[string]held{}, map[string]*use{}
		}
		s.uses[id] = u
	}
	u.calls++
	u.told = u.told || len(h.entries) > 0
	return h, u
}

// done puts back what is known after a use; nothing, without entries. It reports whether the session ended meanwhile,
// this was its last use, and the process must now be told.
func (s *sessions) done(id string, u *use, h held) (tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.calls--
	u.told = u.told || len(h.entries) > 0
	if u.ended {
		return u.calls == 0 && u.told
	}
	if u.calls == 0 {
		delete(s.uses, id)
	}
	if len(h.entries) > 0 {
		s.known[id] = h
	}
	return false
}

// end forgets a session. It reports whether the process must be told now; if calls are under way, done says when.
func (s *sessions) end(id string) (tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tell = len(s.known[id].entries) > 0
	delete(s.known, id)
	u := s.uses[id]
	if u == nil {
		return tell
	}
	u.ended, u.told = true, u.told || tell
	delete(s.uses, id) // a session that begins with the same id is another one
	return false
}

// Traffic counts how histories were sent to a process.
type Traffic struct {
	// Full are calls that sent the whole history, Delta those that sent what was new, Resyncs those of Delta that the
	// plugin answered by asking for the whole history.
	Full, Delta, Resyncs uint64
	// Bytes count entries and pieces, without headers.
	Bytes uint64
}

type traffic struct{ full, delta, resyncs, bytes atomic.Uint64 }

func (t *traffic) count(u update) {
	if len(u.held.entries) > 0 {
		t.delta.Add(1)
	} else {
		t.full.Add(1)
	}
}

func (p *Plugin) Traffic() Traffic {
	t := &p.traffic
	return Traffic{Full: t.full.Load(), Delta: t.delta.Load(), Resyncs: t.resyncs.Load(), Bytes: t.bytes.Load()}
}

type update struct {
	held    held // without entries: the whole history is sent
	pieces  []wire.MirrorPiece
	entries []*history.Entry
	look    looking
}

// update returns what to send to a process that holds h. Within an epoch that is what was added, found without looking
// at anything else.
func (h held) update(in prepare.Call, look looking) update {
	n := len(h.entries)
	if n == 0 {
		return update{entries: in.Entries, look: look}
	}
	// Compress gets the history without blank entries, Optimize all of it. Both are in the order of one list, so the
	// same entry at the same position means that all before it are the same too.
	if h.epoch == in.Epoch && n <= len(in.Entries) && h.entries[n-1] == in.Entries[n-1] {
		return update{held: h, pieces: h.pieces, entries: in.Entries[n:], look: look}
	}
	pieces, rest := h.difference(in.Entries, look)
	if len(pieces) == 0 {
		return update{entries: in.Entries, look: look}
	}
	return update{held: h, pieces: pieces, entries: rest, look: look}
}

// difference returns what makes now of what the process holds. Without pieces all of it has to be sent: nothing was
// kept, or this is the second rewrite since the last call, which happens at the hard limit.
func (h held) difference(now []*history.Entry, look looking) (
	pieces []wire.MirrorPiece, rest []*history.Entry,
) {
	if h.pieces != nil {
		return nil, nil
	}
	return difference(h.entries, now, look)
}

// Rewritten tells that the history of a session was rewritten since the last call. The difference is worked out now
// because removed entries would otherwise remain in memory until the next call, and a session's first prune removes as
// much as it keeps.
func (p *Plugin) Rewritten(in prepare.Call) {
	h, u := p.sessions.take(in.SessionID)
	var now held
	defer func() { p.done(in.SessionID, u, now) }()
	if len(h.entries) == 0 {
		return
	}
	pieces, rest := h.difference(in.Entries, p.looksFor(in))
	if len(pieces) == 0 {
		return
	}
	now = h
	now.entries, now.pieces, now.epoch = in.Entries[:len(in.Entries)-len(rest)], pieces, in.Epoch
}

// done ends a use of a session, after which the process holds h of it.
func (p *Plugin) done(id string, u *use, h held) {
	if p.sessions.done(id, u, h) {
		p.tellEnd(id)
	}
}

// looksFor returns the tools by which entries say what their commands read and write; nil: they do not. Only a strategy
// that prunes looks for files; one that rewrites a history could put the field into it.
func (p *Plugin) looksFor(in prepare.Call) looking {
	if p.reported.info.Trigger.Mode != sdk.ModeContinuous {
		return looking{}
	}
	return looking{in.Tools, in.Dirs}
}

// difference returns pieces of the old list, and the new entries behind them. No pieces: the new list has nothing of
// the old one.
//
// Kept entries are found by comparing pointers, which is fast however long the list is. Only entries not found this way
// are looked up by id, and compared where a rewrite made a new entry with that id.
func difference(old, now []*history.Entry, look looking) (
	pieces []wire.MirrorPiece, rest []*history.Entry,
) {
	begin := common(old, now)
	end := 0
	for end < min(len(old), len(now))-begin && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	var d differ
	at := positions{entries: old[:len(old)-end]}
	next := 0
	for left := now[:len(now)-end]; len(left) > 0; {
		n := common(at.entries[next:], left)
		d.keep(next, next+n)
		if next, left = next+n, left[n:]; len(left) == 0 {
			break
		}
		e := left[0]
		left = left[1:]
		i := at.find(e, next)
		switch {
		case i < 0 || !rewrite.OnlyBlocksDiffer(old[i].Content, e.Content):
			entry := sent(e, look)
			d.pieces = append(d.pieces, wire.MirrorPiece{Entry: &entry})
			continue
		case old[i] == e:
			d.keep(i, i+1)
		default:
			edited := rewrite.Edited{Index: i, Blocks: rewrite.BlockPieces(old[i].Content.Blocks, e.Content.Blocks)}
			d.pieces = append(d.pieces, wire.MirrorPiece{Edited: &edited, Tokens: e.Tokens})
		}
		next = i + 1
	}
	d.keep(len(old)-end, len(old))
	pieces = d.pieces
	// New entries at the end are sent as entries, not as pieces, like anything that was added.
	for len(pieces) > 0 && pieces[len(pieces)-1].Entry != nil {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces, now[len(now)-(len(d.pieces)-len(pieces)):]
}

// common returns the length of the common prefix.
func common(a, b []*history.Entry) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

type positions struct {
	entries []*history.Entry
	byID    map[string]int // built when needed
}

// find returns the position of e, or of an entry with its id, from next on; -1 if there is none. A kept entry is a few
// positions after the one before it; only where that fails, as for a new entry, all ids are indexed.
func (p *positions) find(e *history.Entry, next int) int {
	// A guess at how much one prune removes between two kept entries.
	const near = 32
	around := p.entries[min(next, len(p.entries)):min(next+near, len(p.entries))]
	if i := slices.Index(around, e); i >= 0 {
		return next + i
	}
	if i := slices.IndexFunc(around, func(old *history.Entry) bool { return old.ID == e.ID }); i >= 0 {
		return next + i
	}
	if next+near >= len(p.entries) {
		return -1
	}
	if p.byID == nil {
		p.byID = make(map[string]int, len(p.entries)-next)
		for i, e := range p.entries[next:] {
			p.byID[e.ID] = next + i
		}
	}
	if i, ok := p.byID[e.ID]; ok && i >= next {
		return i
	}
	return -1
}

type differ struct{ pieces []wire.MirrorPiece }

func (d *differ) keep(from, to int) {
	if from >= to {
		return
	}
	if n := len(d.pieces); n > 0 {
		if last := &d.pieces[n-1]; last.Entry == nil && last.Edited == nil && last.Kept.To == from {
			last.Kept.To = to
			return
		}
	}
	d.pieces = append(d.pieces, wire.MirrorPiece{Kept: rewrite.Keep{From: from, To: to}})
}

// Mirrors reports whether the process keeps mirrors of histories, so the host sends only what is new.
func (p *Plugin) Mirrors() bool { return p.reported.delta && !p.opts.NoMirrors }

// EndSession tells the process to drop what it holds of a session, once no call of it is under way. It does not wait: a
// plugin that misses it drops the mirror when it needs the memory.
func (p *Plugin) EndSession(id string) {
	if p.sessions.end(id) {
		p.tellEnd(id)
	}
}

func (p *Plugin) tellEnd(id string) {
	p.opts.Spawn(func() {
		ctx, cancel := WithTimeout(p.life.ctx, probeTimeout)
		defer cancel()
		if err := p.remote.endSession(ctx, id); err != nil && p.life.ctx.Err() == nil {
			p.log.Debug("plugin was not told that a session ended", "session", id, "error", message(err))
		}
	})
}
