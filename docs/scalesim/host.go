package main

// host is which sessions a host has in memory. The least recently used one goes when there is no room. Its limit is a
// number of sessions, as all are of one size here.
type host struct {
	// Each turn adds a use; those that a later turn of the session made out of date are skipped when they come first.
	loaded int
	uses   []use // in the order of time; a session that was used again later has a newer one
	first  int   // of uses
	downTo int   // the second at which it is back after a failure
}

// use is one turn of a session on this host.
type use struct {
	session int32
	turn    int32 // of the session
}

// session is where a session is in memory, and what it did. There are up to a million of them, hence the small fields.
type session struct {
	host       int32 // -1 if it is nowhere
	turns      int32
	leasedTo   int32 // second
	leasedHost int32
}

// touch notes a use of a session on a host, which has to load it if the result is true. A load may push out other
// sessions.
func (w *world) touch(s int32, on int32) (load bool) {
	sess, h := &w.sessions[s], &w.hosts[on]
	sess.turns++
	if sess.host != on {
		// The host that had it keeps a copy that is out of date; it is not counted there any more.
		if sess.host >= 0 {
			w.hosts[sess.host].loaded--
		}
		sess.host = on
		h.loaded++
		load = true
	}
	// The newest use of a session has its number of turns. Any other is out of date, or of a session that has moved on.
	h.uses = append(h.uses, use{s, sess.turns})
	for h.loaded > w.HostSessions {
		u := h.uses[h.first]
		h.first++
		if old := &w.sessions[u.session]; old.host == on && old.turns == u.turn {
			old.host = -1
			h.loaded--
		}
	}
	// The slice is moved when half of it is used up, so each use is copied once on average.
	if h.first > len(h.uses)/2 {
		h.uses = append(h.uses[:0], h.uses[h.first:]...)
		h.first = 0
	}
	return load
}

// fail empties a host until a second. Its sessions are loaded again by the hosts that their next turns come to. The
// host comes back empty.
func (w *world) fail(on int32, until int) {
	for i := range w.sessions {
		if w.sessions[i].host == on {
			w.sessions[i].host = -1
		}
	}
	// Uses of sessions that it had are dropped with it.
	w.hosts[on] = host{downTo: until}
}
