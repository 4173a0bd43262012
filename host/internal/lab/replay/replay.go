package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
)

// Turn is one request of the recorded session: what the history counted, in tokens, and what was done to it.
type Turn struct {
	// Turn counts from 1; Entry is the recorded entry that answers the request, from 0.
	Turn  int `json:"turn"`
	Entry int `json:"entry"`
	// Unpruned is what the request would have counted if nothing had ever been done.
	Unpruned int `json:"unpruned"`
	// Before, AfterOptimize and AfterCompress follow the window's steps. A step that did not run changes nothing.
	Before        int `json:"tokensBefore"`
	AfterOptimize int `json:"tokensAfterOptimize"`
	AfterCompress int `json:"tokensAfterCompress"`
	// Boundary: the recorder compacted its history before this turn, and the replay began anew.
	Boundary bool             `json:"boundary,omitempty"`
	Optimize outcome.Optimize `json:"optimize"`
	Compress outcome.Compress `json:"compress"`
	// Ladder are the steps taken because the request was over the hard limit.
	Ladder []outcome.LadderStep `json:"ladder,omitempty"`
	// Stable is the beginning of the request that was sent before.
	Stable outcome.Stable `json:"stable"`
	// Reported is the recorder's own count of the request, 0 if it has none, and Projected is what the host expected the
	// provider to count for what it would have sent.
	Reported  int `json:"reported,omitempty"`
	Projected int `json:"projected"`
	// At is when the recorder sent the request; zero if that is not known.
	At time.Time `json:"at,omitzero"`
	// Overflow says that the request was still too large for the model.
	Overflow   string        `json:"overflow,omitempty"`
	HostTime   time.Duration `json:"hostTimeNs"`
	PluginTime time.Duration `json:"pluginTimeNs"`
}

// Totals add a session's turns up.
type Totals struct {
	Turns int `json:"turns"`
	// Unpruned and Sent are the tokens of all requests together: what was paid for without and with the strategy.
	Unpruned int `json:"unpruned"`
	Sent     int `json:"sent"`
	// PeakUnpruned and Peak are the largest single request.
	PeakUnpruned int `json:"peakUnpruned"`
	Peak         int `json:"peak"`
	// Optimized counts turns in which an Optimize changed something, Compressed those in which a Compress did.
	Optimized  int `json:"optimized"`
	Compressed int `json:"compressed"`
	// Held counts turns in which the cadence held pruning back, Laddered those in which room had to be made under the limit.
	Held       int           `json:"held"`
	Laddered   int           `json:"laddered"`
	Overflows  int           `json:"overflows"`
	Boundaries int           `json:"boundaries"`
	Problems   int           `json:"problems"`
	HostTime   time.Duration `json:"hostTimeNs"`
	PluginTime time.Duration `json:"pluginTimeNs"`
	// LLM is what the strategy's model calls cost; nil if it made none.
	LLM *outcome.Spent `json:"llm,omitempty"`
}

// Add adds the totals of another session.
func (t *Totals) Add(o Totals) {
	t.Turns += o.Turns
	t.Unpruned += o.Unpruned
	t.Sent += o.Sent
	t.PeakUnpruned, t.Peak = max(t.PeakUnpruned, o.PeakUnpruned), max(t.Peak, o.Peak)
	t.Optimized += o.Optimized
	t.Compressed += o.Compressed
	t.Held += o.Held
	t.Laddered += o.Laddered
	t.Overflows += o.Overflows
	t.Boundaries += o.Boundaries
	t.Problems += o.Problems
	t.HostTime += o.HostTime
	t.PluginTime += o.PluginTime
	t.spend(o.LLM)
}

func (t *Totals) spend(s *outcome.Spent) {
	if s == nil {
		return
	}
	if t.LLM == nil {
		t.LLM = &outcome.Spent{}
	}
	t.LLM.Add(*s)
}

// Saved is the share of the tokens that were not sent, in [0, 1].
func (t Totals) Saved() float64 {
	if t.Unpruned == 0 {
		return 0
	}
	return 1 - float64(t.Sent)/float64(t.Unpruned)
}

// Report is what came of one recorded session.
type Report struct {
	Strategy string  `json:"strategy"`
	Entries  int     `json:"entries"`
	Turns    []Turn  `json:"turns"`
	Totals   Totals  `json:"totals"`
	Saved    float64 `json:"saved"`
}

// Options of a replay.
type Options struct {
	// Progress is called after each turn with the number of entries that were replayed. May be nil.
	Progress func(entries, of int)
	// Settings override the host's, by key.
	Settings map[string]any
	// Counted are the transcript's entries, if they were counted before (see [engine.Host.Count]); the zero value counts them.
	Counted *engine.Counted
	// Entry is called after each entry with its id in the session's history, and Turn after each turn with what was prepared.
	// The ids begin anew after a boundary. Either may be nil.
	Entry func(index int, id string)
	Turn  func(Turn, engine.Prepared)
}

// Run replays t through sessions of h. Each time the recorded agent called its model, the window prepares the history as
// it would have for that agent. Where the recorder had compacted its own history, the replay begins a new session with
// what the recorder went on with. A request that stays too large is noted in its turn; any other error ends the replay,
// and what was replayed so far comes back with it.
func Run(ctx context.Context, h *engine.Host, t *transcript.Transcript, o Options) (Report, error) {
	r := runner{host: h, options: o, report: Report{Strategy: h.Config().Settings().Compression.Strategy, Entries: len(t.Entries)}}
	if name, ok := o.Settings["compression.strategy"].(string); ok {
		r.report.Strategy = name
	}
	err := r.run(ctx, t)
	err = errors.Join(err, r.close())
	return r.finish(), err
}

func (r *runner) run(ctx context.Context, t *transcript.Transcript) error {
	o := r.options
	if o.Counted == nil {
		counted, err := r.host.Count(ctx, t.Entries)
		if err != nil {
			return err
		}
		o.Counted = &counted
		r.options.Counted = &counted
	}
	replaced, requests := t.Replaced(), t.Requests()
	for i, c := range t.Entries {
		if r.session == nil || replaced[i] {
			if err := r.begin(); err != nil {
				return err
			}
			if replaced[i] {
				r.report.Totals.Boundaries++
			}
		}
		if len(requests) > 0 && requests[0].Entry == i {
			if err := r.turn(ctx, requests[0]); err != nil {
				return fmt.Errorf("turn %d (before entry %d): %w", len(r.report.Turns)+1, i, err)
			}
			requests = requests[1:]
		}
		if err := check.Content(c); err != nil { // Add would name it "entry 0"
			return fmt.Errorf("entry %d%s: %w: %w", i, line(t, i), engine.ErrInvalidEntry, err)
		}
		r.tasks.Observe(c)
		if _, _, err := r.session.AddCounted(ctx, o.Counted.Slice(i, i+1)); err != nil {
			return fmt.Errorf("entry %d%s: %w", i, line(t, i), err)
		}
		if o.Entry != nil {
			added := r.session.History().Entries
			o.Entry(i, added[len(added)-1].ID)
		}
		r.baseline.Add(o.Counted.Slice(i, i+1))
		if o.Progress != nil {
			o.Progress(i+1, len(t.Entries))
		}
	}
	if len(requests) > 0 { // the one that was never answered
		if err := r.turn(ctx, requests[0]); err != nil {
			return fmt.Errorf("turn %d (at the end): %w", len(r.report.Turns)+1, err)
		}
	}
	return nil
}

// line says where in the file an entry stands, if that is known.
func line(t *transcript.Transcript, entry int) string {
	if entry >= len(t.Lines) {
		return ""
	}
	return fmt.Sprintf(" (line %d)", t.Lines[entry])
}

type runner struct {
	host     *engine.Host
	options  Options
	session  *engine.Session
	report   Report
	baseline *engine.Baseline // everything that was added since the last boundary
	problems int
	tasks    todos.Tracker // of the whole session: the recorder's compactions keep the list
}

func (r *runner) begin() error {
	if err := r.close(); err != nil {
		return err
	}
	s, err := r.host.Session(engine.SessionOptions{Settings: r.options.Settings})
	r.session, r.baseline = s, r.options.Counted.Baseline()
	return err
}

// close ends the session, if there is one. The error is of its transcript.
func (r *runner) close() error {
	if r.session == nil {
		return nil
	}
	r.report.Totals.Problems += r.problems
	r.problems = 0
	s := r.session
	r.session = nil
	return s.Close()
}

func (r *runner) turn(ctx context.Context, request transcript.Request) error {
	if err := r.session.SetTodos(r.tasks.Todos()); err != nil {
		return err
	}
	p, err := r.session.Prepare(ctx, engine.PrepareOptions{At: request.At})
	var overflow *prepare.ContextOverflowError
	if err != nil && !errors.As(err, &overflow) {
		return err
	}
	out, unpruned := p.Outcome, r.baseline.Tokens()
	turn := Turn{
		Turn: len(r.report.Turns) + 1, Entry: request.Entry, Unpruned: unpruned, Boundary: request.Boundary,
		Before: out.TokensBefore, AfterOptimize: out.Optimize.TokensAfter, AfterCompress: out.Tokens,
		Optimize: out.Optimize, Compress: out.Compress,
		Ladder: out.Ladder, Stable: out.Stable, Projected: out.Projected, At: request.At, Reported: request.Reported,
		HostTime: out.HostTime, PluginTime: out.Optimize.PluginTime + out.Compress.PluginTime,
	}
	if turn.Reported > 0 { // the recorder's request was not pruned
		r.session.Calibrate(unpruned, turn.Reported)
	}
	if overflow != nil {
		turn.Overflow = overflow.Error()
	}
	r.problems = len(out.Problems)
	r.report.Turns = append(r.report.Turns, turn)
	if r.options.Turn != nil {
		r.options.Turn(turn, p)
	}
	return nil
}

func (r *runner) finish() Report {
	t := &r.report.Totals
	for _, turn := range r.report.Turns {
		t.Turns++
		t.Unpruned += turn.Unpruned
		t.Sent += turn.AfterCompress
		t.PeakUnpruned = max(t.PeakUnpruned, turn.Unpruned)
		t.Peak = max(t.Peak, turn.AfterCompress)
		if turn.Optimize.Removed+turn.Optimize.Replaced > 0 {
			t.Optimized++
		}
		if turn.Compress.Kind == outcome.KindApplied {
			t.Compressed++
		}
		if turn.Optimize.Held {
			t.Held++
		}
		if len(turn.Ladder) > 0 {
			t.Laddered++
		}
		if turn.Overflow != "" {
			t.Overflows++
		}
		t.HostTime += turn.HostTime
		t.PluginTime += turn.PluginTime
		t.spend(turn.Compress.LLM)
	}
	r.report.Saved = t.Saved()
	return r.report
}
