// Package hostile makes text that is built to exhaust its reader, and finds out whether it does: by nesting, which ends
// a process whose stack overflows, or by taking more than linear time. It is for fuzz targets: they make the unit,
// [Check] repeats it. [Grown] makes such texts of a sample.
package hostile

import (
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Text is Start, then Open repeated, Middle, Close repeated as often, and End. Without Close nothing is closed. "%d" in
// Open is another number each time. "%s" in Middle is filled until the text is as long as it should be: Open is then
// repeated as often as readers of JSON allow at most, which refuse deeper ones at once.
type Text struct{ Start, Open, Middle, Close, End string }

// deepest is how deep JSON may be nested, with some room for what is around it.
const deepest = rawjson.MaxDepth - 100

// Of returns a text of about n bytes.
func (t Text) Of(n int) string {
	if strings.Contains(t.Middle, "%s") {
		return t.nested(n, deepest)
	}
	return t.repeated(max(1, (n-len(t.Start+t.Middle+t.End))/max(1, len(t.Open)+len(t.Close))))
}

func (t Text) nested(n, times int) string {
	times = max(1, min(times, n/2/max(1, len(t.Open)+len(t.Close))))
	rest := n - len(t.Start+t.Middle+t.End) - times*len(t.Open+t.Close)
	t.Middle = strings.Replace(t.Middle, "%s", strings.Repeat("x", max(0, rest)), 1)
	return t.repeated(times)
}

func (t Text) repeated(times int) string {
	var b strings.Builder
	b.WriteString(t.Start)
	before, behind, numbered := strings.Cut(t.Open, "%d")
	for i := range times {
		b.WriteString(before)
		if numbered {
			b.WriteString(strconv.Itoa(i))
			b.WriteString(behind)
		}
	}
	b.WriteString(t.Middle)
	b.WriteString(strings.Repeat(t.Close, times))
	b.WriteString(t.End)
	return b.String()
}

// JSON are texts that ask much of a reader of JSON. It may refuse them.
var JSON = []Text{
	{Open: "["}, {Open: "[", Close: "]"}, {Open: "[", Middle: `"%s"`, Close: "]"},
	{Open: `{"a":`, Middle: `"%s"`, Close: "}"}, {Open: "[[],"}, {Open: "[{"}, {Start: "[", Open: "[],", End: "0]"},
	{Open: `{"a":`}, {Open: `{"a":`, Middle: "1", Close: "}"}, {Open: `{"":[`, Close: "]}"},
	{Open: `{"a":1,"b":`, Middle: "{}", Close: "}"}, {Start: "{", Open: `"%d":0,`, End: `"a":0}`},
	{Start: "{", Open: `"a":0,`, End: `"a":0}`}, {Start: `"`, Open: `\ud800`, End: `"`}, {Start: `"`, Open: `\\`, End: `"`},
	{Open: `"\`}, {Open: " "}, {Open: "-"}, {Open: "1"}, {Open: "1e"}, {Open: "\n"}, {Open: "\xff"},
}

// Grown yields texts that are made of a valid JSON value, or of lines of them: each value in it in arrays, in objects
// and in strings, and each element, field and line repeated.
func Grown(sample string) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		for at := 0; at < len(sample); {
			end := len(sample)
			if n := strings.IndexByte(sample[at:], '\n'); n >= 0 && rawjson.Valid([]byte(sample[at:at+n])) {
				end = at + n + 1
				if !yield(Text{Start: sample[:at], Open: sample[at:end], End: sample[at:]}) {
					return
				}
			}
			g := grower{sample: sample, at: at, scan: rawjson.New([]byte(sample[at:end])), yield: yield}
			if g.value(); g.done {
				return
			}
			at = end
		}
	}
}

// Some returns about n of the texts of [Grown], of all kinds.
func Some(sample string, n int) (some []Text) {
	all := slices.Collect(Grown(sample))
	for i := range min(n, len(all)) {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// Fuzz runs a fuzz target that is [Check] for texts like those given.
func Fuzz(f *testing.F, read func(text string), texts ...Text) {
	for _, made := range texts {
		f.Add(made.Start, made.Open, made.Middle, made.Close, made.End)
	}
	f.Fuzz(func(t *testing.T, start, open, middle, closing, end string) {
		Check(t, Text{start, open, middle, closing, end}, read)
	})
}

// Pick returns one of the texts of [Grown].
func Pick(sample string, n int) (picked Text) {
	all := 0
	for made := range Grown(sample) {
		if all == n {
			return made
		}
		all++
	}
	if all == 0 {
		return Text{}
	}
	return Pick(sample, n%all)
}

type grower struct {
	sample string
	at     int
	scan   *rawjson.Scanner
	yield  func(Text) bool
	done   bool
}

func (g *grower) value() {
	from := g.at + g.scan.Offset()
	var names, values []int // where the members begin
	switch g.scan.Kind() {
	case '{':
		_ = g.scan.Object(func(name []byte) error {
			at := g.at + g.scan.Offset()
			names, values = append(names, strings.LastIndex(g.sample[:at], `"`+string(name)+`"`)), append(values, at)
			g.value()
			return nil
		})
	case '[':
		_ = g.scan.Array(func(int) error {
			at := g.at + g.scan.Offset()
			names, values = append(names, at), append(values, at)
			g.value()
			return nil
		})
	default:
		_, _ = g.scan.Skip()
	}
	to := g.at + len(g.scan.Since(0))
	head, value, tail := g.sample[:from], g.sample[from:to], g.sample[to:]
	g.add(Text{head, "[", value + `,"%s"`, "]", tail})
	g.add(Text{head, `{"content":`, value + `,"a":"%s"`, "}", tail})
	if value[0] == '"' {
		g.add(Text{head + value[:1], `\"[{`, value[1:], "", tail})
		g.add(Text{head + value[:1], `%d\n`, value[1:], "", tail})
		g.add(Text{head, `["`, value[1 : len(value)-1], `"]`, tail})
	}
	for i, at := range names {
		if at < from {
			continue // a name with escapes
		}
		end := strings.TrimRight(g.sample[at:to], "]} \t\r\n")
		next := len(end)
		if i+1 < len(names) {
			next = names[i+1] - at
		}
		one := strings.TrimRight(g.sample[at:at+next], ", \t\r\n")
		if !rawjson.Valid([]byte(strings.TrimPrefix(one, g.sample[at:values[i]]))) {
			s := rawjson.New([]byte(g.sample[values[i]:to]))
			v, _ := s.Skip()
			one = g.sample[at:values[i]] + string(v)
		}
		g.add(Text{g.sample[:at], one + ",", "", "", g.sample[at:]})
		if value[0] == '{' {
			g.add(Text{g.sample[:at], `"f%d` + one[1:] + ",", "", "", g.sample[at:]})
		}
	}
}

func (g *grower) add(t Text) { g.done = g.done || !g.yield(t) }

const (
	// longest is how long the texts of [Check] are, in bytes.
	longest = 256 << 10
	// maxStack is in bytes. The runtime's own bound, at which the process ends, is 64 times this, and real input longer.
	maxStack = 16 << 20
	// growth is how much more work eight times the text may be: three times the sensible, as larger things miss caches.
	growth = 8 * 3
)

// small work says nothing: a collection of garbage takes as long.
func small() time.Duration {
	if race.Enabled { // it makes all work some ten times as long
		return 2 * time.Second
	}
	return 200 * time.Millisecond
}

// Check fails the test if read does not take work in proportion to the length of a text made like made. It ends the
// process if read descends with the text's nesting. The work is the time that the test's own thread was running: other
// programs on the machine do not count.
func Check(t testing.TB, made Text, read func(text string)) {
	t.Helper()
	defer debug.SetMaxStack(debug.SetMaxStack(maxStack))
	var before time.Duration
	check := func(text string) {
		took := work(read, text)
		// A collection of garbage, or another processor, may have been in the way.
		for try := 0; try < 3 && took > max(small(), growth*before); try++ {
			took = min(took, work(read, text))
		}
		if took > max(small(), growth*before) {
			t.Fatalf("%d bytes of %.40q, repeated %.80q, %.80q, %.80q took %v, with less of it %v",
				len(text), made.Start, made.Open, made.Middle, made.Close, took, before)
		}
		before = took
	}
	if strings.Contains(made.Middle, "%s") {
		// As long, but not as deep: it may take no longer.
		check(made.nested(longest, 8))
		check(made.nested(longest, deepest))
		return
	}
	for n := 4 << 10; n <= longest; n *= 8 {
		check(made.Of(n))
	}
}

func work(read func(string), text string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := running()
	read(text)
	return running() - start
}
