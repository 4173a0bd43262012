package mutants

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// strategy shortens long results, and when the history is full, drops old exchanges.
type strategy struct {
	fault string
	// The state of those that should have none.
	calls   atomic.Int64
	first   atomic.Pointer[settings]
	current atomic.Pointer[[]sdk.Content]
	seen    sync.Map // ids of calls
}

// compressor is a strategy without an Optimize.
type compressor strategy

func (c *compressor) Info() sdk.Info {
	i := (*strategy)(c).Info()
	i.Trigger = sdk.Threshold(0.8)
	return i
}

func (c *compressor) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	return (*strategy)(c).Compress(ctx, host, in)
}

type settings struct {
	Head int `json:"head"`
}

func (s *strategy) is(faults ...string) bool { return slices.Contains(faults, s.fault) }

func (s *strategy) Info() sdk.Info {
	return sdk.Info{Name: s.fault, Version: "1.0.0", Trigger: sdk.Continuous(0.8),
		RequiresLLM: s.is("asks-beyond-the-window", "swallows-failures"),
		Config: []sdk.ConfigField{
			{Key: "head", Type: sdk.Integer, Default: 10, Minimum: new(1.0), Maximum: new(20.0)},
		}}
}

func (s *strategy) settings(c sdk.Config) (settings, error) {
	set := settings{Head: 10}
	err := c.Decode(&set)
	if s.is("keeps-its-first-settings", "keeps-its-first-settings-in-compress") && err == nil {
		s.first.CompareAndSwap(nil, &set)
		return *s.first.Load(), nil
	}
	return set, err
}

// Optimize leaves of each long result its beginning and its end, and of words that lead nowhere nothing.
func (s *strategy) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	set, err := s.settings(in.Config)
	if err != nil {
		return sdk.DensityResult{}, err
	}
	if s.idles(in) {
		return sdk.DensityResult{}, nil
	}
	if s.is("trusts-its-memo") {
		return trusting(in), nil
	}
	history := in.History
	if s.is("mixes-up-calls") {
		history = s.shared(history)
	}
	out := sdk.DensityResult{Replacements: map[int]sdk.Content{}}
	for i, e := range history {
		if s.removes(e) {
			out.Removals = append(out.Removals, i)
			if s.is("never-done") {
				break
			}
		} else if changed, ok := s.edited(e, set, s.is("counts-wrong-in-compress")); ok {
			out.Replacements[i] = changed
		}
	}
	return out, nil
}

// removes reports whether an entry goes: one of the AI that holds only words.
func (s *strategy) removes(e sdk.Content) bool {
	if e.Pinned() {
		return s.is("prunes-pinned") && e.Speaker == sdk.AI && !calls(e)
	}
	switch s.fault {
	case "removes-people":
		return e.Speaker == sdk.Human
	case "drops-calls":
		return e.Speaker == sdk.AI && calls(e)
	case "drops-results":
		return e.Speaker == sdk.Tool
	case "drops-unknown-blocks":
		if slices.ContainsFunc(e.Blocks, func(b sdk.Block) bool { _, ok := b.(sdk.Opaque); return ok }) {
			return true
		}
	}
	if s.is("trips-over-empty-entries") && e.Speaker == sdk.Tool {
		_ = e.Blocks[0]
	}
	return e.Speaker == sdk.AI && len(e.Blocks) > 0 && !slices.ContainsFunc(e.Blocks, func(b sdk.Block) bool {
		_, ok := b.(sdk.Text)
		return !ok
	})
}

func calls(e sdk.Content) bool {
	return slices.ContainsFunc(e.Blocks, func(b sdk.Block) bool { _, ok := b.(sdk.ToolCall); return ok })
}

// edited returns an entry with its long results shortened. honestly leaves the fault out.
func (s *strategy) edited(e sdk.Content, set settings, honestly bool) (sdk.Content, bool) {
	if e.Pinned() {
		return e, false
	}
	changed := false
	for j, b := range e.Blocks {
		now, ok := s.shortened(b, set.Head, honestly)
		if !honestly {
			if lie, lied := s.falsified(e.Speaker, b); lied {
				now, ok = lie, true
			}
		}
		if !ok {
			continue
		}
		if !changed {
			e.Blocks = slices.Clone(e.Blocks)
			changed = true
		}
		e.Blocks[j] = now
	}
	return e, changed
}

// shortened returns a long result without its middle. One that failed stays, and so does a line of which an earlier pass
// left parts.
func (s *strategy) shortened(b sdk.Block, head int, honestly bool) (sdk.Block, bool) {
	const least = 40
	tail := 10
	r, ok := b.(sdk.ToolResponse)
	if !ok || len(r.Result) == 0 || r.Result[0] != '"' || r.Failed() {
		return b, false
	}
	lines := strings.SplitAfter(r.ResultText(), "\n")
	if s.is("keeps-two-lines-of-each-end") {
		head, tail = 2, 3
	} else if failing(lines) {
		return b, false
	}
	if len(lines) <= least {
		return b, false
	}
	behind := len(lines) - tail
	for torn(lines, head) && !s.is("tears-cut-lines") {
		head++
	}
	for torn(lines, behind) && !s.is("tears-cut-lines") {
		behind--
	}
	omitted := marks.LinesIn(strings.Join(lines[head:behind], ""))
	switch {
	case s.is("counts-marks-as-lines"):
		omitted = behind - head
	case honestly:
	case s.is("counts-one-too-many", "counts-wrong-in-compress"):
		omitted++
	case s.is("counts-seven-too-many"):
		omitted += 7
	}
	return r.WithResultText(strings.Join(lines[:head], "") + marks.Omitted(omitted) + strings.Join(lines[behind:], "")), true
}

// torn reports whether parts of one line are before and behind a place.
func torn(lines []string, at int) bool {
	before, _ := marks.Joins(lines[at])
	_, behind := marks.Joins(lines[at-1])
	return before || behind
}

func failing(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "Exit code")
	})
}

// Compress drops the older half of the exchanges, but nothing of people, and nothing pinned.
func (s *strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	set, err := s.settings(in.Config)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	if s.remembers(in.History) {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	if s.is("ignores-pending-tokens") && in.CurrentTokens <= in.ContextLimit/2 {
		return sdk.NoOp(sdk.NoOpAlreadyUnderTarget), nil
	}
	asked, err := s.ask(ctx, host, in)
	if err != nil && s.is("swallows-failures") {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	} else if err != nil {
		return sdk.CompressResult{}, err
	}
	kept, people := s.kept(in.History, set)
	if kept = s.answer(in.History, kept); len(kept) == 0 || kept == nil {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	counts, err := host.EstimateTokens(ctx, kept)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	tokens := 0
	for _, n := range counts {
		tokens += n
	}
	if tokens >= in.CurrentTokens && !s.is("achieves-nothing", "repeats-an-entry", "repeats-a-person", "speaks-as-a-person") {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	m := sdk.CompressMetadata{LLMCallMade: asked, TargetMissed: float64(tokens) > in.Target() && !s.is("hides-that-it-missed")}
	if people > 0 && !s.is("drops-people-silently") {
		m.Counts = map[string]int64{"userMessagesDropped": int64(people)}
	}
	return sdk.Applied(kept, m), nil
}

// kept returns what stays of a history, and how many entries of people do not.
func (s *strategy) kept(history []sdk.Content, set settings) (kept []sdk.Content, people int) {
	newest := -1
	for i, e := range history {
		if e.Speaker == sdk.Human && e.HasContent() {
			newest = i
		}
	}
	goes := make([]bool, len(history))
	exchanges := turns.Exchanges(history, nil)
	for k, x := range exchanges {
		old := k < len(exchanges)/2 && x.Last() < len(history)-2 && !slices.ContainsFunc(x.Entries, func(i int) bool {
			e := history[i]
			return e.Speaker == sdk.Human || e.Pinned() && !s.is("compresses-pinned") ||
				slices.ContainsFunc(e.Blocks, func(b sdk.Block) bool { _, ok := b.(sdk.Opaque); return ok })
		})
		for _, i := range x.Entries {
			goes[i] = old
		}
	}
	if s.is("achieves-nothing") {
		clear(goes)
	}
	for i, e := range history {
		if s.is("trips-over-empty-entries-in-compress") && e.Speaker == sdk.Tool {
			_ = e.Blocks[0]
		}
		person := e.Speaker == sdk.Human && !e.Pinned() && e.HasContent()
		switch {
		case s.is("parts-pairs-in-compress") && goes[i] && e.Speaker == sdk.Tool:
		case person && (s.is("drops-people-silently") && i%2 == 0 && i != newest || s.is("drops-the-newest-person") && i == newest):
			people++
			continue
		case goes[i]:
			continue
		}
		if !s.is("achieves-nothing") {
			e, _ = s.edited(e, set, !s.is("counts-wrong-in-compress"))
		}
		kept = append(kept, e)
	}
	return kept, people
}
