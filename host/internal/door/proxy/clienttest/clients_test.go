package clienttest

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// client is an agent and how it is called. The arguments are those of docs/use-with.md and what makes it go on alone.
type client struct {
	name, program string
	args          []string
	env           []string
	// files are written to its home before it starts; URL in them is the server's address.
	files map[string]string
	// scale multiplies the tokens that the server reports, so that the agent compacts its history by itself; limit is
	// the context limit that thresh is told then. compacts are more arguments for that.
	scale, limit int
	compacts     []string
}

const prompt = "Fix the failing test"

var clients = []client{
	{name: "claude", program: "claude", env: []string{"IS_SANDBOX=1", "ANTHROPIC_API_KEY=k"},
		args: []string{"-p", prompt, "--dangerously-skip-permissions", "--output-format", "json"}},
	{name: "codex-own-provider", program: "codex", env: []string{"OPENAI_API_KEY=k"},
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		files: map[string]string{".codex/config.toml": "model = \"test-model\"\nmodel_provider = \"own\"\n" +
			"[model_providers.own]\nname = \"own\"\nbase_url = \"URL/v1\"\nenv_key = " +
			"\"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"},
		scale: 5, limit: 150_000, compacts: []string{"-c", "model_auto_compact_token_limit=150000"}},
	{name: "codex", program: "codex", env: []string{"CODEX_API_KEY=k", "OPENAI_API_KEY=k"},
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5",
			prompt}},
	{name: "opencode", program: "opencode", env: []string{"ANTHROPIC_API_KEY=k", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		args: []string{"run", "-m", "anthropic/claude-sonnet-4-5", prompt},
		files: map[string]string{"config/opencode/opencode.json": `{"permission":{"edit":"allow","bash":"allow",` +
			`"external_directory":"allow"}}`}},
	{name: "gemini", program: "gemini", env: []string{"GEMINI_API_KEY=k", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		args:  []string{"--yolo", "-m", "gemini-2.5-pro", "-p", prompt},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}},
	{name: "qwen", program: "qwen", env: []string{"OPENAI_API_KEY=k", "OPENAI_MODEL=test-model"},
		args: []string{"--yolo", "--auth-type", "openai", "-p", prompt}},
}

// installed returns the program of a client, and skips the test where there is none.
func installed(t *testing.T, program string) string {
	t.Helper()
	dir := os.Getenv("AGENTS_DIR")
	if dir == "" {
		t.Skip("AGENTS_DIR is not set: 'make test-clients' installs agents and sets it")
	}
	versions, err := os.Open("versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer versions.Close()
	for lines := bufio.NewScanner(versions); lines.Scan(); {
		name, pkg, _ := strings.Cut(lines.Text(), " ")
		path := filepath.Join(dir, name+"-"+pkg[strings.LastIndexByte(pkg, '@')+1:], "node_modules", ".bin", name)
		if _, err := os.Stat(path); name == program && err == nil {
			return path
		}
	}
	t.Skipf("NOTE: %s is not installed in %s", program, dir)
	return ""
}

// place is where one run of an agent takes place.
type place struct{ home, project, bin string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	programs, err := binaries.Build("host/cmd/thresh")
	if err != nil {
		t.Fatal(err)
	}
	if err := binaries.Copy(programs[0], filepath.Join(p.bin, "thresh")); err != nil {
		t.Fatal(err)
	}
	if err := binaries.Strategies(filepath.Join(p.bin, "plugins")); err != nil {
		t.Fatal(err)
	}
	project(t, p.project)
	return p
}

// longest is how long an agent may work.
const longest = 4 * time.Minute

// ended is how a run ended.
type ended struct {
	stdout, stderr string
	err            error
}

// run runs an agent: directly, or with thresh before it.
func (p place) run(t *testing.T, c client, upstream string, through []string, more ...string) ended {
	t.Helper()
	program := installed(t, c.program)
	for name, text := range c.files {
		path := filepath.Join(p.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", upstream)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{program}, c.args...)
	args = append(args, more...)
	if through != nil {
		args = append(append([]string{filepath.Join(p.bin, "thresh")}, through...), args...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.project
	cmd.Env = append(append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+p.home+"/config",
		"XDG_DATA_HOME="+p.home+"/data",
		"XDG_STATE_HOME="+p.home+"/state", "XDG_CACHE_HOME="+p.home+"/cache", "ANTHROPIC_BASE_URL="+upstream,
		"OPENAI_BASE_URL="+upstream+"/v1", "GOOGLE_GEMINI_BASE_URL="+upstream, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"),
		c.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	return ended{out.String(), errs.String(), err}
}

// check fails the test unless an agent did its work and the provider refused nothing.
func (e ended) check(t *testing.T, p place, up *modelapi.Server) {
	t.Helper()
	if e.err != nil || !fixed(t, p.project) {
		t.Errorf("%v; the project is fixed: %v\n%.3000s\n%.3000s", e.err, fixed(t, p.project), e.stdout, e.stderr)
	}
	if refused := up.Refused(); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
	if len(up.Models()) == 0 {
		t.Error("no request to the model")
	}
}

// Each agent does its work through thresh wrap, with a history that is pruned and compressed on the way.
func TestAgentsWorkThroughWrap(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			installed(t, c.program)
			p := newPlace(t)
			up := modelapi.New(modelapi.Options{Script: modelapi.LongFix(10), Dir: p.project})
			defer up.Close()
			e := p.run(t, c, up.URL, []string{"--set", "compression.density.cadence=every-turn", "--set",
				"model.contextLimit=30000", "--set", "model.completionBudget=1", "--set", "compression.preserveThreshold=0.2", "wrap"})
			e.check(t, p, up)
			line := e.stderr[strings.LastIndex(strings.TrimSuffix(e.stderr, "\n"), "\n")+1:]
			t.Log(strings.TrimSpace(line))
			if !strings.Contains(line, "prompt tokens not sent") || strings.Contains(line, "could not be prepared") {
				t.Errorf("the last line is %q", line)
			}
		})
	}
}
