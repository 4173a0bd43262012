package prompts_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prompts"
	"github.com/thresh-dev/thresh/sdk"
)

func embedded(t *testing.T) string {
	t.Helper()
	p, err := prompts.Resolver{}.Resolve(prompts.Compression, "", "")
	if err != nil || p.Source != prompts.Embedded {
		t.Fatalf("%q, %v", p.Source, err)
	}
	return p.Text
}

// files writes files by their paths in a new directory, and returns it.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheFileThatFitsBestIsUsed(t *testing.T) {
	const file = "compression.md"
	tests := map[string]struct {
		there           []string
		strategy, model string
		want            string // "": the embedded one
	}{
		"none":          {nil, "one-shot", "gpt", ""},
		"for all":       {[]string{file}, "one-shot", "gpt", file},
		"for the model": {[]string{file, "gpt/" + file}, "one-shot", "gpt", "gpt/" + file},
		"for the strategy": {[]string{file, "gpt/" + file, "one-shot/" + file}, "one-shot", "gpt",
			"one-shot/" + file},
		"for both": {[]string{file, "gpt/" + file, "one-shot/" + file, "one-shot/gpt/" + file},
			"one-shot", "gpt", "one-shot/gpt/" + file},
		"for others": {[]string{"middle-out/" + file, "claude/" + file, "middle-out/gpt/" + file},
			"one-shot", "gpt", ""},
		"no strategy, no model": {[]string{file, "gpt/" + file}, "", "", file},
		"a model with a slash": {[]string{"qwen-qwen-3-free/" + file}, "one-shot", "qwen/qwen-3:free",
			"qwen-qwen-3-free/" + file},
		"a file named as a model": {[]string{file, "gpt"}, "one-shot", "gpt", file},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			contents := map[string]string{}
			for _, f := range test.there {
				contents[f] = embedded(t) + "\n" + f
			}
			dir := files(t, contents)
			got, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, test.strategy, test.model)
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if got.Source != prompts.Embedded || got.Text != embedded(t) {
					t.Errorf("it is from %s", got.Source)
				}
				return
			}
			if got.Source != filepath.Join(dir, test.want) || !strings.HasSuffix(got.Text, "\n"+test.want) {
				t.Errorf("it is from %s", got.Source)
			}
		})
	}
}

func TestABrokenFileIsAnErrorThatNamesIt(t *testing.T) {
	good := embedded(t)
	tests := map[string]struct{ text, says string }{
		"empty":           {"", "empty"},
		"blank":           {" \n", "empty"},
		"not UTF-8":       {"one\ntwo \xff\n" + good, "line 2 is not UTF-8"},
		"no snapshot":     {strings.ReplaceAll(good, "<state_snapshot>", ""), "<state_snapshot>"},
		"no section":      {strings.ReplaceAll(good, "<task_context>", "<context>"), "lacks <task_context>"},
		"too large":       {good + strings.Repeat(" ", prompts.MaxBytes), "more than 65536 bytes"},
		"another program": {"\x7fELF\x00\x01", "<state_snapshot>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := files(t, map[string]string{"one-shot/compression.md": test.text, "compression.md": good})
			_, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "one-shot", "gpt")
			want(t, err, filepath.Join(dir, "one-shot", "compression.md"), test.says)
		})
	}
	t.Run("a directory", func(t *testing.T) {
		dir := files(t, map[string]string{"compression.md/x": good})
		_, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "", "")
		want(t, err, filepath.Join(dir, "compression.md"), "it is not a regular file")
	})
	t.Run("a link to nothing", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "compression.md")); err != nil {
			t.Skipf("SKIPPED: no symbolic links here: %v", err)
		}
		_, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "", "")
		want(t, err, filepath.Join(dir, "compression.md"), "a link to a file that does not exist")
	})
	t.Run("not readable", func(t *testing.T) {
		if os.Geteuid() == 0 { // who may read everything
			if got := plugintest.AsNobody(t, "TestABrokenFileIsAnErrorThatNamesIt$/^not_readable", nil); !strings.Contains(got, "--- PASS") {
				t.Errorf("as user nobody: %s", got)
			}
			return
		}
		dir := files(t, map[string]string{"compression.md": good})
		if err := os.Chmod(filepath.Join(dir, "compression.md"), 0); err != nil {
			t.Fatal(err)
		}
		_, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "", "")
		want(t, err, filepath.Join(dir, "compression.md"), "permission denied")
	})
	t.Run("no such directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		_, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "", "")
		want(t, err, dir, "no such file")
	})
	t.Run("no directory", func(t *testing.T) {
		dir := files(t, map[string]string{"file": "x"})
		_, err := prompts.Resolver{Dir: filepath.Join(dir, "file")}.Resolve(prompts.Compression, "", "")
		want(t, err, filepath.Join(dir, "file"), "not a directory")
	})
}

func want(t *testing.T, err error, file, says string) {
	t.Helper()
	var broken *prompts.FileError
	if !errors.As(err, &broken) || broken.File != file || !strings.Contains(err.Error(), file) ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("error %v; want one about %s that says %q", err, file, says)
	}
}

func TestUnknownPrompt(t *testing.T) {
	_, err := prompts.Resolver{}.Resolve("poem", "", "")
	if !errors.Is(err, sdk.ErrNotFound) || !strings.Contains(err.Error(), "compression") {
		t.Errorf("error %v", err)
	}
}

// Whatever a strategy or model is called, a prompt that lies outside is not reached.
func TestNamesDoNotLeadOut(t *testing.T) {
	outer := files(t, map[string]string{"compression.md": "outside", "in/x": ""})
	r := prompts.Resolver{Dir: filepath.Join(outer, "in")}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom([]string{"..", "../..", ".", "/", "a/../..", "..\\..", "\x00", "..\u2215",
			strings.Repeat("x", 5000)}), rapid.String())
		got, err := r.Resolve(prompts.Compression, name.Draw(t, "strategy"), name.Draw(t, "model"))
		if err != nil || got.Source != prompts.Embedded {
			t.Fatalf("%q, %v", got.Source, err)
		}
	})
}

func TestEject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "prompts")
	written, err := prompts.Eject(dir)
	if err != nil || len(written) != len(prompts.Names()) {
		t.Fatalf("%v, %v", written, err)
	}
	got, err := prompts.Resolver{Dir: dir}.Resolve(prompts.Compression, "one-shot", "gpt")
	if err != nil || got.Source != written[0] || got.Text != embedded(t) {
		t.Fatalf("what was written resolves to %s, %v", got.Source, err)
	}
	if err := os.WriteFile(written[0], []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := prompts.Eject(dir); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), written[0]) {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(written[0]); string(data) != "mine" {
		t.Errorf("it was overwritten: %.40q", data)
	}
}

func TestADirectoryThatCannotBeMade(t *testing.T) {
	dir := files(t, map[string]string{"file": "x"})
	if _, err := prompts.Eject(filepath.Join(dir, "file", "prompts")); err == nil ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
}
