package guidetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Strategies by third parties: each is built as its authors build it, outside of this module, and put into a plugin
// directory of a host that was built before.

const examples = root + "/examples"

func TestAStrategyFromAnotherGoModule(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "thresh-strategy-squash-logs")
	goTool := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join(examples, "strategies", "go")
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	goTool("build", "-trimpath", "-o", binary, ".")
	goTool("vet", "./...")
	goTool("test", "./...")
	useStrategy(t, "squash-logs", binary, "\x1b[33mdeprecated\x1b[0m\n")
}

// TestAStrategyInTypeScript puts the example over what 'thresh plugins new' makes.
func TestAStrategyInTypeScript(t *testing.T) {
	t.Parallel()
	p, _ := begin(t, "clip-results", "typescript")
	dir := p.path("work", "clip-results")
	copySources(t, filepath.Join(examples, "strategies", "typescript"), dir)
	install(t, dir)
	npm(t, dir, "test")
	npm(t, dir, "run", "build")
	useStrategy(t, "clip-results", filepath.Join(dir, "dist", "thresh-strategy-clip-results"), "a long line of output\n")
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
var unreachable = regexp.MustCompile(
	`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E40[137]|E50\d|network`)

// install installs the packages that a package.json names.
func install(t *testing.T, dir string) {
	t.Helper()
	npm(t, dir, "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
}

// npm runs npm, and skips the test where there is none, or no registry.
func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: what is in TypeScript is neither built nor checked: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && slices.Contains([]string{"ci", "install"}, args[0]) && (ctx.Err() != nil || unreachable.Match(out)) {
		t.Skipf("SKIPPED: what is in TypeScript is neither built nor checked: npm cannot reach its registry: %v\n%.2000s", err, out)
	}
	if err != nil {
		t.Fatalf("npm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// useStrategy installs a strategy and uses it in every way. line, printed many times by a command, is what it prunes.
func useStrategy(t *testing.T, name, binary, line string) {
	p := newPlace(t)
	// People keep plugin directories in projects of their own. A strategy must not mind what those are.
	if err := os.WriteFile(p.path("package.json"), []byte(`{"type": "module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p.install(binary)
	installed := filepath.Join(p.plugins, filepath.Base(binary))
	t.Cleanup(func() { p.noneLeft(t) })

	t.Run("is listed", func(t *testing.T) {
		var found []string
		for _, l := range decode[[]struct{ Name, State, Trigger, Path string }](t, p, "plugins", "list", "-o", "json") {
			if l.Name == name && l.State == "ready" && l.Trigger == "continuous" {
				found = append(found, l.Path)
			}
		}
		if len(found) != 1 || found[0] != installed {
			t.Errorf("listed as %q", found)
		}
	})

	t.Run("is verified", func(t *testing.T) {
		if stdout, stderr, code := p.run(t, "plugins", "verify", installed); code != 0 {
			t.Errorf("exit status %d:\n%s%s", code, stdout, stderr)
		}
	})

	noisy := noisySession(t, p, 20, strings.Repeat(line, 1000))
	t.Run("prunes", func(t *testing.T) {
		got := decode[struct{ Replacements map[string]object }](t, p, "plugins", "try", "--step=optimize", "--strategy", name, noisy)
		if len(got.Replacements) < 10 || len(got.Replacements) >= 20 {
			t.Errorf("%d of 20 outputs are replaced", len(got.Replacements))
		}
	})

	t.Run("replays recorded sessions", func(t *testing.T) { replaySamples(t, p, name) })

	t.Run("refuses no setting that it declares, and the host any other", func(t *testing.T) {
		args := []string{"plugins", "try", "--step=optimize", "--strategy", name, noisy, "--set"}
		if _, stderr, code := p.run(t, append(args, "strategies."+name+".keepRecent=0")...); code != 0 {
			t.Errorf("exit status %d: %s", code, stderr)
		}
		stdout, stderr, code := p.run(t, append(args, "strategies."+name+".keepRecent=-1")...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "keepRecent") {
			t.Errorf("exit status %d: %s%s", code, stdout, stderr)
		}
	})

	t.Run("ends when the host is killed", func(t *testing.T) {
		a := p.serve(t, "--strategy", name)
		a.call(t, "session.open", object{"id": "s"})
		a.call(t, "history.add", object{"session": "s", "entries": []object{says("human", "x")}})
		a.call(t, "window.prepare", object{"session": "s"})
		if got := p.pluginProcesses(); len(got) != 1 {
			t.Errorf("running: %q", got)
		}
		if err := a.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = a.cmd.Wait() // killed
		p.noneLeft(t)
		if _, stderr, code := p.run(t, "plugins", "list"); code != 0 { // the next host removes what a killed one left
			t.Errorf("exit status %d: %s", code, stderr)
		}
		if left, err := os.ReadDir(p.path("tmp")); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	})
}

// replaySamples replays the sample sessions with a small context limit, so that the strategy prunes and compresses.
func replaySamples(t *testing.T, p *place, name string) {
	sessions, err := filepath.Glob(filepath.Join(examples, "sessions", "*.json*"))
	if err != nil || len(sessions) == 0 {
		t.Fatalf("no sample sessions: %v", err)
	}
	for i, s := range sessions {
		if sessions[i], err = filepath.Abs(s); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"compare", "-o", "json", "--strategy", name, "--set", "model.contextLimit=20000",
		"--set", "compression.density.cadence=every-turn"}
	compressed := 0
	for _, s := range decode[struct {
		Sessions []struct {
			Name     string
			Variants []struct {
				Variant, Error          string
				Turns, Compressed, Peak int
			}
		}
	}](t, p, append(args, sessions...)...).Sessions {
		v := s.Variants[0]
		if v.Error != "" || v.Variant != name || v.Turns == 0 {
			t.Errorf("%s: %+v", s.Name, v)
		}
		compressed += v.Compressed
		if v.Compressed > 0 && v.Peak >= 20_000 {
			t.Errorf("%s: %d tokens at the most, of 20,000", s.Name, v.Peak)
		}
	}
	if compressed == 0 {
		t.Error("nothing was compressed")
	}
}

func says(speaker, text string) object {
	return object{"speaker": speaker, "blocks": []object{{"type": "text", "text": text}}}
}

// noisySession writes a session of n commands, each of which prints output, and returns the file's name.
func noisySession(t *testing.T, p *place, n int, output string) string {
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
	if err == nil {
		err = os.WriteFile(p.path("work", "noisy.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "noisy.json"
}
