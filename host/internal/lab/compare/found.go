package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// wayBack searches a recording as a model can that is given thresh_recall: all that was added up to a request and is not
// in it. The index is made when something is lost for the first time.
type wayBack struct {
	taxonomy *tools.Taxonomy
	make     sync.Once
	part     store.Part
	known    map[identity]bool // the entries as they were recorded
}

func (w *wayBack) index(entries []content.Content) {
	w.make.Do(func() {
		x, _ := search.NewIndexer(w.taxonomy, tools.Recalls, store.Part{})
		w.known = make(map[identity]bool, len(entries))
		for i := range entries {
			x.Add(uint64(i+1), 0, &entries[i])
			w.known[identify(entries[i])] = true
		}
		w.part.Pieces = x.Part()
	})
}

// sentNow is what a request still has.
type sentNow struct {
	whole  map[identity]bool
	edited []string // the texts of the blocks of entries that are not as they were recorded
}

func (w *wayBack) sent(history []content.Content) sentNow {
	now := sentNow{whole: map[identity]bool{}}
	for _, c := range history {
		id := identify(c)
		if w.known[id] {
			now.whole[id] = true
			continue
		}
		for _, b := range c.Blocks {
			now.edited = append(now.edited, search.Text(b))
		}
	}
	return now
}

// search returns the first passages of the entries from up to until that the request no longer has.
func (w *wayBack) search(parameters json.RawMessage, entries []content.Content, from, until int, now sentNow) (
	found []string) {
	q, err := search.Query{Words: callWords(parameters)}.Parse()
	if err != nil { // a call without a word
		return nil
	}
	index, _ := q.NewIndex([]store.Part{w.part}) // it was made here
	most, _ := q.Limits()
	for _, h := range q.Rank([]search.Index{index}, false) {
		at := index.Spots[h.Number]
		entry := int(at.Record) - 1
		if entry < from || entry >= until || now.whole[identify(entries[entry])] {
			continue
		}
		p, _ := search.Cut(entries[entry].Blocks[at.Block]).Passage(at.Part)
		there := func(text string) bool { return strings.Contains(text, p.Text) }
		if slices.Contains(found, p.Text) || slices.ContainsFunc(now.edited, there) {
			continue
		}
		if found = append(found, p.Text); len(found) == most {
			break
		}
	}
	return found
}

// callWords returns the texts of a call's parameters, as the words of a query.
func callWords(parameters json.RawMessage) string {
	var words strings.Builder
	eachParameter(parameters, func(_, text string) {
		if left := search.MaxQuery - words.Len(); left > 1 {
			words.WriteString(strings.ReplaceAll(text[:min(len(text), left-1)], `"`, " "))
			words.WriteByte(' ')
		}
	})
	return words.String()
}

// findsAgain reports whether a search by the words of a call whose request lacks something finds some of that. Of an edit
// it must be one of the lines: names stand in more places.
func (o *observer) findsAgain(c neededCall, turn int) bool {
	missing := slices.DeleteFunc(slices.Clone(c.things), o.held.holds)
	if lines := slices.DeleteFunc(slices.Clone(missing), func(id int32) bool { return id < o.rec.linesFrom }); len(lines) > 0 {
		missing = lines
	}
	q := o.rec.Requests[turn-1]
	if o.now == nil {
		o.rec.back.index(o.rec.entries())
		now := o.rec.back.sent(o.history)
		o.now = &now
	}
	for _, text := range o.rec.back.search(c.parameters, o.rec.entries(), q.From, q.Entry, *o.now) {
		things := o.held.finder.find(content.Content{Blocks: []content.Block{content.Text{Text: text}}})
		if slices.ContainsFunc(missing, func(id int32) bool {
			// A name may be part of a longer one there, such as a file's of a path.
			return slices.Contains(things, id) || int(id) < len(o.rec.names) && strings.Contains(text, o.rec.names[id])
		}) {
			return true
		}
	}
	return false
}
