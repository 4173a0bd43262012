package supervise

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTheDelayAfterACrashGrows(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := crashes{most: 100}
	var got []time.Duration
	crash := func() {
		c.add(now, 1)
		got = append(got, c.next.Sub(now))
		now = c.next
	}
	for range 10 {
		crash()
	}
	c.isReady(now)
	now = now.Add(calmTime - time.Second)
	crash()
	c.isReady(now)
	now = now.Add(calmTime)
	crash()
	want := []time.Duration{
		250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
		8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
		time.Minute,            // it was not ready long enough
		250 * time.Millisecond, // and now it was
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJitterOnlyShortensTheDelayALittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := crashes{most: 1000, row: rapid.IntRange(0, 100).Draw(t, "row")}
		full := min(firstDelay<<min(c.row, 16), maxDelay)
		now := time.Unix(1e9, 0)
		c.add(now, rapid.Float64Range(0, 1).Draw(t, "jitter"))
		if d := c.next.Sub(now); d > full || d < full*79/100 {
			t.Errorf("delay %v of %v", d, full)
		}
	})
}

func TestTooManyCrashesAreThoseWithinTheWindow(t *testing.T) {
	start := time.Unix(1e9, 0)
	tests := map[string]struct {
		apart time.Duration
		want  []bool
	}{
		"close together": {time.Second, []bool{false, false, true, true}},
		"just within":    {crashWindow/2 - time.Second, []bool{false, false, true, true}},
		"far apart":      {crashWindow / 2, []bool{false, false, false, false}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := crashes{most: 3}
			for i, want := range test.want {
				if got := c.add(start.Add(time.Duration(i)*test.apart), 0); got != want {
					t.Errorf("crash %d: %v", i, got)
				}
			}
		})
	}
}
