package recordings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/recordings"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

func TestSubAgentsInFilesOfTheirOwnAreSaid(t *testing.T) {
	const of, other = "6fd1", "70aa"
	record := func(session string) string {
		return `{"type":"user","uuid":"1","sessionId":"` + session + `","message":{"role":"user","content":"go"}}` + "\n"
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":               {nil, ""},
		"another session's":  {map[string]string{"agent-a.jsonl": record(other), other + "/subagents/agent-b.jsonl": "{}"}, ""},
		"beside the session": {map[string]string{"agent-a.jsonl": record(of), "agent-b.jsonl": record(other)}, "1 of its"},
		"below the session": {map[string]string{of + "/subagents/agent-a.jsonl": record(of), of + "/subagents/agent-b.jsonl": "",
			of + "/subagents/agent-b.meta.json": "{}"}, "2 of its"},
	} {
		dir := filepath.Join(t.TempDir(), "[project]")
		session := filepath.Join(dir, of+".jsonl")
		write := func(file, text string) {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(session, record(of)+record(of))
		for file, text := range tt.files {
			write(filepath.Join(dir, file), text)
		}
		tr, err := recordings.Read(session, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range tr.Notes {
			if !n.Routine {
				got += n.Message
			}
		}
		if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSubAgentsOfKimiAreSaid(t *testing.T) {
	dir := t.TempDir()
	for _, agent := range []string{"main", "agent-0", "agent-1"} {
		file := filepath.Join(dir, "agents", agent, "wire.jsonl")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(`{"type":"metadata","protocol_version":"1.5"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for agent, notes := range map[string]int{"main": 1, "agent-0": 0} {
		tr, err := recordings.Read(filepath.Join(dir, "agents", agent, "wire.jsonl"), transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, n := range tr.Notes {
			if strings.HasPrefix(n.Message, "2 of its sub-agents") {
				got++
			}
		}
		if got != notes {
			t.Errorf("%s: %v", agent, tr.Notes)
		}
	}
}
