package recordings

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/tools"
)

type Found struct {
	Path string
	// Agent is the one in whose place it was; "" for a file that [Walk] found.
	Agent string
	// Changed is when the file changed last, or what the database says of the session.
	Changed time.Time
	// dir is the directory in which the agent worked, "" if only the session's beginning says it.
	dir string
}

// Options choose among the sessions. The zero value takes all. Both must fit.
type Options struct {
	// Agent is a name of [Agents]; "": any.
	Agent string
	// Project is the directory in which the agent worked, absolute; sessions of directories in it count too. "": any.
	Project string
}

func Agents() []string {
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.name
	}
	return names
}

// Find returns the sessions that agents keep on this machine, the newest first. Places that do not exist or cannot be
// read hold none.
func Find(s System, o Options) ([]Found, error) {
	if o.Agent != "" && !slices.Contains(Agents(), o.Agent) {
		return nil, fmt.Errorf("unknown agent %q; known: %s", o.Agent, strings.Join(Agents(), ", "))
	}
	var out []Found
	for _, a := range agents {
		if o.Agent != "" && o.Agent != a.name {
			continue
		}
		// Places are in the order of preference, so the first copy of a session is the one to take.
		// A session is found once, also where two patterns fit, or where an agent moved it into its database.
		seen := map[string]bool{}
		for _, root := range a.roots(s) {
			for _, pattern := range a.patterns {
				for _, path := range below(root, pattern) {
					if skip, _ := filepath.Match(a.not, filepath.Base(path)); skip {
						continue
					}
					for _, f := range sessionsAt(path) {
						if f.Agent = a.name; seen[f.name()] || o.Project != "" && !f.about(o.Project) {
							continue
						}
						seen[f.name()] = true
						out = append(out, f)
					}
				}
			}
		}
	}
	sortNewest(out)
	return out, nil
}

func sessionsAt(path string) []Found {
	info, err := os.Stat(path)
	switch {
	// An empty file is a session that was just begun.
	case err != nil || !info.Mode().IsRegular() || info.Size() == 0:
		return nil
	// By its name alone, so thousands of files are not opened.
	case filepath.Ext(path) == ".db":
		found, _ := sessionsIn(path) // what cannot be read holds none
		return found
	}
	return []Found{{Path: path, Changed: info.ModTime()}}
}

// name returns what tells a session from the agent's others. Agents name files in a directory for each by what is in
// them, others by the session.
func (f Found) name() string {
	if _, name, ok := strings.Cut(f.Path, ".db#"); ok {
		return name
	}
	if f.Agent == "opencode" || f.Agent == "goose" {
		return id(f.Path)
	}
	return strings.TrimSuffix(f.Path, compressed)
}

// compressed ends the name of a file that an agent compressed.
const compressed = ".zst"

// below returns the files below root that fit a pattern. The root is not part of the pattern: its name may hold any
// character.
func below(root, pattern string) []string {
	matches, err := fs.Glob(os.DirFS(root), pattern)
	if err != nil {
		return nil // only a malformed pattern
	}
	for i, m := range matches {
		matches[i] = filepath.Join(root, filepath.FromSlash(m))
	}
	return matches
}

// Walk returns the sessions in a database, or the files in a directory, and in those in it, that may be sessions by
// their names, the newest first. Hidden directories and dependencies are left out. many is false if path is
// one session or none.
func Walk(path string) (found []Found, many bool, err error) {
	if file, id, ok := inDatabase(path); ok && id == "" {
		if found, err = sessionsIn(file); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return found, true, err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() || len(eventsOf(path)) > 0 {
		return nil, false, nil
	}
	found, err = walk(path)
	return found, true, err
}

// Links are not followed, so a loop of directories ends.
func walk(dir string) ([]Found, error) {
	var out []Found
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil // what cannot be read holds none
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() && path != dir && isPieces(path):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		switch strings.ToLower(filepath.Ext(strings.TrimSuffix(path, compressed))) {
		case ".json", ".jsonl", ".ndjson", ".traj", ".db":
			if d.Type().IsRegular() { // what a link leads to is elsewhere
				out = append(out, sessionsAt(path)...)
			}
		}
		return nil
	})
	sortNewest(out)
	return out, err
}

// isPieces reports whether a directory holds records of sessions in files of their own: events of a conversation of
// OpenHands, or messages and parts of them of opencode.
func isPieces(dir string) bool {
	parent := filepath.Dir(dir)
	switch filepath.Base(dir) {
	case "events":
		return len(eventsOf(parent)) > 0
	case "message", "part":
		_, err := os.Stat(filepath.Join(parent, "session"))
		return err == nil
	}
	return false
}

// sortNewest sorts the newest first, by path where two are of one time.
func sortNewest(found []Found) {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.Path, b.Path))
	})
}

// maxHead is how much of a file is looked at for the directory in which the agent worked, in bytes. It stands in the
// first records, but a record may hold a long prompt.
const maxHead = 256 << 10

// about reports whether a session is of a project: it says that the agent worked there, or in a directory there, or the
// agent keeps it in a directory that is named by a hash of the project's path.
func (f Found) about(project string) bool {
	project = filepath.Clean(project)
	// The database says it, so no session need be read.
	if f.dir != "" {
		// Not by strings alone: "/src/app" must not take "/src/app2".
		dir := filepath.Clean(f.dir)
		if key, ok := folded(project); ok {
			dir, project = tools.Key("", dir), key
		}
		rest, ok := strings.CutPrefix(dir, project)
		return ok && (rest == "" || os.IsPathSeparator(rest[0]))
	}
	return headIsAbout(f.Path, project)
}

// headIsAbout looks for the project in the path and the beginning of a file. Reading a session for its directory would
// take seconds for a machine with thousands of them, so the beginning is searched as text.
func headIsAbout(path, project string) bool {
	hash := sha256.Sum256([]byte(project))
	if strings.Contains(filepath.ToSlash(path), "/"+hex.EncodeToString(hash[:])+"/") {
		return true
	}
	if about, ok := strings.CutSuffix(path, ".messages.json"); ok {
		path = about + ".json" // what Cline says of the session
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()               //nolint:errcheck // nothing was written
	head := make([]byte, maxHead) // at once: ReadAll grows in many steps, for each of thousands of files
	n, err := io.ReadFull(transcript.Plain(f), head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	head = head[:n]
	// Gemini CLI has the same hash in the first line.
	if bytes.Contains(head, []byte(`"projectHash":"`+hex.EncodeToString(hash[:]))) {
		return true
	}
	// As JSON has it in a string, without the quotes: on Windows it has backslashes.
	quoted, err := json.Marshal(project)
	if err != nil {
		return false
	}
	dir := quoted[1 : len(quoted)-1]
	key, fold := folded(project)
	if fold {
		dir, head = []byte(key), bytes.ReplaceAll(bytes.ToLower(head), []byte(`\\`), []byte("/"))
	}
	// A directory may be named in words of a person too; only what stands behind a mark counts.
	for from := 0; ; {
		at := bytes.Index(head[from:], dir)
		if at < 0 {
			return false
		}
		before := head[:from+at]
		from += at + len(dir)
		named := slices.ContainsFunc(dirMarks, func(mark string) bool {
			if fold {
				mark = strings.ToLower(mark)
			}
			return bytes.HasSuffix(before, []byte(mark))
		})
		// The whole path, or a directory in it: not /src/app for /src/app2.
		if named && from < len(head) && bytes.IndexByte([]byte(`"/\)`), head[from]) >= 0 {
			return true
		}
	}
}

// folded returns a path of Windows in the one spelling of [tools.Key]; false for another path, which has one already.
func folded(p string) (key string, ok bool) {
	if !tools.IsAbs(p) || p[0] == '/' {
		return p, false
	}
	return tools.Key("", p), true
}

// dirMarks stand before the directory in which an agent worked. They are the fields in which the agents of the list
// record it, with and without a blank, and the words in which Cline tells it to the model.
var dirMarks = []string{`"cwd":"`, `"cwd": "`, `"directory":"`, `"directory": "`, `"working_dir":"`, `"working_dir": "`,
	`"uri":"file://`, `"uri": "file://`, "Current Working Directory ("}
