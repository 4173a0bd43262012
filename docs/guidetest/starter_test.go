package guidetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAStartInAnotherLanguage does what 'thresh plugins new' says to do next, its verification included, and builds for
// all systems as the workflow does. Then it has the strategy be the one of the README that asks a model, and verifies
// it. The guide for authors does it in Go.
func TestAStartInAnotherLanguage(t *testing.T) {
	t.Parallel()
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		p, shell := begin(t, "old-results", "typescript")
		install(t, p.path("work", "old-results"))
		shell("npm run bench")
		continueAsSaid(t, p, shell, "node")
		shell("sed -n '/^```ts/,/^```/{/^```/!p;}' README.md > src/strategy.ts; npm run build")
		verify(t, p)
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		if out, err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: a strategy in Python is neither built nor verified: %v\n%s", err, out)
		}
		p, shell := begin(t, "old-results", "python")
		shell("/usr/bin/python3 bench.py")
		continueAsSaid(t, p, shell, "python3")
		shell("sed -n '/^```python/,/^```/{/^```/!p;}' README.md > src/strategy.py; /usr/bin/python3 build.py")
		verify(t, p)
	})
}

// begin makes a strategy, and returns what runs a script in its directory.
func begin(t *testing.T, name, language string) (p *place, shell func(script string)) {
	p = newPlace(t)
	_, said, code := p.run(t, "plugins", "new", name, "--lang", language)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, said)
	}
	dir := p.path("work", name)
	if err := os.WriteFile(filepath.Join(dir, "said"), []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
	return p, func(script string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+p.path("home"),
			"XDG_CONFIG_HOME="+p.path("home"), "TMPDIR="+p.path("tmp"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, script, out)
		}
	}
}

// continueAsSaid runs what 'thresh plugins new' has printed, and the workflow's step that builds.
func continueAsSaid(t *testing.T, p *place, shell func(string), interpreter string) {
	shell(`cd ..; . old-results/said`)
	text, err := os.ReadFile(p.path("work", "old-results", ".github", "workflows", "build.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	for _, step := range workflow.Jobs["build"].Steps {
		if strings.HasPrefix(step.Name, "build for") {
			shell(step.Run)
		}
	}
	for system, dir := range map[string]string{"linux_amd64": "/usr", "linux_arm64": "/usr", "darwin_arm64": "/opt/homebrew", "darwin_amd64": "/usr/local"} {
		program, err := os.ReadFile(p.path("work", "old-results", "release", system, "thresh-strategy-old-results"))
		if want := "#!" + dir + "/bin/" + interpreter; err != nil || !strings.HasPrefix(string(program), want) {
			t.Errorf("%s: %v, begins with %.40q, want %q", system, err, program, want)
		}
	}
}

// verify verifies what was built, as a strategy that asks a model.
func verify(t *testing.T, p *place) {
	t.Helper()
	stdout, stderr, code := p.run(t, "plugins", "verify", p.path("work", "old-results", "dist", "thresh-strategy-old-results"))
	if code != 0 || !regexp.MustCompile(`services-window +pass`).MatchString(stdout) {
		t.Errorf("exit status %d:\n%s%s", code, stdout, stderr)
	}
}
