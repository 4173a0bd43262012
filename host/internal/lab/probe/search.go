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
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// searching is the end of the name of a variant from which answers may search for what it had removed.
const searching = " + search"

// mostSearches is how often may be searched for a question.
const mostSearches = 3

// Where the entries are, by moment, and what a variant left of them, by unit; and in an answer sheet's directory, what
// was searched for it: a file for each search, which is named by the question and the number of the search.
const (
	addedDir    = "added"
	leftDir     = "left"
	searchesDir = "searches"
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
	prompt, err := atomicfile.Read(b.path(stageAnswers, unit, sheetFile), mostReply)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s is no sheet for answers: there is no %s", sheet, sheetFile)
	case err != nil:
		return "", err
	case !strings.Contains(string(prompt), "\n- "+question+": "):
		return "", fmt.Errorf("%s asks no question %.40q: give the id that stands before one", sheetFile, question)
	}
	found, err := b.find(ctx, unit, search.Query{Words: words})
	if err != nil {
		return "", err
	}
	text := answerOf(found)
	counter, err := tokens.For("", "")
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(searched{words, len(found), counter.Text(text)})
	if err != nil {
		return "", err
	}
	if err := b.count(unit, question, data); err != nil {
		return "", err
	}
	return text, nil
}

// find finds passages of what had been removed from a sheet's context.
func (b *Book) find(ctx context.Context, unit string, q search.Query) ([]search.Passage, error) {
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
	return engine.SearchMissing(ctx, added, r.Left, t, q)
}

// count keeps a search, or refuses it. Creating the file takes the number: of several searches at once, each counts.
func (b *Book) count(unit, question string, data []byte) error {
	dir := path.Join(stageAnswers, unit, searchesDir)
	if err := os.MkdirAll(b.path(dir), 0o755); err != nil {
		return err
	}
	for n := range mostSearches {
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
		mostSearches)
}

// searches returns what was searched for a sheet, by question.
func (b *Book) searches(unit string) (map[string][]searched, error) {
	dir := path.Join(stageAnswers, unit, searchesDir)
	files, err := os.ReadDir(b.path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string][]searched{}
	for _, f := range files {
		var s searched
		if err := b.readJSON(&s, dir, f.Name()); err != nil {
			return nil, err
		}
		question, _, _ := strings.Cut(f.Name(), "-")
		all[question] = append(all[question], s)
	}
	return all, nil
}

// answerOf is what a model reads of passages.
func answerOf(found []search.Passage) string {
	parts := make([]mcp.Part, len(found))
	for i, p := range found {
		parts[i] = mcp.Part{Passage: p, ID: p.Entry}
	}
	return strings.TrimSuffix(mcp.Found(parts), "\n") + "\n"
}
