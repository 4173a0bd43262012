package host

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation. It owns the history: do not change entries that were added, or slices that it returns.
type Session struct{ window *window.Session }

func (s *Session) ID() string { return s.window.ID() }

// State is the size of a history after a change.
type State struct {
	// Revision counts changes of the history, also by strategies.
	Revision uint64
	// Tokens is the count of the whole history.
	Tokens int
}

// Add appends entries, all or none. Each is counted once, in 10 to 120 ms per megabyte. It ends with ctx.
//
// With the setting transcript.dir the entries are in the transcript when Add returns. If it cannot be written, Add
// keeps them for the next attempt, and Prepare and Close fail until that succeeds.
//
// Add never waits for a Prepare: entries added meanwhile follow the history that it produces. An entry that is not well
// formed is refused with an error that wraps [ErrInvalidEntry] and gives its position.
//
// A block of unknown kind is refused too: it is usually misspelt or a provider's own form. [Session.AddOpaque] adds
// such blocks on purpose.
func (s *Session) Add(ctx context.Context, entries ...content.Content) (State, error) {
	return s.AddWith(ctx, AddOptions{}, entries...)
}

// AddOpaque is Add for entries that may have blocks of unknown kinds. No strategy rewrites these, and the outcome names
// those that look like tool calls: the host cannot pair them.
func (s *Session) AddOpaque(ctx context.Context, entries ...content.Content) (State, error) {
	return s.AddWith(ctx, AddOptions{Opaque: true}, entries...)
}

// AddOptions say how entries are added.
type AddOptions struct {
	// Key names the addition. The same key with the same entries adds nothing, and the answer is the one of the first
	// time, also after a restart or on another host of the same store; with other entries the error wraps
	// [ErrKeyReused]. The last 128 keys of a session are remembered. "" is no key.
	Key string
	// Opaque takes blocks of unknown kinds, as [Session.AddOpaque] does.
	Opaque bool
}

// AddWith is Add with options. With a key, the addition can be repeated after an error with [Error.MaybeApplied]: it
// takes place once.
func (s *Session) AddWith(ctx context.Context, o AddOptions, entries ...content.Content) (State, error) {
	add := s.window.AddOnce
	if o.Opaque {
		add = s.window.AddOpaque
	}
	revision, tokens, err := add(ctx, o.Key, entries...)
	return State{revision, tokens}, err
}

// Load appends entries of a stored conversation, to continue it. It refuses nothing: entries that cannot be sent to a
// model are kept in the history, withheld by Prepare, and named in its outcome.
func (s *Session) Load(ctx context.Context, entries ...content.Content) (State, error) {
	revision, tokens, err := s.window.Load(ctx, entries...)
	return State{revision, tokens}, err
}

// SetSystem replaces the system prompt or instructions, text blocks only (else [KindEntry]). No strategy sees it and
// nothing removes it. It counts with the pending tokens of every request, and [Prepared.System] returns it.
func (s *Session) SetSystem(ctx context.Context, blocks ...content.Block) error {
	return s.window.SetSystem(ctx, blocks...)
}

// System returns what [Session.SetSystem] set. It must not be changed.
func (s *Session) System() ([]content.Block, error) {
	return s.window.System()
}

// SystemTokens returns the tokens of the system prompt, which every request has.
func (s *Session) SystemTokens() int { return s.window.SystemTokens() }

// PrepareOptions describe the request that is about to be sent. The zero value is a request of the history alone.
type PrepareOptions struct {
	// PendingTokens is what the request has besides the history and the system prompt set with [Session.SetSystem]:
	// tool schemas, a prompt not added yet, another system prompt.
	PendingTokens int
	// At is when the request is sent; zero is now. The cadence "priced" uses it to tell whether the prompt cache has
	// expired.
	At time.Time
	// Recall says that the model has a tool, thresh_recall, that gives back what was removed. Where a result was shortened,
	// the history then has [thresh_recall: ID], and [Session.Originals] returns the result with that id. Without the setting
	// sessions.store the error wraps [ErrNotStored]. The setting compression.recall says it of every request.
	Recall bool
	// UpTo leaves out what was added after a [Session.Point]; nil leaves out nothing. It is for an agent that adds
	// entries while Prepare runs.
	UpTo *Point
}

// Point is a moment between two additions to a session.
type Point struct{ at history.Point }

// inner is nil, which means now, for nil.
func (p *Point) inner() *history.Point {
	if p == nil {
		return nil
	}
	return &p.at
}

// Point returns the moment after everything that was added so far, for [PrepareOptions].
func (s *Session) Point() (Point, error) {
	at, err := s.window.Point()
	return Point{at}, err
}

// Prepared is a history that is safe to send.
type Prepared struct {
	// History is what to send: every tool response follows its call, and nothing in it is refused by providers. It is
	// nil only if the session is closed, could not be read from the store, or has none for PrepareOptions.Recall.
	History []content.Content
	// Tokens is the count of History.
	Tokens int
	// System is what [Session.SetSystem] set, to be sent before the history.
	System []content.Block
	// Revision is the revision of the session's history that this was made from.
	Revision uint64
	// Unchanged is how many entries at the beginning of History are the previous Prepared's, with the revision
	// UnchangedSince: an agent need only convert what follows. Both are 0 for the first.
	Unchanged      int
	UnchangedSince uint64
	// Outcome says what was done.
	Outcome outcome.Outcome
}

// Prepare makes the history fit the model and returns it. It prunes if something was added, compresses above the
// threshold, and checks the hard limit. Call it before every model call. It takes as long as the strategy, which may
// call a model; plugins.optimizeTimeout, plugins.compressTimeout and ctx bound that.
//
// After an error the history is valid, and Prepared holds it as it is. [KindOverflow] says that everything was tried
// and the request is still too large. No other strategy is tried in place of one that failed. If it fails
// again in the next turns, they go on without it: Outcome.Warnings says so, and Outcome.Ladder what was removed to fit.
func (s *Session) Prepare(ctx context.Context, o PrepareOptions) (Prepared, error) {
	if o.Recall {
		if _, err := s.window.Marks(ctx); err != nil {
			return Prepared{}, err
		}
	}
	ready, err := s.window.Prepare(ctx, window.Sending{Pending: o.PendingTokens, At: o.At, Recall: o.Recall,
		UpTo: o.UpTo.inner()})
	return Prepared{
		History: ready.Contents(), Tokens: ready.Tokens, System: ready.System, Revision: ready.Revision,
		Unchanged: ready.Unchanged, UnchangedSince: ready.UnchangedSince, Outcome: ready.Outcome,
	}, err
}

// Compress compresses the history now, regardless of the threshold. If there is nothing to compress, the outcome says
// so.
func (s *Session) Compress(ctx context.Context) (outcome.Outcome, error) {
	return s.CompressUpTo(ctx, nil)
}

// CompressUpTo is Compress for what was added up to a point; nil is now.
func (s *Session) CompressUpTo(ctx context.Context, m *Point) (outcome.Outcome, error) {
	return s.window.Compress(ctx, m.inner())
}

// ReportUsage takes the prompt tokens, cached ones included, that the provider reported for the last Prepare's request.
// Later threshold checks go by them. After an error the report is lost, and later ones teach the same.
func (s *Session) ReportUsage(ctx context.Context, promptTokens int) error {
	return s.window.ReportUsage(ctx, promptTokens)
}

// SetTodos replaces the agent's task list. Strategies that summarise are told the unfinished tasks, and why each exists
// is kept. Until it is called, the session reads the list from calls of known tools.
func (s *Session) SetTodos(ctx context.Context, list []sdk.Todo) error {
	return s.window.SetTodos(ctx, list)
}

// Set overrides one setting for this session, from the next Prepare on, with a value of its type or its text form
// ("0.5"); nil removes the override. Settings of the whole host are refused with [ErrFixed], and so is another token
// encoding once something was added.
func (s *Session) Set(ctx context.Context, key string, value any) error {
	return s.window.Set(ctx, key, value)
}

// Config returns the configuration in force for this session.
func (s *Session) Config() *config.Config { return s.window.Config() }

// History is a history at one moment.
type History struct {
	Entries []content.Content
	State
}

// History returns the owned history as it is now, including what is not sent to a model. With sessions.maxMemory, this
// and all that reads a session may have to read it from the store, and fails if the store does.
func (s *Session) History() (History, error) { return s.HistoryAt(nil) }

// Refresh takes in what other hosts of the same store have written. Everything that changes a session does so by
// itself; [Session.HistoryAt] and [Session.Size] do not, as they wait for nothing. It is for a request that was made at
// the moment upTo (nil is now), and returns the point to read the history at: what others added before is seen.
func (s *Session) Refresh(ctx context.Context, upTo *Point) (*Point, error) {
	at, err := s.window.Refresh(ctx, upTo.inner())
	if at == nil {
		return nil, err
	}
	return &Point{*at}, err
}

// HistoryAt is History without what was added after a point; nil is now.
func (s *Session) HistoryAt(m *Point) (History, error) {
	h, err := s.window.HistoryAt(m.inner())
	if err != nil {
		return History{}, err
	}
	return History{h.Contents(), State{h.Revision, h.Tokens}}, nil
}

// Size is the size of a history at one moment.
type Size struct {
	State
	// Entries is how many entries it has.
	Entries int
}

// Size returns the size of the owned history without what was added after a point; nil is now. It copies nothing.
func (s *Session) Size(m *Point) (Size, error) {
	revision, tokens, entries, err := s.window.Size(m.inner())
	return Size{State{revision, tokens}, entries}, err
}

// Originals returns what was added under an id, before any strategy changed it: the entry, for the id of a mark the result
// alone, or for a tool call's id the entries with the call and its responses.
//
// It reads the transcript or else the store; the id of a mark needs the store: without the settings transcript.dir and sessions.store the error wraps
// [ErrNoTranscript]. If nothing has the id it wraps [ErrNotRecorded].
func (s *Session) Originals(ctx context.Context, id string) ([]content.Content, error) {
	return s.window.Originals(ctx, id)
}

// Explain returns what became of the entry with an id, as outcomes name it, or of the entries with the tool call that
// has it; "" is all entries. Changes are in the order in which they were made, also those of an earlier program. It
// reads the store: without the setting sessions.store the error wraps [ErrNotStored].
func (s *Session) Explain(ctx context.Context, id string) ([]outcome.Logged, error) {
	return s.window.Explain(ctx, id)
}

// TranscriptPath returns the file that every added entry is written to; "" without the setting transcript.dir.
func (s *Session) TranscriptPath() string { return s.window.TranscriptPath() }

// Closed reports whether the session was closed or deleted, or a method panicked; it can then be opened again.
func (s *Session) Closed() bool { return s.window.Closed() }

// Close closes the session; a Prepare in progress fails with [ErrClosed]. If the transcript could not be written, the
// error says how many entries it lacks, and the session stays open: call Close again when there is room.
func (s *Session) Close() error { return s.window.Close() }
