package compare

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Question is what a model may search for in a turn, and what it needs of what was removed.
type Question struct {
	// Kind is edit, which needs lines of a file; call, which needs names; or fact, which needs the name next to words.
	Kind, Words string
	lack        lack
	missing     []int32
}

const maxAsked = 40 // things; of a script that has more nobody asks for all

// Asking calls f with the questions of each turn in which a call lacks something.
func (o *Options) Asking(f func(Question) error) {
	o.lacked = func(l lack) error {
		var all []Question
		q := Question{lack: l, missing: l.missing(l.call)}
		if q.missing[0] >= l.rec.linesFrom && q.missing[0] < l.rec.aroundFrom {
			q.Kind, q.Words = "edit", l.editWords()
		} else {
			q.Kind, q.Words = "call", l.commandWords()
			// Only what the words ask for.
			q.missing = slices.DeleteFunc(q.missing, func(id int32) bool {
				return int(id) >= len(l.rec.names) || !strings.Contains(q.Words, l.rec.names[id]) ||
					strings.HasPrefix(l.rec.names[id], "/dev/")
			})
		}
		if len(q.missing) > 0 && len(q.missing) <= maxAsked {
			all = append(all, q)
		}
		if fact, ok := l.fact(); ok {
			all = append(all, fact)
		}
		for _, q := range all {
			if err := f(q); err != nil {
				return err
			}
			q.Kind, q.Words = q.Kind+", as said", said(q.Words)
			if err := f(q); err != nil {
				return err
			}
		}
		return nil
	}
}

func (q Question) Past() *journal.Past     { return q.lack.back.Past }
func (q Question) Left() []content.Content { return q.lack.left }
func (q Question) Needs() int              { return len(q.missing) }

// In returns how much of what is needed some texts have.
func (q Question) In(texts ...string) (n int) {
	for _, id := range q.missing {
		if slices.ContainsFunc(texts, func(text string) bool { return q.lack.hasSome(text, []int32{id}) }) {
			n++
		}
	}
	return n
}

// editWords are the path of an edit and four names in it.
func (l lack) editWords() string {
	var all []string
	for _, w := range l.rec.taxonomy.Use(l.tool(), l.call.parameters).Writes {
		all = append(all, w.Path)
	}
	most := len(all) + 4
	eachParameter(l.call.parameters, func(_, text string) {
		runs(text, func(name string) {
			if !slices.Contains(all, name) && !strings.Contains(name, "/") && len(all) < most {
				all = append(all, name)
			}
		})
	})
	return asWords(all)
}

// commandWords are the paths that a call reads, and the first words of its command.
func (l lack) commandWords() string {
	use := l.rec.taxonomy.Use(l.tool(), l.call.parameters)
	all := slices.Clone(use.Reads)
	for w := range strings.FieldsSeq(use.Command) {
		if !slices.Contains(all, w) && len(all) < 12 {
			all = append(all, w)
		}
	}
	return asWords(all)
}

// fact asks with the other words of a line for a name that the answer used and that no line of the request has.
func (l lack) fact() (q Question, ok bool) {
	for _, u := range l.rec.uses[l.turn-1].words {
		if !u.onLine || l.held.holds(l.rec.lined(u.word)) {
			continue
		}
		name := l.rec.names[u.word]
		for _, b := range l.rec.entries()[u.from].Blocks {
			for line := range strings.Lines(search.Text(b)) {
				before, behind, on := strings.Cut(line, name)
				if !on || len(line) > 300 {
					continue
				}
				var others []string
				letter := func(r rune) bool { return r < 0x80 && !wordByte[byte(r)] }
				for w := range strings.FieldsFuncSeq(before+" "+behind, letter) {
					if len(w) > 2 && len(others) < 6 && !slices.Contains(others, w) {
						others = append(others, w)
					}
				}
				if len(others) > 2 {
					return Question{Kind: "fact", Words: asWords(others), lack: l, missing: []int32{u.word}}, true
				}
			}
		}
	}
	return q, false
}

func asWords(all []string) string {
	words := strings.ReplaceAll(strings.Join(all, " "), `"`, " ")
	return words[:min(len(words), search.MaxQuery)]
}

// said writes names as people say them: getUserById as "get user by id".
func said(words string) string {
	var b strings.Builder
	before := ' '
	for _, r := range words {
		if r >= 'A' && r <= 'Z' && before >= 'a' && before <= 'z' {
			b.WriteByte(' ')
		}
		if before = r; strings.ContainsRune("/._-", r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	words = strings.ToLower(b.String())
	return words[:min(len(words), search.MaxQuery)]
}

// tool returns the tool of the call.
func (l lack) tool() string {
	for _, c := range l.rec.entries() {
		for _, b := range c.Blocks {
			call, ok := b.(content.ToolCall)
			if ok && len(call.Parameters) > 0 && &call.Parameters[0] == &l.call.parameters[0] {
				return call.Name
			}
		}
	}
	return ""
}
