package host

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Outcome says what one turn did to the history.
type Outcome = outcome.Outcome

// Todo is one task of the agent's task list.
type Todo = sdk.Todo

// Session is one conversation. It owns the history: entries that were added, and slices that it returns, must not be
// changed.
type Session struct{ engine *engine.Session }

// ID returns the session's id.
func (s *Session) ID() string { return s.engine.ID() }

// State is the size of a history after a change.
type State struct {
	// Revision counts changes of the history, those that strategies make included.
	Revision uint64
	// Tokens is the count of the whole history.
	Tokens int
}

// Add appends entries, all or none. Each is counted here, once: that takes 10 to 120 ms per megabyte, and ends with
// ctx.
//
// With the setting transcript.dir the entries are in the transcript when Add returns. If it cannot be written, Add
// keeps them for the next attempt, and Prepare and Close fail until that succeeds.
//
// Add never waits for a Prepare: entries added while one runs come after the history that the Prepare produces. An
// entry that is not well formed is refused with an error that wraps [ErrInvalidEntry] and gives its position among
// entries.
//
// A block of a kind that the host does not know is refused too: it is usually a misspelt kind or a provider's own form.
// Entries that hold such blocks on purpose are added with [Session.AddOpaque].
func (s *Session) Add(ctx context.Context, entries ...content.Content) (State, error) {
	revision, tokens, err := s.engine.Add(ctx, entries...)
	return State{revision, tokens}, classify(err)
}

// AddOpaque is Add for entries that may hold blocks of kinds that the host does not know. It carries these as they are,
// no strategy rewrites them, and [Outcome] names those that look like tool calls: the host cannot pair them.
func (s *Session) AddOpaque(ctx context.Context, entries ...content.Content) (State, error) {
	revision, tokens, err := s.engine.AddOpaque(ctx, entries...)
	return State{revision, tokens}, classify(err)
}

// AddOptions say how entries are added.
type AddOptions = engine.AddOptions

// AddWith is Add with options. With a key, the same addition can be asked for again after an error whose outcome is not
// known ([Error.MaybeApplied]): it takes place once.
func (s *Session) AddWith(ctx context.Context, o AddOptions, entries ...content.Content) (State, error) {
	revision, tokens, err := s.engine.AddWith(ctx, o, entries...)
	return State{revision, tokens}, classify(err)
}

// Load appends entries of a stored conversation, to continue it. Unlike Add it refuses nothing: entries that cannot
// be sent to a model are kept in the history, withheld by Prepare, and named in its outcome.
func (s *Session) Load(ctx context.Context, entries ...content.Content) (State, error) {
	revision, tokens, err := s.engine.Load(ctx, entries...)
	return State{revision, tokens}, classify(err)
}

// SetSystem sets what the provider takes as system prompt or instructions before the history; it replaces what was set
// before. It is kept separate from the history: no strategy sees it and nothing removes it, it counts with the pending
// tokens of every request, and [Prepared.System] returns it. It has blocks of text only; others are refused with an
// error of [KindEntry].
func (s *Session) SetSystem(ctx context.Context, blocks ...content.Block) error {
	return classify(s.engine.SetSystem(ctx, blocks...))
}

// System returns what [Session.SetSystem] set. It must not be changed.
func (s *Session) System() []content.Block { return s.engine.System() }

// SystemTokens returns what the system prompt counts, in tokens. Every request holds it.
func (s *Session) SystemTokens() int { return s.engine.SystemTokens() }

// PrepareOptions describe the request that is about to be sent. The zero value is a request of the history alone.
type PrepareOptions struct {
	// PendingTokens is what the request holds in addition to the history and to what [Session.SetSystem] set: tool
	// schemas, a prompt that is not added yet, a system prompt that the session was not given.
	PendingTokens int
	// At is when the request is sent; zero is now. The cadence "priced" compares it with the previous request to tell
	// whether the provider's prompt cache has expired.
	At time.Time
	// UpTo leaves out what was added after it, as [Session.Mark] returned it; nil leaves out nothing. It is for an
	// agent that runs Prepare in the background and goes on to add entries.
	UpTo *Mark
}

// Mark is a moment between two additions to a session.
type Mark = history.Mark

// Mark returns the moment after everything that was added so far, for [PrepareOptions].
func (s *Session) Mark() Mark { return s.engine.Mark() }

// Prepared is a history that is safe to send.
type Prepared struct {
	// History is what to send: every tool response follows its call, and it holds nothing that a provider refuses. It
	// is nil only if the session is closed.
	History []content.Content
	// Tokens is the count of History.
	Tokens int
	// System is to be sent before the history: what [Session.SetSystem] set.
	System []content.Block
	// Revision is that of the session's history that this was made from.
	Revision uint64
	// Unchanged is how many entries at the beginning of History are those of the Prepared before this one, which had
	// the revision UnchangedSince. An agent that converts entries into messages need convert only what follows. Both
	// are 0 for the first.
	Unchanged      int
	UnchangedSince uint64
	// Outcome says what was done.
	Outcome Outcome
}

// Prepare makes the history fit the model and returns it. It prunes if something was added, compresses above the
// threshold, and checks the hard limit. Call it before every model call. It takes as long as the strategy needs,
// which may call a model; the settings plugins.optimizeTimeout and plugins.compressTimeout bound that, and ctx ends
// it.
//
// After an error the history is valid, and Prepared holds it as it is. [KindOverflow] says that everything was tried
// and the request is still too large. No other strategy is tried in place of one that failed (REQ-HD-013).
func (s *Session) Prepare(ctx context.Context, o PrepareOptions) (Prepared, error) {
	ready, err := s.engine.Prepare(ctx, engine.PrepareOptions(o))
	return Prepared(ready), classify(err)
}

// Compress compresses the history now, regardless of the threshold. A strategy that has nothing to compress is not an
// error: the outcome then says so.
func (s *Session) Compress(ctx context.Context) (Outcome, error) {
	return s.CompressUpTo(ctx, nil)
}

// CompressUpTo is Compress for what was added up to a mark; nil is now.
func (s *Session) CompressUpTo(ctx context.Context, m *Mark) (Outcome, error) {
	out, err := s.engine.Compress(ctx, m)
	return out, classify(err)
}

// ReportUsage takes the number of prompt tokens that the provider reported for the request made from the last
// Prepare, cached ones included. Later threshold checks are based on it, so that they go by the provider's count and
// not only by the host's.
func (s *Session) ReportUsage(promptTokens int) { s.engine.ReportUsage(promptTokens) }

// SetTodos tells the session the agent's task list, which replaces the one before. Strategies that summarise are told
// the unfinished tasks, so that a summary keeps why each exists (REQ-HD-011). Until it is called, the session reads the
// list from calls of known tools.
func (s *Session) SetTodos(list []Todo) error { return classify(s.engine.SetTodos(list)) }

// Set overrides one setting for this session, from the next Prepare on. The value has the setting's type, or is its
// text form ("0.5"); nil removes the override. Settings of the whole host are refused with [ErrFixed], and so is
// another token encoding once something was added.
func (s *Session) Set(key string, value any) error { return classify(s.engine.Set(key, value)) }

// Config returns the configuration in force for this session.
func (s *Session) Config() *config.Config { return s.engine.Config() }

// History is a history at one moment.
type History struct {
	Entries []content.Content
	State
}

// History returns the owned history as it is now, including what is not sent to a model.
func (s *Session) History() History { return s.HistoryAt(nil) }

// Refresh takes in what other hosts of the same store have written. Everything that changes a session does so by
// itself; [Session.HistoryAt] and [Session.Size] do not, as they wait for nothing. It is for a request that was made at
// the moment upTo (nil is now), and returns the mark to read the history at: what others added before is seen.
func (s *Session) Refresh(ctx context.Context, upTo *Mark) (*Mark, error) {
	upTo, err := s.engine.Refresh(ctx, upTo)
	return upTo, classify(err)
}

// HistoryAt is History without what was added after a mark; nil is now.
func (s *Session) HistoryAt(m *Mark) History {
	h := s.engine.HistoryAt(m)
	return History{h.Contents(), State{h.Revision, h.Tokens}}
}

// Size is the size of a history at one moment.
type Size struct {
	State
	// Entries is how many entries it has.
	Entries int
}

// Size returns the size of the owned history without what was added after a mark; nil is now. It copies nothing, so
// that it is cheap however long the history is.
func (s *Session) Size(m *Mark) Size {
	revision, tokens, entries := s.engine.Size(m)
	return Size{State{revision, tokens}, entries}
}

// Originals returns what was added under an id, before any strategy changed it. The id is that of an
// entry, as outcomes name it, or that of a tool call, which returns the entries with the call and its responses.
//
// It reads the transcript, so it needs the setting transcript.dir: without it the error wraps [ErrNoTranscript]. If
// nothing has the id it wraps [ErrNotRecorded].
func (s *Session) Originals(ctx context.Context, id string) ([]content.Content, error) {
	entries, err := s.engine.Originals(ctx, id)
	return entries, classify(err)
}

// Change is what a strategy, or the ladder, did to one entry, with when: the revision of the session's log.
type Change = engine.Change

// Explain returns what became of the entry with an id, as outcomes name it, or of the entries with the tool call that
// has it; "" is all entries. Changes are in the order in which they were made, also those of an earlier program. It
// reads the store: without the setting sessions.store the error wraps [ErrNotStored].
func (s *Session) Explain(ctx context.Context, id string) ([]Change, error) {
	changes, err := s.engine.Explain(ctx, id)
	return changes, classify(err)
}

// TranscriptPath returns the file that every added entry is written to; "" without the setting transcript.dir.
func (s *Session) TranscriptPath() string { return s.engine.TranscriptPath() }

// Closed says that the session has ended: it was closed or deleted, or a method panicked and it can be opened again.
func (s *Session) Closed() bool { return s.engine.Closed() }

// Close closes the session; a Prepare in progress fails with [ErrClosed]. An error means that the transcript could not
// be written and names how many entries it lacks. The session then stays open, and Close can be called again when
// there is room.
func (s *Session) Close() error { return classify(s.engine.Close()) }
