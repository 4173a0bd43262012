package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// The stages, each a directory of a book. A stage's sheets can be worked through in any order; the next needs them.
const (
	stageQuestions = "1-questions"
	stageAnswers   = "2-answers"
	stageGrades    = "3-grades"
	plans          = "plan" // who has done what; not for those who answer and grade
)

const (
	sheetFile   = "prompt.md"
	historyFile = "history.md"
	nextFile    = "next.md"
	contextFile = "context.md"
)

// Book is a directory with plans, sheets and what was made of them.
type Book struct {
	dir string
	// sessions are in the order of their names.
	sessions []*Session
}

// Create opens a book, or begins one in a directory that need not exist. A directory that has files and is no book is
// refused.
func Create(dir string) (*Book, error) {
	b, err := Open(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("%s: the directory has other files; name an empty or a new one", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, plans), 0o755); err != nil {
		return nil, err
	}
	b = &Book{dir: dir}
	return b, b.write(readme, "README.md")
}

// Open reads the plans of a book. The error wraps [fs.ErrNotExist] if the directory is none.
func Open(dir string) (*Book, error) {
	files, err := os.ReadDir(filepath.Join(dir, plans))
	if err != nil {
		return nil, err
	}
	b := &Book{dir: dir}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		path := filepath.Join(dir, plans, f.Name())
		data, err := atomicfile.Read(path, mostReply)
		if err != nil {
			return nil, err
		}
		var s Session
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		b.sessions = append(b.sessions, &s)
	}
	b.sort()
	return b, nil
}

func (b *Book) sort() {
	slices.SortFunc(b.sessions, func(a, c *Session) int {
		return bytes.Compare([]byte(a.Name+"\x00"+a.ID), []byte(c.Name+"\x00"+c.ID))
	})
}

// session returns the plan with an id, or a new one.
func (b *Book) session(id, name string) *Session {
	for _, s := range b.sessions {
		if s.ID == id {
			return s
		}
	}
	s := &Session{ID: id, Name: name, Spread: -1}
	b.sessions = append(b.sessions, s)
	b.sort()
	return s
}

func (b *Book) writePlan(s *Session) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return b.write(string(data)+"\n", plans, s.ID+".json")
}

// write puts a text into a file of the book as a whole, unless it is there already.
func (b *Book) write(text string, path ...string) error {
	name := b.path(path...)
	if have, err := os.ReadFile(name); err == nil && string(have) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(name, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func (b *Book) path(path ...string) string {
	return filepath.Join(append([]string{b.dir}, path...)...)
}

// writeMoments writes what questions are written from.
func (b *Book) writeMoments(s *Session, rec *replay.Recording, nothing []seen) error {
	for _, m := range s.Moments {
		history := nothing[m.Turn-1].history
		files := map[string]record{
			historyFile: newRecord(rec.Transcript.System, history, 0), nextFile: next(rec, m, len(history)),
		}
		for file, r := range files {
			if err := b.write(r.text, stageQuestions, m.ID, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep keeps what a variant left at the moments of a session, and takes the place of an earlier run of the variant.
func (b *Book) keep(s *Session, rec *replay.Recording, v Variant, requests []seen) error {
	for _, m := range s.Moments {
		if m.Turn > len(requests) || v.Error != "" {
			continue
		}
		left := newRecord(rec.Transcript.System, requests[m.Turn-1].history, 0)
		unit := id(m.ID, left.text)
		v.Contexts[m.ID] = Context{Unit: unit, Tokens: requests[m.Turn-1].tokens}
		if err := b.write(left.text, stageAnswers, unit, contextFile); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(s.Variants, func(o Variant) bool { return o.Name == v.Name })
	if at < 0 {
		s.Variants = append(s.Variants, v)
		return nil
	}
	s.Variants[at] = v
	return nil
}

// Variants returns the names of the variants that the book has, doing nothing first.
func (b *Book) Variants() []string {
	names := []string{compare.NothingName}
	for _, s := range b.sessions {
		for _, v := range s.Variants {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}
