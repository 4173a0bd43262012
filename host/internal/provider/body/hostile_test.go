package body

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// Whatever a client sends takes time in proportion, from its index to the check of what is sent instead.
func FuzzGrown(f *testing.F) {
	apis := []provider.API{provider.Messages, provider.Chat, provider.Responses, provider.Gemini}
	var texts []hostile.Text
	for _, api := range apis {
		texts = append(texts, hostile.Some(bodies[api], 12)...)
	}
	hostile.Fuzz(f, func(text string) {
		for _, api := range apis {
			r, err := Index(api, []byte(text))
			if err != nil {
				continue
			}
			if r.Chain(); r.Reason != "" {
				continue
			}
			entries, view := numbered(r)
			plan, err := r.NewPlan(entries, view[len(view)/2:])
			if err != nil {
				continue
			}
			edits := r.Edits(plan)
			if now, err := Index(api, Apply([]byte(text), edits)); err == nil {
				now.Chain()
				_ = Validate(r, edits, now)
			}
		}
	}, texts...)
}
