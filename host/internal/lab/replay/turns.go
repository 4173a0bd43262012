package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/check"
)

// Options of a replay. The zero value replays with the settings of the host and the recording.
type Options struct {
	// Settings override the host's, by key. What neither they nor the configuration say, the recording may: see
	// [Settings].
	Settings map[string]any
	// Progress is called after each entry with the number of entries that were replayed. May be nil.
	Progress func(entries, of int)
}

// Turns replays the recording through sessions of h and yields a turn for each request, after the host prepared the
// history as it would have for the recorded agent. Where the recorder had compacted its own history, the replay goes
// on in a new session with what the recorder went on with.
//
// A request that stays too large is noted in its turn. Any other error ends the replay: it is yielded last, with a
// zero turn. Leaving the loop stops the replay; entries behind the last turn are not added then.
func (r *Recording) Turns(ctx context.Context, h *window.Host, o Options) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		d := driver{Recording: r, host: h, options: o, replaced: r.Transcript.Replaced()}
		stopped, err := d.drive(ctx, yield)
		err = errors.Join(err, d.close())
		if err != nil && !stopped {
			yield(Turn{}, err)
		}
	}
}

// driver is one replay. It is used by one goroutine.
type driver struct {
	*Recording
	host     *window.Host
	options  Options
	replaced map[int]bool // entries before which the recorder's compactions emptied the context

	session *window.Session
	tasks   todos.Tracker // of all sessions: the recorder's compactions keep the list
	next    int           // the entry to be added next
	begun   int           // the entry at which the session began

	turns      int
	sent       bool // a request could be sent: from then on, the provider's cache holds the system prompt
	boundaries int  // since the last turn
	problems   int  // of the session's history at the last turn
	added      []Added
}

// drive replays all of the recording. It reports whether the consumer stopped it. Entries behind the last request
// belong to the session too, so its history ends as the recording does.
func (d *driver) drive(ctx context.Context, yield func(Turn, error) bool) (stopped bool, err error) {
	for _, request := range d.Requests {
		// Before the session of the turn is known: entries may begin a new one.
		if err := d.addUpTo(ctx, request.Entry); err != nil {
			return false, err
		}
		if err := d.begin(ctx); err != nil {
			return false, err
		}
		turn, err := d.turn(ctx, request)
		switch {
		case err != nil && request.Entry == len(d.Transcript.Entries):
			return false, fmt.Errorf("turn %d (at the end): %w", d.turns+1, err)
		case err != nil:
			return false, fmt.Errorf("turn %d (before entry %d): %w", d.turns+1, request.Entry, err)
		}
		d.turns++
		if !yield(turn, nil) {
			return true, nil
		}
	}
	return false, d.addUpTo(ctx, len(d.Transcript.Entries))
}

// addUpTo adds the entries before position to. Entries keep their counts: the recording was counted once for all
// replays of it.
func (d *driver) addUpTo(ctx context.Context, to int) error {
	for d.next < to {
		if err := d.begin(ctx); err != nil {
			return err
		}
		if err := d.add(ctx, d.next); err != nil {
			return fmt.Errorf("entry %d%s: %w", d.next, line(d.Transcript, d.next), err)
		}
		d.next++
		if d.options.Progress != nil {
			d.options.Progress(d.next, len(d.Transcript.Entries))
		}
	}
	return nil
}

// add adds one entry. A replay reads the task list itself, as sessions end at compactions and the list does not.
func (d *driver) add(ctx context.Context, index int) error {
	entry := d.Transcript.Entries[index]
	if len(entry.Blocks) == 0 { // an answer that was aborted before its first block; no provider takes it back
		return nil
	}
	if err := check.Content(entry); err != nil { // Add checks too, but would call it entry 0
		return fmt.Errorf("%w: %w", window.ErrInvalidEntry, err)
	}
	// Before the session sees it: the list is passed to it with the next turn.
	d.tasks.Observe(entry)
	if _, err := d.session.Add(ctx, window.Addition{Counted: d.Counted.Slice(index, index+1),
		Judge: window.Opaque}); err != nil {
		return err
	}
	h, err := d.session.History()
	if err != nil {
		return err
	}
	d.added = append(d.added, Added{Index: index, ID: h.Entries[len(h.Entries)-1].ID})
	return nil
}

// begin begins a new session if the next entry is the first one, or the first one behind a compaction of the recorder.
func (d *driver) begin(ctx context.Context) error {
	compacted := d.next < len(d.Transcript.Entries) && d.replaced[d.next] && (d.session == nil || d.begun != d.next)
	if d.session != nil && !compacted {
		return nil
	}
	if err := d.close(); err != nil {
		return err
	}
	// Settings of the recording, such as the directory, apply to each of its sessions.
	s, err := d.host.Open(window.Opening{Settings: Settings(d.host, d.Transcript,
		d.options.Settings)})
	if err != nil {
		return err
	}
	d.session, d.begun, d.problems = s, d.next, 0
	if compacted {
		d.boundaries++
	}
	return s.SetSystem(ctx, d.Transcript.System...)
}

// close ends the session, if there is one. The error is of writing its transcript log.
func (d *driver) close() error {
	if d.session == nil {
		return nil
	}
	s := d.session
	d.session = nil
	return s.Close()
}

// turn prepares the history for one request and measures what came of it. Sums of tokens include the system prompt,
// which no history holds.
func (d *driver) turn(ctx context.Context, request Request) (Turn, error) {
	if err := d.session.SetTodos(ctx, d.tasks.Todos()); err != nil {
		return Turn{}, err
	}
	// The time is the recorded one, from which follows whether the prompt cache had expired.
	p, err := d.session.Prepare(ctx, window.Sending{At: request.At, Recall: d.session.Config().Settings().Proxy.Recall})
	overflow, ok := errors.AsType[*prepare.ContextOverflowError](err)
	if err != nil && !ok {
		return Turn{}, err
	}
	out := p.Outcome
	// The provider caches the system prompt with the first request that is sent.
	if d.sent {
		out.Stable.Tokens += d.System
	}
	d.sent = d.sent || overflow == nil
	turn := Turn{
		Turn: d.turns + 1, Entry: request.Entry, Unpruned: request.Unpruned, Boundary: request.Boundary,
		Before: d.System + out.TokensBefore, AfterOptimize: d.System + out.Optimize.TokensAfter,
		AfterCompress: d.System + out.Tokens,
		Optimize:      out.Optimize, Compress: out.Compress, Ladder: out.Ladder, Stable: out.Stable,
		Reported: request.Reported, Projected: out.Projected, unpruned: request.Projected, At: request.At,
		HostTime: out.HostTime, PluginTime: out.Optimize.PluginTime + out.Compress.PluginTime,
		From: request.From, Boundaries: d.boundaries, Added: d.added, Prepared: p,
		NewProblems: len(out.Problems) - d.problems,
	}
	d.boundaries, d.problems, d.added = 0, len(out.Problems), nil
	if overflow != nil {
		turn.Overflow = overflow.Error()
	}
	if turn.Reported > 0 {
		// The report is about the recorder's request, which was not pruned, so it is held against the unpruned count.
		if err := d.session.ReportUsage(ctx, turn.Reported, turn.Unpruned); err != nil {
			return Turn{}, err
		}
	}
	return turn, nil
}

// line says where in the file an entry is, if that is known.
func line(t *transcript.Transcript, entry int) string {
	if entry >= len(t.Lines) {
		return ""
	}
	return fmt.Sprintf(" (line %d)", t.Lines[entry])
}
