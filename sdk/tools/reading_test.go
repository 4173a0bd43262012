package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// The forms are those of the agents' own programs.
func TestHowMuchOfAFileAResultShows(t *testing.T) {
	const lines = "     1\tpackage a\n     2\tfunc b() {}\n"
	for name, tt := range map[string]struct {
		result string
		want   tools.Reading
	}{
		"Claude Code: lines":    {lines, tools.ReadWhole},
		"Claude Code: one line": {"     1\tpackage a", tools.ReadWhole},
		"Claude Code: unchanged": {
			"File unchanged since last read. The content from the earlier Read is still current.",
			tools.ReadNothing,
		},
		"Claude Code: wasted": {"Wasted call — file unchanged since your last Read.", tools.ReadNothing},
		"Claude Code: empty file": {
			"<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>",
			tools.ReadNothing,
		},
		"Claude Code: behind the end": {
			"<system-reminder>Warning: the file exists but is shorter than the provided offset (9). " +
				"</system-reminder>",
			tools.ReadNothing,
		},
		"Claude Code: cleared":   {"[Old tool result content cleared]", tools.ReadNothing},
		"Claude Code: not there": {"File does not exist.", tools.ReadNothing},
		"Claude Code: not there, more": {
			"File does not exist. Note: the directory is /r.\nDid you mean a.md?",
			tools.ReadNothing,
		},
		"Claude Code: partial": {
			"<system-reminder>[Truncated: PARTIAL view — showing lines 1-2 of 9 " +
				"total]</system-reminder>\n\n" + lines,
			tools.ReadPart,
		},
		"Claude Code: persisted": {"<persisted-output>\nOutput too large\n</persisted-output>", tools.ReadPart},
		"qwen-code: unchanged": {
			"[File a.md unchanged since last read in this session — the full content was provided earlier " +
				"in this one.]",
			tools.ReadNothing,
		},
		"gemini-cli: not there": {
			"Could not read file because no file was found at the specified path.",
			tools.ReadNothing,
		},
		"gemini-cli: cut": {
			"The file content has been truncated.\nStatus: Showing lines 1-2 of 9 total lines.\n" + lines,
			tools.ReadPart,
		},
		"pi: lines": {"package a\n\nfunc b() {}", tools.ReadWhole},
		"pi: cut": {
			"package a\nfunc b() {}\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]",
			tools.ReadPart,
		},
		"pi: more": {
			"package a\nfunc b() {}\n\n[7 more lines in file. Use offset=3 to continue.]",
			tools.ReadPart,
		},
		"opencode: cut": {
			"<file>\n00001| a\n\n(File has more lines. Use 'offset' parameter to read beyond line 2)\n</file>",
			tools.ReadPart,
		},
		"Codex: cut in its middle": {
			"a\n" + strings.Repeat("line\n", 4000) + "…1234 tokens truncated…\n" + strings.Repeat("line\n", 4000),
			tools.ReadPart,
		},
		"SWE-agent: a window": {
			"[File: /r/a.py (372 lines total)]\n(272 more lines above)\n273: x\n(9 more lines below)",
			tools.ReadPart,
		},
		"OpenHands: cut":               {"a\nb\n<response clipped><NOTE>x</NOTE>", tools.ReadPart},
		"thresh: pruned":               {tools.Pruned, tools.ReadNothing},
		"nothing":                      {"", tools.ReadNothing},
		"blanks":                       {" \n\n", tools.ReadNothing},
		"a sentence that nobody knows": {"The file is as it was when you saw it.", tools.ReadLine},
		"a file of one line":           {"v1.2.3\n", tools.ReadLine},
		"JSON that says it is empty":   {"{\"message\": \"File not found\",\n \"of\": \"our API\"}", tools.ReadWhole},
		"a long file that begins so": {
			"Error: what it means\n" + strings.Repeat("a line\n", 2000),
			tools.ReadWhole,
		},
	} {
		t.Run(name, func(t *testing.T) {
			blocks, err := json.Marshal([]map[string]string{{"type": "text", "text": tt.result}})
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range []json.RawMessage{content.String(tt.result), blocks} {
				if got := tools.ReadingOf(content.ToolResponse{Result: result}); got != tt.want {
					t.Errorf("%d, want %d: %.80s", got, tt.want, result)
				}
			}
		})
	}
	picture := content.ToolResponse{Result: json.RawMessage(`[{"type":"image","source":{"data":"aGk="}}]`)}
	if got := tools.ReadingOf(picture); got != tools.ReadPart {
		t.Errorf("a picture: %d", got)
	}
	if got := tools.ReadingOf(content.ToolResponse{}); got != tools.ReadNothing {
		t.Errorf("no result: %d", got)
	}
}
