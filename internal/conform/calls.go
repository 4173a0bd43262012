package conform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Around is what surrounds the calls of a run. [Standard] has what is right for any strategy.
type Around struct {
	// Optimize and Compress are what is sent, without a history and what depends on it.
	Optimize sdk.OptimizeInput
	Compress sdk.CompressInput
	// Count counts the tokens of a run of entries.
	Count func([]sdk.Content) int
	// Model is behind the services, also of a strategy that is not told of one.
	Model  sdk.Model
	Answer func(context.Context, sdk.GenerateRequest) (sdk.Completion, error)
	Prompt func(name string) (string, error)
	// Scripted says that Answer knows nothing of the strategy: one that cannot use it is not to blame.
	Scripted bool
}

// Tools is the taxonomy that hosts send by default. The samples use tools of several agents, so all presets are in it.
var Tools = sync.OnceValues(func() (*tools.Taxonomy, error) { return tools.ForPresets(tools.PresetNames(), nil) })

// Standard is what a strategy is tried with that nothing is known of.
func Standard(info sdk.Info) (Around, error) {
	taxonomy, err := Tools()
	a := Around{Count: Tokens, Model: sdk.Model{Name: "scripted", ContextLimit: 64_000, MaxOutput: 8_000}, Scripted: true,
		Answer: scripted, Prompt: func(string) (string, error) { return Prompt, nil }}
	// The paths of the samples are below /w. It need not exist: strategies see paths, not files.
	a.Optimize.WorkspaceRoot, a.Optimize.Config = "/w", Settings(info, "", nil)
	a.Optimize.Tools, a.Optimize.Log = taxonomy, slog.New(slog.DiscardHandler)
	a.Compress.Call = a.Optimize.Call
	// All rules are on: the checks are about what an Optimize does, and a rule that is off does nothing.
	a.Optimize.Density = sdk.DensityConfig{ReadWritePruning: true, FileDedupe: true, RecencyPruning: true,
		RecencyRetention: 3, PartialWrites: sdk.PartialWritesPrune}
	set := sdk.DefaultCompressSettings()
	// Smaller than the default, so samples of a few thousand tokens have words beyond it.
	set.UserMessageBudget = 2000
	// One at work and one open: strategies treat finished tasks differently, but need not show them.
	set.Todos = []sdk.Todo{
		{ID: "1", Content: "mend the parser", Status: "in_progress"}, {ID: "2", Content: "run the tests", Status: "pending"},
	}
	// On demand, so a strategy with a schedule of its own compresses too.
	a.Compress.CompressParams = sdk.CompressParams{CompressSettings: set, Threshold: info.Trigger.DefaultThreshold,
		Reason: sdk.ReasonManual}
	// Hosts name the model only to strategies that declare requires_llm. Others must cope without.
	if info.RequiresLLM {
		a.Compress.Model = &a.Model
	}
	return a, err
}

func scripted(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
	return sdk.Completion{Text: Snapshot, FinishReason: "stop", Model: "scripted", OutputTokens: len(Snapshot) / 4}, nil
}

// Settings returns a plugin's declared defaults as a JSON object, with the value of key replaced unless key is "".
// Hosts send settings in this form: all declared defaults filled in.
func Settings(info sdk.Info, key string, value any) sdk.Config {
	// encoding/json sorts the keys: equal settings are equal bytes in every run.
	out := map[string]any{}
	for _, f := range info.Config {
		if f.Default != nil {
			out[f.Key] = f.Default
		}
	}
	if key != "" {
		out[key] = value
	}
	data, err := json.Marshal(out)
	if err != nil {
		return sdk.Config("{}") // not with values that are valid
	}
	return data
}

// with returns the surroundings with another value of a setting.
func (a Around) with(key string, value any) (Around, error) {
	all := map[string]any{}
	if err := json.Unmarshal(a.Optimize.Config, &all); err != nil {
		return a, fmt.Errorf("settings: %w", err)
	}
	all[key] = value
	data, err := json.Marshal(all)
	a.Optimize.Config, a.Compress.Config = data, data
	return a, err
}

// OptimizeInput is an Optimize of a history, as a host would send it.
func (a Around) OptimizeInput(session string, history []sdk.Content) sdk.OptimizeInput {
	in := a.Optimize
	in.SessionID, in.Revision, in.History = session, 1, Sent(history)
	return in
}

// CompressInput is a Compress of a history that has just reached the threshold. The context limit is derived from the
// history's size and the strategy's own threshold, so each history is in need of compression, whatever its size.
func (a Around) CompressInput(session string, history []sdk.Content) sdk.CompressInput {
	in := a.Compress
	in.SessionID, in.Revision, in.History = session, 1, Sent(history)
	in.TokensIn = TokensIn(history, a.Count)
	in.CurrentTokens = in.TokensIn(0, len(history))
	in.PendingTokens = cmp.Or(in.PendingTokens, Pending(len(history), in.CurrentTokens))
	in.ContextLimit = Limit(in.CurrentTokens+in.PendingTokens, in.Threshold)
	return in
}

// TokensIn counts every entry once and returns what counts a run of them, at no further cost: a host's entries come
// with their counts too.
func TokensIn(history []sdk.Content, count func([]sdk.Content) int) func(from, to int) int {
	sums := make([]int, len(history)+1) // sums[i] is what the entries before i count
	for i := range history {
		sums[i+1] = sums[i] + count(history[i:i+1])
	}
	return func(from, to int) int { return sums[to] - sums[from] }
}

// Host returns a host that works.
func (a Around) Host(info sdk.Info) *Host {
	return &Host{Info: info, Model: a.Model, Count: a.Count, Answer: a.Answer, Prompt: a.Prompt}
}

// Sent returns a copy of a history whose entries say where they stand, as those do that the host sends. A strategy can
// write to no entry of history through it.
func Sent(history []sdk.Content) []sdk.Content {
	out := make([]sdk.Content, len(history))
	for i, e := range history {
		e.Blocks = slices.Clone(e.Blocks)
		for j, b := range e.Blocks {
			e.Blocks[j] = content.Clone(b)
		}
		e.Metadata = bytes.Clone(e.Metadata)
		out[i] = e.WithOrigin(i)
	}
	return out
}

// Changed returns the first position at which a strategy changed what it was sent, -1 if it did nowhere.
func Changed(sent, history []sdk.Content) int {
	for i := range history {
		if i >= len(sent) || !history[i].Equal(sent[i]) {
			return i
		}
	}
	return -1
}

// Curated returns the sample as a Compress gets it: without entries that a provider would refuse.
func Curated(s samples.Sample) samples.Sample {
	out := samples.Sample{Name: s.Name}
	for i, e := range s.History {
		if e.Blank() {
			continue
		}
		if out.History = append(out.History, e); s.Added != nil {
			out.Added = append(out.Added, s.Added[i])
		}
	}
	return out
}

// named returns entries as [Answer] has them. Those that came from the history have ids by where they stood there; a
// second one from the same place is a copy.
func named(history []sdk.Content) []statements.Entry {
	if history == nil {
		return nil
	}
	out := make([]statements.Entry, len(history))
	seen := map[int]bool{}
	for i, e := range history {
		out[i] = statements.Entry{ID: fmt.Sprint("new", i), Content: e}
		if at, ok := e.Origin(); ok && !seen[at] {
			out[i].ID = fmt.Sprint("e", at)
			seen[at] = true
		}
	}
	return out
}

// given returns the entries of a history that was given.
func given(history []sdk.Content) []statements.Entry {
	if history == nil {
		return nil
	}
	out := make([]statements.Entry, len(history))
	for i, e := range history {
		out[i] = statements.Entry{ID: fmt.Sprint("e", i), Content: e}
	}
	return out
}

// Tokens stands in for the host's tokenizer: a quarter of the bytes that a model reads, plus four per entry, and a flat
// 1,000 for media. It is fast and the same everywhere. A strategy may only rely on equal entries having equal counts.
func Tokens(entries []sdk.Content) int {
	sum := 0
	for _, e := range entries {
		n := 0
		for _, b := range e.Blocks {
			n += content.ReadSize(b)
			p := content.Apart(b)
			if _, data, _ := p.Attachment(); data != "" {
				n += 4000 // 1,000 tokens, whatever its size
			}
		}
		sum += 4 + (n+3)/4
	}
	return sum
}
