package verify

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// model is what strategies are told of the model behind Generate. It answers without thought.
var model = sdk.Model{Name: "scripted", ContextLimit: 200_000, MaxOutput: 8_000}

// scriptedAnswer is a state snapshot, which is what the prompt named "compression" asks for.
const scriptedAnswer = `<state_snapshot>
  <overall_goal>Mend the parser, which drops the last line of a file without a newline.</overall_goal>
  <current_state>The files were read, and the tests run. The tests in some folders are to be left alone.</current_state>
</state_snapshot>`

const scriptedPrompt = "Write a summary of the session that lets the agent go on. Answer with one <state_snapshot> … </state_snapshot>."

// services is a host as a strategy meets it in Compress. The zero value is quick and friendly.
type services struct {
	delay  time.Duration // before each answer, and between the pieces of a generated text
	prompt string        // "": the scripted one
	text   string        // what the model answers; "": the scripted answer
	extra  int           // added to every count of tokens
	// hold, if not nil, has the model answer only when it is closed; reached then gets one when a request waits.
	hold, reached chan struct{}

	estimateErr, generateErr, promptErr error
	// breakOff has the model fail after it has begun to answer.
	breakOff bool

	tally tally
}

// tally counts what a strategy asked for.
type tally struct {
	estimates, generations, prompts atomic.Int64
	open                            atomic.Int64 // generations that the strategy waits for
}

func (t *tally) total() int64 {
	return t.estimates.Load() + t.generations.Load() + t.prompts.Load()
}

func (t *tally) String() string {
	return fmt.Sprintf("%d counts, %d generations, %d prompts", t.estimates.Load(), t.generations.Load(), t.prompts.Load())
}

var _ sdk.Host = (*services)(nil)

func (s *services) EstimateTokens(ctx context.Context, entries []sdk.Content) ([]int, error) {
	s.tally.estimates.Add(1)
	if err := pause(ctx, s.delay); err != nil {
		return nil, err
	}
	if s.estimateErr != nil {
		return nil, s.estimateErr
	}
	counts := make([]int, len(entries))
	for i, e := range entries {
		counts[i] = tokens(e) + s.extra
	}
	return counts, nil
}

func (s *services) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	s.tally.generations.Add(1)
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
		return sdk.Completion{}, s.generateErr
	}
	answer := s.text
	if answer == "" {
		answer = scriptedAnswer
	}
	sent := 0
	for line := range strings.Lines(answer) {
		if err := pause(ctx, s.delay); err != nil {
			return sdk.Completion{}, err
		}
		onText(line)
		sent++
		if s.breakOff && sent == 2 {
			return sdk.Completion{}, s.generateErr
		}
	}
	in := 0
	for _, e := range req.Entries {
		in += tokens(e)
	}
	return sdk.Completion{Text: answer, FinishReason: "stop", InputTokens: in, OutputTokens: len(answer) / 4, Model: model.Name}, nil
}

func (s *services) ResolvePrompt(ctx context.Context, _ string) (string, error) {
	s.tally.prompts.Add(1)
	if err := pause(ctx, s.delay); err != nil {
		return "", err
	}
	if s.promptErr != nil {
		return "", s.promptErr
	}
	if s.prompt != "" {
		return s.prompt, nil
	}
	return scriptedPrompt, nil
}

// pause waits for d, or until ctx is done.
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

// note sends to a channel unless that is full.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
