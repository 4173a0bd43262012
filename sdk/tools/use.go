package tools

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Use is what one call reads, writes and runs. The zero value means that nothing is known about it.
//
// Paths are as the call gives them, except that a relative one is joined to the call's own working directory, if any.
// [Resolve] makes them comparable.
type Use struct {
	// Class is what the tool is for; "" if no rule fits the call.
	Class Class
	// Reads are the files whose content the response holds.
	Reads []string
	// Writes are the files that the call changes, if it succeeds.
	Writes []Write
	// MayWrite are files that the call may have changed: what it runs may not have got that far. They make no earlier
	// read stale.
	MayWrite []string
	// Glob: the call reads more files than Reads can name: it has a pattern, elements without a path, or over a thousand.
	Glob bool
	// NoFile: the tool reads or writes files, but the parameters name none, or have an unexpected form. Nothing is
	// known of such a call; it is worth a line in a log (EC-016).
	NoFile bool
	// Partial: the call asks for a range of a file.
	Partial bool
	// Command is what a shell tool runs, which may have several lines.
	Command string
	// Task is the running command that the call asks about, by the name that an earlier result gave it
	// ([Verdict.Task]); "" for none.
	Task string
	// Dir is the directory that the call names as its own; "" for none.
	Dir string
	// Directory is what the call does to the directory of later commands. It is "" where presets of several agents fit
	// the call and say different things: which agent made it is then not known.
	Directory Directory
	// Subject is what the call is about, for people: its first path (a pattern too), else its command, else a parameter
	// that usually says it. It is set for unknown tools too, and says nothing about what is read or written.
	Subject string
}

// Write is one file that a call changes.
type Write struct {
	Path string `json:"path"`
	// Whole: nothing of the old content is left, and all of the new is in the call itself.
	Whole bool `json:"whole,omitempty"`
	// Deletes: the file is gone afterwards, deleted or moved away.
	Deletes bool `json:"deletes,omitempty"`
}

// FilesField is the field of a tool call in which a host tells strategies what a shell tool's command reads and writes,
// as [Files] in JSON. It is never in a history.
const FilesField = "threshFiles"

// Files is what a command reads and writes, as far as that is certain.
type Files struct {
	// Reads are the files whose content, whole or in part, is all of the output.
	Reads []string `json:"reads,omitempty"`
	// Partial: the output holds parts of them.
	Partial bool `json:"partial,omitempty"`
	// Writes are the files that the command certainly changed, if it succeeded.
	Writes []Write `json:"writes,omitempty"`
	// MayWrite are those that it may have changed.
	MayWrite []string `json:"mayWrite,omitempty"`
}

// UseCall is [Taxonomy.Use] for a call as a strategy gets it: with what the host found out about a command.
func (t *Taxonomy) UseCall(call content.ToolCall) Use {
	u := t.Use(call.Name, call.Parameters)
	raw := call.Extra.Get(FilesField)
	if u.Command == "" || raw == nil {
		return u
	}
	var f Files
	if json.Unmarshal(raw, &f) == nil { // otherwise another program's field
		u.Reads, u.Partial, u.Writes, u.MayWrite = f.Reads, f.Partial, append(u.Writes, f.Writes...), f.MayWrite
	}
	return u
}

// subjects are the parameters that usually say what a call is about, the most telling first, for [Use.Subject] only.
var subjects = [...]string{
	"file_path", "absolute_path", "path", "filePath", "notebook_path", "filename",
	"command", "cmd", "pattern", "query", "url",
}

func subjectNames() map[string]string {
	names := make(map[string]string, len(subjects))
	for _, name := range subjects {
		names[name] = name
	}
	return names
}

func subject(p params) string {
	for _, name := range subjects {
		if v := p.get(name); v != nil {
			if s, ok := rawjson.Text(v); ok && s != "" {
				return s
			}
		}
	}
	return ""
}

func (r *rule) use(p params) Use {
	dir := directory(r.workdir, p)
	u := Use{Class: r.class, Dir: dir, Directory: r.directory, Task: r.task(p)}
	if l, ok := decide(r.paths, p); ok {
		r.addPaths(&u, l, p, dir)
	}
	for _, l := range r.ranges {
		if l.any(p) {
			u.Partial = true
			break
		}
	}
	if l, ok := decide(r.command, p); ok {
		u.Command = l.commandLine(p)
	}
	if l, ok := decide(r.patch, p); ok {
		u.Writes = append(u.Writes, r.patched(l, p, dir)...)
	}
	u.NoFile = r.namesFiles() && len(u.Reads)+len(u.Writes) == 0 && !u.Glob
	switch {
	case u.Subject != "":
	case len(u.Writes) > 0:
		u.Subject = u.Writes[0].Path
	case u.Command != "":
		u.Subject = u.Command
	default:
		u.Subject = subject(p)
	}
	return u
}

// addPaths adds the paths at a locator. A pattern is no path: it sets Glob.
func (r *rule) addPaths(u *Use, l locator, p params, dir string) {
	for v := range l.values(p) {
		if len(u.Reads)+len(u.Writes) == maxPaths {
			u.Glob = u.Glob || r.class == ClassRead
			return
		}
		s, ok := rawjson.Text(v)
		if !ok || s == "" {
			// What is no path is ignored in a list of paths; in a list of objects it may be one in another form.
			u.Glob = u.Glob || l.sub != ""
			continue
		}
		if l.list && strings.ContainsAny(s, "*?") {
			u.Glob = true
		} else {
			s = within(dir, s)
			if r.class == ClassWrite {
				u.Writes = append(u.Writes, Write{Path: s, Whole: r.whole})
			} else {
				u.Reads = append(u.Reads, s)
			}
		}
		if u.Subject == "" {
			u.Subject = s
		}
	}
}

func (r *rule) patched(l locator, p params, dir string) []Write {
	var s string
	if r.class == ClassShell {
		s = shellPatch(l.commandLine(p))
	} else {
		for v := range l.values(p) {
			s, _ = rawjson.Text(v)
			break
		}
	}
	writes := patchWrites(s)
	writes = writes[:min(len(writes), maxPaths)]
	for i := range writes {
		writes[i].Path = within(dir, writes[i].Path)
	}
	return writes
}

// A call that names more files than maxPaths names the others to nobody, and no system has a directory that is longer
// than maxPath, in bytes: each path is written with its directory, so a call of a megabyte would name many gigabytes.
const (
	maxPaths = 1000
	maxPath  = 4096
)

// nowhere is the directory of a call whose own one has an unknown form: no file is in it.
const nowhere = "?"

func directory(ls []locator, p params) string {
	if l, ok := decide(ls, p); ok {
		for v := range l.values(p) {
			if s, ok := rawjson.Text(v); ok && len(s) <= maxPath {
				return s
			}
			return nowhere
		}
	}
	return ""
}

func within(dir, p string) string {
	switch {
	case dir == "" || IsAbs(p):
		return p
	case isWindows(dir):
		return dir + "/" + p // [Resolve] cleans it
	}
	return path.Join(dir, p)
}

// namesFiles reports whether calls that fit r should name the files that they read or write.
func (r *rule) namesFiles() bool {
	return (r.class == ClassRead || r.class == ClassWrite) && len(r.paths)+len(r.patch) > 0
}

func (r *rule) writes(p params) bool {
	return r.class == ClassWrite || len(r.patch) > 0 && len(r.use(p).Writes) > 0
}
