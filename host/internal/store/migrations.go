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

// unreleased is the last version of a schema before the first release. The first step leads past it, so a store from
// before is told from ours.
const unreleased = 5

// Migrations reads the steps of a schema: files named migrations/0001_what.sql, 0002_what.sql and so on. A released
// file is never changed, because there are stores that were made with it.
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
		steps[i] = Migration{Version: unreleased + i + 1, SQL: string(text)}
	}
	return steps, nil
}

// Pending returns the steps that a store of a version lacks; 0 is an empty store. The error is a [Fault] of cause Newer
// or Unreleased: the store has a form that this program does not know and would destroy.
func Pending(steps []Migration, version int, name string) ([]Migration, error) {
	last := steps[len(steps)-1].Version
	switch {
	case version == 0:
		return steps, nil
	case version > last:
		return nil, &Fault{Cause: Newer, Store: name,
			Err: fmt.Errorf("its schema has version %d, this program knows up to %d", version, last)}
	case version <= unreleased:
		return nil, &Fault{Cause: Unreleased, Store: name,
			Err: fmt.Errorf("its schema has version %d, the first release has %d", version, unreleased+1)}
	}
	return steps[version-unreleased:], nil
}
