package main_test

import (
	"bufio"
	"bytes"
	"strings"
	"syscall"
	"testing"
)

// For a known agent, --print says all that the agent would get, and which flags stand where an agent would get them.
func TestWrapPrintsForAnAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, want := range map[string]string{
		"claude":   "export ENABLE_TOOL_SEARCH=true",
		"codex":    "# codex needs these arguments: '-c' 'openai_base_url=\"http://127.0.0.1:",
		"opencode": `export OPENCODE_CONFIG_CONTENT='{"model":"don\u0027t","provider":`,
	} {
		cmd := p.command("wrap", "--print", name, "--set", "model.contextLimit=1000", "--resume")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Env = append(cmd.Env, `OPENCODE_CONFIG_CONTENT={"model":"don't"}`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), want) {
			// A server that prints nothing more would be waited for without end.
			if !strings.HasPrefix(lines.Text(), "export ANTHROPIC_BASE_URL=") {
				t.Errorf("%s: %q", name, lines.Text())
				break
			}
		}
		_ = cmd.Process.Signal(syscall.SIGINT)
		for lines.Scan() {
		}
		_ = cmd.Wait()
		if says := stderr.String(); !strings.Contains(says, "--set stands after the agent's name") ||
			strings.Contains(says, "--resume") {
			t.Errorf("%s: standard error %s", name, says)
		}
	}
}
