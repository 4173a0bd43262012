package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// This file makes the output reproducible: ids, times, durations and paths are derived from the story's name.

// ids generates ids that look random and are the same in each run. The sequence restarts with each story, so that a
// change of one story leaves the files of the others as they are.
type ids struct {
	seed string
	// n is how many hashes were drawn. Every id draws one, whatever its length.
	n int
}

// hash returns the next 32 bytes of the sequence. SHA-256 rather than math/rand: its output is the same in every
// version of Go.
func (s *ids) hash() []byte {
	s.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", s.seed, s.n))
	return sum[:]
}

// hex returns n hexadecimal digits, at most 64.
func (s *ids) hex(n int) string { return hex.EncodeToString(s.hash())[:n] }

// uuid returns a random-looking UUID; readers check its version and variant bits.
func (s *ids) uuid() string {
	h := s.hash()
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80 // version 4, variant 1
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// token returns prefix followed by n letters and digits, at most 32, without those that are easily confused.
func (s *ids) token(prefix string, n int) string {
	// 58 letters: the modulo makes some of them likelier, which no one can see in an id.
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	h := s.hash()
	b := []byte(prefix)
	for i := range n {
		b = append(b, alphabet[int(h[i])%len(alphabet)])
	}
	return string(b)
}

// clock is the time in a story. It moves when something happens, by an amount that depends on what that was. The real
// clock is never read, or each run would give other bytes.
type clock struct {
	now   time.Time
	steps ids
}

// newClock returns the time at which a story begins. The offset keeps the samples from starting at the same moment.
func newClock(story string) clock {
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	// 26 hours, not 24, so that the hour differs as well as the day.
	offset := time.Duration(len(story)) * 26 * time.Hour
	return clock{now: start.Add(offset), steps: ids{seed: "time of " + story}}
}

// tick moves on by between least and twice least. The spread makes times look recorded. Milliseconds are what the
// formats hold.
func (c *clock) tick(least time.Duration) time.Time {
	h := c.steps.hash()
	part := int64(h[0])<<8 | int64(h[1])
	c.now = c.now.Add(least + time.Duration(int64(least)*part/65536)).Truncate(time.Millisecond)
	return c.now
}

// stamp formats a time as JavaScript does, with milliseconds: most recorders are written in it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// What Go's test runner prints about time: durations, and whether a result came from its cache.
var (
	// Zero seconds: tests of the samples are fast, and what "go test" prints for a fast one is 0.00s.
	testTime    = regexp.MustCompile(`(?m)^(\s*--- (?:PASS|FAIL|SKIP): \S+) \(\d+\.\d+s\)$`)
	packageTime = regexp.MustCompile(`(?m)^((?:ok|FAIL)\s+\S+)\t(?:\d+\.\d+s|\(cached\))`)
)

// settle removes from a tool's output what depends on the machine and the moment. Without it no two runs give the same
// bytes. A new source of variation, such as a new tool that prints times, needs a rule here.
func settle(out, dir, home string) string {
	// The workspace's real path first, as it may contain what the patterns below match.
	out = strings.ToValidUTF8(strings.ReplaceAll(out, dir, home), "\uFFFD")
	out = testTime.ReplaceAllString(out, "$1 (0.00s)")
	return packageTime.ReplaceAllString(out, "$1\t0.004s")
}

// object is a JSON object whose fields stay in the order in which they were given: name, value, name, value, …. A map
// would lose the order, and structs for all the records of three agents would be longer than the code that fills them.
// An odd number of elements loses the last one.
type object []any

// Names and values are encoded by [encode], which leaves characters readable that encoding/json would escape.
func (o object) MarshalJSON() ([]byte, error) {
	buf := []byte{'{'}
	for i := 0; i+1 < len(o); i += 2 {
		if i > 0 {
			buf = append(buf, ',')
		}
		name, err := encode(o[i])
		if err != nil {
			return nil, err
		}
		value, err := encode(o[i+1])
		if err != nil {
			return nil, err
		}
		buf = append(append(append(buf, name...), ':'), value...)
	}
	return append(buf, '}'), nil
}

// encode returns v as JSON on one line. Unlike json.Marshal it leaves <, > and & readable.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	// Encode ends with a line break, which separates nothing here.
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
