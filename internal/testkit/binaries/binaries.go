// Package binaries builds the programs that tests run as real processes, once for the whole test run.
//
// The packages of a test run are separate processes, and linking a program takes seconds. So all of them build into one
// directory of the repository (.bin/test, which git ignores), one at a time under a file lock. What was built of the
// same files is not built again: even go build of programs that are up to date takes a second, in each package. Tests
// get copies or links of what was built, never the path to build into.
package binaries

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// Shipped are the strategies that ship. One that is new to the release needs its name here.
var Shipped = []string{"distill", "high-density", "middle-out", "one-shot", "top-down-truncation"}

// Build builds packages, given by their directories from the root of the repository, as they ship: without cgo, paths
// of the machine and debug information. It returns the paths of the programs in the same order. Do not write to them:
// other tests run them too. They belong to this checkout: two checkouts never share one.
func Build(packages ...string) ([]string, error) {
	return build("plain", []string{"CGO_ENABLED=0"}, []string{"-trimpath"}, packages)
}

// Watched builds a package with the race detector if the test runs under it, so that 'make race' finds the races of a
// program in tests that start it. Otherwise it returns no program: that of [Build] does.
func Watched(pkg string) (program string, err error) {
	if !race.Enabled {
		return "", nil
	}
	programs, err := build("race", []string{"CGO_ENABLED=1"}, []string{"-race"}, []string{pkg})
	return strings.Join(programs, ""), err
}

// kind keeps programs that are built with different flags apart; go build would link them again at each change of
// flags.
func build(kind string, env, flags, packages []string) (programs []string, err error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	top := filepath.Join(root, ".bin", "test", kind)
	if err := os.MkdirAll(top, 0o755); err != nil {
		return nil, err
	}
	// Held during the whole build: a second process finds its programs up to date when it gets the lock.
	unlock, err := lock(filepath.Join(top, ".lock"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	// go build -o DIR/ names a program after the last element of its package's path: no two programs of the repository
	// may have the same.
	//
	// -buildvcs=false: with the commit in it, each commit would link every program again.
	args := slices.Concat([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", top + string(filepath.Separator)},
		flags)
	state, err := stateOf(root, slices.Concat(os.Environ(), env, flags))
	if err != nil {
		return nil, err
	}
	stale := map[string]string{} // packages by the files that say of which state their programs are
	for _, pkg := range packages {
		program := filepath.Join(top, path.Base(pkg))
		programs = append(programs, program)
		_, missing := os.Stat(program)
		of := filepath.Join(top, "."+path.Base(pkg)+".state")
		if was, err := os.ReadFile(of); missing != nil || err != nil || string(was) != pkg+" "+state {
			_ = os.Remove(of) // a build that fails leaves none
			stale[of], args = pkg, append(args, "./"+pkg)
		}
	}
	if len(stale) == 0 {
		return programs, nil
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	// The later of two equal names holds, so that env wins.
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", strings.Join(packages, ", "), err, text)
	}
	for of, pkg := range stale {
		if err := os.WriteFile(of, []byte(pkg+" "+state), 0o644); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

// stateOf is a sum over all that a build may depend on: the names, sizes and times of the repository's files, the
// toolchain and the environment's settings for it.
func stateOf(root string, environment []string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version())
	for _, v := range slices.Sorted(slices.Values(environment)) {
		if strings.HasPrefix(v, "GO") || strings.HasPrefix(v, "CGO") || strings.HasPrefix(v, "-") {
			fmt.Fprintln(sum, v)
		}
	}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (d.Name()[0] == '.' || d.Name() == "bin" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // such as an editor's
			return nil
		}
		if err == nil {
			fmt.Fprintln(sum, file, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Strategies builds shipped strategies as plugins of their own and copies them into dir. Without names it copies all
// that ship.
func Strategies(dir string, names ...string) error {
	if len(names) == 0 {
		names = Shipped
	}
	packages := map[string]string{}
	for _, name := range names {
		packages[name] = "plugins/cmd/thresh-strategy-" + name
	}
	return Plugins(dir, packages)
}

// Plugins builds packages and copies them into dir as plugins, by the strategy's name.
func Plugins(dir string, packages map[string]string) error {
	named := map[string]string{}
	for name, pkg := range packages {
		named["thresh-strategy-"+name] = pkg
	}
	return Install(dir, named)
}

// Install builds packages and copies the programs to paths below dir. Directories are made.
func Install(dir string, packages map[string]string) error {
	paths := slices.Sorted(maps.Keys(packages))
	var dirs []string
	for _, path := range paths {
		dirs = append(dirs, packages[path])
	}
	// One go build for all: each looks at every package that the programs consist of.
	programs, err := Build(dirs...)
	if err != nil {
		return err
	}
	for i, program := range programs {
		to := filepath.Join(dir, paths[i])
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := Copy(program, to); err != nil {
			return err
		}
	}
	return nil
}

// Program builds one package and copies the program to the path.
func Program(to, pkg string) error {
	return Install(filepath.Dir(to), map[string]string{filepath.Base(to): pkg})
}

// Copy installs a program as people do: under another name first, then renamed, so that none is run half written.
func Copy(program, to string) error {
	in, err := os.Open(program)
	if err != nil {
		return err
	}
	defer in.Close()
	// Linux refuses to write to a program that runs (ETXTBSY), and a host that watches the directory would see half a
	// file.
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
