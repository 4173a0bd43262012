package sdktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Config is the surroundings of a strategy under test. The zero value is a host as it comes, with a counter of
// characters and a model that answers nothing: see Generate.
type Config struct {
	// Counter counts tokens; nil is [Characters].
	Counter Counter
	// Tools says what tool calls do; nil is every preset.
	Tools *tools.Taxonomy
	// WorkspaceRoot is absolute; "" is "/workspace".
	WorkspaceRoot string
	// Settings are the strategy's own, by key, over the defaults that its Info declares.
	Settings map[string]any
	// Log gets what the strategy logs; nil drops it.
	Log *slog.Logger

	// Density is for Optimize only; nil is what the host has by default: reads and inclusions are pruned, results are
	// not.
	Density *sdk.DensityConfig

	// What follows is for Compress only.

	// CurrentTokens is what the host counted for the history; nil is what Counter counts.
	CurrentTokens *int
	// PendingTokens is what the request holds besides the history.
	PendingTokens int
	// Depth is how many tokens the host wants to be left; 0 leaves it to the strategy.
	Depth int
	// ContextLimit is in tokens; 0 is 200,000.
	ContextLimit int
	// CompletionBudget is set aside for the answer; 0 sets nothing aside.
	CompletionBudget int
	// Threshold is in (0, 1]; 0 is the strategy's own.
	Threshold float64
	// PreserveThreshold is a share of the entries; nil is 0.4.
	PreserveThreshold *float64
	// TopPreserveThreshold is a share of the entries; nil is 0.2.
	TopPreserveThreshold *float64
	// Reason is [sdk.ReasonThreshold] unless set.
	Reason sdk.CompressReason
	// Todos are the agent's tasks; nil is none.
	Todos []sdk.Todo
	// TranscriptPath is where the agent finds the whole conversation; "" if there is no transcript.
	TranscriptPath string
	// Profile names the profile of the model; only reports use it.
	Profile string
	// Model is what the strategy knows of the model; nil is one with a context limit of 128,000 tokens and a largest
	// answer of 8,192. As with the host, a strategy whose Info does not require an LLM is given none.
	Model *sdk.Model
	// UserMessageBudget is in tokens; nil is 20,000.
	UserMessageBudget *int
	// Generate stands in for the model; nil has every request fail. See [Answers].
	Generate GenerateFunc
	// Prompts are what ResolvePrompt returns, by name. It fails for any other name.
	Prompts map[string]string
}

const defaultRoot = "/workspace"

// model is what a strategy gets to know of the model: its own copy, nil if it may not call it.
func (c Config) model(info sdk.Info) *sdk.Model {
	if !info.RequiresLLM {
		return nil
	}
	m := *cmp.Or(c.Model, &sdk.Model{Name: "sdktest", ContextLimit: 128_000, MaxOutput: 8192})
	return &m
}

func (c Config) counter() Counter {
	if c.Counter == nil {
		return Characters
	}
	return c.Counter
}

func (c Config) call(info sdk.Info, history []sdk.Content) (sdk.Call, error) {
	taxonomy := c.Tools
	if taxonomy == nil {
		var err error
		if taxonomy, err = conform.Tools(); err != nil {
			return sdk.Call{}, fmt.Errorf("sdktest: %w", err)
		}
	}
	settings, err := c.settings(info)
	if err != nil {
		return sdk.Call{}, err
	}
	return sdk.Call{
		CallParams: sdk.CallParams{
			SessionID: "test",
			Revision:  1,
			CallSettings: sdk.CallSettings{
				WorkspaceRoot: cmp.Or(c.WorkspaceRoot, defaultRoot), Config: settings,
			},
		},
		History: conform.Sent(history),
		Tools:   taxonomy,
		Log:     cmp.Or(c.Log, slog.New(slog.DiscardHandler)),
	}, nil
}

// settings fills the declared defaults in and checks keys and values, as the host does before it calls the strategy.
func (c Config) settings(info sdk.Info) (sdk.Config, error) {
	values := map[string]any{}
	declared := map[string]sdk.ConfigField{}
	for _, f := range info.Config {
		declared[f.Key] = f
		if f.Default != nil {
			values[f.Key] = f.Default
		}
	}
	// A key that is not declared would be refused by the host when the settings are read.
	for key, value := range c.Settings {
		field, ok := declared[key]
		if !ok {
			return nil, fmt.Errorf("sdktest: Config.Settings has %q, which Info.Config of %s does not declare", key,
				info.Name)
		}
		if err := checkSetting(field, value); err != nil {
			return nil, err
		}
		values[key] = value
	}
	data, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("sdktest: Config.Settings: %w", err)
	}
	return sdk.Config(data), nil
}

func (c Config) optimizeInput(info sdk.Info, history []sdk.Content) (sdk.OptimizeInput, error) {
	call, err := c.call(info, history)
	params := sdk.OptimizeParams{Density: *cmp.Or(c.Density, new(sdk.DefaultDensityConfig()))}
	return sdk.OptimizeInput{Call: call, OptimizeParams: params}, err
}

// compressInput is what a host tells a Compress: what the test set, and the host's defaults for the rest.
func (c Config) compressInput(info sdk.Info, history []sdk.Content) (sdk.CompressInput, error) {
	call, err := c.call(info, history)
	count := c.counter()
	counted := conform.Sent(history) // its own copy: what a strategy does to its input must not change the counts
	set := sdk.DefaultCompressSettings()
	set.ContextLimit = cmp.Or(c.ContextLimit, set.ContextLimit)
	set.CompletionBudget = c.CompletionBudget
	set.PreserveThreshold = *cmp.Or(c.PreserveThreshold, &set.PreserveThreshold)
	set.TopPreserveThreshold = *cmp.Or(c.TopPreserveThreshold, &set.TopPreserveThreshold)
	set.UserMessageBudget = *cmp.Or(c.UserMessageBudget, &set.UserMessageBudget)
	set.Todos, set.TranscriptPath = c.Todos, c.TranscriptPath
	return sdk.CompressInput{
		Call: call,
		CompressParams: sdk.CompressParams{
			CompressSettings: set,
			CurrentTokens:    *cmp.Or(c.CurrentTokens, new(count(counted))),
			PendingTokens:    c.PendingTokens,
			Depth:            c.Depth,
			Threshold:        cmp.Or(c.Threshold, info.Trigger.DefaultThreshold),
			Reason:           cmp.Or(c.Reason, sdk.ReasonThreshold),
			Profile:          c.Profile,
			Model:            c.model(info),
		},
		TokensIn: conform.TokensIn(counted, count),
	}, err
}
