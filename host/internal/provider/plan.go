package provider

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Window is what a provider says with an answer of one of the windows of a user's plan: when all of it is used,
// requests are refused until it is reset.
type Window struct {
	Length time.Duration `json:"lengthNs"`
	// Used is a share, from 0 on. Reset is when it is 0 again; zero if that is not said.
	Used  float64   `json:"used"`
	Reset time.Time `json:"reset"`
}

// ReadWindow reads a window of a length from texts: the number that is used, how many of them are all, and the time of
// the reset in seconds since 1970. ok is false if they are no such numbers.
func ReadWindow(length time.Duration, used string, all float64, reset string) (w Window, ok bool) {
	n, err := strconv.ParseFloat(used, 64)
	// Plans may go on for a while above all of it.
	if err != nil || length <= 0 || math.IsNaN(n) || n < 0 || n > 100*all {
		return w, false
	}
	w = Window{Length: length, Used: n / all}
	if at, err := strconv.ParseInt(reset, 10, 64); err == nil && at > 0 {
		w.Reset = time.Unix(at, 0).UTC()
	}
	return w, true
}

// WindowName is what people call windows of a length.
func WindowName(length time.Duration) string {
	hours := length.Hours()
	switch {
	case math.Abs(hours-7*24) < 1:
		return "week"
	case hours >= 48:
		return fmt.Sprintf("%.0f days", hours/24)
	}
	return fmt.Sprintf("%.0f hours", hours)
}

// Plan adds up what was used of the windows of a plan since the first answer that told of one. The zero value knows
// none.
type Plan struct {
	began time.Time
	seen  []seen
}

// seen is a window: the least and the most that was told to be used of it, which only grows.
type seen struct {
	Window
	from float64
}

// Part is what was used of the windows of one length.
type Part struct {
	Window // as it was told last
	// Session is what was used since the first answer, by all that use the plan; above 1 over several windows.
	Session float64 `json:"session"`
}

// Add takes in what an answer told. Answers of requests at the same time may come in any order, and an agent may change
// the account: each window is known by the time of its reset, which may differ by seconds.
func (p *Plan) Add(told []Window, at time.Time) {
	if p.began.IsZero() && len(told) > 0 {
		p.began = at
	}
	for _, w := range told {
		i := slices.IndexFunc(p.seen, func(s seen) bool {
			return s.Length == w.Length && s.Reset.Sub(w.Reset).Abs() <= w.Length/60
		})
		one := seen{w, w.Used}
		switch {
		case i >= 0:
			one = p.seen[i]
			one.Used, one.from = max(one.Used, w.Used), min(one.from, w.Used)
			p.seen = slices.Delete(p.seen, i, i+1)
		case !p.began.IsZero() && !w.Reset.IsZero() && w.Reset.Add(-w.Length).After(p.began):
			one.from = 0 // it began since
		}
		p.seen = append(p.seen, one) // the last one of a length is that which was told last
	}
}

// Parts returns what was used, the shortest windows first.
func (p *Plan) Parts() (all []Part) {
	for _, s := range slices.Backward(p.seen) {
		i := slices.IndexFunc(all, func(one Part) bool { return one.Length == s.Length })
		if i < 0 {
			i, all = len(all), append(all, Part{Window: s.Window})
		}
		all[i].Session += s.Used - s.from
	}
	slices.SortFunc(all, func(a, b Part) int { return cmp.Compare(a.Length, b.Length) })
	return all
}
