package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// FuzzUse holds the extraction of paths against encoding/json.
func FuzzUse(f *testing.F) {
	for _, seed := range []string{
		`{"file_path":"a","path":null}`, `{"absolute_path":"\u0061\ud800","x":{"path":["b"]}}`,
		`{"path":"a","path":"b"}`,
		`{"paths":["a","*.go",1,"",null]}`, `"*** Begin Patch"`, `{"file_path":`, `[]`, `{"fi\u006ce_path":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	llxprt, all := mustPresets(f, "llxprt"), mustPresets(f, tools.PresetNames()...)
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, name := range []string{"apply_patch", "exec_command", "shell", "read_files", "str_replace_editor",
			"run_commands", "x"} {
			all.Use(name, params)
			call := content.ToolCall{Name: name, Parameters: params}
			all.Judge(call, content.ToolResponse{Result: params})
			all.Judge(call, content.ToolResponse{}.WithResultText(string(params)))
		}
		var members map[string]any
		if err := json.Unmarshal(params, &members); err != nil {
			members = nil // not even in part
		}
		if diff := cmp.Diff(onePath(members), llxprt.Use("read_file", params).Reads); diff != "" {
			t.Errorf("read_file: %s", diff)
		}
		reads, glob := manyPaths(members)
		many := llxprt.Use("read_many_files", params)
		if diff := cmp.Diff(reads, many.Reads); diff != "" || glob != many.Glob {
			t.Errorf("read_many_files: glob %v, want %v: %s", many.Glob, glob, diff)
		}
	})
}

// Whatever a model calls a tool with, and whatever that answers, takes time in proportion.
func FuzzGrown(f *testing.F) {
	all := mustPresets(f, tools.PresetNames()...)
	texts := append(hostile.Some(`{"file_path":"a","paths":["a"],"files":[{"path":"b"}],"command":["bash","-c","ls"],`+
		`"workdir":"/w","input":"*** Begin Patch\n*** Add File: a\n"}`, 8), hostile.JSON...)
	texts = append(texts, hostile.Some(`{"output":"x","content":[{"type":"text","text":"Error: no"}]}`, 8)...)
	long := strings.Repeat("/d", 64<<10)
	hostile.Fuzz(f, func(text string) {
		for _, name := range []string{"apply_patch", "exec_command", "read_many_files"} {
			call := content.ToolCall{Name: name, Parameters: []byte(text)}
			all.UseCall(call)
			all.Judge(call, content.ToolResponse{Result: []byte(text)}) // it may be no JSON
			all.Judge(call, content.ToolResponse{}.WithResultText(text))
		}
	}, append(texts,
		hostile.Text{Start: `{"dir_path":"` + long + `","paths":[`, Open: `"a",`, End: `"a"]}`},
		hostile.Text{Start: `{"workdir":"` + long + `","command":"apply_patch <<E\n*** Begin Patch\n`,
			Open: `*** Add File: a\n`, End: `"}`},
		hostile.Text{Start: "*** Begin Patch\n", Open: "*** Move to: a\n"}, hostile.Text{Open: "Error: ", Close: "\n"},
	)...)
}

func onePath(members map[string]any) []string {
	for _, key := range []string{"file_path", "absolute_path", "path"} {
		if v := members[key]; v != nil {
			if s, _ := v.(string); s != "" {
				return []string{s}
			}
			return nil
		}
	}
	return nil
}

func manyPaths(members map[string]any) (reads []string, glob bool) {
	list, _ := members["paths"].([]any)
	for _, v := range list {
		switch s, _ := v.(string); {
		case s == "":
		case strings.ContainsAny(s, "*?"):
			glob = true
		case len(reads) == 1000:
			return reads, true
		default:
			reads = append(reads, s)
		}
	}
	return reads, glob
}

func BenchmarkUse(b *testing.B) {
	content, _ := json.Marshal(strings.Repeat("line of a file\n", 10<<20/15))
	keys := make([]byte, 0, 20<<20)
	for i := range 1_000_000 {
		keys = fmt.Appendf(keys, `,"k%d":%d`, i, i)
	}
	cases := []struct{ name, tool, params string }{
		{"read", "Read", `{"file_path":"/src/project/index.ts","offset":10,"limit":50}`},
		{"shell", "bash", `{"command":"go test ./... 2>&1 | tail -5","timeout":120}`},
		{"unknown", "get_weather", `{"city":"Bern","unit":"C"}`},
		{"write10MB", "write_file", `{"content":` + string(content) + `,"file_path":"a"}`},
		{"million-keys", "read_file", `{"path":"a"` + string(keys) + `}`},
		{"million-dups", "read_file", `{` + strings.Repeat(`"path":"a",`, 1_000_000) + `"path":"b"}`},
		{"million-brackets", "read_file", `{"x":` + strings.Repeat("[", 1_000_000) + `}`},
		{"million-escapes", "read_file", `{"path":"` + strings.Repeat(`\\`, 1_000_000) + `"}`},
		{"million-paths", "read_many_files", `{"paths":["` + strings.Repeat(`a","`, 1_000_000) + `"]}`},
	}
	taxonomy := mustPresets(b, tools.PresetNames()...)
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			params := json.RawMessage(c.params)
			b.SetBytes(int64(len(params)))
			b.ReportAllocs()
			for b.Loop() {
				taxonomy.Use(c.tool, params)
			}
		})
	}
}

func BenchmarkForPresets(b *testing.B) {
	for b.Loop() {
		mustPresets(b, tools.PresetNames()...)
	}
}
