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
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// plans is who has done what; not for those who answer and grade.
const plans = "plan"

// Book is a directory with plans, sheets and what was made of them.
type Book struct {
	dir      string
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
	b := &Book{dir: dir}
	files, err := os.ReadDir(b.path(plans))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		var s Session
		if err := b.readJSON(&s, plans, f.Name()); err != nil {
			return nil, err
		}
		b.sessions = append(b.sessions, &s)
	}
	return b, nil
}

func (b *Book) session(id, name string) *Session {
	i := slices.IndexFunc(b.sessions, func(s *Session) bool { return s.ID == id })
	if i < 0 {
		i, b.sessions = len(b.sessions), append(b.sessions, &Session{ID: id})
	}
	b.sessions[i].Name = name // its file may have another name by now
	return b.sessions[i]
}

func (b *Book) path(path ...string) string {
	return filepath.Join(append([]string{b.dir}, path...)...)
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

func (b *Book) writeJSON(v any, path ...string) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.write(string(data)+"\n", path...)
}

func (b *Book) readJSON(v any, path ...string) error {
	data, err := atomicfile.Read(b.path(path...), maxReply)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(data)).Decode(v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.path(path...), err)
	}
	return nil
}

// Variants returns the names of the variants that the book has, doing nothing first.
func (b *Book) Variants() []string {
	names := []string{compare.NothingName}
	for _, s := range b.inOrder() {
		for _, v := range s.Variants {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

func (b *Book) inOrder() []*Session {
	return slices.SortedFunc(slices.Values(b.sessions), func(a, c *Session) int {
		return strings.Compare(a.Name+"\x00"+a.ID, c.Name+"\x00"+c.ID)
	})
}
