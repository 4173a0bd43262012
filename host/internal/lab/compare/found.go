package compare

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/sdk/content"
)

// wayBack is what was added up to a request, to be searched as by a model that is given thresh_recall.
type wayBack struct {
	*journal.Past
	from, until int // the entries in it
}

// search pays for a search for each call that lacks something in a turn, if the model is given thresh_recall, and counts
// for how many a search finds some of that.
func (o *observer) search(ctx context.Context, t replay.Turn) error {
	if len(o.lacking) == 0 {
		return nil
	}
	q, w := o.rec.Requests[t.Turn-1], &o.back
	if w.Past == nil || w.from != q.From {
		past, err := journal.NewPast(ctx, o.rec.taxonomy)
		if err != nil {
			return err
		}
		*w = wayBack{past, q.From, q.From}
	}
	if err := w.Add(ctx, o.rec.entries()[w.until:q.Entry]); err != nil {
		return err
	}
	w.until = q.Entry
	bytes := 0
	for _, c := range o.lacking {
		if o.lacked != nil {
			if err := o.lacked(lack{o, c, t.Turn, t.Prepared.Contents()}); err != nil {
				return err
			}
		}
		found, err := w.Search(ctx, t.Prepared.Contents(), search.Query{Words: callWords(c.parameters)})
		if err != nil && !errors.Is(err, search.ErrQuery) { // a call without a word
			return err
		}
		for _, p := range found.Passages {
			bytes += len(p.Text)
		}
		missing := o.missing(c)
		if slices.ContainsFunc(found.Passages, func(p search.Passage) bool { return o.hasSome(p.Text, missing) }) {
			o.tally.needs.Found++
		}
	}
	if o.rec.offer.prompt > 0 && t.Overflow == "" {
		o.bill.searches(len(o.lacking), bytes/bytesPerToken)
	}
	return nil
}

// lack is a call that lacks something in a request, of which the strategy left some.
type lack struct {
	*observer
	call neededCall
	turn int
	left []content.Content
}

// missing returns what a call needs and the request does not have. Of an edit these are the lines: names stand in more
// places.
func (o *observer) missing(c neededCall) []int32 {
	all := slices.DeleteFunc(slices.Clone(c.things), o.held.holds)
	lines := slices.DeleteFunc(slices.Clone(all), func(id int32) bool { return id < o.rec.linesFrom })
	if len(lines) > 0 {
		return lines
	}
	return all
}

func (o *observer) hasSome(text string, things []int32) bool {
	has := o.held.finder.find(content.Content{Blocks: []content.Block{content.Text{Text: text}}})
	return slices.ContainsFunc(things, func(id int32) bool {
		// A name may be part of a longer one there, such as a file's of a path.
		return slices.Contains(has, id) || int(id) < len(o.rec.names) && strings.Contains(text, o.rec.names[id])
	})
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
