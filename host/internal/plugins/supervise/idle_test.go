package supervise

import (
	"testing"
	"time"
)

func TestOnlyTimeWithoutACallIsSpun(t *testing.T) {
	begin := time.Unix(0, 0)
	before := usage{at: begin, cpu: time.Second, leases: 3, known: true}
	end := begin.Add(10 * time.Second)
	tests := map[string]struct {
		after usage
		want  float64
	}{
		"idle":                     {usage{at: end, cpu: time.Second, leases: 3, known: true}, 0},
		"half a core":              {usage{at: end, cpu: 6 * time.Second, leases: 3, known: true}, 0.5},
		"two cores":                {usage{at: end, cpu: 21 * time.Second, leases: 3, known: true}, 2},
		"a call came and went":     {usage{at: end, cpu: 6 * time.Second, leases: 4, known: true}, 0},
		"a call is under way":      {usage{at: end, cpu: 6 * time.Second, leases: 3, busy: true, known: true}, 0},
		"processor time not known": {usage{at: end, leases: 3}, 0},
	}
	for name, test := range tests {
		if got := spun(before, test.after); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
