package main_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

func TestASummaryTakesThePlaceOfTheRange(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{})
		session := workday(200)
		p.file("s.jsonl", session)
		before := entries(t, session)
		for _, strategy := range llmNames {
			calls := len(p.server.Requests())
			got := decode[compressed](t, p.run("plugins", "try", "--strategy", strategy, "--log-level", "trace", "s.jsonl"))
			if got.Kind != "applied" || got.TokensAfter >= got.TokensBefore || got.Metadata["llmCallMade"] != true ||
				got.Metadata["strategyUsed"] != strategy {
				t.Errorf("%s: %s, %d tokens to %d, %v", strategy, got.Kind, got.TokensBefore, got.TokensAfter,
					got.Metadata)
			}
			at := slices.IndexFunc(texts(got.History),
				func(text string) bool { return strings.HasPrefix(text, snapshot) })
			if at < 0 || got.History[at]["speaker"] != "human" || got.History[at+1]["speaker"] != "ai" {
				t.Fatalf("%s: no snapshot in %.2000q", strategy, texts(got.History))
			}
			if now := unpaired(got.History); now > unpaired(before) {
				t.Errorf("%s: %d calls and results without the other", strategy, now)
			}
			if last := texts(got.History[len(got.History)-1:]); last[0] != lastWords {
				t.Errorf("%s: the history ends with %q", strategy, last)
			}
			if made := p.server.Requests()[calls:]; len(made) != 1 {
				t.Errorf("%s: %d requests", strategy, len(made))
			} else {
				asksWell(t, made[0])
			}
		}
	})
}

// asksWell checks a request that the server, which is strict and wants the key, found right.
func asksWell(t *testing.T, r *modelapi.Request) {
	t.Helper()
	asked := r.Asked()
	if asked.Model != "writer-1" || asked.MaxTokens <= 0 || asked.MaxTokens > 4000 {
		t.Errorf("model %s, at most %d tokens", asked.Model, asked.MaxTokens)
	}
	if bytes.Contains(r.Body, []byte(`"tool_`)) {
		t.Error("it has tool calls or results that are not text")
	}
	if first := asked.Messages[0].Text; !strings.Contains(first, "data") {
		t.Errorf("it begins with %.200q", first)
	}
}

// TestCompareSaysWhatTheModelCost: the tokens are those that the provider counted.
func TestCompareSaysWhatTheModelCost(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{Text: snapshot,
			Usage: modelapi.Usage{Input: 1000, Output: 200}, Model: "writer-1-2026", Pace: 5 * time.Millisecond})})
		p.file("s.jsonl", workday(120))
		for _, strategy := range llmNames {
			got := decode[struct {
				Sessions []struct {
					Variants []struct{ Steps []replayedTurn }
				}
			}](t,
				p.run("compare", "--turns", "-o", "json", "--strategy", strategy, "--set", "model.contextLimit=12000", "s.jsonl"))
			calls := 0
			for _, turn := range got.Sessions[0].Variants[0].Steps {
				spent := turn.Compress.LLM
				if turn.Compress.Kind != "applied" {
					if spent != nil {
						t.Errorf("%s: turn %d spent %+v and has nothing for it", strategy, turn.Turn, spent)
					}
					continue
				}
				calls++
				if spent == nil || spent.Calls != 1 || spent.Attempts != 1 || spent.InputTokens != 1000 ||
					spent.OutputTokens != 200 ||
					math.Abs(spent.CostUSD-0.006) > 1e-9 || spent.Profile != "writer" ||
					spent.Model != "writer-1-2026" {
					t.Errorf("%s: turn %d spent %+v", strategy, turn.Turn, spent)
				} else if spent.Time < 5*time.Millisecond {
					t.Errorf("%s: turn %d says that the model took %s", strategy, turn.Turn, spent.Time)
				}
			}
			if calls < 2 {
				t.Errorf("%s: compressed %d times", strategy, calls)
			}
			if table := p.run("compare", "--strategy", strategy, "--set", "model.contextLimit=12000", "s.jsonl").
				done(t).stdout; !strings.Contains(table, fmt.Sprintf("its own model calls, %d with %d tokens (%.4f USD", calls,
				1200*calls, 0.006*float64(calls))) {
				t.Errorf("%s: for people:\n%s", strategy, table)
			}
		}
	})
}

// replayedTurn is a turn of 'thresh compare --turns -o json'.
type replayedTurn struct {
	Turn     int
	Compress struct {
		Kind string
		LLM  *struct {
			Calls, Attempts, InputTokens, OutputTokens int
			CostUSD                                    float64
			Time                                       time.Duration `json:"timeNs"`
			Profile, Model                             string
		}
	}
}

// TestARangeFiveTimesTheModelsWindow is folded into one snapshot, in requests of which each fits: the server refuses
// others.
func TestARangeFiveTimesTheModelsWindow(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		const window = 16_000
		p := newLLMPlaceHere(t, kind, modelapi.Options{ContextLimit: window - 2000})
		p.file("s.jsonl", conversation(600))
		for _, strategy := range llmNames {
			calls := len(p.server.Requests())
			got := decode[compressed](t, p.run("plugins", "try", "--strategy", strategy, "s.jsonl",
				"--set", "profiles.writer.provider.contextLimit=16000",
				"--set", "profiles.writer.provider.maxOutput=2000",
				"--set", "compression.preserveThreshold=0.1", "--set", "compression.topPreserveThreshold=0.1"))
			if got.Kind != "applied" || got.TokensBefore-got.TokensAfter < 5*window {
				t.Errorf("%s: %s, %d tokens to %d: not five windows", strategy, got.Kind, got.TokensBefore,
					got.TokensAfter)
			}
			parts := p.asked()[calls:]
			if len(parts) < 5 {
				t.Errorf("%s: %d requests", strategy, len(parts))
			}
			for i, text := range parts[1:] {
				if !strings.Contains(text, "A parser that never panics.") {
					t.Errorf("%s: request %d does not carry the snapshot on", strategy, i+2)
				}
			}
			for _, want := range []string{"question 130\n", "question 500\n"} {
				if !strings.Contains(strings.Join(parts, "\n"), want) {
					t.Errorf("%s: the model never saw %q", strategy, want)
				}
			}
		}
	})
}

// unpaired counts responses without a call before them and calls without a response after them.
func unpaired(history []object) int {
	open, orphans := map[any]int{}, 0
	for _, e := range history {
		blocks, _ := e["blocks"].([]any)
		for _, b := range blocks {
			block, _ := b.(object)
			switch block["type"] {
			case "tool_call":
				open[block["id"]]++
			case "tool_response":
				if open[block["callId"]] == 0 {
					orphans++
				} else {
					open[block["callId"]]--
				}
			}
		}
	}
	for _, n := range open {
		orphans += n
	}
	return orphans
}
