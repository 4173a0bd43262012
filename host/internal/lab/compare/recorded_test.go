package compare_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// recordedUsage is usage under the names of all recorders.
type recordedUsage struct {
	InputTokens   int `json:"input_tokens"`
	OutputTokens  int `json:"output_tokens"`
	Write         int `json:"cache_creation_input_tokens"`
	Read          int `json:"cache_read_input_tokens"`
	CacheCreation struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	CachedInput int `json:"cached_input_tokens"` // Codex, a part of the input

	PromptTokens     int `json:"prompt_tokens"` // OpenAI
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`

	Input, Output, Cached, Thoughts int // Gemini CLI, and pi, which counts the cached parts apart
	CacheRead, CacheWrite           int
}

// spent is what a recording's provider counted, in tokens.
type spent struct {
	input, read, write, hour, output int
	usd                              float64 // as stated; 0 if it is not
}

func (s *spent) add(c recordedUsage) {
	cached := c.CachedInput + c.Cached + c.PromptDetails.Cached // a part of the prompt
	s.input += c.InputTokens + c.PromptTokens + c.Input - cached
	s.read += c.Read + c.CacheRead + cached
	s.write += c.Write + c.CacheWrite - c.CacheCreation.Hour
	s.hour += c.CacheCreation.Hour
	s.output += c.OutputTokens + c.CompletionTokens + c.Output + c.Thoughts
}

func (s *spent) prompts() int { return s.input + s.read + s.write + s.hour }

func (s *spent) at(l *pricing.List) float64 {
	if s.usd > 0 {
		return s.usd
	}
	hour := 2 * l.Input // as Anthropic has it
	return (float64(s.input)*l.Input + float64(s.read)*l.Read() + float64(s.write)*l.Write() +
		float64(s.hour)*hour + float64(s.output)*l.Output) / 1e6
}

// spentBy adds up a native file's own records of usage, read without a notion of entries. Claude Code writes the usage
// of an answer with each of its blocks, and its last is complete.
func spentBy(t *testing.T, file string) (s spent) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	answers := map[string]recordedUsage{}
	for d := json.NewDecoder(f); ; {
		var r struct {
			IsSidechain bool
			RequestID   string
			Message     struct {
				ID    string
				Usage recordedUsage
			}
			Payload struct {
				Info struct {
					Last recordedUsage `json:"last_token_usage"`
				}
			}
			Messages []struct {
				Tokens  recordedUsage
				Metrics struct {
					InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens int
					Cost                                                         float64
				}
				Extra struct{ Response struct{ Usage recordedUsage } }
			}
			Response struct{ Usage recordedUsage }
		}
		var other *json.UnmarshalTypeError // a field of another form has no usage
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil && !errors.As(err, &other) {
			t.Fatal(file, err)
		}
		switch {
		case r.IsSidechain:
		case r.Message.ID != "":
			answers[r.Message.ID+r.RequestID] = r.Message.Usage
		default:
			s.add(r.Message.Usage)
		}
		s.add(r.Payload.Info.Last)
		s.add(r.Response.Usage)
		for _, m := range r.Messages {
			s.add(m.Tokens)
			s.add(m.Extra.Response.Usage)
			s.usd += m.Metrics.Cost
			s.add(recordedUsage{Input: m.Metrics.InputTokens, Cached: m.Metrics.CacheReadTokens + m.Metrics.CacheWriteTokens,
				CacheRead: -m.Metrics.CacheWriteTokens, CacheWrite: m.Metrics.CacheWriteTokens,
				Output: m.Metrics.OutputTokens})
		}
	}
	for _, c := range answers {
		s.add(c)
	}
	return s
}

// People hold the figures against what they were billed.
func TestDoingNothingIsWhatTheRecordedSessionsWereBilled(t *testing.T) {
	race.Skip(t)
	files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions"), "native", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if !testing.Short() {
		recent, _ := filepath.Glob(filepath.Join(repo.Shared(t, "sessions-2026"), "claude-code-*.jsonl"))
		files = append(files, recent...)
	}
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, nil)
	billed := 0
	for _, file := range files {
		want := spentBy(t, file)
		if want.prompts() == 0 {
			continue
		}
		billed++
		tr, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sessions := []compare.Session{{Name: filepath.Base(file), Transcript: tr}}
		list := catalog.ForModel(tr.Model)
		lists := compare.RecordedPrices(catalog.ForModel, sessions)
		r, err := compare.Run(t.Context(), h, compare.Options{Sessions: sessions, Prices: lists, PriceOf: catalog.ForModel})
		if err != nil {
			t.Fatal(err)
		}
		nothing := r.Totals.Nothing
		t.Logf("%-45s %-18s window %+v", filepath.Base(file), tr.Model, r.Sessions[0].Window)
		t.Logf("%-45s recorded %9d, nothing %9d (%+.2f %%)", "", want.prompts(), nothing.Sent,
			100*(float64(nothing.Sent)/float64(want.prompts())-1))
		if nothing.OverLimit > 0 {
			t.Errorf("%s: %d requests that were answered are over the limit", file, nothing.OverLimit)
		}
		if math.Abs(float64(nothing.Sent-want.prompts())) > 0.05*float64(want.prompts()) {
			t.Errorf("%s: doing nothing is %d tokens, %d were recorded", file, nothing.Sent, want.prompts())
		}
		if list == nil {
			if len(lists) > 0 {
				t.Errorf("%s: %s is priced by %s", file, tr.Model, lists[0].Name)
			}
			continue
		}
		if len(nothing.Costs) == 0 { // a request is another model's, without a list
			if r.Sessions[0].Unlisted == "" {
				t.Errorf("%s: no cost, and no model without a list", file)
			}
			continue
		}
		usd := want.at(list)
		t.Logf("%-45s %8.4f USD, nothing %8.4f (%+.2f %%)", "", usd, nothing.Costs[0].USD,
			100*(nothing.Costs[0].USD/usd-1))
		// Without a figure of the cache, what was read from it is a model.
		if want.read+want.write+want.hour > 0 && math.Abs(nothing.Costs[0].USD-usd) > 0.05*usd {
			t.Errorf("%s: doing nothing costs %.4f USD, %.4f were billed", file, nothing.Costs[0].USD, usd)
		}
	}
	if billed < 14 {
		t.Errorf("%d recordings have usage", billed)
	}
}
