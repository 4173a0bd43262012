package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A directory that a shell keeps between calls decides what a later command's relative paths mean, where it is certain.
func TestADirectoryIsFollowedFromCallToCall(t *testing.T) {
	const claude, codex = "claude-code", "codex"
	const asks = "sed -i s/a/b/ a.go"
	for name, tt := range map[string]struct {
		preset string
		// before are the calls before it, "command → result"; "" for a result is none, "+" puts a call beside the next, and
		// "=" also gives both one id.
		before []string
		want   string
	}{
		"where it began":           {claude, []string{"ls → x"}, "writes a.go"},
		"cd":                       {claude, []string{"cd /w/sub → ok"}, "writes /w/sub/a.go"},
		"cd, relative":             {claude, []string{"cd sub && ls → ok", "cd ../other → ok"}, "writes other/a.go"},
		"cd in a subshell":         {claude, []string{"(cd sub && ls) → ok"}, "writes a.go"},
		"cd in a pipe":             {claude, []string{"cd sub | cat → ok"}, "writes a.go"},
		"cd that failed":           {claude, []string{"cd sub → Exit code 1\nno such directory"}, ""},
		"cd that may have failed":  {claude, []string{"cd sub; ls → ok"}, ""},
		"cd that is not answered":  {claude, []string{"cd sub → "}, ""},
		"cd in the background":     {claude, []string{"cd sub → Command running in background with ID: b1"}, ""},
		"pushd":                    {claude, []string{"pushd sub → ok"}, ""},
		"a script":                 {claude, []string{". env.sh → ok"}, ""},
		"a variable":               {claude, []string{"cd $D → ok"}, ""},
		"found again":              {claude, []string{"pushd sub → ok", "cd /w → ok"}, "writes /w/a.go"},
		"put back":                 {claude, []string{"cd /etc && ls → x\nShell cwd was reset to /w"}, "writes /w/a.go"},
		"another directory's tool": {claude, []string{"EnterWorktree → ok"}, ""},
		"beside another":           {claude, []string{"+cd sub → ok", "cd other → ok"}, ""},
		"beside another, absolute": {claude, []string{"+cd /a → ok", "cd /b → ok"}, ""},
		"after two":                {claude, []string{"+cd /a → ok", "cd /b → ok", "cd /c → ok"}, "writes /c/a.go"},
		"with the id of another":   {claude, []string{"=cd /a → ok", "cd /b → Exit code 1\nno"}, ""},
		"a shell of its own":       {codex, []string{"cd sub → Exit code: 0"}, "writes a.go"},
	} {
		rules, _ := tools.Preset(tt.preset)
		taxonomy, err := tools.New(rules...)
		if err != nil {
			t.Fatal(err)
		}
		tool, param := "Bash", "command"
		if tt.preset == codex {
			tool, param = "exec_command", "cmd"
		}
		call := func(id, command string) content.ToolCall {
			if command == "EnterWorktree" {
				return content.ToolCall{ID: id, Name: command, Parameters: []byte(`{}`)}
			}
			return content.ToolCall{ID: id, Name: tool, Parameters: fmt.Appendf(nil, `{%q:%q}`, param, command)}
		}
		var history []content.Content
		var calls, answers []content.Block
		id, shared := "", false
		for i, step := range tt.before {
			if !shared {
				id = fmt.Sprint("c", i)
			}
			step, shared = strings.CutPrefix(step, "=")
			step, beside := strings.CutPrefix(step, "+")
			beside = beside || shared
			command, result, _ := strings.Cut(step, " → ")
			calls = append(calls, call(id, command))
			if result != "" {
				answers = append(answers, content.ToolResponse{CallID: id}.WithResultText(result))
			}
			if beside {
				continue
			}
			history = append(history, content.Content{Speaker: content.AI, Blocks: calls},
				content.Content{Speaker: content.Tool, Blocks: answers})
			calls, answers = nil, nil
		}
		history = append(history, content.Content{Speaker: content.AI, Blocks: []content.Block{call("last", asks)}})
		// At once and one by one, as a session grows.
		for _, step := range []int{len(history), 1} {
			var d Dirs
			for n := step; n <= len(history); n += step {
				d.Follow(n, uint64(n), false, func(i int) (string, content.Content) { return fmt.Sprint(i), history[i] }, taxonomy)
			}
			last := len(history) - 1
			got := Annotated(history[last], taxonomy, d.At(fmt.Sprint(last))).Blocks[0].(content.ToolCall)
			u := taxonomy.UseCall(got)
			if got := brief(tools.Files{Reads: u.Reads, Writes: u.Writes, MayWrite: u.MayWrite}); got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		}
	}
}

// What a rewrite has removed may have changed the directory.
func TestADirectoryOfARestoredHistoryIsUnknown(t *testing.T) {
	rules, _ := tools.Preset("claude-code")
	taxonomy, err := tools.New(rules...)
	if err != nil {
		t.Fatal(err)
	}
	run := func(command string) content.Content {
		return content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "c", Name: "Bash",
			Parameters: fmt.Appendf(nil, `{"command":%q}`, command)}}}
	}
	history := []content.Content{run("ls"), run("cd /w"),
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: "c"}.WithResultText("")}}, run("ls")}
	var d Dirs
	d.Follow(len(history), 90, true, func(i int) (string, content.Content) { return fmt.Sprint(i), history[i] }, taxonomy)
	if d.At("0") != (Place{Lost: true}) || d.At("3") != (Place{Dir: "/w"}) {
		t.Errorf("%v, then %v", d.At("0"), d.At("3"))
	}
}

// Whether a "cd" holds for later calls differs from agent to agent, and several share the name of their tool. Where it
// is not known which agent it is, a relative path behind a "cd" is no file's.
func TestEachAgentsShellKeepsItsDirectoryOrNot(t *testing.T) {
	const begun, followed, unknown = "writes a.go", "writes sub/a.go", ""
	for preset, tt := range map[string]struct {
		tool, parameters string // of a call; %q is the command
		alone, together  string // with this preset alone, and with all
	}{
		"claude-code":    {"Bash", `{"command":%q,"description":"Works."}`, followed, followed},
		"openhands":      {"execute_bash", `{"command":%q,"is_input":"false"}`, followed, followed},
		"vscode-copilot": {"run_in_terminal", `{"command":%q,"explanation":"Works.","isBackground":false}`, followed, followed},
		"swe-agent":      {"bash", `{"command":%q}`, followed, unknown},
		"mini-swe-agent": {"bash", `{"command":%q}`, begun, unknown},
		"pi":             {"bash", `{"command":%q,"timeout":60}`, begun, unknown},
		"opencode":       {"bash", `{"command":%q,"description":"Works.","timeout":60000}`, begun, unknown},
		"copilot-cli":    {"bash", `{"command":%q,"description":"Works.","sessionId":"main"}`, unknown, unknown},
		"cline":          {"execute_command", `{"command":%q,"requires_approval":false}`, unknown, unknown},
		"amp":            {"Bash", `{"cmd":%q}`, unknown, unknown},
		"codex":          {"exec_command", `{"cmd":%q}`, begun, begun},
		"gemini-cli":     {"run_shell_command", `{"command":%q,"description":"Works."}`, begun, begun},
		"llxprt":         {"run_shell_command", `{"command":%q,"description":"Works."}`, begun, begun},
		"goose":          {"developer__shell", `{"command":%q}`, begun, begun},
	} {
		for _, all := range []bool{false, true} {
			presets, want := []string{preset}, tt.alone
			if all {
				presets, want = tools.PresetNames(), tt.together
			}
			taxonomy, err := tools.ForPresets(presets, nil)
			if err != nil {
				t.Fatal(err)
			}
			run := func(id, command string) content.Content {
				return content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: tt.tool,
					Parameters: fmt.Appendf(nil, tt.parameters, command)}}}
			}
			history := []content.Content{run("a", "cd sub"), {Speaker: content.Tool,
				Blocks: []content.Block{content.ToolResponse{CallID: "a"}.WithResultText("")}}, run("b", "sed -i s/a/b/ a.go")}
			var d Dirs
			d.Follow(3, 3, false, func(i int) (string, content.Content) { return fmt.Sprint(i), history[i] }, taxonomy)
			u := taxonomy.UseCall(Annotated(history[2], taxonomy, d.At("2")).Blocks[0].(content.ToolCall))
			if got := brief(tools.Files{Writes: u.Writes, MayWrite: u.MayWrite}); got != want {
				t.Errorf("%s, all presets %v: %q, want %q", preset, all, got, want)
			}
		}
	}
}

// A rule of a user says it for tools that presets have too.
func TestARuleSaysWhetherAShellKeepsItsDirectory(t *testing.T) {
	for directory, want := range map[tools.Directory]Place{tools.DirectoryOwn: {}, tools.DirectoryKept: {Dir: "sub"},
		"": {Lost: true}} {
		taxonomy, err := tools.ForPresets(tools.PresetNames(), []tools.Rule{{Names: []string{"bash"}, Class: tools.ClassShell,
			Command: []string{"command"}, Directory: directory}})
		if err != nil {
			t.Fatal(err)
		}
		call := content.ToolCall{Name: "bash", Parameters: []byte(`{"command":"cd sub"}`)}
		if got, _ := after(call, taxonomy, Place{}); got != want {
			t.Errorf("%q: %v, want %v", directory, got, want)
		}
	}
}
