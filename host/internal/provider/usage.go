package provider

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Usage is what a provider reported for one request, in its tokens. The zero value is no report.
type Usage struct {
	// Input is what was neither read from nor written to the provider's prompt cache.
	Input, CacheRead, CacheWrite, Output int
	// CacheWriteHour is the part of CacheWrite that is kept for an hour, which costs more.
	CacheWriteHour int
}

// Prompt is the size of the whole prompt. It is what a session compares its own count with.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Add takes in a later report of the same answer, which completes earlier ones: each count is the largest that was
// reported. Anthropic reports the prompt at the beginning of a stream and once more at its end, where fields may lack.
func (u *Usage) Add(now Usage) {
	u.Input, u.CacheRead = max(u.Input, now.Input), max(u.CacheRead, now.CacheRead)
	u.CacheWrite, u.Output = max(u.CacheWrite, now.CacheWrite), max(u.Output, now.Output)
	u.CacheWriteHour = max(u.CacheWriteHour, now.CacheWriteHour)
}

// Plus returns the sum of the usage of two requests.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output,
		u.CacheWriteHour + v.CacheWriteHour}
}

// Counts says where an API, or an agent that records what it used, has its counts of tokens. Members of a count are
// names, with dots between those within each other; the first that is not 0 decides.
type Counts struct {
	// At is where a report stands in an answer or an event of one.
	At []string
	// Prompt includes what was cached, unless Apart is set. Output includes reasoning, except what Thoughts count.
	Prompt, Output, Thoughts []string
	Read, Write, Hour        []string
	Apart                    bool
}

// Usage returns what an answer, or an event of one, reports. ok is false if it reports nothing, or something else.
func (c *Counts) Usage(data []byte) (u Usage, ok bool) {
	for _, at := range c.At {
		if report := inside(data, at); !rawjson.IsNull(report) {
			if now, err := ReadUsage(report, c); err == nil {
				u.Add(now)
				ok = true
			}
		}
	}
	return u, ok
}

// ReadUsage reads a report in one of the given forms: the first whose count of the prompt is there, and where several
// share that name, one whose cached parts are there too. One wrong number makes a report useless: sums would be wrong.
func ReadUsage(report []byte, forms ...*Counts) (u Usage, err error) {
	if ordered.Kind(report) != '{' {
		return u, fmt.Errorf("it is %s, not an object", ordered.Clip(report))
	}
	has := func(name string) bool { return !rawjson.IsNull(inside(report, name)) }
	c := forms[len(forms)-1]
	if i := slices.IndexFunc(forms, func(c *Counts) bool { return slices.ContainsFunc(c.Prompt, has) }); i >= 0 {
		c = forms[i]
		for _, other := range forms[i:] {
			if slices.Equal(other.Prompt, c.Prompt) && (slices.ContainsFunc(other.Read, has) ||
				slices.ContainsFunc(other.Write, has)) {
				c = other
				break
			}
		}
	}
	var errs []error
	count := func(names []string) int {
		for _, name := range names {
			if n, err := tokens(inside(report, name)); err != nil {
				errs = append(errs, fmt.Errorf("%s is %w", name, err))
			} else if n > 0 {
				return n
			}
		}
		return 0
	}
	prompt := count(c.Prompt)
	u.Output = count(c.Output) + count(c.Thoughts)
	u.CacheRead, u.CacheWrite = count(c.Read), count(c.Write)
	u.CacheWriteHour = min(u.CacheWrite, count(c.Hour))
	// A prompt that is smaller than its cached parts can only be counted without them.
	if u.Input = prompt - u.CacheRead - u.CacheWrite; c.Apart || u.Input < 0 {
		u.Input = prompt
	}
	switch {
	case len(errs) > 0:
		return Usage{}, errs[0]
	case u.Prompt() > maxTokens:
		return Usage{}, fmt.Errorf("a prompt of %d tokens exceeds the limit of every model", u.Prompt())
	}
	return u, nil
}

// CountsReads reports whether a report counts what was read from the prompt cache, also where that was nothing.
func CountsReads(report []byte, forms ...*Counts) bool {
	return slices.ContainsFunc(forms, func(c *Counts) bool {
		return slices.ContainsFunc(c.Read, func(name string) bool { return !rawjson.IsNull(inside(report, name)) })
	})
}

// maxTokens is more than any model takes or gives, even in sum over a few fields. A larger number is a timestamp or a
// cost in some unit.
const maxTokens = 100_000_000

// tokens reads a count; 0 if it is absent. It parses a float, because some servers write 12.0.
func tokens(raw []byte) (int, error) {
	if rawjson.IsNull(raw) {
		return 0, nil
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n < 0 || n > maxTokens || n != math.Trunc(n) {
		return 0, errors.New(ordered.Clip(raw) + ", not a number of tokens")
	}
	return int(n), nil
}

// inside returns the value at a path of members; nil if there is none.
func inside(raw []byte, path string) []byte {
	for {
		name, rest, more := strings.Cut(path, ".")
		if raw = rawjson.Field(raw, name); !more {
			return raw
		}
		path = rest
	}
}
