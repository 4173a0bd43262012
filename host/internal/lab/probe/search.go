package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Searching is the end of the name of a variant from which answers may search for what it had removed.
const Searching = " + search"

// maxSearches is how often may be searched for a question.
const maxSearches = 3

// Where the entries are, by moment, and what a variant left of them, by unit; and in an answer sheet's directory, what
// was searched for it: a file for each search, which is named by the question and the number of the search, or one file
// with all searches of a model, which does not say for which question it searches.
const (
	addedDir     = "added"
	leftDir      = "left"
	searchesDir  = "searches"
	searchesFile = "searches.json"
)

// removed is what can be searched for from a sheet.
type removed struct {
	Moment string            `json:"moment"`
	Left   []content.Content `json:"left"`
}

// keepRemoved keeps what can be searched for from a sheet.
func (b *Book) keepRemoved(m Moment, unit string, added, left []content.Content) error {
	return errors.Join(b.writeJSON(added, plans, addedDir, m.ID+".json"),
		b.writeJSON(removed{m.ID, left}, plans, leftDir, unit+".json"))
}

// searched is what was searched for and what that cost.
type searched struct {
	Words    string `json:"words"`
	Passages int    `json:"passages"`
	Asked    int    `json:"asked"`  // tokens of the words
	Tokens   int    `json:"tokens"` // of the answer, as a model reads it
}

// Search searches for a question of a sheet, which is a directory of a book, as the model's own tool would, and returns
// what it would print. It counts searches and refuses one too many.
func Search(ctx context.Context, sheet, question, words string) (string, error) {
	sheet, err := filepath.Abs(sheet)
	if err != nil {
		return "", err
	}
	b := &Book{dir: filepath.Dir(filepath.Dir(sheet))}
	unit := filepath.Base(sheet)
	prompt, err := atomicfile.Read(b.path(stageAnswers, unit, sheetFile), maxReply)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s is no sheet for answers: there is no %s", sheet, sheetFile)
	case err != nil:
		return "", err
	case !strings.Contains(string(prompt), "\n- "+question+": "):
		return "", fmt.Errorf("%s asks no question %.40q: give the id that stands before one", sheetFile, question)
	}
	l, err := b.lookup(ctx, unit)
	if err != nil {
		return "", err
	}
	answer, err := l.recall(ctx, mcp.Asked{Query: words})
	if err != nil {
		return "", err
	}
	text := mcp.Found(answer)
	data, err := json.Marshal(l.searched(words, len(answer.Parts), text))
	if err != nil {
		return "", err
	}
	if err := b.count(unit, question, data); err != nil {
		return "", err
	}
	return strings.TrimSuffix(text, "\n") + "\n", nil
}

// lookup searches what had been removed from a sheet's context.
type lookup struct {
	past    *journal.Past
	left    []content.Content
	counter *tokens.Counter
	// read finds what has an id.
	read func(context.Context, mcp.Asked) (mcp.Answer, error)
}

func (b *Book) lookup(ctx context.Context, unit string) (*lookup, error) {
	var r removed
	err := b.readJSON(&r, plans, leftDir, unit+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("from this sheet nothing is searched: answer from its context alone")
	}
	var added []content.Content
	if err == nil {
		err = b.readJSON(&added, plans, addedDir, r.Moment+".json")
	}
	if err != nil {
		return nil, err
	}
	t, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		return nil, err
	}
	l := &lookup{left: r.Left}
	var failed [2]error
	l.counter, failed[0] = tokens.For("", "")
	l.past, failed[1] = journal.NewPast(ctx, t)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	l.read = mcp.Stored(l.past.Store, l.past.Key, t)
	return l, l.past.Add(ctx, added)
}

func (l *lookup) recall(ctx context.Context, a mcp.Asked) (mcp.Answer, error) {
	if a.Query == "" {
		return l.read(ctx, a)
	}
	found, err := l.past.Search(ctx, l.left, search.Query{Words: a.Query, Limit: a.Limit, Tokens: a.Tokens})
	return mcp.Placed(found), err
}

func (l *lookup) searched(words string, passages int, text string) searched {
	return searched{words, passages, l.counter.Text(words), l.counter.Text(text)}
}

// count keeps a search, or refuses it. Creating the file takes the number: of several searches at once, each counts.
func (b *Book) count(unit, question string, data []byte) error {
	dir := path.Join(stageAnswers, unit, searchesDir)
	if err := os.MkdirAll(b.path(dir), 0o755); err != nil {
		return err
	}
	for n := range maxSearches {
		f, err := os.OpenFile(b.path(dir, fmt.Sprintf("%s-%d.json", question, n+1)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(append(data, '\n'))
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("question %s was searched for %d times, which is the most: answer with what there is", question,
		maxSearches)
}

// searches are what was searched for a sheet: by question, and by a model for any of them.
type searches struct {
	by  map[string][]searched
	any []searched
}

func (b *Book) searches(unit string) (all searches, err error) {
	dir := path.Join(stageAnswers, unit, searchesDir)
	files, err := os.ReadDir(b.path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return all, err
	}
	all.by = map[string][]searched{}
	for _, f := range files {
		var s searched
		if err := b.readJSON(&s, dir, f.Name()); err != nil {
			return all, err
		}
		question, _, _ := strings.Cut(f.Name(), "-")
		all.by[question] = append(all.by[question], s)
	}
	if err := b.readJSON(&all.any, stageAnswers, unit, searchesFile); !errors.Is(err, fs.ErrNotExist) {
		return all, err
	}
	return all, nil
}
