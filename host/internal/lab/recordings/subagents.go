package recordings

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// noteSubagents adds a note on the files of a session's sub-agents. They are sessions of their own, with requests that
// were billed.
func noteSubagents(t *transcript.Transcript, path string) {
	files := subagentsOf(t, path)
	if len(files) == 0 {
		return
	}
	t.Notes = append(t.Notes, transcript.Note{Entry: -1, Kind: "sub-agents in files of their own", Message: fmt.Sprintf(
		"%d of its sub-agents have files of their own, which are not read here, with the usage in them; the first is %s",
		len(files), files[0])})
}

// subagentsOf returns the files of a session's sub-agents. Claude Code keeps them below a folder with the session's
// name, or in older versions next to it; Kimi Code has a folder for each agent.
func subagentsOf(t *transcript.Transcript, path string) []string {
	dir, name := filepath.Split(path)
	if t.Format == transcript.Kimi && filepath.Base(dir) == "main" {
		files, _ := filepath.Glob(filepath.Join(escaped(filepath.Join(dir, "..")), "agent-*", name))
		return files
	}
	if t.Format != transcript.ClaudeCode || strings.HasPrefix(name, "agent-") {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(escaped(strings.TrimSuffix(path, filepath.Ext(path))), "subagents",
		"agent-*.jsonl"))
	beside, _ := filepath.Glob(filepath.Join(escaped(dir), "agent-*.jsonl"))
	for _, file := range beside {
		if of := sessionOf(file); of != "" && (of == t.ID || of == id(path)) {
			files = append(files, file)
		}
	}
	return files
}

// sessionOf returns the session that the first record in a file names; "" if it cannot be told.
func sessionOf(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()                                           //nolint:errcheck // nothing was written
	line, _ := bufio.NewReaderSize(f, 64<<10).ReadSlice('\n') // the id is at its beginning
	return rawjson.FieldText(line, "sessionId")
}
