package serve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

// envPlugin makes the test binary a plugin, so that tests run against a real process.
const envPlugin = "THRESH_SDK_TEST_PLUGIN"

func TestMain(m *testing.M) {
	switch os.Getenv(envPlugin) {
	case "":
		goleak.VerifyTestMain(m)
	case "actor":
		serve.Strategy(actor{})
	case "no-optimize":
		serve.Strategy(incomplete{})
	case "bad-info":
		serve.Strategy(badInfo{})
	case "foreign":
		serveForeign()
	}
}

// actor does what the session's id says.
type actor struct{}

func (actor) Info() sdk.Info {
	return sdk.Info{
		Name: "actor", Version: "1.2.3", Description: "Does what a test says.", Trigger: sdk.Continuous(0.7),
		RequiresLLM: true,
		Config: []sdk.ConfigField{
			{Key: "keep", Type: sdk.Integer, Default: 50, Minimum: new(1.0)},
			{Key: "mode", Type: sdk.String, Allowed: []string{"a", "b"}},
		},
	}
}

func (actor) CheckConfig(c sdk.Config) error {
	var settings struct{ Mode string }
	if err := c.Decode(&settings); err != nil {
		return err
	}
	if settings.Mode == "forbidden" {
		return errors.New(`strategies.actor.mode is "forbidden"; use "a" or "b"`)
	}
	return nil
}

func (actor) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	switch in.SessionID {
	case "panic":
		panic("the sky is falling")
	case "fail":
		return sdk.DensityResult{}, errors.New("no idea what to do")
	case "retry":
		return sdk.DensityResult{}, fmt.Errorf("disk is full: %w", sdk.ErrUnavailable)
	case "hang":
		in.Log.Warn("hanging", "entries", len(in.History))
		<-ctx.Done()
		in.Log.Warn("cancelled", "cause", ctx.Err())
		return sdk.DensityResult{}, ctx.Err()
	case "in-place":
		in.History[1].Blocks[0] = sdk.Text{Text: "changed"}
		return sdk.DensityResult{}, nil
	case "bad":
		return sdk.DensityResult{Removals: []int{len(in.History)}}, nil
	case "nothing":
		return sdk.DensityResult{}, nil
	case "noise":
		fmt.Println("1|2|this is no handshake")
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 200<<10))
		return sdk.DensityResult{}, nil
	}
	out := sdk.DensityResult{Replacements: map[int]sdk.Content{},
		Metadata: sdk.DensityMetadata{ReadWritePairsPruned: 1, FileDeduplicationsPruned: 2,
			RecencyPruned: in.Density.RecencyRetention}}
	for i, c := range in.History { // without its first block, or gone if that was all
		if len(c.Blocks) <= 1 {
			out.Removals = append(out.Removals, i)
			continue
		}
		c.Blocks = c.Blocks[1:]
		out.Replacements[i] = c
	}
	return out, nil
}

func (actor) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	switch in.SessionID {
	case "panic":
		return sdk.NoOp(sdk.NoOpReason(in.Todos[99].ID)), nil
	case "nothing":
		return sdk.CompressResult{}, nil
	case "estimate", "estimate-kept":
		entries := in.History
		if in.SessionID == "estimate" { // as if they were made again: these have to be asked for
			entries = slices.Clone(entries)
			for i := range entries {
				entries[i] = entries[i].WithOrigin(-1)
			}
		}
		counts, err := host.EstimateTokens(ctx, entries)
		if err != nil {
			return sdk.CompressResult{}, err
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		return sdk.NoOp(sdk.NoOpReason(fmt.Sprintf("%d entries, %d tokens, %d came with them", len(counts), total,
			in.Tokens(0, len(in.History))))), nil
	case "generate":
		return generate(ctx, host, in)
	case "leak":
		go func() { // a Host that is used when its call is over
			<-ctx.Done()
			_, err := host.EstimateTokens(context.Background(), in.History)
			in.Log.Warn("after the call", "refused", errors.Is(err, sdk.ErrNotGranted), "error", err)
		}()
		return sdk.NoOp("leaked"), nil
	}
	head := in.History[0]
	head.Blocks = append([]sdk.Block{sdk.Text{Text: "changed"}}, head.Blocks[1:]...)
	summary := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: fmt.Sprintf("target %.0f",
		in.Target())}}}
	history := append([]sdk.Content{head, summary}, in.History[2:]...)
	return sdk.Applied(history, sdk.CompressMetadata{LLMCallMade: true, BottomPreserved: new(len(in.History) - 2),
		Counts: map[string]int64{"todos": int64(len(in.Todos))}}), nil
}

func generate(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	prompt, err := host.ResolvePrompt(ctx, in.Profile)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	pieces := 0
	g, err := host.Generate(ctx, sdk.GenerateRequest{System: prompt, Entries: in.History, MaxOutputTokens: 99},
		func(string) { pieces++ })
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return sdk.NoOp(sdk.NoOpReason(fmt.Sprintf("%s in %d pieces, %s, %d+%d, %s", g.Text, pieces, g.FinishReason,
		g.InputTokens, g.OutputTokens, g.Model))), nil
}

// incomplete is continuous without Optimize.
type incomplete struct{}

func (incomplete) Info() sdk.Info {
	return sdk.Info{Name: "incomplete", Version: "1", Trigger: sdk.Continuous(0.5)}
}

func (incomplete) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp("nothing"), nil
}

// badInfo breaks several rules at once.
type badInfo struct{ incomplete }

func (badInfo) Info() sdk.Info {
	return sdk.Info{Name: "Bad Name", Trigger: sdk.Threshold(1.5),
		Config: []sdk.ConfigField{{Key: "n", Type: sdk.Integer, Default: "many"}}}
}
