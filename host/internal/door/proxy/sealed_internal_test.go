package proxy

import (
	"testing"

	"github.com/hashicorp/go-hclog"
)

// What was counted of a request is not what was sent again: the provider's count of that teaches nothing.
func TestARequestThatIsSentAgainTeachesNoCount(t *testing.T) {
	s := &Server{options: Options{Logger: hclog.NewNullLogger()}}
	x := &exchange{server: s, branch: &branch{}, counted: 5000, entries: 7, detail: "reason=compaction"}
	s.refusedThinking(x)
	if x.counted != 0 || x.branch.refused.Load() != 7 || !s.limits.sealed(x.of) || s.Totals().Resent != 1 {
		t.Errorf("counted %d, entries %d, totals %+v", x.counted, x.branch.refused.Load(), s.Totals())
	}
	if x.header() != "; reason=compaction; sent-again=without-thinking" {
		t.Error(x.header())
	}
}
