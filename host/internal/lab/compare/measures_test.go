package compare_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Each measure is in the JSON where its row says, with the value that the tables show.
func TestEveryMeasureIsWhereItsRowSays(t *testing.T) {
	t.Parallel()
	next := 0.0
	n := func() int { next++; return int(next) }
	f := func() float64 { next++; return next }
	r := compare.Result{
		Turns: n(), Sent: n(), Saved: f(), Peak: n(), OverLimit: n(), Rewrites: n(), Optimized: n(), Held: n(),
		Compressed: n(), Laddered: n(), Recall: compare.Recall{Share: f(), ShareResults: f(), ShareLines: f()},
		Needs: compare.Needs{Share: f(), ShareEdits: f()}, Own: compare.Own{Share: f(), Worst: f()},
		Rereads: compare.Rereads{Calls: n()}, Pruned: compare.Pruned{Tokens: n()}, LLM: &outcome.Spent{Time: 41e9},
		HostTime: 42e9, PluginTime: 43e9,
	}
	c := compare.Cost{USD: f(), Model: f(), Relative: f(), CacheRead: n(), CacheWrite: n(), Uncached: n()}
	fields := func(v any) (out map[string]any) {
		t.Helper()
		raw, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	result, cost := fields(r), fields(c)
	names, values := map[string]bool{}, map[float64]string{}
	for _, m := range compare.Measures() {
		at := any(result)
		if m.PerList {
			at = cost
		}
		for part := range strings.SplitSeq(m.JSON, ".") {
			object, _ := at.(map[string]any)
			at = object[part]
		}
		want := m.Value(&r, c)
		got, _ := at.(float64)
		if m.Kind == compare.Seconds {
			got /= 1e9
		}
		if math.Abs(got-want) > 1e-9 || want == 0 {
			t.Errorf("%s is %v, and %s of the JSON is %v", m.Name, want, m.JSON, at)
		}
		if values[want] != "" {
			t.Errorf("%s is the same as %s", m.Name, values[want])
		}
		if names[m.Name] || m.Help == "" || strings.HasSuffix(m.Help, ".") || (m.Worst > 0) != (m.Spread != nil) {
			t.Errorf("the row of %s is not whole", m.Name)
		}
		names[m.Name], values[want] = true, m.Name
	}
}
