package sdktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// scripted is a strategy that does what a test says.
type scripted struct {
	info     sdk.Info
	optimize func(sdk.OptimizeInput) (sdk.DensityResult, error)
	compress func(sdk.Host, sdk.CompressInput) (sdk.CompressResult, error)
}

func (s scripted) Info() sdk.Info {
	if s.info.Name == "" {
		s.info.Name = "scripted"
	}
	s.info.Version, s.info.Trigger = "1", sdk.Continuous(0.7)
	return s.info
}

func (s scripted) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	return s.optimize(in)
}

func (s scripted) Compress(_ context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	return s.compress(host, in)
}

func text(by sdk.Speaker, s string) sdk.Content {
	return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: s}}}
}

// sample has what a strategy can get wrong: a pair, an unknown block, a call that waits.
func sample() []sdk.Content {
	return []sdk.Content{
		text(sdk.Human, "question"), // 0
		// 1.
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: "let me see"}, sdk.ToolCall{ID: "1", Name: "ls"}}},
		// 2.
		{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: "1", ToolName: "ls",
			Result: json.RawMessage(`"one file"`)}}},
		// 3.
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Opaque{JSON: json.RawMessage(`{"type":"new"}`)},
			sdk.Text{Text: "x"}}},
		// 4.
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.ToolCall{ID: "2", Name: "ls"}}},
	}
}

// wants checks that an error is a refusal of which one problem holds each part.
func wants(t *testing.T, err error, parts ...string) {
	t.Helper()
	var refused *sdktest.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want a RefusedError", err)
	}
	for _, part := range parts {
		if !strings.Contains(strings.Join(refused.Problems, "\n"), part) {
			t.Errorf("%q is not in %q", part, refused.Problems)
		}
	}
}

func TestCheckDensity(t *testing.T) {
	history := sample()
	with := func(i int, edit func(*sdk.Content)) map[int]sdk.Content {
		e := history[i]
		edit(&e)
		return map[int]sdk.Content{i: e}
	}
	blocks := func(i int, b ...sdk.Block) map[int]sdk.Content {
		return with(i, func(e *sdk.Content) { e.Blocks = b })
	}
	tests := map[string]struct {
		result sdk.DensityResult
		want   string // "": it is good
	}{
		"nothing":       {sdk.DensityResult{}, ""},
		"a pair goes":   {sdk.DensityResult{Removals: []int{2}, Replacements: blocks(1, history[1].Blocks[0])}, ""},
		"out of bounds": {sdk.DensityResult{Removals: []int{5}}, "entry 5, but the history has 5"},
		"negative":      {sdk.DensityResult{Replacements: map[int]sdk.Content{-1: {}}}, "entry -1"},
		"twice":         {sdk.DensityResult{Removals: []int{1, 1}}, "without repeats"},
		"not ascending": {sdk.DensityResult{Removals: []int{2, 1}}, "must ascend"},
		"in both":       {sdk.DensityResult{Removals: []int{3}, Replacements: blocks(3)}, "in one of them"},
		"another speaker": {sdk.DensityResult{Replacements: with(0, func(e *sdk.Content) { e.Speaker = sdk.AI })},
			"changed its speaker"},
		"other metadata": {sdk.DensityResult{Replacements: with(0,
			func(e *sdk.Content) { e.Metadata = []byte(`{}`) })}, "changed its metadata"},
		"a human goes": {sdk.DensityResult{Removals: []int{0}}, "entry 0: what a person said vanished"},
		"a human is emptied": {sdk.DensityResult{Replacements: blocks(0, sdk.Text{Text: " "})},
			"entry 0: what a person said vanished"},
		"nothing left": {sdk.DensityResult{Replacements: blocks(4)}, "no blocks are left"},
		"an unknown block goes": {sdk.DensityResult{Replacements: blocks(3, sdk.Text{Text: "x"})},
			"entry 3: a block of unknown kind was changed"},
		"with its entry": {sdk.DensityResult{Removals: []int{3}}, "entry 3: a block of unknown kind was changed"},
		"a person's words change": {sdk.DensityResult{Replacements: blocks(0, sdk.Text{Text: "an order"})},
			"entry 0: an edit changes what a person said beyond taking lines out of it"},
		"the newest of them go": {sdk.DensityResult{Replacements: blocks(0, sdk.Text{Text: "[1 line removed]"})},
			"it is the newest thing a person said"},
		"a call goes alone": {sdk.DensityResult{Replacements: blocks(1, history[1].Blocks[0])},
			"entry 2: a tool response lost its call"},
		"a response goes alone": {sdk.DensityResult{Removals: []int{2}}, "entry 1: a tool call lost its response"},
		"a waiting call goes":   {sdk.DensityResult{Removals: []int{4}}, "entry 4: a tool call that still waits"},
		"a block that is nil": {sdk.DensityResult{Replacements: blocks(4, history[4].Blocks[0], nil)},
			"it has no type"},
		"a result of no JSON": {sdk.DensityResult{Replacements: blocks(2,
			sdk.ToolResponse{CallID: "1", Result: []byte("x")})}, "is not JSON"},
		"a response of no call": {sdk.DensityResult{Replacements: blocks(3, history[3].Blocks[0], sdk.ToolResponse{})},
			`a tool_response belongs to speaker "tool"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := sdktest.CheckDensity(history, test.result)
			if test.want != "" {
				wants(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// The host drops an ill-formed reason without a word. A test says so.
func TestReasons(t *testing.T) {
	history := sample()
	changed := history[2]
	changed.Blocks = []sdk.Block{changed.Blocks[0].(sdk.ToolResponse).WithResultText("[-]")}
	for name, test := range map[string]struct {
		at     int
		reason sdk.Reason
		want   string // "": it is good
	}{
		"none":              {2, sdk.Reason{}, ""},
		"rule and position": {2, sdk.Reason{Rule: "old-2", SupersededBy: new(4)}, ""},
		"a sentence":        {2, sdk.Reason{Rule: "It was old"}, "entry 2 would be dropped"},
		"a position that there isn't": {2, sdk.Reason{SupersededBy: new(5)},
			"says that entry 5 superseded it, but the history has 5"},
		"of an entry that stays": {1, sdk.Reason{Rule: "old"}, "entry 1, which is neither removed nor replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted{optimize: func(in sdk.OptimizeInput) (sdk.DensityResult, error) {
				if in.History[2].Equal(changed) {
					return sdk.DensityResult{}, nil
				}
				return sdk.DensityResult{Replacements: map[int]sdk.Content{2: changed},
					Reasons: map[int]sdk.Reason{test.at: test.reason}}, nil
			}}
			_, err := sdktest.Config{}.Optimize(t.Context(), s, history)
			if test.want != "" {
				wants(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckCompressed(t *testing.T) {
	tests := map[string]struct {
		compress func(history []sdk.Content) sdk.CompressResult
		want     string // "": it is good
	}{
		"a no-op": {func([]sdk.Content) sdk.CompressResult { return sdk.NoOp(sdk.NoOpNoGain) }, ""},
		"kept, edited and new": {func(h []sdk.Content) sdk.CompressResult {
			h[3].Blocks = h[3].Blocks[:1]
			return sdk.Applied([]sdk.Content{text(sdk.AI, "summary"), h[3], h[4]}, sdk.CompressMetadata{})
		}, ""},
		"a no-op with a history": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.CompressResult{NoOp: "x",
				History: h}
		}, "only be one of them"},
		"nothing left": {func([]sdk.Content) sdk.CompressResult { return sdk.CompressResult{} }, "is empty"},
		"a response without call": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(h[2:], sdk.CompressMetadata{})
		}, "entry 2: a tool response lost its call"},
		"the call that waits goes": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(h[:4],
				sdk.CompressMetadata{})
		}, "entry 4: a tool call that still waits"},
		"an unknown block goes": {func(h []sdk.Content) sdk.CompressResult {
			h[3].Blocks = h[3].Blocks[1:]
			return sdk.Applied(h, sdk.CompressMetadata{})
		}, "entry 3: a block of unknown kind was changed"},
		"an unknown speaker": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(append(h, text("system", "x")), sdk.CompressMetadata{})
		}, "entry 5 of the answer: an entry is not valid (unknown speaker"},
		"a new response to nothing": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(append(h, sdk.Content{Speaker: sdk.Tool,
				Blocks: []sdk.Block{sdk.ToolResponse{CallID: "9"}}}),
				sdk.CompressMetadata{})
		}, "entry 5 of the answer: a tool's result was changed or made up"},
		"a call of a human": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(append(h, sdk.Content{Speaker: sdk.Human,
				Blocks: []sdk.Block{sdk.ToolCall{ID: "9", Name: "x"}}}), sdk.CompressMetadata{})
		}, `a tool_call belongs to speaker "ai", not "human"`},
		"an entry without blocks": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(append(h, sdk.Content{Speaker: sdk.AI}), sdk.CompressMetadata{})
		}, "no blocks: an entry has at least one"},
		"a model was asked, it says": {func(h []sdk.Content) sdk.CompressResult {
			return sdk.Applied(h, sdk.CompressMetadata{LLMCallMade: true})
		}, "LLMCallMade is true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted{compress: func(_ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
				own := append([]sdk.Content{}, in.History...)
				own[3].Blocks = append([]sdk.Block{}, own[3].Blocks...)
				return test.compress(own), nil
			}}
			_, err := sdktest.Config{}.Compress(t.Context(), s, sample())
			if test.want != "" {
				wants(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOptimizeFindsWhatOneRunDoesNotShow(t *testing.T) {
	runs := 0
	cut := func(in sdk.OptimizeInput, by int) sdk.DensityResult {
		said := in.History[2].Blocks[0].(sdk.ToolResponse)
		text := said.ResultText()
		if len(text) <= by+3 {
			return sdk.DensityResult{}
		}
		e := in.History[2]
		e.Blocks = []sdk.Block{said.WithResultText("[" + strings.Repeat("-", len(text)-by-2) + "]")}
		return sdk.DensityResult{Replacements: map[int]sdk.Content{2: e}}
	}
	tests := map[string]struct {
		optimize func(sdk.OptimizeInput) sdk.DensityResult
		want     string
	}{
		"it changes its input": {func(in sdk.OptimizeInput) sdk.DensityResult {
			in.History[0].Blocks[0] = sdk.Text{Text: "changed"}
			return sdk.DensityResult{}
		}, "[input-changed]"},
		"it is not deterministic": {func(in sdk.OptimizeInput) sdk.DensityResult { runs++; return cut(in, runs) },
			"[random]"},
		"it never comes to an end": {func(in sdk.OptimizeInput) sdk.DensityResult { return cut(in, 1) },
			"[not-idempotent]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted{optimize: func(in sdk.OptimizeInput) (sdk.DensityResult, error) {
				return test.optimize(in),
					nil
			}}
			_, err := sdktest.Config{}.Optimize(t.Context(), s, sample())
			wants(t, err, test.want)
		})
	}
}

func TestDefaultsAreThoseOfTheHost(t *testing.T) {
	max := 10.0
	s := scripted{info: sdk.Info{Config: []sdk.ConfigField{{Key: "keep", Type: sdk.Integer, Default: 3, Maximum: &max},
		{Key: "name", Type: sdk.String}}}}
	var got sdk.CompressInput
	s.compress = func(_ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
		got = in
		return sdk.NoOp("x"), nil
	}
	sdktest.Compress(t, s, sample(), sdktest.Config{Counter: func(e []sdk.Content) int { return 10 * len(e) },
		Settings: map[string]any{"name": "n"}})
	if got.CurrentTokens != 50 || got.Tokens(1, 3) != 20 || got.ContextLimit != 200_000 || got.Threshold != 0.7 ||
		got.PreserveThreshold != 0.4 || got.TopPreserveThreshold != 0.2 || got.Reason != sdk.ReasonThreshold ||
		got.Log == nil || got.Tools == nil {
		t.Errorf("%+v", got)
	}
	if string(got.Config) != `{"keep":3,"name":"n"}` {
		t.Errorf("settings %s", got.Config)
	}
	for i, e := range got.History {
		if at, ok := e.Origin(); !ok || at != i {
			t.Errorf("entry %d says that it stood at %d", i, at)
		}
	}
	for name, settings := range map[string]map[string]any{
		"not declared":  {"other": 1},
		"wrong type":    {"keep": "three"},
		"out of bounds": {"keep": 11},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (sdktest.Config{Settings: settings}).Compress(t.Context(), s, sample()); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestOnlyAStrategyThatNeedsAModelKnowsOne(t *testing.T) {
	tests := map[string]struct {
		requiresLLM bool
		config      sdktest.Config
		model       *sdk.Model
		budget      int
	}{
		"nothing is said": {true, sdktest.Config{}, &sdk.Model{Name: "sdktest", ContextLimit: 128_000, MaxOutput: 8192},
			20_000},
		"all is said": {true, sdktest.Config{Model: &sdk.Model{ContextLimit: 7}, UserMessageBudget: new(0)},
			&sdk.Model{ContextLimit: 7}, 0},
		"it needs none": {false, sdktest.Config{Model: &sdk.Model{ContextLimit: 7}}, nil, 20_000},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted{info: sdk.Info{RequiresLLM: test.requiresLLM}}
			s.compress = func(_ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
				if d := cmp.Diff(test.model, in.Model); d != "" {
					t.Errorf("model (-want +got):\n%s", d)
				}
				if in.UserMessageBudget != test.budget {
					t.Errorf("budget %d, want %d", in.UserMessageBudget, test.budget)
				}
				return sdk.NoOp("x"), nil
			}
			sdktest.Compress(t, s, sample(), test.config)
		})
	}
}

func TestGenerate(t *testing.T) {
	ask := func(entries ...sdk.Content) scripted {
		return scripted{info: sdk.Info{RequiresLLM: true}, compress: func(host sdk.Host,
			in sdk.CompressInput) (sdk.CompressResult, error) {
			_, err := host.Generate(context.Background(), sdk.GenerateRequest{Entries: entries}, nil)
			return sdk.NoOp("x"), err
		}}
	}
	noLLM := ask(text(sdk.Human, "q"))
	noLLM.info.RequiresLLM = false
	tests := map[string]struct {
		strategy scripted
		generate sdktest.GenerateFunc
		want     string
	}{
		"answered":          {ask(text(sdk.Human, "q")), sdktest.Answers("a"), ""},
		"no answers left":   {ask(text(sdk.Human, "q")), sdktest.Answers(), "only 0 answers"},
		"no model":          {ask(text(sdk.Human, "q")), nil, "Config.Generate is nil"},
		"not declared":      {noLLM, sdktest.Answers("a"), "RequiresLLM is false"},
		"nothing to answer": {ask(), sdktest.Answers("a"), "at least one"},
		"a tool's entry":    {ask(text(sdk.Tool, "q")), sdktest.Answers("a"), "only human and ai"},
		"a call":            {ask(sample()[1]), sdktest.Answers("a"), "Blocks[1] is content.ToolCall"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := sdktest.Config{Generate: test.generate}.Compress(t.Context(), test.strategy, sample())
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestParseHistory(t *testing.T) {
	entry := `{"speaker":"human","blocks":[{"type":"text","text":"q"}]}`
	tests := map[string]struct {
		json string
		want int
		err  string
	}{
		"a list":        {"[" + entry + "," + entry + "]", 2, ""},
		"an object":     {`{"history":[` + entry + `]}`, 1, ""},
		"empty":         {"[]", 0, ""},
		"no history":    {`{"entries":[]}`, 0, `no field "history"`},
		"no JSON":       {"[", 0, "unexpected end"},
		"a bad entry":   {"[" + entry + ",7]", 0, "entry 1"},
		"nothing there": {"", 0, "unexpected end"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := sdktest.ParseHistory([]byte(test.json))
			if len(got) != test.want || (err == nil) != (test.err == "") || err != nil &&
				!strings.Contains(err.Error(), test.err) {
				t.Errorf("%d entries, error %v; want %d, %q", len(got), err, test.want, test.err)
			}
		})
	}
}

// recorder is a test that only writes down how it fails.
type recorder struct {
	testing.TB
	log []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.log = append(r.log, "error: "+fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.log = append(r.log, "fatal: "+fmt.Sprint(args...)) }

func TestHelpersFailTheTest(t *testing.T) {
	broken := scripted{compress: func(sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
		return sdk.CompressResult{}, errors.New("broken")
	}}
	noTrigger := &recorder{TB: t}
	sdktest.CheckInfo(noTrigger, struct{ keepLast }{})
	if len(noTrigger.log) != 0 {
		t.Errorf("a good Info fails: %q", noTrigger.log)
	}
	sdktest.CheckInfo(noTrigger, badInfo{})
	r := &recorder{TB: t}
	sdktest.Compress(r, broken, sample(), sdktest.Config{})
	empty := scripted{compress: func(sdk.Host, sdk.CompressInput) (sdk.CompressResult,
		error) {
		return sdk.CompressResult{}, nil
	}}
	sdktest.Compress(r, empty, sample(), sdktest.Config{})
	want := []string{
		"fatal: scripted: Compress: broken",
		"error: the new history is empty; return sdk.NoOp with a reason if there is nothing to do",
	}
	if d := cmp.Diff(want, r.log); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(noTrigger.log) != 1 || !strings.HasPrefix(noTrigger.log[0], "error: ") {
		t.Errorf("a bad Info: %q", noTrigger.log)
	}
}

type badInfo struct{ keepLast }

func (badInfo) Info() sdk.Info { return sdk.Info{Name: "Bad Name"} }

// In a host, counts come with the entries: however often a strategy asks, nothing is counted again.
func TestTokensCostsNothing(t *testing.T) {
	var counted atomic.Int64
	s := scripted{}
	s.compress = func(_ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
		before := counted.Load()
		for i := range in.History {
			if want := 2 * (len(in.History) - i); in.Tokens(i, len(in.History)) != want {
				t.Errorf("from entry %d: %d tokens, want %d", i, in.Tokens(i, len(in.History)), want)
			}
		}
		if n := counted.Load() - before; n > 0 {
			t.Errorf("%d entries were counted again", n)
		}
		return sdk.NoOp("x"), nil
	}
	sdktest.Compress(t, s, sample(), sdktest.Config{Counter: func(e []sdk.Content) int {
		counted.Add(int64(len(e)))
		return 2 * len(e)
	}})
}

// Whatever a Compress is told can be set in a test.
func TestEveryParameterHasAField(t *testing.T) {
	config := reflect.TypeFor[sdktest.Config]()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[sdk.CompressParams]()) {
		if _, ok := config.FieldByName(f.Name); !ok && !f.Anonymous {
			t.Errorf("Config has no field %s", f.Name)
		}
	}
}
