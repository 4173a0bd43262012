package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Strategies by strangers: each is built as its authors build it, outside of this module, and dropped into a plugin
// directory beside the same host that all other tests use.

const examples = "../../../examples"

func TestAStrategyFromAnotherGoModule(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join(examples, "strategies", "go"))
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "thresh-strategy-squash-logs")
	goTool := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	goTool("build", "-trimpath", "-o", binary, ".")
	goTool("vet", "./...")
	goTool("test", "./...")
	useStranger(t, "squash-logs", binary, "\x1b[33mdeprecated\x1b[0m\n")
}

func TestAStrategyInTypeScript(t *testing.T) {
	t.Parallel()
	// The sources and the .proto files are copied, as they lie, to where npm may leave what it likes.
	work := t.TempDir()
	dir := filepath.Join(work, "examples", "strategies", "typescript")
	copySources(t, filepath.Join(examples, "strategies", "typescript"), dir)
	copySources(t, "../../../proto", filepath.Join(work, "proto"))
	npm(t, dir, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm(t, dir, "test")
	npm(t, dir, "run", "build")
	useStranger(t, "clip-results", filepath.Join(dir, "dist", "thresh-strategy-clip-results"), "a long line of output\n")
}

// copySources copies a directory without what was built or installed in it.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "dist"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unreachable are signs that npm could not get at its registry.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E40[137]|E50\d|network`)

// npm runs npm, and skips the test where there is none, or no registry.
func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the strategy in TypeScript is not built or used: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] == "ci" && (ctx.Err() != nil || unreachable.Match(out)) {
		t.Skipf("SKIPPED: the strategy in TypeScript is not built or used: npm cannot reach its registry: %v\n%.2000s", err, out)
	}
	if err != nil {
		t.Fatalf("npm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// useStranger drops a strategy into a plugin directory and uses it. line, printed many times by a command, is what it prunes.
func useStranger(t *testing.T, name, binary, line string) {
	p := newPlace(t)
	// People keep plugin directories in projects of their own. A strategy must not mind what those are.
	if err := os.WriteFile(p.path("package.json"), []byte(`{"type": "module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p.drop(binary)
	// A script's process bears the name of its interpreter, so that it is known by its private directory.
	t.Cleanup(func() {
		if !eventually(time.Second, func() bool { return len(p.strangers()) == 0 }) {
			t.Errorf("left running: %q", p.strangers())
		}
	})

	t.Run("is listed", func(t *testing.T) {
		var found []string
		for _, l := range decode[[]struct{ Name, State, Trigger, Path string }](t, p.run("plugins", "list", "-o", "json")) {
			if l.Name == name && l.State == "ready" && l.Trigger == "continuous" {
				found = append(found, l.Path)
			}
		}
		if len(found) != 1 || found[0] != filepath.Join(p.plugins, filepath.Base(binary)) {
			t.Errorf("listed as %q", found)
		}
	})

	t.Run("is verified", func(t *testing.T) {
		if r := p.run("plugins", "verify", filepath.Join(p.plugins, filepath.Base(binary))); r.code != 0 {
			t.Errorf("exit status %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
	})

	t.Run("prunes", func(t *testing.T) {
		p.file("noisy.json", noisy(t, 20, strings.Repeat(line, 1000)))
		got := decode[struct {
			Removals     []int
			Replacements map[string]object
		}](t, p.run("optimize", "--strategy", name, "noisy.json"))
		if len(got.Replacements) < 10 || len(got.Replacements) >= 20 {
			t.Errorf("%d of 20 outputs are replaced", len(got.Replacements))
		}
	})

	t.Run("replays recorded sessions", func(t *testing.T) {
		sessions, err := filepath.Glob(filepath.Join(examples, "sessions", "*.json*"))
		if err != nil || len(sessions) == 0 {
			t.Fatalf("no sample sessions: %v", err)
		}
		for i, s := range sessions {
			if sessions[i], err = filepath.Abs(s); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"replay", "-o", "json", "--strategy", name, "--set", "model.contextLimit=20000"}
		compressed := 0
		for _, s := range decode[replayed](t, p.run(append(args, sessions...)...)).Sessions {
			if s.Error != "" || s.Strategy != name || len(s.Turns) == 0 {
				t.Errorf("%s: %s, %d turns, error %q", s.File, s.Strategy, len(s.Turns), s.Error)
			}
			compressed += s.Totals.Compressed
			if s.Totals.Compressed > 0 && s.Totals.Peak >= 20_000 {
				t.Errorf("%s: %d tokens at the most, of 20,000", s.File, s.Totals.Peak)
			}
		}
		if compressed == 0 {
			t.Error("nothing was compressed")
		}
	})

	t.Run("refuses no setting that it declares, and the host any other", func(t *testing.T) {
		p.run("optimize", "--strategy", name, "--set", "strategies."+name+".keepRecent=0", "noisy.json").done(t)
		p.run("optimize", "--strategy", name, "--set", "strategies."+name+".keepRecent=-1", "noisy.json").failed(t, 1, "keepRecent")
	})

	t.Run("goes when the host is killed", func(t *testing.T) {
		a := p.serve("--strategy", name)
		a.open("s", nil)
		a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
		a.prepare("s")
		if got := p.strangers(); len(got) != 1 {
			t.Errorf("running: %q", got)
		}
		if err := a.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		a.exits(-1)
		if !eventually(time.Second, func() bool { return len(p.strangers()) == 0 }) {
			t.Errorf("left running: %q", p.strangers())
		}
		p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
	})
}

// TestTheGuideForAuthors runs every command that docs/writing-a-strategy.md gives to a shell, in an empty directory.
func TestTheGuideForAuthors(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the guide's commands are not run: %v", err)
		}
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join(root, "docs", "writing-a-strategy.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllSubmatch(guide, -1) {
		script.Write(block[1])
	}
	const targets = "linux/amd64 linux/arm64 darwin/arm64"
	if !strings.Contains(script.String(), targets) {
		t.Fatalf("the guide does not build for %q any more", targets)
	}
	// Building for other systems means compiling everything for them, which takes minutes and shows nothing.
	commands := strings.Replace(script.String(), targets, runtime.GOOS+"/"+runtime.GOARCH, 1)

	p := newPlace(t)
	goEnv, err := exec.Command("go", "env", "GOPATH", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(goEnv))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-eux")
	cmd.Stdin = strings.NewReader(commands)
	cmd.Dir = p.path("work")
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "THRESH="+root, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+p.path("home"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=",
		"TMPDIR="+p.path("tmp"), "GOPATH="+caches[0], "GOCACHE="+caches[1], "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		if regexp.MustCompile(`dial tcp|no such host|connection refused|i/o timeout`).Match(out) {
			t.Skipf("SKIPPED: the guide's commands need a module proxy: %v\n%.2000s", err, out)
		}
		t.Errorf("%v:\n%s", err, out)
	}
}

// noisy is a session of n commands, each of which prints output.
func noisy(t *testing.T, n int, output string) string {
	t.Helper()
	entries := []object{says("human", "make the build quiet")}
	for i := range n {
		id := fmt.Sprint("c", i)
		call := object{"type": "tool_call", "id": id, "name": "Bash", "parameters": object{"command": "make"}}
		response := object{"type": "tool_response", "callId": id, "toolName": "Bash", "result": output}
		entries = append(entries,
			object{"speaker": "ai", "blocks": []object{call}}, object{"speaker": "tool", "blocks": []object{response}})
	}
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drop installs a plugin as people should: by renaming it into place.
func (p *place) drop(binary string) {
	p.t.Helper()
	text, err := os.ReadFile(binary)
	if err != nil {
		p.t.Fatal(err)
	}
	coming := p.path("work", "coming")
	if err := os.WriteFile(coming, text, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(coming, filepath.Join(p.plugins, filepath.Base(binary))); err != nil {
		p.t.Fatal(err)
	}
}

// strangers are the command lines of processes whose private directory is one that a host of the place made.
func (p *place) strangers() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00TMPDIR="+p.path("tmp")+"/") {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")) // empty: it is ending
		found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found
}
