package statements

import (
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// included is a file that a person included, in the view.
type included struct {
	path        string
	entry, line int
}

const (
	closing  = "--- End of content ---"
	openList = "--- Content from referenced files ---"
)

// opens returns the file that a line says the lines after it are from.
func opens(line string) (file string, alone, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	if file, ok := strings.CutPrefix(line, "Content from @"); ok && strings.HasSuffix(file, ":") {
		return strings.TrimSpace(strings.TrimSuffix(file, ":")), false, true
	}
	if file, ok := strings.CutPrefix(line, "--- "); ok && strings.HasSuffix(file, " ---") && line != closing &&
		line != openList {
		return strings.TrimSpace(strings.TrimSuffix(file, " ---")), true, true
	}
	return "", false, false
}

// inclusionEnd returns where the inclusion of a file ends with which a text begins; 0 if it begins with none.
func inclusionEnd(text, file string) int {
	at, alone := 0, false
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		opened, standsAlone, ok := opens(bare)
		switch {
		case at == 0 && (!ok || opened != file):
			return 0
		case at == 0:
			alone = standsAlone
		case alone && bare == closing:
			return at + len(line)
		case !alone && (bare == closing || ok && !standsAlone):
			return at
		}
		at += len(line)
	}
	if alone {
		return 0 // it has no end
	}
	return at
}

// joined are the texts of a message as one. Agents send an inclusion in one block or in several, of which each begins a
// line.
func joined(blocks []content.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		text, ok := block.(content.Text)
		if !ok {
			continue
		}
		if s := b.String(); s != "" && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(text.Text)
	}
	return b.String()
}

// message reads what a person said. Blocks of it that are no text stay or go.
func (r *reading) message(was, now []content.Block) {
	now = r.cutBlocks(was, now)
	if a, b := joined(was), joined(now); a != b {
		r.walk(place{by: content.Human}, a, b)
	}
	next := 0
	for _, b := range now {
		if _, ok := b.(content.Text); ok {
			continue
		}
		k := slices.IndexFunc(was[next:], func(x content.Block) bool { return content.Equal(x, b) })
		if k < 0 {
			r.wrong(Unknown, describe(b), "the message had no such block there")
			return
		}
		next += k + 1
	}
}

// cutBlocks reads the texts of a message that were cut at their ends, each by itself, and returns the message with them
// as they were.
func (r *reading) cutBlocks(was, now []content.Block) []content.Block {
	if len(was) != len(now) || len(was) < 2 {
		return now
	}
	now = slices.Clone(now)
	for i := range was {
		a, isText := was[i].(content.Text)
		b, staysText := now[i].(content.Text)
		if isText && staysText && r.rest(a.Text, b.Text) {
			now[i] = a
		}
	}
	return now
}

// includedLater says why a file is not included behind a place in the view; "" if it is.
func (r *reading) includedLater(file string, p place) string {
	if r.inclusion == nil {
		r.inclusion = r.inclusions()
	}
	for _, in := range r.inclusion {
		later := in.entry > r.index || in.entry == r.index && in.line > p.line
		if later && r.resolved(in.path) == r.resolved(file) {
			return ""
		}
	}
	return "the file is not included again behind it"
}

// resolved is a path from the root.
func (r *reading) resolved(file string) string {
	if !path.IsAbs(file) && r.o.Root != "" {
		file = path.Join(r.o.Root, file)
	}
	return path.Clean(file)
}

// inclusions finds the files that people included, in the view. What a summary quotes is none.
func (r *reading) inclusions() []included {
	found := []included{}
	for i, e := range r.view {
		if e.Content.Speaker != content.Human {
			continue
		}
		if _, known := r.at[e.ID]; !known {
			continue
		}
		for k, line := range strings.Split(joined(e.Content.Blocks), "\n") {
			if file, _, ok := opens(line); ok {
				found = append(found, included{file, i, k})
			}
		}
	}
	return found
}
