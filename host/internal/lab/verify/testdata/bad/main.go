// Bad is a strategy plugin with one fault: the one that its file name names, of a process, or of package mutants. Build
// it once, and link to it under as many names as there are faults; "good" has none. What it does wrong is small enough for a
// host to use it without a complaint, at least for a while.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/mutants"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type strategy struct {
	fault string
	calls atomic.Int64
	alone sync.Mutex
}

func main() {
	s := &strategy{fault: strings.TrimPrefix(filepath.Base(os.Args[0]), "thresh-strategy-")}
	switch s.fault {
	case "chatty":
		fmt.Println("loading tables, please wait")
	case "slow-start":
		time.Sleep(3 * time.Second)
	case "dies":
		fmt.Fprintln(os.Stderr, "cannot find my licence")
		os.Exit(3)
	case "survives-the-host":
		_ = os.Unsetenv("THRESH_LIFELINE_FD")
	}
	if mutant, ok := mutants.New(s.fault); ok {
		serve.Strategy(mutant)
	}
	serve.Strategy(s)
}

func (s *strategy) Info() sdk.Info {
	i := sdk.Info{
		Name: s.fault, Version: "1.0.0", Trigger: sdk.Continuous(0.8), RequiresLLM: s.usesModel(),
		Config: []sdk.ConfigField{
			{Key: "keep", Type: sdk.Integer, Default: 1, Minimum: new(0.0), Maximum: new(10.0)},
			{Key: "style", Type: sdk.String, Default: "plain", Allowed: []string{"plain", "fancy"}},
		},
	}
	if s.fault == "changes-getinfo" {
		i.Version = fmt.Sprint("1.0.", time.Now().UnixNano())
	}
	return i
}

func (s *strategy) usesModel() bool {
	switch s.fault {
	case "summarises", "panics-without-prompt", "hides-the-code", "one-at-a-time":
		return true
	}
	return false
}

// CheckConfig is also where a process learns that it was configured.
func (s *strategy) CheckConfig(c sdk.Config) error {
	switch s.fault {
	case "ignores-sigterm":
		signal.Ignore(syscall.SIGTERM)
	case "dies-of-sigint":
		interrupt := make(chan os.Signal, 1)
		signal.Notify(interrupt, syscall.SIGINT)
		go func() { <-interrupt; os.Exit(1) }()
	}
	var settings struct {
		Keep  *int
		Style string
	}
	err := c.Decode(&settings)
	if err == nil {
		return nil
	}
	switch s.fault {
	case "panics-on-garbage":
		panic(err)
	case "names-no-key":
		return errors.New("bad settings")
	}
	return fmt.Errorf("keep and style: %w", err)
}

// idle says whether an entry is of the AI and says nothing but words: such entries can go without harm.
func (s *strategy) idle(e sdk.Content) bool {
	if e.Speaker != sdk.AI || len(e.Blocks) == 0 || e.Pinned() || s.fault == "idle" {
		return false
	}
	for _, b := range e.Blocks {
		t, ok := b.(sdk.Text)
		if !ok || s.fault == "reads-one-word" && !strings.Contains(t.Text, "secret") {
			return false
		}
	}
	return true
}

// Optimize removes idle entries.
func (s *strategy) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var out sdk.DensityResult
	switch {
	case s.fault == "prints-in-calls":
		_, _ = os.NewFile(1, "stdout").WriteString("optimising\n")
	case s.fault == "changes-what-it-has-seen":
		if in.Memo.Load() != nil && len(in.History[0].Blocks) > 0 {
			in.History[0].Blocks[0] = sdk.Text{Text: "it was something else"}
		}
		in.Memo.Store(true)
	}
	for i, e := range in.History {
		if s.idle(e) {
			out.Removals = append(out.Removals, i)
		}
	}
	return out, nil
}

// Compress removes idle entries as well.
func (s *strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if s.fault == "ignores-cancellation" && len(in.History) > 100 {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			s.calls.Add(1)
		}
	}
	if s.fault == "hoards" && len(in.History) > 100 {
		hoard := make([]byte, 300<<20)
		for i := 0; i < len(hoard); i += 4096 {
			hoard[i] = 1
		}
		s.calls.Add(int64(hoard[len(in.History)]))
	}
	if s.usesModel() {
		if err := s.ask(ctx, host); err != nil {
			return sdk.CompressResult{}, err
		}
	}
	var left []sdk.Content
	for _, e := range in.History {
		if !s.idle(e) {
			left = append(left, e)
		}
	}
	if len(left) == 0 || len(left) == len(in.History) {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(left, sdk.CompressMetadata{LLMCallMade: s.usesModel(), TargetMissed: true}), nil
}

// ask asks the model, and does nothing with what it says.
func (s *strategy) ask(ctx context.Context, host sdk.Host) error {
	if s.fault == "one-at-a-time" {
		s.alone.Lock()
		defer s.alone.Unlock()
	}
	prompt, err := host.ResolvePrompt(ctx, "compression")
	if err != nil {
		if s.fault == "panics-without-prompt" {
			panic(err)
		}
		return err
	}
	question := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: prompt}}}
	_, err = host.Generate(ctx, sdk.GenerateRequest{Entries: []sdk.Content{question}}, nil)
	if err != nil && s.fault == "hides-the-code" {
		return errors.New("the model did not answer")
	}
	return err
}
