package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func mustPresets(t testing.TB, names ...string) *tools.Taxonomy {
	t.Helper()
	taxonomy, err := tools.ForPresets(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return taxonomy
}

// The tools that the requirements name.
func TestLlxprt(t *testing.T) {
	read := func(paths ...string) tools.Use {
		u := tools.Use{Class: tools.ClassRead, Reads: paths}
		if len(paths) > 0 {
			u.Subject = paths[0]
		}
		return u
	}
	tests := map[string]struct {
		name, params string
		want         tools.Use
	}{
		"file_path":               {"read_file", `{"file_path":"a.ts"}`, read("a.ts")},
		"absolute_path":           {"ast_read_file", `{"absolute_path":"/w/a.ts"}`, read("/w/a.ts")},
		"path":                    {"read_file", `{"path":"a.ts"}`, read("a.ts")},
		"first key decides":       {"read_file", `{"path":"c","absolute_path":"b","file_path":"a"}`, read("a")},
		"null does not decide":    {"read_file", `{"file_path":null,"absolute_path":"b"}`, read("b")},
		"null as the last of two": {"read_file", `{"file_path":"a","file_path":null,"path":"c"}`, read("c")},
		"empty decides": {"read_file", `{"file_path":"","path":"c"}`,
			tools.Use{Class: tools.ClassRead, Subject: "c"}},
		"a number decides": {"read_file", `{"file_path":7,"path":"c"}`,
			tools.Use{Class: tools.ClassRead, Subject: "c"}},
		"a list decides": {"read_file", `{"file_path":["a"],"path":"c"}`,
			tools.Use{Class: tools.ClassRead, Subject: "c"}},
		"no path":                         {"read_file", `{}`, read()},
		"no parameters":                   {"read_file", ``, read()},
		"parameters are null":             {"read_file", `null`, read()},
		"parameters are a list":           {"read_file", `["file_path","a"]`, read()},
		"parameters are cut off":          {"read_file", `{"file_path":"a"`, read()},
		"parameters are followed by more": {"read_file", `{"file_path":"a"} x`, read()},
		"escaped key and value":           {"read_file", `{"file\u005fpath":"\u0061\/b"}`, read("a/b")},
		"glob characters in one path":     {"read_file", `{"file_path":"a?.ts"}`, read("a?.ts")},
		"nested key does not count":       {"read_file", `{"x":{"file_path":"a"},"y":[{"path":"b"}]}`, read()},
		"range": {"read_line_range", `{"absolute_path":"a","start_line":1,"end_line":9}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"a"}, Partial: true, Subject: "a"}},

		"many": {"read_many_files", `{"paths":["a","b"]}`, read("a", "b")},
		"many with a glob": {"read_many_files", `{"paths":["a","src/**"]}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"a"}, Glob: true, Subject: "a"}},
		"many, glob only": {"read_many_files", `{"paths":["b?"]}`,
			tools.Use{Class: tools.ClassRead, Glob: true, Subject: "b?"}},
		"many, elements that are no paths": {"read_many_files", `{"paths":["",1,null,"a",{"path":"b"}]}`, read("a")},
		"many, paths is a string":          {"read_many_files", `{"paths":"a"}`, read()},
		"many, file_path is not asked": {"read_many_files", `{"file_path":"a"}`,
			tools.Use{Class: tools.ClassRead, Subject: "a"}},

		"whole write": {"write_file", `{"file_path":"a","content":"{\"file_path\":\"b\"}"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "a", Whole: true}}, Subject: "a"}},
		"partial write": {"replace", `{"file_path":"a"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "a"}}, Subject: "a"}},

		"another case": {"Read_File", `{"file_path":"a"}`, tools.Use{Subject: "a"}},
		"apply_patch is unknown": {"apply_patch", `{"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}`,
			tools.Use{}},
	}
	taxonomy := mustPresets(t, "llxprt")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, taxonomy.Use(tt.name, json.RawMessage(tt.params)), noFileApart); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, name := range []string{"read_file", "read_line_range", "ast_read_file"} {
		if u := taxonomy.Use(name, json.RawMessage(`{"path":"a"}`)); len(u.Reads) != 1 {
			t.Errorf("%s reads %v", name, u.Reads)
		}
	}
	for _, name := range []string{"write_file", "ast_edit", "replace", "insert_at_line", "delete_line_range"} {
		u := taxonomy.Use(name, json.RawMessage(`{"path":"a"}`))
		if len(u.Writes) != 1 || u.Writes[0].Whole != (name == "write_file") {
			t.Errorf("%s writes %v", name, u.Writes)
		}
	}
}

// What real agents call, with all presets together.
func TestAllPresetsTogether(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch`
	edited := []tools.Write{{Path: "a.go"}}
	tests := map[string]struct {
		name, params string
		want         tools.Use
	}{
		"Claude Code Read": {"Read", `{"file_path":"/w/a","offset":10,"limit":5}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/w/a"}, Partial: true, Subject: "/w/a"}},
		"Claude Code Edit": {"Edit", `{"file_path":"/w/a","old_string":"x","new_string":"y","replace_all":false}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"Claude Code Write": {"Write", `{"content":"c","file_path":"/w/a"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a", Whole: true}}, Subject: "/w/a"}},
		"Claude Code Bash": {"Bash", `{"command":"go test ./...","description":"Run tests"}`,
			tools.Use{Class: tools.ClassShell, Command: "go test ./...", Subject: "go test ./...",
				Directory: tools.DirectoryKept}},
		"Claude Code Grep": {"Grep", `{"pattern":"x","output_mode":"content"}`,
			tools.Use{Class: tools.ClassSearch, Subject: "x"}},
		"Claude Code Task": {"Task", `{"prompt":"look"}`, tools.Use{Class: tools.ClassOther}},

		"Codex patch, raw text": {"apply_patch", `"` + patch + `"`,
			tools.Use{Class: tools.ClassWrite, Writes: edited, Subject: "a.go"}},
		"Codex patch, input": {"apply_patch", `{"input":"` + patch + `"}`,
			tools.Use{Class: tools.ClassWrite, Writes: edited, Subject: "a.go"}},
		"Codex patch without a patch": {"apply_patch", `{"input":"*** Update File: a.go"}`,
			tools.Use{Class: tools.ClassWrite}},
		"Codex command": {"exec_command", `{"cmd":"sed -n 1,9p a.go","workdir":"/w/sub"}`,
			tools.Use{Class: tools.ClassShell, Command: "sed -n 1,9p a.go", Dir: "/w/sub", Directory: tools.DirectoryOwn,
				Subject: "sed -n 1,9p a.go"}},
		"Codex patch in a command": {"exec_command",
			`{"cmd":"apply_patch <<'EOF'\n` + patch + `\nEOF","workdir":"/w/sub"}`,
			tools.Use{
				Class: tools.ClassShell, Writes: []tools.Write{{Path: "/w/sub/a.go"}}, Subject: "/w/sub/a.go",
				Directory: tools.DirectoryOwn,
				Dir:       "/w/sub",
				Command:   strings.ReplaceAll(`apply_patch <<'EOF'\n`+patch+`\nEOF`, `\n`, "\n"),
			}},
		"VS Code, a part": {"read_file", `{"filePath":"/a","startLine":1,"endLine":9}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/a"}, Partial: true, Subject: "/a"}},
		"VS Code, several edits": {"multi_replace_string_in_file", `{"replacements":[{"filePath":"/a"},{"filePath":"/b"}]}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/a"}, {Path: "/b"}}, Subject: "/a"}},
		"Codex argument list": {"shell", `{"command":["bash","-lc","ls"]}`,
			tools.Use{Class: tools.ClassShell, Command: "ls", Subject: "ls", Directory: tools.DirectoryOwn}},
		"Codex argument list on Windows": {"shell", `{"command":["powershell.exe","-NoProfile","-Command","ls"]}`,
			tools.Use{Class: tools.ClassShell, Command: "ls", Subject: "ls", Directory: tools.DirectoryOwn}},
		"Codex patch as an argument": {"shell", `{"command":["apply_patch","` + patch + `"]}`,
			tools.Use{Class: tools.ClassShell, Writes: edited, Subject: "a.go", Directory: tools.DirectoryOwn,
				Command: "apply_patch " + strings.ReplaceAll(patch, `\n`, "\n")}},

		"Gemini CLI include reads more than paths": {"read_many_files", `{"paths":["a"],"include":["*.md"]}`,
			tools.Use{Class: tools.ClassRead}},

		"Qwen Code edit": {"edit", `{"file_path":"/w/a","old_string":"x","new_string":"y"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"Copilot CLI view": {"view", `{"path":"/w/a","view_range":[1,9]}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/w/a"}, Partial: true, Subject: "/w/a"}},
		"Copilot CLI create": {"create", `{"path":"/w/a","file_text":"t"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a", Whole: true}}, Subject: "/w/a"}},
		"Copilot CLI edit": {"edit", `{"path":"/w/a","old_str":"x","new_str":"y"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"pi edit": {"edit", `{"path":"a","oldText":"x","newText":"y"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "a"}}, Subject: "a"}},
		"opencode edit": {"edit", `{"filePath":"/w/a","oldString":"x"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"Amp, a part": {"Read", `{"path":"/w/a","read_range":[1,9]}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/w/a"}, Partial: true, Subject: "/w/a"}},
		"Amp command": {"Bash", `{"cmd":"ls","cwd":"/w/sub"}`,
			tools.Use{Class: tools.ClassShell, Command: "ls", Dir: "/w/sub", Subject: "ls"}},
		"Goose view": {"developer__text_editor", `{"command":"view","path":"/w/a"}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/w/a"}, Subject: "/w/a"}},
		"Goose write": {"developer__text_editor", `{"command":"write","path":"/w/a","file_text":"x"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a", Whole: true}}, Subject: "/w/a"}},
		"GitHub's file is none here": {"mcp__github__get_file_contents", `{"owner":"o","repo":"r","path":"a"}`,
			tools.Use{Class: tools.ClassWeb, Subject: "a"}},
		"SWE-agent edit": {"edit", `{"start_line":1,"end_line":2,"replacement_text":"x"}`,
			tools.Use{Class: tools.ClassWrite}},
		"SWE-agent edit with a command": {"edit", `{"command":"edit 1:2\nx\nend_of_edit"}`,
			tools.Use{Class: tools.ClassWrite, Subject: "edit 1:2\nx\nend_of_edit"}},
		"SWE-agent open": {"open", `{"path":"a.py","line_number":9}`,
			tools.Use{Class: tools.ClassRead, Subject: "a.py"}},
		"SWE-agent create": {"create", `{"filename":"a.py"}`, tools.Use{Class: tools.ClassWrite, Subject: "a.py"}},

		"Cline files": {"read_files", `{"files":[{"path":"a","start_line":1},{"path":"b"}]}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"a", "b"}, Partial: true, Subject: "a"}},
		"Cline files in another form": {"read_files", `{"files":[{"path":"a"},"b"]}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"a"}, Glob: true, Subject: "a"}},
		"Cline commands": {"run_commands", `{"commands":["ls","pwd"]}`,
			tools.Use{Class: tools.ClassShell, Command: "ls\npwd", Subject: "ls\npwd", Directory: tools.DirectoryOwn}},

		"OpenHands view": {"str_replace_editor", `{"command":"view","path":"/w/a"}`,
			tools.Use{Class: tools.ClassRead, Reads: []string{"/w/a"}, Subject: "/w/a"}},
		"OpenHands create": {"file_editor", `{"command":"create","path":"/w/a"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a", Whole: true}}, Subject: "/w/a"}},
		"OpenHands insert": {"str_replace_editor", `{"path":"/w/a","command":"insert"}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"OpenHands another command": {"str_replace_editor", `{"command":"jump","path":"/w/a"}`,
			tools.Use{Subject: "/w/a"}},
		"OpenHands browser": {"browser_get_state", `{}`, tools.Use{Class: tools.ClassWeb}},

		"MCP edit": {"mcp__filesystem__edit_file", `{"path":"/w/a","edits":[]}`,
			tools.Use{Class: tools.ClassWrite, Writes: []tools.Write{{Path: "/w/a"}}, Subject: "/w/a"}},
		"MCP edit, tested": {"mcp__filesystem__edit_file", `{"path":"/w/a","dryRun":true}`,
			tools.Use{Class: tools.ClassOther, Subject: "/w/a"}},
		"MCP listing": {"mcp__filesystem__directory_tree", `{"path":"/w"}`,
			tools.Use{Class: tools.ClassSearch, Subject: "/w"}},
		"unknown": {"get_reservation_details", `{"reservation_id":"S61CZX"}`, tools.Use{}},
	}
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, taxonomy.Use(tt.name, json.RawMessage(tt.params)), noFileApart); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnEmptyTaxonomyKnowsNoTool(t *testing.T) {
	want := tools.Use{Subject: "a"}
	for name, taxonomy := range map[string]*tools.Taxonomy{"nil": nil, "zero": {}} {
		if diff := cmp.Diff(want, taxonomy.Use("read_file", json.RawMessage(`{"file_path":"a"}`))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		// What all agents share needs no rule.
		if v := taxonomy.Judge(content.ToolCall{Name: "bash"},
			content.ToolResponse{}.WithResultText("<returncode>1</returncode>")); v.Outcome != tools.OutcomeError {
			t.Errorf("%s: %s", name, v.Outcome)
		}
		if got := string(taxonomy.JSON()); got != `{"rules":[]}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestResolve(t *testing.T) {
	tests := map[string]struct{ root, path, want string }{
		"relative":            {"/w", "src/a.ts", "/w/src/a.ts"},
		"absolute":            {"/w", "/x/a.ts", "/x/a.ts"},
		"dots":                {"/w", "./src/../src/./a.ts", "/w/src/a.ts"},
		"out of the root":     {"/w", "../a.ts", "/a.ts"},
		"over the top":        {"/w", "../../../a.ts", "/a.ts"},
		"slashes":             {"/w/", "src//a.ts/", "/w/src/a.ts"},
		"case stays":          {"/w", "A.TS", "/w/A.TS"},
		"home is a name":      {"/w", "~/a", "/w/~/a"},
		"backslash is a name": {"/w", `a\b`, `/w/a\b`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tools.Resolve(tt.root, tt.path); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// noFileApart leaves Use.NoFile to [TestNoFile].
var noFileApart = cmpopts.IgnoreFields(tools.Use{}, "NoFile")

func TestNoFile(t *testing.T) {
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for _, tt := range []struct {
		tool, params string
		want         bool
	}{
		{"read_file", `{"file_path":"a"}`, false},
		{"read_file", `{"file":"a"}`, true},
		{"read_file", `{"file_path":7}`, true},
		{"read_file", `"a"`, true},
		{"read_file", `null`, true},
		{"read_file", ``, true},
		{"read_many_files", `{"paths":["*.go"]}`, false},
		{"read_many_files", `{"paths":[]}`, true},
		{"Edit", `{"new":"x"}`, true},
		{"apply_patch", `{"input":"no patch"}`, true},
		{"write", `{}`, true},
		{"create", `{}`, false},
		{"glob", `{}`, false},
		{"bash", `{}`, false},
		{"unknown", `{}`, false},
	} {
		if got := taxonomy.Use(tt.tool, []byte(tt.params)).NoFile; got != tt.want {
			t.Errorf("%s %s: %v", tt.tool, tt.params, got)
		}
	}
}
