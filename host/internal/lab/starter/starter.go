// Package starter makes the directory that the author of a new strategy starts from. It is for 'thresh plugins new'.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/thresh-dev/thresh/internal/wire"
)

// A directory for each language. "dot_" at the beginning of a name stands for a dot; files that end in ".tmpl" are
// templates.
//
//go:embed all:files
var files embed.FS

// Languages returns the languages that [New] knows, the first of which is the usual one.
func Languages() []string { return []string{"go", "typescript", "python"} }

// ErrExists is the error of [New] for a directory that has something in it.
var ErrExists = errors.New("the directory is not empty")

// New writes what a strategy in one of the [Languages] consists of into a directory, which it makes. The name is one
// that [sdk.ValidName] accepts. New returns the paths of the files below the directory, sorted. The error is
// [ErrExists] or one of the file system; no file that was there is touched.
func New(dir, name, language string) (written []string, err error) {
	switch found, err := os.ReadDir(dir); {
	case err == nil && len(found) > 0:
		return nil, fmt.Errorf("%s: %w", dir, ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	contents, err := render(name, language)
	if err != nil {
		return nil, err
	}
	for file, text := range contents {
		target := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(target, text, 0o666); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	slices.Sort(written)
	return written, nil
}

// render returns the content of each file by its path.
func render(name, language string) (map[string][]byte, error) {
	contents := map[string][]byte{}
	if language != "go" { // whose sdk has the messages of the protocol
		contents["src/protocol.binpb"] = wire.Contract()
	}
	from := path.Join("files", language)
	return contents, fs.WalkDir(files, from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		target := strings.ReplaceAll(strings.TrimPrefix(file, from), "/dot_", "/.")
		if bare, ok := strings.CutSuffix(target, ".tmpl"); ok {
			var made strings.Builder
			t, err := template.New(file).Delims("<<", ">>").Parse(string(text))
			if err == nil {
				err = t.Execute(&made, map[string]string{"Name": name})
			}
			if err != nil {
				return err
			}
			target, text = bare, []byte(made.String())
		}
		contents[target[1:]] = text
		return nil
	})
}
