package prune

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// exchange is a call of a tool with a path and its answer.
func exchange(id, tool, path string) []sdk.Content {
	result := "content"
	switch tool { // in words by which agents say that they wrote
	case "write_file", "replace":
		result = "Successfully modified file: " + path
	case "Edit":
		result = "The file " + path + " has been updated successfully."
	}
	return []sdk.Content{call(id, tool, fmt.Sprintf(`{"file_path":%q}`, path)), answer(id, tool, result)}
}

func join(parts ...[]sdk.Content) []sdk.Content {
	var out []sdk.Content
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// merge puts the blocks of entries with one speaker into one.
func merge(entries ...sdk.Content) sdk.Content {
	out := sdk.Content{Speaker: entries[0].Speaker}
	for _, e := range entries {
		out.Blocks = append(out.Blocks, e.Blocks...)
	}
	return out
}

func TestReadWritePruning(t *testing.T) {
	read := func(path string) []sdk.Content { return exchange("r", "read_file", path) }
	write := func(path string) []sdk.Content { return exchange("w", "write_file", path) }
	failedWrite := write("a.go")
	failedWrite[1].Blocks[0] = sdk.ToolResponse{CallID: "w", ToolName: "write_file", Error: "read-only file system"}
	exitCode := []sdk.Content{
		call("w", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** End Patch"}`),
		answer("w", "apply_patch", "Exit code: 1\nWall time: 0 seconds\nOutput:\nno match"),
	}
	// What agents write that set no flag.
	saying := func(result string) []sdk.Content {
		return []sdk.Content{write("a.go")[0], answer("w", "write_file", result)}
	}
	move := []sdk.Content{
		call("w", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n*** End Patch"}`),
		answer("w", "apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM b.go"),
	}
	readError := read("a.go")
	readError[1] = answer("r", "read_file", "Error: EACCES is what this file is about")
	many := func(paths string) []sdk.Content {
		return []sdk.Content{call("m", "read_many_files", `{"paths":`+paths+`}`),
			answer("m", "read_many_files", "contents")}
	}
	thinking := sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Thinking{Thought: "hm"}, sdk.Text{Text: " \n"}}}
	a, b := read("a.go"), exchange("r2", "read_file", "b.go")
	media := sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.Media{MimeType: "image/png", Data: "x"}}}
	null := sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.Opaque{JSON: []byte("null")}}}

	tests := map[string]struct {
		history  []sdk.Content
		partial  sdk.PartialWrites
		removals []int
		replaced map[int]int // entry → its blocks left
	}{
		"read, then written": {history: join(a, write("a.go")), removals: []int{0, 1}},
		"written, then read": {history: join(write("a.go"), a)},
		"another file":       {history: join(a, write("b.go"))},
		"the same file by another path": {history: join(read("./x/../a.go"), write("/workspace/a.go")),
			removals: []int{0, 1}},
		"case counts":                       {history: join(a, write("A.go"))},
		"the write failed":                  {history: join(a, failedWrite)},
		"the write failed by its exit code": {history: join(a, exitCode)},
		"the write failed, it says":         {history: join(a, saying("Error: EACCES: permission denied"))},
		"the write failed, in JSON":         {history: join(a, saying(`{"error":"EACCES"}`))},
		"the write failed, in a tag": {history: join(a,
			saying("<tool_use_error>read it first</tool_use_error>"))},
		"the write failed, in a line": {history: join(a, saying("running\nexit code: 1\n"))},
		"the write says more than it wrote": {history: join(a, saying("Successfully overwrote file: a.go\n1: Error: x")),
			removals: []int{0, 1}},
		"a file that begins as an error does, then written": {history: join(readError, write("a.go")),
			removals: []int{0, 1}},
		"the write is answered in other words": {history: join(a, saying("Please use a smaller change."))},
		"the write was not answered":           {history: join(a, write("a.go")[:1])},
		"the read was not answered":            {history: join(a[:1], write("a.go"))},
		"an edit":                              {history: join(a, exchange("w", "replace", "a.go")), removals: []int{0, 1}},
		"an edit, which does not count": {history: join(a, exchange("w", "replace", "a.go")),
			partial: sdk.PartialWritesKeep},
		"a whole write, which counts always": {history: join(a, write("a.go")), partial: sdk.PartialWritesKeep,
			removals: []int{0, 1}},
		"Claude Code's tools": {history: join(exchange("r", "Read", "a.go"), exchange("w", "Edit", "a.go")),
			removals: []int{0, 1}},
		"an unknown tool":               {history: join(exchange("r", "peruse", "a.go"), write("a.go"))},
		"the write's result was pruned": {history: join(a, saying(Pointer)), removals: []int{0, 1}},
		"a move, which counts always":   {history: join(a, move), partial: sdk.PartialWritesKeep, removals: []int{0, 1}},
		"written while it was read":     {history: join(a[:1], write("a.go"), a[1:]), removals: []int{0, 3}},
		"in one entry": {history: []sdk.Content{
			merge(a[0], write("a.go")[0]), merge(a[1], write("a.go")[1])}},
		"one of two reads": {history: join([]sdk.Content{merge(a[0], b[0]), merge(a[1], b[1])}, write("a.go")),
			replaced: map[int]int{0: 1, 1: 1}},
		"nothing but thinking is left": {history: join([]sdk.Content{merge(thinking, a[0]), a[1]}, write("a.go")),
			removals: []int{0, 1}},
		"text is left": {history: join([]sdk.Content{merge(said(sdk.AI, "look"), a[0]), a[1]},
			write("a.go")), removals: []int{1}, replaced: map[int]int{0: 1}},
		"media are left": {history: join([]sdk.Content{a[0], merge(a[1], media)}, write("a.go")),
			removals: []int{0}, replaced: map[int]int{1: 1}},
		"a null block is left": {history: join([]sdk.Content{a[0], merge(a[1], null)}, write("a.go")),
			removals: []int{0}, replaced: map[int]int{1: 1}},
		"many, all written": {history: join(many(`["a.go",null,"b.go"]`), write("a.go"),
			exchange("w2", "replace", "b.go")), removals: []int{0, 1}},
		"many, one written":    {history: join(many(`["a.go","b.go"]`), write("a.go"))},
		"many, with a pattern": {history: join(many(`["a.go","*.md"]`), write("a.go"))},
		"one id for a read and a write of one entry": {history: append([]sdk.Content{
			merge(call("1", "read_file", `{"file_path":"b.go"}`), call("1", "write_file", `{"file_path":"c.go"}`)),
			merge(answer("1", "read_file", "BBB"), answer("1", "write_file", "done")),
		}, write("b.go")...), replaced: map[int]int{0: 1, 1: 1}},
		"one id, and the write failed": {history: join(a, []sdk.Content{
			merge(call("1", "read_file", `{"file_path":"b.go"}`), call("1", "write_file", `{"file_path":"a.go"}`)),
			merge(answer("1", "read_file", "BBB"), sdk.Content{Blocks: []sdk.Block{
				sdk.ToolResponse{CallID: "1", ToolName: "write_file", Error: "read-only file system"}}}),
		})},
		"one id, answers without names": {history: join(a, []sdk.Content{
			merge(call("1", "read_file", `{"file_path":"b.go"}`), call("1", "write_file", `{"file_path":"a.go"}`)),
			merge(answer("1", "", "BBB"), sdk.Content{Blocks: []sdk.Block{sdk.ToolResponse{CallID: "1",
				Error: "denied"}}}),
		})},
		"an id that comes again": {history: join(exchange("1", "read_file", "a.go"),
			exchange("2", "write_file", "a.go"),
			exchange("1", "read_file", "b.go")),
			removals: []int{0, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, test.history, sdktest.Config{
				Density: &sdk.DensityConfig{ReadWritePruning: true, PartialWrites: test.partial},
			})
			if d := cmp.Diff(test.removals, got.Removals); d != "" {
				t.Errorf("removals (-want +got):\n%s", d)
			}
			var replaced map[int]int
			for i, e := range got.Replacements {
				if replaced == nil {
					replaced = map[int]int{}
				}
				replaced[i] = len(e.Blocks)
			}
			if d := cmp.Diff(test.replaced, replaced); d != "" {
				t.Errorf("blocks left in replaced entries (-want +got):\n%s", d)
			}
		})
	}
}

// A call of a known tool whose parameters name no file is skipped, and a line at debug says so (EC-016). The line holds
// nothing of the conversation.
func TestCallsThatNameNoFileAreLogged(t *testing.T) {
	var log bytes.Buffer
	skipped := []string{`"secret"`, `{}`, `{"file":"secret"}`, `{"file_path":7}`, `{"file_path":""}`, `null`, `[1]`, ``}
	var history []sdk.Content
	for i, params := range skipped {
		id := fmt.Sprint("c", i)
		history = append(history, call(id, "write_file", params), answer(id, "write_file", "done"))
	}
	history = append(history, call("p", "edit", `{"secret":1}`), answer("p", "edit", "done"))
	history = join(exchange("r", "read_file", "a.go"), history,
		[]sdk.Content{call("x", "unknown", `{}`), answer("x", "unknown", "done")}, exchange("g", "glob", "x"))
	var in sdk.OptimizeInput
	in.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	in.History, in.Tools, in.WorkspaceRoot = history, vectors.Tools(t), "/w"
	in.Density.ReadWritePruning = true
	got, err := Optimize(t.Context(), in)
	if err != nil || len(got.Removals)+len(got.Replacements) > 0 {
		t.Errorf("pruned %v %v, %v", got.Removals, got.Replacements, err)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != len(skipped) || !strings.Contains(lines[0], "level=DEBUG") ||
		!strings.Contains(lines[0], "tool=write_file call=c0 entry=2") || strings.Contains(log.String(), "secret") {
		t.Errorf("the log:\n%s", log.String())
	}
}

func TestRecencyPruning(t *testing.T) {
	results := func(tool string, texts ...string) []sdk.Content {
		var out []sdk.Content
		for i, text := range texts {
			id := fmt.Sprint(tool, i)
			out = append(out, call(id, tool, `{}`), answer(id, tool, text))
		}
		return out
	}
	noResult := results("grep", "1", "2")
	noResult[1].Blocks[0] = sdk.ToolResponse{CallID: "grep0", ToolName: "grep", Error: "broken"}
	ascii := results("grep", Pointer, "2")
	ascii[1].Blocks[0] = sdk.ToolResponse{CallID: "grep0", ToolName: "grep",
		Result: []byte(`"[Result pruned \u2014 re-run tool to retrieve]"`)}
	ascii = append(ascii[2:], ascii[:2]...)
	withoutID := results("grep", "1", "2")
	withoutID[1].Blocks[0] = sdk.ToolResponse{ToolName: "grep"}.WithResultText("1")
	tests := map[string]struct {
		history   []sdk.Content
		retention int
		want      []string // the results afterwards
	}{
		"the newest stay": {results("grep", "1", "2", "3"), 2, []string{Pointer, "2", "3"}},
		"each tool has its own": {join(results("grep", "1", "2"), results("ls", "3")), 1,
			[]string{Pointer, "2", "3"}},
		"none counts as one":             {results("grep", "1", "2"), 0, []string{Pointer, "2"}},
		"fewer than that too":            {results("grep", "1", "2"), -3, []string{Pointer, "2"}},
		"pointers do not count":          {results("grep", "1", Pointer, "3"), 2, []string{"1", Pointer, "3"}},
		"pointers in ASCII do not count": {ascii, 1, []string{"2", Pointer}},
		"without an id, none is one":     {withoutID, 1, []string{"1", "2"}},
		"blocks count, not entries": {[]sdk.Content{merge(results("grep", "1")[0], results("ls", "x")[0]),
			merge(results("grep", "1")[1], results("ls", "x")[1]), results("ls", "y")[0], results("ls",
				"y")[1]}, 1, []string{"1", Pointer, "y"}},
		"a result that was none": {noResult, 1, []string{Pointer, "2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, test.history, sdktest.Config{
				Density: &sdk.DensityConfig{RecencyPruning: true, RecencyRetention: test.retention},
			})
			var results []string
			for i, e := range got.History {
				for j, b := range e.Blocks {
					r, ok := b.(sdk.ToolResponse)
					if !ok {
						continue
					}
					results = append(results, r.ResultText())
					if was := test.history[i].Blocks[j].(sdk.ToolResponse); was.Error != r.Error ||
						was.CallID != r.CallID {
						t.Errorf("more than the result changed: %v became %v", was, r)
					}
				}
			}
			if d := cmp.Diff(test.want, results); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Each phase says for each entry which rule took something out of it, and which entry made that dispensable.
func TestReasons(t *testing.T) {
	included := func(text string) sdk.Content {
		return sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: text}}}
	}
	const file, other = "--- a.go ---\nx\n--- End of content ---\n", "--- b.go ---\nx\n--- End of content ---\n"
	many := join(
		[]sdk.Content{call("m", "read_many_files", `{"paths":["a.go","b.go"]}`),
			answer("m", "read_many_files", "contents")},
		exchange("1", "write_file", "a.go"), exchange("2", "write_file", "b.go"),
	)
	old := join(exchange("1", "glob", "1"), exchange("2", "glob", "2"), exchange("3", "glob", "3"),
		exchange("4", "glob", "4"))
	read := exchange("r", "read_file", "a.go")
	var denied []sdk.Content
	for _, id := range []string{"5", "6", "7"} {
		denied = append(denied, exchange(id, "write_file", "a.go")[0], answer(id, "write_file", "It is mounted read-only."))
		r := denied[len(denied)-1].Blocks[0].(sdk.ToolResponse)
		r.Error = "denied"
		denied[len(denied)-1].Blocks[0] = r
	}
	tests := map[string]struct {
		history []sdk.Content
		rule    string
		want    map[int]int // entry → by which it was superseded
	}{
		"a read of files that were written": {many, "stale-read", map[int]int{0: 4, 1: 4}},
		"an inclusion of a file, included again": {[]sdk.Content{included(file), included("q"), included(file)},
			"duplicate-inclusion", map[int]int{0: 2}},
		"an inclusion twice in one message": {[]sdk.Content{included(file + file)}, "duplicate-inclusion",
			map[int]int{0: 0}},
		"two inclusions of one message: that of the first": {[]sdk.Content{included(file + other), included(other),
			included(file)}, "duplicate-inclusion", map[int]int{0: 2}},
		"the files in another order": {join(many[:2], many[4:], many[2:4]), "stale-read", map[int]int{0: 4, 1: 4}},
		"answers in another order": {append(append(many[:2:2], many[4], exchange("3", "replace", "a.go")[0], many[2]),
			many[3], exchange("3", "replace", "a.go")[1], many[5]), "stale-read", map[int]int{0: 4, 1: 4}},
		"of two rules, that of the first block": {join([]sdk.Content{merge(read[0], old[0]), merge(read[1], old[1])},
			exchange("w", "write_file", "a.go"), old[2:6]), "stale-read", map[int]int{0: 2, 1: 2}},
		"a write that failed and says so apart": {denied, "old-result", map[int]int{1: 5}},
		"results beyond the newest two":         {old, "old-result", map[int]int{1: 5, 3: 7}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, test.history,
				sdktest.Config{Tools: vectors.Tools(t), Density: &sdk.DensityConfig{
					ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: 2,
				}})
			want := map[int]sdk.Reason{}
			for i, by := range test.want {
				want[i] = sdk.Reason{Rule: test.rule, SupersededBy: &by}
			}
			if d := cmp.Diff(want, got.Reasons); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Later phases work on what earlier ones left: the only result of a tool that is left is its newest.
func TestPhasesSeeEachOther(t *testing.T) {
	b, a := exchange("1", "read_file", "b.go"), exchange("2", "read_file", "a.go")
	write := exchange("3", "replace", "a.go")
	for name, test := range map[string]struct {
		history  []sdk.Content
		removals []int
		by       int // the entry that writes
	}{
		"read, then written":       {join(b, a, write), []int{2, 3}, 4},
		"written while it is read": {join(b, a[:1], write, a[1:]), []int{2, 5}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, test.history, sdktest.Config{
				Density: &sdk.DensityConfig{ReadWritePruning: true, RecencyPruning: true, RecencyRetention: 1},
			})
			want := sdk.DensityResult{Removals: test.removals, Replacements: map[int]sdk.Content{},
				Reasons: map[int]sdk.Reason{}, Metadata: sdk.DensityMetadata{ReadWritePairsPruned: 1}}
			for _, i := range test.removals {
				want.Reasons[i] = sdk.Reason{Rule: "stale-read", SupersededBy: new(test.by)}
			}
			if d := cmp.Diff(want, got.DensityResult, cmp.Comparer(sdk.Content.Equal)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
