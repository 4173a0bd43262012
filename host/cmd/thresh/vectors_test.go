package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// TestCompressVectorsThroughTheCommandLine takes two cases of each file. They were made with other token
// counters, so that properties are looked at here; package tests compare them exactly.
func TestCompressVectorsThroughTheCommandLine(t *testing.T) {
	t.Parallel()
	for strategy, file := range map[string]string{
		"high-density": "compress_highdensity.jsonl", "top-down-truncation": "compress_topdown.jsonl",
	} {
		text, err := os.ReadFile(repo.Shared(t, "vectors", file))
		if err != nil {
			t.Fatal(err)
		}
		p := newPlaceHere(t)
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, len(text))
		for n := 0; lines.Scan(); n++ {
			if n%25 != 1 {
				continue
			}
			v := parseJSON[struct {
				ID                           string
				History                      json.RawMessage
				Threshold, PreserveThreshold float64
				ContextLimit                 int
			}](t, lines.Text())
			t.Run(v.ID, func(t *testing.T) {
				p.file("v.json", string(v.History))
				got := decode[struct {
					Kind, Reason              string
					History                   []object
					TokensBefore, TokensAfter int
				}](t, p.run("plugins", "try", "--strategy", strategy, "v.json", "--set",
					fmt.Sprint("compression.threshold=", v.Threshold),
					"--set", fmt.Sprint("compression.preserveThreshold=", v.PreserveThreshold), "--set",
					fmt.Sprint("model.contextLimit=", v.ContextLimit)))
				before := parseJSON[[]object](t, string(v.History))
				if got.TokensAfter > got.TokensBefore || (got.Kind == "noop") != (got.Reason != "") {
					t.Errorf("kind %q, reason %q, %d tokens to %d", got.Kind, got.Reason, got.TokensBefore,
						got.TokensAfter)
				}
				if now, then := unpaired(got.History), unpaired(before); now > then {
					t.Errorf("%d calls and responses without the other, %d before", now, then)
				}
				if got.Kind == "noop" && len(got.History) != len(before) {
					t.Errorf("a no-op left %d of %d entries", len(got.History), len(before))
				}
				switch strategy {
				case "high-density":
					if diff := cmp.Diff(people(before), people(got.History)); diff != "" {
						t.Errorf("what people said:\n%s", diff)
					}
				default:
					if diff := cmp.Diff(before[len(before)-len(got.History):], got.History); diff != "" {
						t.Errorf("not a suffix:\n%s", diff)
					}
				}
			})
		}
	}
}

// people are the entries of people.
func people(history []object) (out []object) {
	for _, e := range history {
		if e["speaker"] == "human" {
			out = append(out, e)
		}
	}
	return out
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
