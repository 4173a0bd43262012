package apis_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

const five, week = 5 * time.Hour, 7 * 24 * time.Hour

func window(length time.Duration, used float64, reset int64) provider.Window {
	w := provider.Window{Length: length, Used: used}
	if reset > 0 {
		w.Reset = time.Unix(reset, 0).UTC()
	}
	return w
}

// What a plan has left is in the headers of answers, in each API's own units.
func TestWhatAnAnswerSaysOfThePlan(t *testing.T) {
	for name, tt := range map[string]struct {
		api     provider.API
		headers map[string]string
		want    []provider.Window
	}{
		"Claude": {provider.Messages, map[string]string{
			"anthropic-ratelimit-unified-status": "allowed", "anthropic-ratelimit-unified-5h-status": "allowed",
			"anthropic-ratelimit-unified-5h-utilization": "0.14", "anthropic-ratelimit-unified-5h-reset": "1790569200",
			"anthropic-ratelimit-unified-7d-utilization": "0.0", "anthropic-ratelimit-unified-7d-reset": "1790845200",
			"anthropic-ratelimit-unified-7d_oi-utilization": "0.02"},
			[]provider.Window{window(five, 0.14, 1790569200), window(week, 0, 1790845200)}},
		"a key that is billed": {provider.Messages, map[string]string{
			"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-tokens-remaining": "30000"}, nil},
		"Codex": {provider.Responses, map[string]string{
			"x-codex-primary-used-percent": "12.5", "x-codex-primary-window-minutes": "300",
			"x-codex-primary-reset-at": "1700009000", "x-codex-secondary-used-percent": "73.0",
			"x-codex-secondary-window-minutes": "10080"},
			[]provider.Window{window(five, 0.125, 1700009000), window(week, 0.73, 0)}},
		"no window": {provider.Responses, map[string]string{
			"x-codex-primary-used-percent": "0", "x-codex-primary-window-minutes": "0"}, nil},
		"no numbers": {provider.Responses, map[string]string{
			"x-codex-primary-used-percent": "NaN", "x-codex-primary-window-minutes": "300",
			"x-codex-secondary-used-percent": "-3", "x-codex-secondary-window-minutes": "10080"}, nil},
	} {
		h := http.Header{}
		for k, v := range tt.headers {
			h.Set(k, v)
		}
		if diff := cmp.Diff(tt.want, apis.Of(tt.api).Plan(h.Get)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	event := `{"type":"codex.rate_limits","plan_type":"pro","rate_limits":{"primary":{"used_percent":40.0,` +
		`"window_minutes":300,"reset_at":1700009000},"secondary":null}}`
	read := apis.Of(provider.Responses).PlanEvent
	if diff := cmp.Diff([]provider.Window{window(five, 0.4, 1700009000)}, read([]byte(event))); diff != "" {
		t.Error(diff)
	}
	said := `{"type":"response.output_text.delta","delta":"codex.rate_limits","rate_limits":{"primary":{"used_percent":1,"window_minutes":300}}}`
	if got := read([]byte(said)); got != nil {
		t.Errorf("words of a model are %v", got)
	}
}

// A window counts from what was used at the first answer on, one that began since from its beginning. Another account
// has other windows.
func TestWhatASessionUsedOfAPlan(t *testing.T) {
	began := time.Unix(1_790_000_000, 0)
	at := began.Unix() + 3600 // when the first window ends
	var p provider.Plan
	for _, w := range []provider.Window{
		window(five, 0.30, at), window(five, 0.34, at+1), window(five, 0.33, at), // the last came late
		window(five, 0.60, at+7200), window(five, 0.61, at+7200), window(five, 0.58, at+7200), // another account, the first late
		window(five, 0.02, at+18_000), window(five, 0.35, at), window(five, 0.05, at+18_000),
		window(week, 0.70, 0), window(week, 0.71, 0),
	} {
		p.Add([]provider.Window{w}, began)
	}
	want := []provider.Part{{Window: window(five, 0.05, at+18_000), Session: 0.05 + 0.03 + 0.05},
		{Window: window(week, 0.71, 0), Session: 0.01}}
	if diff := cmp.Diff(want, p.Parts(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

// What Codex recorded of its plan, added up. The second user changed the account after three minutes.
func TestThePlansOfRecordings(t *testing.T) {
	for name, want := range map[string][]provider.Part{
		"codex-a5-7b22d8d4bd-0.jsonl": {{Window: window(five, 0.17, 1781699554), Session: 0.17 - 0.15},
			{Window: window(week, 0.54, 1781845257), Session: 0.54 - 0.53}},
		"codex-3c-162d1d8ad4-1.jsonl": {{Window: window(five, 0.09, 1782181948), Session: 0.01 - 0 + 0.26 - 0.24 + 0.09},
			{Window: window(week, 0.70, 1782337450), Session: 0.70 - 0.67}},
	} {
		data, err := os.ReadFile(repo.Shared(t, "sessions", "native", "agentv", name))
		if err != nil {
			t.Fatal(err)
		}
		var p provider.Plan
		for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
			var line struct {
				Timestamp time.Time
				Payload   struct {
					Limits json.RawMessage `json:"rate_limits"`
				}
			}
			if err := d.Decode(&line); err != nil {
				t.Fatal(err)
			}
			p.Add(responses.Limits(line.Payload.Limits), line.Timestamp)
		}
		if diff := cmp.Diff(want, p.Parts(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
