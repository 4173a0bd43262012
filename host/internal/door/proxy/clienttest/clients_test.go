package clienttest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// client is an agent and how it is called: as docs/use-with.md says, and so that it goes on alone.
type client struct {
	name string
	// install is the line of versions.txt, and program what of it is started; "" is the program of that name.
	install, program string
	args             []string
	env              []string
	// asking are arguments with which it asks its user before it calls a tool, but for those that the arguments name; nil
	// if there are none.
	asking []string
	// prompts are said over ACP, one after the other; none for an agent that has its only one in args.
	prompts []string
	// files are written to its home before it starts; URL in them is the provider's address.
	files map[string]string
	// limit is the context limit under which a long conversation of it must be compressed: most of what some agents
	// send are their own words and tools. 0 is 16,000 tokens.
	limit int
	// continued: its requests hold what is new, and the provider has the rest, so that nothing can be edited.
	continued bool
	// compacts makes the agent compact its history by itself in the control run; nil if it cannot be made to.
	compacts *compacting
	// noRetry: it gives up when the provider fails or cannot be reached.
	noRetry bool
}

// compacting is how an agent is driven into a compaction of its own.
type compacting struct {
	// scale multiplies the tokens that the provider reports; limit is the context limit that thresh is told then.
	scale, limit int
	args, env    []string
	// prompts are those of the client, if it compacts between prompts alone; args are all of its arguments then.
	prompts []string
}

const prompt = "Fix the failing test"

var clients = append([]client{
	{name: "claude", install: "claude", limit: 30_000, env: []string{"IS_SANDBOX=1", "ANTHROPIC_API_KEY=k"},
		args:   []string{"-p", prompt, "--dangerously-skip-permissions", "--output-format", "json"},
		asking: []string{"-p", prompt, "--allowedTools", "Bash", "Read", "Edit", "--output-format", "json"},
		compacts: &compacting{scale: 2, limit: 60_000, args: []string{"--model", "claude-sonnet-4-5"},
			env: []string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000"}}},
	{name: "codex-own-provider", install: "codex", limit: 30_000, env: []string{"OPENAI_API_KEY=k"},
		args:   []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		asking: []string{"exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt},
		files: map[string]string{".codex/config.toml": "model = \"test-model\"\nmodel_provider = \"own\"\n" +
			"[model_providers.own]\nname = \"own\"\nbase_url = \"URL/v1\"\nenv_key = " +
			"\"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"},
		compacts: &compacting{scale: 5, limit: 140_000, args: []string{"-c", "model_auto_compact_token_limit=150000"}}},
	{name: "codex", install: "codex", limit: 30_000, env: []string{"CODEX_API_KEY=k", "OPENAI_API_KEY=k"},
		args:     []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		compacts: &compacting{scale: 5, limit: 140_000, args: []string{"-c", "model_auto_compact_token_limit=150000"}}},
	{name: "opencode", install: "opencode", limit: 30_000,
		env:  []string{"ANTHROPIC_API_KEY=k", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		args: []string{"run", "-m", "anthropic/claude-sonnet-4-5", prompt},
		files: map[string]string{"config/opencode/opencode.json": `{"permission":{"edit":"allow","bash":"allow",` +
			`"external_directory":"allow"},"provider":{"anthropic":{"models":{"claude-sonnet-4-5":{"limit":` +
			`{"context":200000,"output":20000}}}}}}`},
		compacts: &compacting{scale: 10, limit: 150_000}},
	{name: "gemini", install: "gemini", limit: 30_000, env: []string{"GEMINI_API_KEY=k", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		args:   []string{"--yolo", "-m", "gemini-2.5-pro", "-p", prompt},
		asking: []string{"--allowed-tools", "run_shell_command,replace,read_file", "-m", "gemini-2.5-pro", "-p", prompt},
		files:  map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
		compacts: &compacting{scale: 20, limit: 500_000, args: []string{"--acp", "--yolo", "-m", "gemini-2.5-pro"},
			prompts: []string{prompt, "Go on", "And on"}}},
	{name: "qwen", install: "qwen", limit: 30_000, env: []string{"OPENAI_API_KEY=k", "OPENAI_MODEL=test-model"},
		args:     []string{"--yolo", "--auth-type", "openai", "-p", prompt},
		asking:   []string{"--allowed-tools", "run_shell_command,edit,read_file", "--auth-type", "openai", "-p", prompt},
		compacts: &compacting{scale: 3, limit: 85_000}},
	{name: "pi", install: "pi", env: []string{"ANTHROPIC_API_KEY=k", "PI_OFFLINE=1"},
		args: []string{"-p", "--provider", "anthropic", "--model", "claude-sonnet-4-5", prompt},
		// It takes no variable for the address.
		files:    map[string]string{".pi/agent/models.json": `{"providers":{"anthropic":{"baseUrl":"URL"}}}`},
		compacts: &compacting{scale: 8, limit: 170_000}},
	{name: "cline", install: "cline", args: []string{"--json", prompt},
		files: map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":` +
			`"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{"provider":` +
			`"openai-compatible","apiKey":"k","model":"test-model","baseUrl":"URL/v1"},"updatedAt":` +
			`"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`},
		compacts: &compacting{scale: 5, limit: 90_000}},
	{name: "cline-anthropic", install: "cline",
		args: []string{"-P", "anthropic", "-k", "k", "-m", "claude-sonnet-4-5", "--json", prompt}},
}, loops("anthropic", "openai-chat", "openai-responses", "openai-responses-stored", "openai-agents",
	"ai-sdk-anthropic", "ai-sdk-openai", "langchain-anthropic", "langchain-openai", "google-genai")...)

// loops are the agents of testdata/loops.mjs.
func loops(names ...string) (out []client) {
	for _, name := range names {
		out = append(out, client{name: name, install: "sdks", program: "node",
			args:      []string{"LOOPS", name, prompt},
			env:       []string{"ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k"},
			continued: name == "openai-responses-stored"})
	}
	return out
}

// named reports whether an agent sends an id of its conversation with each request.
func (c client) named() bool {
	return c.install == "claude" || c.install == "codex" || c.install == "opencode"
}

// installed returns where a client's packages are, and skips the test if they are not installed in the version that
// versions.txt says.
func (c client) installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AGENTS_DIR")
	if dir == "" {
		t.Skip("SKIPPED: AGENTS_DIR is not set: 'make test-clients' installs agents and sets it")
	}
	versions, err := os.ReadFile("versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, c.install)
	got, err := os.ReadFile(filepath.Join(dir, "installed"))
	if err != nil || !strings.Contains(string(versions), c.install+" "+string(got)) {
		t.Skipf("SKIPPED: %s is not installed in %s", c.install, dir)
	}
	return dir
}

// command is what starts a client.
func (c client) command(t *testing.T) []string {
	t.Helper()
	dir := c.installed(t)
	args := append([]string{c.program}, c.args...)
	if c.program == "" {
		args[0] = filepath.Join(dir, "node_modules", ".bin", c.install)
		return args
	}
	// Node looks for packages where a program is: the loops are run where the SDKs are.
	args[1] = filepath.Join(dir, "loops.mjs")
	text, err := os.ReadFile("testdata/loops.mjs")
	if err == nil { // another test may be reading it
		err = atomicfile.Write(args[1], 0o600, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil {
		t.Fatal(err)
	}
	return args
}
