package api

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Host has sessions and plugins. S is its kind of session. It is safe for concurrent use. Every error is an [*Error].
type Host[S Session] interface {
	// Info says what the host can do. It starts no plugin.
	Info(context.Context) (Info, error)
	// Open opens a session. A known id continues where it was, with its settings and its system prompt, even after a
	// crash; [Session.State] says where that is.
	Open(context.Context, OpenRequest) (S, error)
	// Sessions returns a page of an owner's sessions, by id.
	Sessions(context.Context, ListRequest) (ListAnswer, error)
	// Watch reports the turns of an owner's sessions while they happen, until ctx ends or the loop is left. The first
	// event has no session: the watch has begun. An error is the last thing that it yields.
	Watch(context.Context, WatchRequest) iter.Seq2[Event, error]
	// Delete closes a session, if it is open, and deletes what is kept of it.
	Delete(context.Context, Of) error
	// Count counts entries as a session would, and adds nothing.
	Count(context.Context, CountRequest) (CountAnswer, error)
	// Plugins describes every plugin found, broken ones with the reason. It starts those that do not run.
	Plugins(context.Context) (PluginsAnswer, error)
	// ResetPlugin takes a plugin out of quarantine, its state after too many crashes (plugins.maxCrashes).
	ResetPlugin(context.Context, ResetRequest) (ResetAnswer, error)
	// LockPlugins starts plugins and records in the lock file (plugins.lockFile) which files they are.
	LockPlugins(context.Context, LockRequest) (LockAnswer, error)
}

// Info is what this thresh can do. Strategies are those whose plugins were found by name. Methods, Limits and Owner are a
// door's.
type Info struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Methods    []string `json:"methods"`
	Strategies []string `json:"strategies" jsonschema:"those whose plugins were found"`
	Limits     Limits   `json:"limits"`
	Owner      string   `json:"owner,omitempty" jsonschema:"the name of the access token"`
}

// Limits apply to a connection, or to an access token. Unanswered is 0 where there is no limit.
type Limits struct {
	RequestBytes int `json:"requestBytes" jsonschema:"the largest request"`
	Unanswered   int `json:"unanswered,omitempty"`
}

// OpenRequest describes a session. The zero value is a new one with a random id and the host's settings. System is as in
// [SystemRequest]; nil keeps a reopened session's.
type OpenRequest struct {
	// Owner is as in [Of]. Others' sessions than the local user's set only what an access token may:
	// docs/configuration.md.
	Owner string `json:"-"`
	// Existing opens only a session that is kept. A host that is served does not have it.
	Existing bool            `json:"-"`
	ID       string          `json:"id,omitempty" jsonschema:"at most 512 bytes; random if absent"`
	Settings map[string]any  `json:"settings,omitempty" jsonschema:"by key, over those of the host"`
	System   json.RawMessage `json:"system,omitempty" jsonschema:"absent leaves the one it has"`
}

// About is the id of the session; "" for a random one.
func (r OpenRequest) About() string { return r.ID }

// OpenAnswer has the session's id and the size of its history, which is not empty if the session was kept.
type OpenAnswer struct {
	Session  string `json:"session"`
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
	Entries  int    `json:"entries"`
}

// ListRequest asks for a page of an owner's sessions.
type ListRequest struct {
	Owner string `json:"-"` // as in [Of]
	After string `json:"after,omitempty" jsonschema:"only ids that follow this one: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many; 100 if absent"`
}

// ListAnswer is a page, in the order of the ids. Sessions is never null.
type ListAnswer struct {
	Sessions []Listed `json:"sessions"`
	More     bool     `json:"more" jsonschema:"there is another page"`
}

// Listed is a session in a list. One that is open and not stored has no times and no bytes.
type Listed struct {
	Session string    `json:"session"`
	Entries int       `json:"entries"`
	Tokens  int       `json:"tokens"`
	Created time.Time `json:"created,omitzero"`
	Used    time.Time `json:"used,omitzero" jsonschema:"when something was last written"`
	Bytes   int64     `json:"bytes,omitempty" jsonschema:"what it takes in the store"`
}

// WatchRequest names a session; "" is all that the owner has.
type WatchRequest struct {
	Owner   string `json:"-"` // as in [Of]
	Session string `json:"session,omitempty" jsonschema:"absent for all sessions of the token"`
}

// About is the id of the session; "" for all.
func (r WatchRequest) About() string { return r.Session }

// Event is a turn of a session, for those that watch. A client that had to watch again, because the connection broke,
// yields another one without a session: turns before it are missing.
type Event struct {
	Session  string `json:"session,omitempty" jsonschema:"absent in the first line of a watch"`
	Method   string `json:"method,omitempty" jsonschema:"prepare or compress"`
	Revision uint64 `json:"revision,omitempty"`
	Tokens   int    `json:"tokens,omitempty"`
	// Pending is what the request holds besides the history, in tokens.
	Pending int             `json:"pendingTokens,omitempty"`
	Outcome outcome.Outcome `json:"outcome,omitzero" jsonschema:"what was done"`
	// Error is nil if the turn did not fail.
	Error *Error `json:"error,omitempty" jsonschema:"why the turn failed"`
	// Missed is how many events were dropped before this one, because the watcher did not read them in time.
	Missed int `json:"missed,omitempty" jsonschema:"turns before this one that were not read in time"`
}

// CountRequest has entries that belong to no session: the host's own settings decide how they are counted.
type CountRequest struct {
	Entries []content.Content `json:"entries" jsonschema:"in the entry format"`
}

// CountAnswer has the tokens of each entry, in order; Each is never null.
type CountAnswer struct {
	Tokens int   `json:"tokens"`
	Each   []int `json:"each"`
}

// PluginsAnswer has broken plugins too, with their state and the reason.
type PluginsAnswer struct {
	Plugins []outcome.Plugin `json:"plugins" jsonschema:"as thresh plugins list -o json prints them"`
}

// ResetRequest names a strategy, as the list of plugins shows it.
type ResetRequest struct {
	Name string `json:"name" jsonschema:"the strategy"`
}

// ResetAnswer has false if the plugin was never started: there is nothing to forget.
type ResetAnswer struct {
	Reset bool `json:"reset" jsonschema:"false if it was never started"`
}

// LockRequest names strategies; none is all of them.
type LockRequest struct {
	Names []string `json:"names,omitempty" jsonschema:"strategies; absent for all"`
}

// LockAnswer has the locked strategies, sorted. With an error it has those that were locked all the same.
type LockAnswer struct {
	Names []string `json:"names"`
}
