package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// model is the model that strategies with requires_llm are told about. No real model is behind it; see
// [conform.Snapshot].
var model = sdk.Model{Name: "scripted", ContextLimit: 64_000, MaxOutput: 8_000}

// services implements the host services that a strategy can call during a Compress. The zero value answers correctly
// and without delay; the fields make it slow, wrong or broken. Set them before use: methods run concurrently, on
// goroutines of the gRPC server, and only the tally may change meanwhile.
type services struct {
	// 0 answers at once.
	delay  time.Duration // before each answer, and between the pieces of a generated text
	prompt string        // "": the scripted one
	text   string        // what the model answers; "": the scripted answer
	extra  int           // tokens added to every count; makes counts absurd but consistent
	// hold, if not nil, blocks every model call until it is closed or the call is cancelled. reached gets one
	// element, if it has room, whenever a call starts to wait.
	hold, reached chan struct{}

	// Returned by the three services instead of an answer; nil: the service works.
	estimateErr, generateErr, promptErr error
	// breakOff makes a model call fail with generateErr after two lines of the answer, as a broken stream does.
	breakOff bool

	tally tally

	mu   sync.Mutex
	over []*check.Error // requests that the model's window has no room for
}

// beyond are the requests that the model's window has no room for.
func (s *services) beyond() []*check.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.over)
}

// tally counts the requests of a strategy. It is atomic, since checks read it while the plugin is still running.
type tally struct {
	estimates, generations, prompts atomic.Int64
	failures                        atomic.Int64 // of them, those that failed
	open                            atomic.Int64 // generations that the strategy waits for
}

// total returns the number of requests so far. The parts are read one after the other; a caller only compares totals.
func (t *tally) total() int64 {
	return t.estimates.Load() + t.generations.Load() + t.prompts.Load()
}

func (t *tally) failed(err error) error {
	t.failures.Add(1)
	return err
}

func (t *tally) String() string {
	return fmt.Sprintf(
		"%d counts, %d generations, %d prompts", t.estimates.Load(), t.generations.Load(), t.prompts.Load())
}

var _ sdk.Host = (*services)(nil)

// EstimateTokens counts with the function tokens, so the counts agree with those in the request.
func (s *services) EstimateTokens(ctx context.Context, entries []sdk.Content) ([]int, error) {
	s.tally.estimates.Add(1)
	if err := pause(ctx, s.delay); err != nil {
		return nil, err
	}
	if s.estimateErr != nil {
		return nil, s.tally.failed(s.estimateErr)
	}
	counts := make([]int, len(entries))
	for i, e := range entries {
		counts[i] = tokens(e) + s.extra
	}
	return counts, nil
}

// Generate streams the scripted answer line by line. What was asked is ignored, except for its size. An open call is
// counted in tally.open until the plugin cancels it or the answer is complete.
func (s *services) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	s.tally.generations.Add(1)
	// Before the wait: a call that was held and never cancelled is what [ready.stillWaits] looks for.
	s.tally.open.Add(1)
	defer s.tally.open.Add(-1)
	if s.hold != nil {
		note(s.reached)
		select {
		case <-s.hold:
		case <-ctx.Done():
			return sdk.Completion{}, ctx.Err()
		}
	}
	if s.generateErr != nil && !s.breakOff {
		return sdk.Completion{}, s.tally.failed(s.generateErr)
	}
	in := tokens(sdk.Content{Blocks: []sdk.Block{sdk.Text{Text: req.System}}})
	for _, e := range req.Entries {
		in += tokens(e)
	}
	if e := conform.Window(in, req, model); e != nil {
		s.mu.Lock()
		s.over = append(s.over, e)
		s.mu.Unlock()
	}
	answer := cmp.Or(s.text, conform.Snapshot)
	sent := 0
	for line := range strings.Lines(answer) {
		// Also with no delay, so a cancelled call ends here as it would with a real model.
		if err := pause(ctx, s.delay); err != nil {
			return sdk.Completion{}, err
		}
		onText(line)
		sent++
		if s.breakOff && sent == 2 {
			return sdk.Completion{}, s.tally.failed(s.generateErr)
		}
	}
	return sdk.Completion{
		Text: answer, FinishReason: "stop", InputTokens: in, OutputTokens: len(answer) / 4, Model: model.Name,
	}, nil
}

// ResolvePrompt returns the same prompt for every name.
func (s *services) ResolvePrompt(ctx context.Context, _ string) (string, error) {
	s.tally.prompts.Add(1)
	if err := pause(ctx, s.delay); err != nil {
		return "", err
	}
	if s.promptErr != nil {
		return "", s.tally.failed(s.promptErr)
	}
	return cmp.Or(s.prompt, conform.Prompt), nil // for every name, also those that a real host would not know
}

// pause waits for d or until ctx is done, and returns ctx's error in the latter case, also for d = 0.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note sends to c unless it is full (or nil): the sender must not block, and one pending note is enough.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
