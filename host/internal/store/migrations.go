package store

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Migration is one step of a schema, from the version before it to Version.
type Migration struct {
	Version int
	SQL     string
}

// Migrations reads the steps of a schema: files named migrations/0001_what.sql, 0002_what.sql and so on. A released file is never
// changed, because there are stores that were made with it.
func Migrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	steps := make([]Migration, len(names))
	for i, name := range names {
		if !strings.HasPrefix(path.Base(name), fmt.Sprintf("%04d_", i+1)) {
			return nil, fmt.Errorf("migration %s stands where number %d is expected", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps[i] = Migration{Version: i + 1, SQL: string(text)}
	}
	return steps, nil
}

// Pending returns the steps from version on. A store with a later version was written by a newer program, and this one
// would destroy what it does not understand.
func Pending(steps []Migration, version int, name string) ([]Migration, error) {
	if version > len(steps) {
		return nil, &Fault{Cause: Newer, Store: name,
			Err: fmt.Errorf("its schema has version %d, this program knows up to %d", version, len(steps))}
	}
	return steps[version:], nil
}
