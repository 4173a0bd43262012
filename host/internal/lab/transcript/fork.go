package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// A request is billed in the session that made it. Forks, checkpoints and resumed sessions repeat the requests of
// another session in a file of their own. A reader marks the entries of which the file says so; [CountOnce] finds the
// others, where it has both files.

const (
	// fromFork is the field of metadata that marks entries which another session made. They are no new turns.
	fromFork = "fromFork"
	// fieldRequest is the field of metadata that holds the id of the request which an entry answers.
	fieldRequest = "request"
)

// copied reports whether another session made an entry.
func copied(c content.Content) bool { return rawjson.Field(c.Metadata, fromFork) != nil }

// fork tells how far a session of Codex repeats the one that it was forked from. Codex copies the parent's records as
// they are, and stamps them anew; the ids of turns and sessions begin with the time at which they were made.
type fork struct {
	id, stamp string // of the first head: it is written with the copies, which may be long after the session began
	copying   bool
	named     bool // its turns have ids that begin with their times
}

// head takes the head of a session. A fork names its parent, or repeats the parent's head behind its own.
func (f *fork) head(payload ordered.Object, stamp string) {
	id := payload.Text("id")
	if f.id == "" {
		f.id, f.stamp = id, stamp
		f.copying = payload.Text("forked_from_id") != ""
		return
	}
	f.copying = f.copying || id != "" && id != f.id
}

// leaves reports whether a record is the first one that the session did not copy.
func (f *fork) leaves(turn, stamp string) bool {
	if !f.copying {
		return false
	}
	if timed(turn) && timed(f.id) {
		f.named, f.copying = true, turn < f.id
	}
	if f.named {
		return !f.copying
	}
	// Older versions have no such ids. No model answers within a second of the fork.
	at, err := time.Parse(time.RFC3339, stamp)
	began, errBegan := time.Parse(time.RFC3339, f.stamp)
	f.copying = err != nil || errBegan != nil || at.Sub(began) <= time.Second
	return !f.copying
}

// timed reports whether an id is a UUID of version 7, which sorts by time.
func timed(id string) bool { return len(id) == 36 && id[14] == '7' }

// noteCopied counts what was copied, in requests.
func (b *builder) noteCopied() {
	n := 0
	before := content.Human
	for _, c := range b.Entries {
		if c.Speaker == content.AI && before != content.AI && copied(c) {
			n++
		}
		if before = c.Speaker; ByProvider(c) {
			before = content.AI
		}
	}
	b.t.noteElsewhere(n)
}

func (t *Transcript) noteElsewhere(n int) {
	if n > 0 {
		t.Elsewhere += n
		t.Notes = append(t.Notes, Note{Entry: -1, Kind: "another session's requests", Message: fmt.Sprintf(
			"%d × request of another session, whose conversation this one repeats: it is counted there alone", n)})
	}
}

// CountOnce leaves each request of several sessions in the one that made it, with a note in the others. Of two sessions
// that begin with the same requests, that is the one which went on first; one that never did is a copy. A replay of the
// others begins where they leave it.
func CountOnce(all []*Transcript) {
	in := map[string]int{} // how many sessions have a request
	for _, t := range all {
		seen := map[string]bool{}
		for _, u := range t.Usage {
			if id := t.identity(u); id != "" && !seen[id] {
				seen[id] = true
				in[id]++
			}
		}
	}
	type session struct {
		*Transcript
		alone time.Time // the first request that no other session has
		all   bool      // there is none
	}
	sessions := make([]session, len(all))
	for i, t := range all {
		sessions[i] = session{Transcript: t, all: true}
		for _, u := range t.Usage {
			if in[t.identity(u)] < 2 {
				sessions[i].alone, _ = Time(t.Entries[u.Entry])
				sessions[i].all = false
				break
			}
		}
	}
	slices.SortStableFunc(sessions, func(a, b session) int {
		if a.all != b.all {
			if a.all {
				return 1
			}
			return -1
		}
		return cmp.Or(a.alone.Compare(b.alone), cmp.Compare(len(b.Usage), len(a.Usage)))
	})
	made := map[string]*Transcript{}
	for _, s := range sessions {
		s.leave(made)
	}
}

// leave takes out the requests that another session made, and notes the others as this one's.
func (t *Transcript) leave(made map[string]*Transcript) {
	var own []Usage
	last := -1 // the last entry before which every request is another session's
	for _, u := range t.Usage {
		id := t.identity(u)
		if by := made[id]; id != "" && by != nil && by != t {
			if len(own) == 0 {
				last = u.Entry
			}
			continue
		}
		if id != "" {
			made[id] = t
		}
		own = append(own, u)
	}
	n := len(t.Usage) - len(own)
	if n == 0 {
		return
	}
	t.noteElsewhere(n)
	end := last + 1
	for end < len(t.Entries) && (len(own) == 0 || t.Entries[end].Speaker == content.AI && last >= 0) {
		end++
	}
	for i := range t.Entries[:end] {
		if !copied(t.Entries[i]) {
			var meta ordered.Builder
			meta.Rest(ordered.Of(t.Entries[i].Metadata))
			meta.Flag(fromFork, true)
			t.Entries[i].Metadata = meta.JSON()
		}
	}
	t.Usage = own
}

// identity returns what tells a request from all others: its id, else when it was answered and what was counted; "" if
// it has no time either.
func (t *Transcript) identity(u Usage) string {
	if u.ID != "" {
		return u.ID
	}
	at, ok := Time(t.Entries[u.Entry])
	if !ok {
		return ""
	}
	return strings.Join([]string{at.UTC().Format(time.RFC3339Nano), u.Model,
		fmt.Sprint(u.PromptTokens, u.CacheRead, u.CacheWrite, u.Output)}, " ")
}
