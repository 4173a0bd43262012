package recordings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// Read reads one session by the path that [Find] and [Walk] give it: that of a file, of a conversation's directory, or
// of a database with the session's id, as "sessions.db#ID". A session that an agent keeps in many files or in a
// database is put together as the agent itself exports it; lines are then counted in that export.
func Read(path string, o transcript.Options) (*transcript.Transcript, error) {
	session, err := gather(path)
	if err != nil {
		return nil, err
	}
	if session == nil {
		t, err := transcript.ReadFile(path, o)
		e, ok := errors.AsType[*transcript.Error](err)
		if name := unreadAgent(path); ok && name != "" && errors.Is(err, transcript.ErrUnknownFormat) {
			e.Detail = "it is a session of " + name + ", for which there is no reader"
		}
		if err == nil {
			noteSubagents(t, path)
			noteTotals(t, path)
		}
		return t, err
	}
	t, err := transcript.Read(bytes.NewReader(session.document), o)
	switch e, ok := errors.AsType[*transcript.Error](err); {
	case ok:
		e.Path = path
	case session.broken > 0 && err == nil:
		t.Notes = append(t.Notes, transcript.Note{Entry: -1, Message: fmt.Sprintf(
			"%d records are no whole JSON, as the agent was writing them, and were left out", session.broken)})
	}
	return t, err
}

// export is a session as its agent exports it.
type export struct {
	document []byte
	broken   int // records that were left out
}

// gather puts together a session that is not one file; nil if path is none.
func gather(path string) (*export, error) {
	if file, id, ok := inDatabase(path); ok {
		e, err := exportFrom(file, id)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return e, err
	}
	if events := eventsOf(path); len(events) > 0 {
		return readEvents(events), nil
	}
	if root := storageOf(path); root != "" {
		return readStorage(root, path)
	}
	return nil, nil
}

// record returns a record of an agent as JSON on one line, nil if it is not whole: an agent may be writing it.
func (e *export) record(raw []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		e.broken++
		return nil
	}
	return out.Bytes()
}

// file returns the record in a file; nil if it cannot be read.
func (e *export) file(path string) []byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		e.broken++
		return nil
	}
	return e.record(raw)
}

// list returns records as a JSON list with one on each line, without those that are not whole.
func list(records [][]byte) []byte {
	out := []byte{'['}
	for _, r := range records {
		if r == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), r...)
	}
	return append(out, ']')
}

// eventsOf returns the files of a conversation of OpenHands, which is the directory path or whose state is that file,
// in the order of their numbers; none for anything else. Each event is a file.
func eventsOf(path string) []string {
	if filepath.Base(path) == "base_state.json" {
		path = filepath.Dir(path)
	}
	files, _ := filepath.Glob(filepath.Join(escaped(filepath.Join(path, "events")), "event-*.json"))
	return files
}

// escaped returns a path as a pattern that fits it alone.
func escaped(path string) string {
	if filepath.Separator == '\\' {
		return path // patterns have no escapes there, and names no such characters but "["
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readEvents puts a conversation of OpenHands together.
func readEvents(files []string) *export {
	var e export
	var events [][]byte
	for _, f := range files {
		events = append(events, e.file(f))
	}
	// Older versions have no state beside the events; the directory and the model are then unknown.
	state := []byte("{}")
	if raw, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "..", "base_state.json")); err == nil {
		if whole := e.record(raw); whole != nil {
			state = whole
		}
	}
	e.document = fmt.Appendf(nil, `{"base_state":%s,"events":%s}`, state, list(events))
	return &e
}

// storageOf returns the directory in which opencode, before it had a database, kept the session in the file path with
// its messages and their parts in files of their own; "" for anything else.
func storageOf(path string) string {
	if !strings.HasPrefix(filepath.Base(path), "ses_") || filepath.Base(filepath.Dir(filepath.Dir(path))) != "session" {
		return ""
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	if _, err := os.Stat(filepath.Join(root, "message", id(path))); err != nil {
		return ""
	}
	return root
}

func id(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

// readStorage puts a session of opencode together. Ids are in the order of time.
func readStorage(root, path string) (*export, error) {
	var e export
	info := e.file(path)
	// Without it, nothing says where the agent worked; what it wrote a moment ago is there the next time.
	if info == nil {
		return nil, fmt.Errorf("%s: it is not whole, as the agent was writing it", path)
	}
	// An id may be in no file yet: the agent writes a message before its parts.
	dir := func(kind, id string) []string {
		files, _ := filepath.Glob(filepath.Join(escaped(filepath.Join(root, kind, id)), "*.json"))
		return files
	}
	var messages [][]byte
	for _, m := range dir("message", id(path)) {
		var parts [][]byte
		for _, p := range dir("part", id(m)) {
			parts = append(parts, e.file(p))
		}
		if about := e.file(m); about != nil {
			messages = append(messages, fmt.Appendf(nil, `{"info":%s,"parts":%s}`, about, list(parts)))
		}
	}
	e.document = fmt.Appendf(nil, `{"info":%s,"messages":%s}`, info, list(messages))
	return &e, nil
}
