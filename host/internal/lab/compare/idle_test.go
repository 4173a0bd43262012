package compare_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/sdk/content"
)

// idle is a variant that never has anything to do.
var idle = compare.Variant{Name: "idle", Strategy: "top-down-truncation", Settings: map[string]string{
	"compression.threshold": "1", "model.contextLimit": "100000000",
}}

// A strategy that does nothing saves nothing, costs nothing more and loses nothing, whatever the session.
func TestDoingNothingIsWhatItIsComparedWith(t *testing.T) {
	list := cheap
	list.CacheTTL = 5 * time.Minute
	for name, s := range map[string]compare.Session{
		"a response without its call": session("s",
			answers("lost", "read_file", strings.Repeat("func parseHeader(b []byte) error ", 500)),
			says(content.Human, "Why does it fail?"), says(content.AI, "It is parseHeader."),
			says(content.Human, "Sure?"), says(content.AI, "Yes, parseHeader."),
		),
		"a call without its response": session("s",
			says(content.Human, "Why does it fail?"), calls("I look", "c1", "read_file", `{"file_path":"/w/a.go"}`),
			says(content.Human, "No"), says(content.AI, "Yes, parseHeader."),
		),
		"entries without a time": session("s",
			at(0, says(content.Human, "Look at parseHeader.")), at(1, says(content.AI, "parseHeader is fine.")),
			at(20, says(content.AI, "still here")), says(content.Human, "Sure?"),
			at(21, says(content.AI, "parseHeader, yes.")),
		),
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, open(t, nil), compare.Options{
				Sessions: []compare.Session{s}, Prices: []*pricing.List{&list}, Variants: []compare.Variant{idle},
			})
			v := r.Totals.Variants[0]
			if v.Saved != 0 || v.Costs[0].Relative != 0 || v.Recall.Share != 1 || v.Rewrites != 0 {
				t.Errorf(
					"saved %g, cost %g, recall %g of %d, %d rewrites", v.Saved, v.Costs[0].Relative, v.Recall.Share,
					v.Recall.Used, v.Rewrites,
				)
			}
			if n := r.Totals.Nothing.Costs[0].USD; math.Abs(n-v.Costs[0].Nothing) > 1e-12 {
				t.Errorf("nothing costs %g, and the variant is compared with %g", n, v.Costs[0].Nothing)
			}
		})
	}
}

// A variant that decides by the price list of the model in force is priced by the lists that it is tried with, each
// by its own.
func TestWhoDecidesByPricesIsPricedByThem(t *testing.T) {
	h := open(t, map[string]any{"model.name": "claude-sonnet-4"})
	other := pricing.List{Name: "other", Input: 1, Output: 1}
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{reads()}, Prices: []*pricing.List{&cheap, &other},
		Variants: []compare.Variant{{Strategy: "forgetful"}},
	})
	var lists []string
	for _, v := range r.Variants {
		lists = append(lists, v.PriceList)
	}
	if len(lists) != 2 || lists[0] != cheap.Name || lists[1] != "other" {
		t.Errorf("price lists %q", lists)
	}
}
