// Package starter makes the module that the author of a new strategy starts from. It is for 'thresh plugins new'.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// The names of the files say where each goes: '_' stands for a dot at the beginning, '+' for a folder.
//
//go:embed all:files
var files embed.FS

// ErrExists is the error of [New] for a directory that has something in it.
var ErrExists = errors.New("the directory is not empty")

// New writes the module of a strategy with a name that [sdk.ValidName] accepts into a directory, which it makes. It
// returns the paths of the files below the directory, sorted. The error is [ErrExists] or one of the file system; no
// file that was there is touched.
func New(dir, name string) (written []string, err error) {
	switch found, err := os.ReadDir(dir); {
	case err == nil && len(found) > 0:
		return nil, fmt.Errorf("%s: %w", dir, ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	made := template.Must(template.New("").Delims("<<", ">>").ParseFS(files, "files/*"))
	for _, t := range made.Templates() {
		path := strings.ReplaceAll(strings.TrimSuffix(t.Name(), ".tmpl"), "+", "/")
		if rest, ok := strings.CutPrefix(path, "_"); ok {
			path = "." + rest
		}
		var text strings.Builder
		if err := t.Execute(&text, map[string]string{"Name": name}); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(target, []byte(text.String()), 0o666); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	slices.Sort(written)
	return written, nil
}
