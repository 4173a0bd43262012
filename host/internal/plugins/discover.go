package plugins

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// FilePrefix is what the file name of every strategy plugin begins with; the strategy's name follows.
const FilePrefix = "thresh-strategy-"

// Directory is what a scan saw in one plugin directory.
type Directory struct {
	Path string `json:"path"`
	// Plugins counts usable plugins, Ignored the files whose names are not those of plugins.
	Plugins int `json:"plugins"`
	Ignored int `json:"ignored"`
	// Problem says why nothing can come from the directory: it is missing, unreadable or no directory. "" if it is fine.
	Problem string `json:"problem,omitempty"`
}

// candidate is a file whose name is that of a plugin.
type candidate struct {
	name, path string
	// problem says why the file cannot be a plugin; shadowedBy is the path of the one that is used instead.
	problem, shadowedBy string
	// attached says that path is the socket of a process that somebody started by hand.
	attached bool
}

func (c candidate) usable() bool { return c.problem == "" && c.shadowedBy == "" }

// catalog is what a scan of all directories found, in the order of the directories and by file name within each.
type catalog struct {
	dirs       []Directory
	candidates []candidate
}

// discover scans the directories in order, without recursion. The first usable file with a name wins; a broken one never
// hides a good one, nor one that g does not trust (nil: it trusts all). A directory counts once, however it is spelled. It
// starts nothing.
func discover(dirs []string, g *guard) catalog {
	var c catalog
	owner := make(map[string]string) // name → path of the usable plugin
	seen := make(map[string]bool)
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir // scan says what is wrong with it
		}
		if seen[real] {
			continue
		}
		seen[real] = true
		d, found := scan(dir, g)
		for i := range found {
			f := &found[i]
			if f.problem != "" {
				continue
			}
			if first, taken := owner[f.name]; taken {
				f.shadowedBy = first
				continue
			}
			owner[f.name] = f.path
			d.Plugins++
		}
		c.dirs = append(c.dirs, d)
		c.candidates = append(c.candidates, found...)
	}
	return c
}

// find returns the usable plugin with the name.
func (c catalog) find(name string) (candidate, bool) {
	i := slices.IndexFunc(c.candidates, func(f candidate) bool { return f.usable() && f.name == name })
	if i < 0 {
		return candidate{}, false
	}
	return c.candidates[i], true
}

// unknown is the error for a name that find does not know.
func (c catalog) unknown(name string) error {
	var b strings.Builder
	var names, broken []string
	for _, f := range c.candidates {
		switch {
		case f.usable():
			names = append(names, f.name)
		case f.problem != "":
			broken = append(broken, printable(f.path, maxMessage)+" "+f.problem)
		}
	}
	if len(names) == 0 {
		b.WriteString("no strategy was found")
	} else {
		b.WriteString("found " + strings.Join(names, ", "))
	}
	if len(c.dirs) == 0 {
		b.WriteString("; no plugin directory is set (plugins.dirs)")
	}
	for i, d := range c.dirs {
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
	return fmt.Errorf("%w %q: %s", ErrUnknownStrategy, name, b.String())
}

func scan(dir string, g *guard) (Directory, []candidate) {
	d := Directory{Path: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		d.Problem = reason(err)
		return d, nil
	}
	if g != nil {
		d.Problem = g.directory(dir)
	}
	var found []candidate
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), FilePrefix)
		if !ok {
			d.Ignored++
			continue
		}
		path := filepath.Join(dir, e.Name())
		problem := inspect(name, path)
		switch {
		case problem == "" && d.Problem != "":
			problem = "is not trusted: " + d.Problem
		case problem == "" && g != nil:
			problem = g.file(dir, path)
		}
		found = append(found, candidate{name: name, path: path, problem: problem})
	}
	return d, found
}

// inspect says why the file cannot be a plugin, "" if it may be one.
func inspect(name, path string) string {
	if !contract.ValidName(name) {
		return fmt.Sprintf("has no valid strategy name (%q must be lower-case letters, digits and single hyphens)", printable(name, 100))
	}
	info, err := os.Stat(path) // follows a symlink, which is as good as the file itself
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is a symbolic link to nothing"
	case err != nil:
		return "cannot be read: " + reason(err)
	case info.IsDir():
		return "is a directory"
	case !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Size() == 0:
		return "is empty"
	case info.Mode().Perm()&0o111 == 0:
		return "is not executable (chmod +x)"
	}
	return inspectHead(path)
}

// programHeads are the first bytes of what the kernels that we run on execute: ELF, Mach-O (thin and universal), scripts.
var programHeads = [][]byte{
	[]byte("\x7fELF"), []byte("\xcf\xfa\xed\xfe"), []byte("\xca\xfe\xba\xbe"), []byte("#!"),
}

func inspectHead(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "cannot be read: " + reason(err)
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "cannot be read: " + reason(err)
	}
	for _, h := range programHeads {
		if bytes.HasPrefix(head[:n], h) {
			return ""
		}
	}
	return "is neither a program nor a script that begins with #!"
}

// reason is the error without the operation and the path, which stand beside it already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
