package check

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// What a person said stays, loses parts, each with a marker in its place, or, in a Compress, goes. What a strategy adds
// has the human speaker as a state snapshot only. An edit of a human entry puts, for each
// block that it does not keep, one new text block in its place. A text block becomes the text with runs of whole lines
// replaced by one marker line each; every other line is unchanged, byte for byte. A block of another kind becomes one
// marker line. Blank text needs no marker. Text blocks that follow each other may also lose lines as if they were one
// text, so that one marker stands for an inclusion that was sent as several blocks.
//
// A marker line has one of two forms with no room for words that the person could have said:
//
//	[Earlier inclusion of <path> removed — included again later]
//	[removed], [3 lines removed], [image removed], …
//
// The path must stand in the text that was edited. Those of included files are looked up at once, however many they are.

// marker has a closed list of nouns: with free words between the brackets, a strategy could put a sentence into a
// person's mouth.
var marker = lazyregexp.New(`^\[(?:(?:[0-9]{1,9} )?` +
	`(?:lines?|characters?|tokens?|blocks?|text|code|image|file|attachment) )?removed\]$`)

// maxFiles bounds how many files the markers in one text may name that no line of [Included] names, as each is looked
// up in the whole text.
const maxFiles = 1000

// reduces reports whether text is original with runs of whole lines replaced by one marker line each. Segments between
// markers are matched leftmost, which takes time proportional to both texts and finds a way if there is one. Both texts
// get a line break at the end, as every line then ends alike.
func reduces(original, text string) bool {
	original += "\n"
	// A run of removed lines begins where the segment before it ended (ends), and covers at least one whole line: a
	// marker that stands for nothing would be an insertion.
	at, ends := 0, 0 // the next byte of original; where the last marker's run must have begun
	var segment strings.Builder
	first := true
	// The first segment is anchored at the beginning of original, the last one at its end, and the others float.
	place := func(last bool) bool { // puts the segment, which ends at a marker or at the end of text
		s := segment.String()
		segment.Reset()
		switch {
		case first && last:
			return original == s
		case first:
			first = false
			at = len(s)
			return strings.HasPrefix(original, s)
		}
		skipped := strings.IndexByte(original[ends:], '\n')
		if skipped < 0 {
			return false // there is no line for the marker to stand for
		}
		// Behind the one line that the marker needs.
		begin := ends + skipped + 1
		// An empty last segment means that text ends with a marker, which may stand for everything up to the end.
		// Otherwise the segment is the last whole lines of original.
		if last {
			start := len(original) - len(s)
			at = len(original)
			return s == "" || start >= begin && original[start-1] == '\n' && original[start:] == s
		}
		// The line break in front: the segment begins at the beginning of a line.
		found := strings.Index(original[begin-1:], "\n"+s)
		at = begin + found + len(s)
		return found >= 0
	}
	var files map[string]bool // that markers may name
	searched := 0
	stands := func(path string) bool {
		if files == nil {
			files = map[string]bool{}
			for line := range strings.SplitSeq(original, "\n") {
				if p, ok := Included(strings.TrimSuffix(line, "\r")); ok {
					files[p] = true
				}
			}
		}
		if !files[path] {
			searched++
			files[path] = searched <= maxFiles && strings.Contains(original, path)
		}
		return files[path]
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSuffix(line, "\r") // it belongs to the line break of the original
		path, file := marks.ReadInclusion(bare)
		if file && !stands(path) {
			return false // too many, or a line that is none of original: it holds the path
		}
		if file || marker().MatchString(bare) {
			if !place(false) {
				return false
			}
			ends = at
			continue
		}
		segment.WriteString(line)
		segment.WriteByte('\n')
	}
	return place(true)
}

// people finds new entries that a model would take for a person's. One that the history has, word for word, may come as
// a new one, once.
func (p *problems) people(history []content.Content, parts []Part) {
	suspect := func(part Part) bool {
		c := part.Content
		return part.Index < 0 && c.Speaker == content.Human && c.HasContent() && !framed(c)
	}
	if !slices.ContainsFunc(parts, suspect) {
		return
	}
	stood, left := map[string]int{}, map[string]int{} // how many entries that read alike are in no part yet
	for i, c := range history {
		if c.Speaker == content.Human {
			stood[form(c)] = i
			left[form(c)]++
		}
	}
	for _, part := range parts {
		if part.Index >= 0 && history[part.Index].Speaker == content.Human {
			left[form(history[part.Index])]--
		}
	}
	for i, part := range parts {
		if !suspect(part) {
			continue
		}
		key := form(part.Content)
		if left[key]--; left[key] >= 0 {
			continue
		}
		e := &Error{Index: i, New: true, Err: ErrHumanMade}
		if at, known := stood[key]; known {
			e = &Error{Index: at, Err: ErrTwice}
		}
		p.add(e.quoted("", describe(part.Content.Blocks...)))
	}
}

// framed reports whether an entry is a summary by what a model reads of it.
func framed(c content.Content) bool {
	for _, b := range c.Blocks {
		t, ok := b.(content.Text)
		return ok && marks.Snapshot(t.Text)
	}
	return false
}

func form(c content.Content) string {
	var out []byte
	for _, b := range c.Blocks {
		out = append(content.AppendBlock(out, b), '\n')
	}
	return string(out)
}

// newest finds an edit of the newest thing that a person said.
func (p *problems) newest(history []content.Content, part Part) {
	if history[part.Index].Speaker != content.Human {
		return
	}
	for _, c := range history[part.Index+1:] {
		if c.Speaker == content.Human && c.HasContent() {
			return
		}
	}
	p.unchanged(history[part.Index], part)
}

// unchanged demands that an edit of the newest human entry only takes out what the entry itself repeats.
func (p *problems) unchanged(was content.Content, part Part) {
	if !repeatsItself(was, part.Content) {
		p.add(wrong(part.Index, ErrHumanChanged, "it is the newest thing a person said, which stays as it is").
			quoted(describe(was.Blocks...), describe(part.Content.Blocks...)))
	}
}

// cutAtEnd reports whether texts only lost their ends, each for a sentence in square brackets. At the hard limit the
// host does so.
func cutAtEnd(before, after []content.Block) bool {
	if len(before) != len(after) {
		return false
	}
	for i, b := range after {
		was, _ := before[i].(content.Text)
		now, ok := b.(content.Text)
		head, mark, cut := strings.Cut(now.Text, "… [")
		if !content.Equal(before[i], b) &&
			!(ok && cut && strings.HasSuffix(mark, "]") && strings.HasPrefix(was.Text, head)) {
			return false
		}
	}
	return true
}

// reduced reports whether an edit of a human entry only took parts out.
func reduced(before, after []content.Block) bool {
	return reducedEach(before, after) || reducedTogether(before, after)
}

// reducedTogether is for an inclusion that an agent sent as several text blocks: one marker may stand for several of
// them. The texts between two blocks of other kinds lose lines as one text. A removed block has no unknown fields, and
// the fields of the others keep their order.
func reducedTogether(before, after []content.Block) bool {
	for {
		was, n, extra := joined(before)
		is, m, left := joined(after)
		if !slices.EqualFunc(extra, left, content.Fields.Equal) || !reduces(was, is) {
			return false
		}
		before, after = before[n:], after[m:]
		if len(before) == 0 || len(after) == 0 {
			return len(before) == len(after)
		}
		if !content.Equal(before[0], after[0]) {
			return false
		}
		before, after = before[1:], after[1:]
	}
}

// joined reads the leading text blocks, each on lines of its own. extra are their unknown fields.
func joined(blocks []content.Block) (text string, n int, extra []content.Fields) {
	var b strings.Builder
	for _, block := range blocks {
		t, ok := block.(content.Text)
		if !ok {
			break
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(t.Text)
		if len(t.Extra.All()) > 0 {
			extra = append(extra, t.Extra)
		}
		n++
	}
	return b.String(), n, extra
}

func reducedEach(before, after []content.Block) bool {
	for _, b := range before {
		t, isText := b.(content.Text)
		blank := isText && strings.TrimSpace(t.Text) == "" // it needs no marker, and gets none
		switch {
		case len(after) > 0 && (content.Equal(b, after[0]) || !blank && replaces(b, after[0])):
			after = after[1:]
		case !blank:
			return false
		}
	}
	return len(after) == 0
}

// replaces reports whether b may be left of a block of a human entry. A text block may lose whole lines and keeps its
// unknown fields, such as a cache mark. A block of another kind, such as an image, becomes one marker line.
func replaces(old, b content.Block) bool {
	text, ok := b.(content.Text)
	if !ok {
		return false
	}
	if was, ok := old.(content.Text); ok {
		return text.Extra.Equal(was.Extra) && reduces(was.Text, text.Text)
	}
	return len(text.Extra.All()) == 0 && marker().MatchString(text.Text)
}

// repeatsItself reports whether an edit only took out of a human entry what the same entry includes again further down.
// No other edit is allowed on the newest human entry: nothing that was sent is gone.
func repeatsItself(before, after content.Content) bool {
	// Every new line must be the marker of an inclusion whose file is included again further down.
	was := map[string]bool{}
	for _, line := range lines(before) {
		was[line] = true
	}
	// Files are compared by their last path element, as agents name the same file relative to different directories.
	later := map[string]bool{} // names of files that are included further down
	all := lines(after)
	for i := len(all) - 1; i >= 0; i-- {
		line := all[i]
		switch p, isInclusion := marks.ReadInclusion(line); {
		case was[line]:
			if p, ok := Included(line); ok {
				later[path.Base(p)] = true
			}
		case !isInclusion || !later[path.Base(p)]:
			return false
		}
	}
	return true
}

// Included returns the path in a line that begins an included file, in the two forms that the presets' agents use and
// sdk/prune prunes by.
func Included(line string) (p string, ok bool) {
	if p, ok = strings.CutPrefix(line, "Content from @"); ok {
		return strings.CutSuffix(p, ":")
	}
	if p, ok = strings.CutPrefix(line, "--- "); ok {
		p, ok = strings.CutSuffix(p, " ---")
		return strings.TrimSpace(p), ok
	}
	return "", false
}

func lines(c content.Content) (all []string) {
	for _, b := range c.Blocks {
		if t, ok := b.(content.Text); ok {
			for line := range strings.SplitSeq(t.Text, "\n") {
				all = append(all, strings.TrimSuffix(line, "\r"))
			}
		}
	}
	return all
}

// madeBy is the metadata field that names the strategy that made an entry. It is part of the native form: readers of
// transcripts and other strategies rely on it.
const madeBy = "madeBy"

// MarkMade returns an entry whose metadata says that a strategy made it, so a summary is never taken for what a person
// said. Other fields of the metadata are kept byte for byte, in their order. An earlier mark is replaced: the last
// strategy to write the entry answers for it.
func MarkMade(c content.Content, strategy string) content.Content {
	c = withField(Unrecorded(c), gone, nil) // else it would have marks of the host, or be one
	return withField(c, madeBy, content.String(strategy))
}

// Summary reports whether an entry is marked as one that a Compress made.
func Summary(c content.Content) bool {
	return rawjson.FieldText(c.Metadata, madeBy) != "" || bytes.Contains(c.Metadata, []byte(`"synthetic":true`))
}

// keptBy is the metadata field that names the rule by which the host has pinned an entry.
const (
	keptBy = "keptBy"
	pinned = "pinned"
)

// MarkKept returns an entry that is pinned by a rule of the host, which its metadata names; with "" one that is not
// pinned.
func MarkKept(c content.Content, rule string) content.Content {
	if rule == "" {
		return withField(withField(c, pinned, nil), keptBy, nil)
	}
	return withField(withField(c, pinned, []byte("true")), keptBy, content.String(rule))
}

// KeptBy returns the rule by which the host has pinned an entry; "" if it has not.
func KeptBy(c content.Content) string {
	if !c.Pinned() {
		return ""
	}
	return rawjson.FieldText(c.Metadata, keptBy)
}

func fieldOf(c content.Content, field string) []byte { return rawjson.Field(c.Metadata, field) }

// withField returns an entry with a field of its metadata set, at the end; nil removes the field. Other fields are kept
// byte for byte.
func withField(c content.Content, field string, value []byte) content.Content {
	fields := []byte{'{'}
	s := rawjson.New(c.Metadata)
	err := s.Object(func(name []byte) error {
		n := content.String(string(name))
		value, err := s.Skip()
		if err == nil && string(name) != field {
			fields = append(append(append(append(fields, n...), ':'), value...), ',')
		}
		return err
	})
	if err != nil { // none, or no object
		fields = fields[:1]
	}
	switch {
	case value != nil:
		fields = append(append(append(fields, content.String(field)...), ':'), value...)
	case len(fields) == 1:
		c.Metadata = nil
		return c
	default:
		fields = fields[:len(fields)-1]
	}
	c.Metadata = append(fields, '}')
	return c
}
