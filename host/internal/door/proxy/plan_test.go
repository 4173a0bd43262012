package proxy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// metered is a provider whose plan is used by what requests cost: a US dollar is all of the 5-hour window, and four are
// a week. It tells what is used in the headers of each answer, as Anthropic does.
func metered(t *testing.T, up *modelapi.Server, list *pricing.List) string {
	t.Helper()
	reset := time.Now().Add(time.Hour).Unix()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		used := 0.1
		for _, q := range up.Models() {
			used += (float64(q.Tokens-q.Cached-q.Written)*list.Input + float64(q.Cached)*list.Read() +
				float64(q.Written)*list.Write()) / 1e6
		}
		for name, share := range map[string]float64{"5h": used, "7d": used / 4} {
			w.Header().Set("anthropic-ratelimit-unified-"+name+"-utilization", fmt.Sprint(share))
			w.Header().Set("anthropic-ratelimit-unified-"+name+"-reset", fmt.Sprint(reset))
		}
		up.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What a session used of a plan is what the provider says, and what it would have used without thresh is what it does
// use in a dry run. The other way round is rough: what thresh would have sent is in the host's count alone.
func TestWhatIsUsedOfAPlan(t *testing.T) {
	list, words := sonnet(t)
	once := func(dry bool) []watch.Plan {
		var r *watch.Recorder
		p := stand(t, metered(t, provider(t, modelapi.Options{Script: work(12)}), list), map[string]any{
			"model.contextLimit": 10_000, "compression.preserveThreshold": 0.2}, func(o *proxy.Options) {
			o.DryRun, r = dry, watch.New(o.Host, "x", nil)
			o.Watch = r
		})
		a := &agent{form: editedForm{messagesForm{"s"}, words}, base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		var l watch.List
		if err := json.Unmarshal([]byte(seen(t, r, "/sessions")), &l); err != nil || len(l.Plan) != 2 {
			t.Fatalf("%v: %+v", err, l.Plan)
		}
		return l.Plan
	}
	without, with := once(true), once(false)
	for i, hours := range []float64{5, 168} {
		w, d := with[i], without[i]
		t.Logf("%v hours: %.4f used, %.4f without thresh; it says %.4f and %.4f", hours, w.Session, d.Session, d.Otherwise,
			w.Otherwise)
		if w.Hours != hours || w.API != "messages" || w.Resets.IsZero() ||
			w.Session >= d.Session || math.Abs(w.Otherwise/d.Session-1) > 0.05 || math.Abs(d.Otherwise/w.Session-1) > 0.25 {
			t.Errorf("with %+v, without %+v", w, d)
		}
	}
}
