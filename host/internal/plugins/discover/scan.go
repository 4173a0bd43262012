package discover

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/nearest"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Guard decides which directories and files other users could change, which makes running them a risk. Each method
// returns the problem as a phrase; "" if there is none. Package trust implements it.
type Guard interface {
	// Directory judges a plugin directory and all directories above it.
	Directory(dir string) string
	// File judges a file in a directory for which Directory returned "".
	File(dir, path string) string
}

// Directory is the result of a scan for one plugin directory, part of -o json output.
type Directory struct {
	Path string `json:"path"`
	// Plugins counts usable plugins, Ignored the files without a plugin's name.
	Plugins int `json:"plugins"`
	Ignored int `json:"ignored"`
	// Problem is why the directory cannot be used: missing, unreadable, not a directory or not trusted.
	Problem string `json:"problem,omitempty"`
}

// Candidate is a file with a plugin's name, or a built-in strategy. It has not been started; whether a file is a plugin
// is unknown.
type Candidate struct {
	// Path is absolute.
	Name, Path string
	// BuiltIn is set if the program to start is the host's own, whose file is Path.
	BuiltIn bool
	// Problem says why the file cannot be a plugin. ShadowedBy is the path of the file that is used instead.
	Problem, ShadowedBy string
	// Lack is set if Problem is the fault of the host's environment: the file may be a good plugin.
	Lack error
	// Attached is set if Path is the socket of a process that a developer started by hand (--attach).
	Attached bool
}

// Usable reports whether this candidate is the one to start for its name.
func (c Candidate) Usable() bool { return c.Problem == "" && c.ShadowedBy == "" }

// Failure is [fault.New]. A developer may end an attached process: that is no crash.
func (c Candidate) Failure(op fault.Op, err error, hint string) *fault.Error {
	failure := fault.New(c.Name, c.Path, op, err, hint)
	failure.Blameless = failure.Blameless || c.Attached
	return failure
}

// NotStarted is the failure of a plugin that the host did not start: whatever the reason, it is no crash.
func (c Candidate) NotStarted(err error, hint string) *fault.Error {
	failure := c.Failure(fault.OpStart, err, hint)
	failure.Blameless = true
	return failure
}

// Catalog is the result of a scan, in the order of the directories and by file name within each. It is immutable.
type Catalog struct {
	Dirs       []Directory
	Candidates []Candidate
	// Lack is set if the host's environment kept the scan from seeing everything: what was not found may exist.
	Lack error
}

// Scan searches the directories in order, without recursion. The first usable file with a name wins: neither a broken
// file nor one that g objects to (nil: no objections) hides a good one. A directory counts once, however its path is
// spelled. Scan starts nothing and never fails: problems are in the result.
func Scan(dirs []string, g Guard) Catalog {
	var c Catalog
	owner := make(map[string]string) // by name
	seen := make(map[string]bool)
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir // scanOne reports the problem
		}
		if seen[real] {
			continue
		}
		seen[real] = true
		d, found, lack := scanOne(dir, g)
		c.Lack = cmp.Or(c.Lack, lack)
		for i := range found {
			f := &found[i]
			if f.Problem != "" {
				c.Lack = cmp.Or(c.Lack, f.Lack)
				continue
			}
			if first, taken := owner[f.Name]; taken {
				f.ShadowedBy = first
				continue
			}
			owner[f.Name] = f.Path
			d.Plugins++
		}
		c.Dirs = append(c.Dirs, d)
		c.Candidates = append(c.Candidates, found...)
	}
	return c
}

func BuiltIn(name string) Candidate {
	program, _ := os.Executable() // only shown
	return Candidate{Name: name, Path: program, BuiltIn: true}
}

// AddBuiltIn adds built-in strategies. A file with the name of one wins.
func (c Catalog) AddBuiltIn(names []string) Catalog {
	for _, name := range names {
		b := BuiltIn(name)
		if file, ok := c.Find(name); ok {
			b.ShadowedBy = file.Path
		}
		c.Candidates = append(c.Candidates, b)
	}
	return c
}

// Attach adds strategies that were started by hand; they win over files. sockets maps strategy names to socket paths.
func (c Catalog) Attach(sockets map[string]string) Catalog {
	var first []Candidate
	for _, name := range slices.Sorted(maps.Keys(sockets)) {
		first = append(first, Candidate{Name: name, Path: sockets[name], Attached: true})
	}
	for i, f := range c.Candidates {
		if socket, ok := sockets[f.Name]; ok && f.Usable() {
			c.Candidates[i].ShadowedBy = socket + ", which was started by hand"
		}
	}
	c.Candidates = append(first, c.Candidates...)
	return c
}

// Has reports whether a file has the name of the strategy, usable or not.
func (c Catalog) Has(name string) bool {
	return slices.ContainsFunc(c.Candidates, func(f Candidate) bool { return f.Name == name })
}

// Find returns the usable plugin with the given name. If the scan could not see everything, no built-in one: a file may
// take its place.
func (c Catalog) Find(name string) (Candidate, bool) {
	i := slices.IndexFunc(c.Candidates, func(f Candidate) bool { return f.Usable() && f.Name == name })
	if i < 0 || c.Candidates[i].BuiltIn && c.Lack != nil {
		return Candidate{}, false
	}
	return c.Candidates[i], true
}

// maxListed is in bytes.
const maxListed = 2000

// Unknown returns the error for a name that Find does not know: a [fault.ErrUnknownStrategy] that lists what was found
// and where, because the usual causes are a typo and a wrong directory. If the scan could not see everything, it is a
// [fault.ErrHost].
func (c Catalog) Unknown(name string) error {
	if c.Lack != nil {
		return fault.New(name, c.where(), fault.OpStart, c.Lack, "")
	}
	var names, builtIn, broken []string
	for _, f := range c.Candidates {
		switch {
		case f.BuiltIn:
			builtIn = append(builtIn, f.Name)
		case f.Usable():
			names = append(names, f.Name)
		case f.Problem != "":
			broken = append(broken, text.Printable(f.Path, maxListed)+" "+f.Problem)
		}
	}
	var b strings.Builder
	if len(builtIn) == 0 {
		b.WriteString("none is built in, as this program does not call host.ReexecMain first in main; ")
	} else {
		b.WriteString("built in are " + strings.Join(builtIn, ", ") + "; ")
	}
	if len(names) == 0 {
		b.WriteString("none was found")
	} else {
		b.WriteString("found " + strings.Join(names, ", "))
	}
	if len(c.Dirs) == 0 {
		b.WriteString("; no plugin directory is set (plugins.dirs)")
	}
	for i, d := range c.Dirs {
		sep := ", "
		if i == 0 {
			sep = " in "
		}
		b.WriteString(sep + d.Path)
		switch {
		case d.Problem != "":
			b.WriteString(" (" + d.Problem + ")")
		case d.Plugins == 0:
			b.WriteString(" (no plugins in it)")
		}
	}
	if len(broken) > 0 {
		b.WriteString("; not usable: " + strings.Join(broken, ", "))
	}
	guess := ""
	if near := nearest.One(name, append(builtIn, names...)); near != "" {
		guess = fmt.Sprintf(", did you mean %q?", near)
	}
	return fmt.Errorf("%w %q%s: %s", fault.ErrUnknownStrategy, name, guess, b.String())
}

func (c Catalog) where() string {
	var dirs []string
	for _, d := range c.Dirs {
		dirs = append(dirs, d.Path)
	}
	return strings.Join(dirs, ", ")
}

// scanOne sets lack if the host's environment kept it from searching.
func scanOne(dir string, g Guard) (d Directory, found []Candidate, lack error) {
	d = Directory{Path: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		d.Problem = fault.System(err).Error()
		return d, nil, lacking(err)
	}
	if g != nil {
		d.Problem = g.Directory(dir)
	}
	// Also in an untrusted directory: the listing shows what would be used if it were trusted.
	for _, e := range entries {
		name, ok := StrategyName(e.Name())
		if !ok {
			d.Ignored++
			continue
		}
		path := filepath.Join(dir, e.Name())
		problem, lack := inspect(name, path)
		switch {
		case problem == "" && d.Problem != "":
			problem = "is not trusted: " + d.Problem
		case problem == "" && g != nil:
			problem = g.File(dir, path)
		}
		found = append(found, Candidate{Name: name, Path: path, Problem: problem, Lack: lack})
	}
	return d, found, nil
}

// inspect returns why the file cannot be a plugin; "" if it may be one. lack is set if that is the fault of the host's
// environment. It reads only the first bytes.
func inspect(name, path string) (problem string, lack error) {
	if !sdk.ValidName(name) {
		return fmt.Sprintf("has no valid strategy name (%q must be lower-case letters, digits and single hyphens)",
			text.Printable(name, 100)), nil
	}
	info, err := os.Stat(path) // follows a symbolic link
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is a symbolic link to nothing", nil
	case err != nil:
		return unreadable(err)
	case info.IsDir():
		return "is a directory", nil
	case !info.Mode().IsRegular():
		return "is not a regular file", nil
	case info.Size() == 0:
		return "is empty", nil
	case info.Size() > maxFile:
		return tooLarge(info.Size()), nil
	case !Executable(info):
		return "is not executable (chmod +x)", nil
	}
	return inspectHead(path)
}

// maxFile is in bytes. A file is hashed before it is started, and programs that contain their interpreter have some
// hundred megabytes.
const maxFile = 1 << 30

func tooLarge(size int64) string {
	return fmt.Sprintf("is too large for a plugin (%d bytes, at most %d)", size, maxFile)
}

func unreadable(err error) (problem string, lack error) {
	return "cannot be read: " + fault.System(err).Error(), lacking(err)
}

func lacking(err error) error {
	if fault.IsHost(err) {
		return err
	}
	return nil
}

func inspectHead(path string) (problem string, lack error) {
	f, err := openToRun(path) // the path may lead elsewhere by now
	if err != nil {
		return unreadable(err)
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return unreadable(err)
	}
	for _, h := range programHeads {
		if bytes.HasPrefix(head[:n], h) {
			return "", nil
		}
	}
	return notProgram, nil
}
