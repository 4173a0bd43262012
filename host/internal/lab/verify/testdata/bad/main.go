// Bad is a strategy plugin that breaks one rule: the one that its file name names. Build it once, and link to it
// under as many names as there are rules to be broken; "good" breaks none. What it does wrong is small enough for a
// host to use it without a complaint, at least for a while.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

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
func idle(e sdk.Content) bool {
	if e.Speaker != sdk.AI || len(e.Blocks) == 0 {
		return false
	}
	for _, b := range e.Blocks {
		if _, ok := b.(sdk.Text); !ok {
			return false
		}
	}
	return true
}

// idle says whether an entry goes: not if it is pinned, unless that is the fault.
func (s *strategy) idle(e sdk.Content) bool {
	return idle(e) && (!e.Pinned() || s.fault == "prunes-pinned")
}

// Optimize removes idle entries.
func (s *strategy) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var out sdk.DensityResult
	n := s.calls.Add(1)
	switch {
	case s.fault == "remembers" && n%5 == 0, s.fault == "throws-dice" && rand.IntN(3) == 0:
		return out, nil
	case s.fault == "looks-at-the-session" && in.SessionID != "a":
		return out, nil
	case s.fault == "prints-in-calls":
		_, _ = os.NewFile(1, "stdout").WriteString("optimising\n")
	}
	if s.fault == "lies" {
		return lying(in), nil
	}
	if s.fault == "trusts-its-memo" {
		return trusting(in), nil
	}
	if s.fault == "changes-what-it-has-seen" {
		if in.Memo.Load() != nil && len(in.History[0].Blocks) > 0 {
			in.History[0].Blocks[0] = sdk.Text{Text: "it was something else"}
		}
		in.Memo.Store(true)
	}
	out.Replacements = s.falsified(in.History)
	for i, e := range in.History {
		if out.Replacements != nil {
			break
		}
		if s.idle(e) || s.fault == "removes-people" && e.Speaker == sdk.Human {
			out.Removals = append(out.Removals, i)
			if s.fault == "never-done" {
				break
			}
		}
	}
	if s.fault == "edits-in-place" && len(in.History) > 0 {
		in.History[0].Speaker = sdk.Tool
	}
	return out, nil
}

// lying leaves of each text result its first line, and says that one more went.
func lying(in sdk.OptimizeInput) sdk.DensityResult {
	out := sdk.DensityResult{Replacements: map[int]sdk.Content{}}
	for i, e := range in.History {
		for j, b := range e.Blocks {
			r, ok := b.(sdk.ToolResponse)
			if first, rest, cut := strings.Cut(r.ResultText(), "\n"); ok && cut && r.Result[0] == '"' && !e.Pinned() &&
				strings.Count(rest, "\n") > 1 {
				e.Blocks = slices.Clone(e.Blocks)
				e.Blocks[j] = r.WithResultText(first + "\n[… 1 line omitted]")
				out.Replacements[i] = e
			}
		}
	}
	return out
}

// trusting removes idle entries and looks at new ones only. It takes no heed of a history that was rewritten.
func trusting(in sdk.OptimizeInput) sdk.DensityResult {
	type known struct {
		seen     int
		removals []int
	}
	k, _ := in.Memo.Load().(*known)
	if k == nil {
		k = &known{}
	}
	for i := k.seen; i < len(in.History); i++ {
		if idle(in.History[i]) && !in.History[i].Pinned() {
			k.removals = append(k.removals, i)
		}
	}
	k.seen = len(in.History)
	in.Memo.Store(k)
	return sdk.DensityResult{Removals: slices.Clone(k.removals)}
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
	lies := s.falsified(in.History)
	for i, e := range in.History {
		if changed, ok := lies[i]; ok {
			left = append(left, changed)
			continue
		}
		switch {
		case s.fault == "compresses-pinned" && idle(e):
		case s.fault == "orphans" && i == 1 && e.Speaker == sdk.AI:
		case s.fault == "drops-people" && e.Speaker == sdk.Human && i%2 == 0 && !e.Pinned():
		case !s.idle(e):
			left = append(left, e)
		}
	}
	if len(left) == 0 || len(left) == len(in.History) && s.fault != "achieves-nothing" && lies == nil {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	missed := s.fault != "misses-the-target"
	return sdk.Applied(left, sdk.CompressMetadata{LLMCallMade: s.usesModel(), TargetMissed: missed}), nil
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
