// Package corpus says where the recorded sessions come from that docs/economics.md is about; 'make corpus' fetches
// them.
package corpus

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// source is a line of the list.
type source struct{ file, repository, commit, blob, part, licence, path string }

func list(t *testing.T, name string) (sources []source) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); line[0] != '#' && len(f) == 7 {
			sources = append(sources, source{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
		} else if line[0] != '#' {
			t.Fatalf("%q has %d fields", line, len(f))
		}
	}
	return sources
}

func TestTheListNamesTheRecordedSessions(t *testing.T) {
	t.Parallel()
	root := repo.Shared(t, "sessions", "native")
	var listed, there []string
	for _, s := range list(t, "sessions.tsv") {
		listed = append(listed, s.file)
	}
	for _, s := range append(list(t, "sessions.tsv"), list(t, "held-back.tsv")...) {
		if !slices.Contains([]string{"MIT", "Apache-2.0"}, s.licence) || len(s.commit) != 40 || len(s.blob) != 40 {
			t.Errorf("%+v", s)
		}
	}
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !repo.Unread(path) {
			name, _ := filepath.Rel(root, path)
			there = append(there, filepath.ToSlash(name))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(there)
	if diff := cmp.Diff(there, listed); diff != "" {
		t.Errorf("(-recorded +listed)\n%s", diff)
	}
}

// TestTheSessionsAreFetched puts made files into repositories of the names in the list, and fetches them from there.
func TestTheSessionsAreFetched(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "git", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: sessions are not fetched: %v", err)
		}
	}
	origin, dir := t.TempDir(), t.TempDir()
	git := func(in string, input string, args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", in, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		c.Stdin = strings.NewReader(input)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	want, lines := map[string]string{}, "# a comment\n"
	for _, s := range list(t, "sessions.tsv") {
		at := filepath.Join(origin, filepath.FromSlash(s.repository))
		if _, err := os.Stat(at); err != nil {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			git(at, "", "init", "-q", "--bare")
			git(at, "", "config", "uploadpack.allowFilter", "true")
			git(at, "", "config", "uploadpack.allowAnySHA1InWant", "true")
		}
		text := "the session " + s.file + "\n"
		want[s.file] = text
		switch kind, _, _ := strings.Cut(s.part, " "); kind {
		case "line":
			text = strings.Repeat("another\n", 24) + text
		case "element":
			text, want[s.file] = "["+strings.Repeat("{},", 52)+`"last"]`, "{}\n"
			if strings.HasSuffix(s.part, " 52") {
				want[s.file] = "\"last\"\n"
			}
		}
		s.blob = git(at, text, "hash-object", "-w", "--stdin")
		tree := git(at, "100644 blob "+s.blob+"\tsession\n", "mktree")
		s.commit = git(at, "", "commit-tree", "-m", "a session", tree)
		lines += strings.Join([]string{s.file, s.repository, s.commit, s.blob, s.part, s.licence, s.path}, "\t") + "\n"
	}
	sessions := filepath.Join(origin, "list.tsv")
	if err := os.WriteFile(sessions, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is there stays
		c := exec.Command("sh", "fetch.sh", dir, sessions)
		c.Env = append(os.Environ(), "CORPUS_ORIGIN=file://"+origin)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got := map[string]string{}
		for file := range want {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			got[file] = string(data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +fetched)\n%s", diff)
		}
	}
}
