package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "# A page\n" +
	"\n```sh\nmkdir sub\ncd sub\nname=\"a b\"\n```\n" +
	"\n<!-- file: c.txt -->\n```yaml\nkey: $HOME\n```\n" +
	"\n```console\n$ cat c.txt\nkey: $HOME\n$ echo \"$name\" \\\n    and more\na    b and more\n" +
	"$ echo took 12ms; echo 340a09d0d257; echo >&2 lost\n" +
	"took 3.5s\nbbbbbbbbbbbb\nlost\n$ false\n$ seq 9\n1\n…\n9\n```\n" +
	"\n<!-- not run: it would end the test -->\n```sh\nexit 1\n```\n" +
	"\n```text\n$ nothing\n```\n"

func run(t *testing.T, text string) (*Result, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), Shell{Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return r, path
}

func TestAPageThatIsRight(t *testing.T) {
	if r, _ := run(t, page); len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	}
}

func TestAPageThatIsWrong(t *testing.T) {
	for name, change := range map[string][2]string{
		"another output":       {"a    b and more\n", "a b and less\n"},
		"an output left out":   {"key: $HOME\n$", "$"},
		"an output too many":   {"$ false\n", "$ false\nno\n"},
		"a script that fails":  {"cd sub\n", "cd nowhere\n"},
		"a shell that is left": {"$ false\n", "$ exit 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(page, change[0], change[1], 1)
			if r, _ := run(t, text); text == page || len(r.Problems) == 0 {
				t.Errorf("no problem in\n%s", r.Output)
			}
		})
	}
}

func TestUpdateWritesOnlyWhatDiffers(t *testing.T) {
	r, path := run(t, strings.Replace(page, "a    b and more\n", "", 1))
	if err := r.Update(); err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	got, err := os.ReadFile(path)
	if want := strings.Replace(page, "a    b and more\n", "a b and more\n", 1); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestABlockWithoutAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("```sh\nls\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), ":1:") {
		t.Errorf("got %v", err)
	}
}

// A command that failed is no output to write into the page.
func TestUpdateKeepsWhatFailed(t *testing.T) {
	r, _ := run(t, page+"\n```sh\nexit 3\n```\n")
	if err := r.Update(); err != nil || len(r.Problems) != 1 {
		t.Errorf("%v, %q", err, r.Problems)
	}
}
