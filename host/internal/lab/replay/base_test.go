package replay

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

func TestABaseConvertsToWhatTheProviderCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		base    Base
		n, want int
	}{
		"nothing recorded":       {Base{}, 40, 40},
		"the recorded request":   {Base{counted: 100, reported: 1250, ratio: 1.5}, 100, 1250},
		"what was removed":       {Base{counted: 100, reported: 1250, ratio: 1.5}, 40, 1160},
		"what was put in":        {Base{counted: 100, reported: 1250, ratio: 1.5}, 120, 1280},
		"an empty history":       {Base{counted: 0, reported: 1250, ratio: 1.5}, 0, 1250},
		"a recorder that prunes": {Base{counted: 1000, reported: 500, ratio: 1}, 400, 200},
	} {
		if got := tt.base.Tokens(tt.n); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestARequestIsChargedForEachUsage(t *testing.T) {
	two := []transcript.Usage{{PromptTokens: 10}, {PromptTokens: 12}}
	r := &Recording{Transcript: &transcript.Transcript{Usage: two}, Requests: []Request{
		{Request: transcript.Request{Usage: two}}, {}}}
	if got := r.Charges(0); len(got) != 2 || got[1].Tokens(0) != 12 || got[0].Usage != &two[0] {
		t.Errorf("%+v", got)
	}
	if sent, nothing := r.billed(Turn{Turn: 1}); sent != 22 || nothing != 22 {
		t.Errorf("%d tokens sent and %d without a strategy, want what was billed", sent, nothing)
	}
	if got := r.Charges(1); len(got) > 0 { // such as one that was interrupted
		t.Errorf("a request without usage: %+v", got)
	}
	r.Transcript = &transcript.Transcript{}
	if got := r.Charges(1); len(got) != 1 || got[0].Usage != nil || got[0].Tokens(7) != 7 {
		t.Errorf("without any usage: %+v", got)
	}
}
