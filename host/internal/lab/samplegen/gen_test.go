package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStoriesGiveTheCommittedSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: runs the go tool dozens of times; skipped with -short")
	}
	for _, tool := range []string{"go", "git", "grep", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the stories run %s, which is not in PATH: %v", tool, err)
		}
	}
	for _, s := range samples() {
		t.Run(s.story, func(t *testing.T) {
			t.Parallel()
			got, err := s.make(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := committed(t, s.file); !bytes.Equal(got, want) {
				line, diff := firstDifference(string(want), string(got))
				t.Errorf("%s differs from line %d on; if that is meant, run: go run ./host/internal/lab/samplegen\n%s",
					s.file,
					line, diff)
			}
		})
	}
}

// committed returns a session file as it is in examples/sessions.
func committed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samplesDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// firstDifference compares only the first line that differs: a session has lines of many kilobytes.
func firstDifference(want, got string) (line int, diff string) {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return i + 1, cmp.Diff(strings.Split(w[i], `\n`), strings.Split(g[i], `\n`))
		}
	}
	return min(len(w), len(g)) + 1, "one of them ends here"
}

func TestParseStoryRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown directive":            {"@user\nhi\n@read a.go\n@fly\n", "line 4: unknown directive @fly"},
		"text before the first directive": {"# comment\nhello\n@user\n", "line 2: text before"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parseStory(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestStoryThatDoesNotFitItsProjectIsAnError(t *testing.T) {
	tests := map[string]struct{ story, want string }{
		"an edit that finds nothing":        {"@ai\n@edit a.txt\nfour\n====\nfive\n", "another outcome"},
		"an edit that should have failed":   {"@ai\n@edit! a.txt\ntwo\n====\nfive\n", "another outcome"},
		"an edit without separator":         {"@ai\n@edit a.txt\ntwo\n", `needs a line "===="`},
		"a command that fails":              {"@ai\n@sh exit 3 ## why\n", "another outcome"},
		"lines that are not there":          {"@ai\n@lines a.txt 2-9\n", "has 3 lines"},
		"a call before the agent has begun": {"@user\nhi\n@read a.txt\n", "only a message of the agent"},
		"an inclusion that is not there":    {"@user\n@@none.txt\n", "none.txt"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := playFor(t, tt.story); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestToolsChangeFiles(t *testing.T) {
	tests := map[string]struct{ story, want string }{
		"edit":                  {"@ai\n@edit a.txt\ntwo\n====\nTWO\n", "one\nTWO\nthree\n"},
		"edit that removes":     {"@ai\n@edit a.txt\ntwo\nthree\n====\nend\n", "one\nend\n"},
		"failed edit":           {"@ai\n@edit! a.txt\nfour\n====\nfive\n", "one\ntwo\nthree\n"},
		"ambiguous edit":        {"@ai\n@edit! a.txt\ne\n====\nE\n", "one\ntwo\nthree\n"},
		"refused edit":          {"@ai\n@edit? a.txt\ntwo\n====\nTWO\n", "one\ntwo\nthree\n"},
		"insert":                {"@ai\n@insert a.txt 2\nnew\n", "one\nnew\ntwo\nthree\n"},
		"insert after the last": {"@ai\n@insert a.txt 4\nnew\n", "one\ntwo\nthree\nnew\n"},
		"delete":                {"@ai\n@delete a.txt 1-2\n", "three\n"},
		"write":                 {"@ai\n@write a.txt\nall new\n", "all new\n"},
		"command":               {"@ai\n@sh rm a.txt && echo shell > a.txt ## why\n", "shell\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := playFor(t, tt.story)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.ws.load("a.txt")
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("a.txt is %q, want %q", got, tt.want)
			}
		})
	}
}

// playFor plays a story on a project of one file, a.txt, with three lines. It needs no git.
func playFor(t *testing.T, story string) (*player, error) {
	t.Helper()
	steps, err := parseStory(story)
	if err != nil {
		t.Fatal(err)
	}
	ws := &workspace{dir: t.TempDir(), home: "/home/dev/test", env: os.Environ()}
	if err := ws.save("a.txt", "one\ntwo\nthree\n"); err != nil {
		t.Fatal(err)
	}
	p := &player{ws: ws, dialect: native{}, ids: ids{seed: "test"}, clock: newClock("test")}
	return p, p.play(t.Context(), steps)
}

func TestSettleRemovesWhatDependsOnTheMoment(t *testing.T) {
	const in = "--- FAIL: TestA (1.25s)\n    --- PASS: TestA/b (0.01s)\nok  \texample.com/a\t12.345s\n" +
		"ok  \texample.com/b\t(cached)\nFAIL\texample.com/c\t0.010s\n/tmp/x/a.go:1: took 3.5s\n"
	const want = "--- FAIL: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\nok  \texample.com/a\t0.004s\n" +
		"ok  \texample.com/b\t0.004s\nFAIL\texample.com/c\t0.004s\n/home/dev/p/a.go:1: took 3.5s\n"
	if diff := cmp.Diff(want, settle(in, "/tmp/x", "/home/dev/p")); diff != "" {
		t.Error(diff)
	}
}

// samplesDir holds the samples as they are committed.
const samplesDir = "../../../../examples/sessions"
