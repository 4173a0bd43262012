package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// These tests hold the forms that scripts rely on. What is compared here must not change.

// pruning is a session in which a write makes an earlier read stale, with an inclusion that comes twice.
const pruning = `[
{"speaker":"human","blocks":[{"type":"text","text":"look:\n--- a.ts ---\none\n--- End of content ---\nthanks"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"reading"},{"type":"tool_call","id":"1","name":"read_file","parameters":{"file_path":"b.ts"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"read_file","result":"content of b.ts"}]},
{"speaker":"ai","blocks":[{"type":"tool_call","id":"2","name":"write_file","parameters":{"file_path":"/w/b.ts","content":"n"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"2","toolName":"write_file","result":"ok"}]},
{"speaker":"human","blocks":[{"type":"text","text":"--- a.ts ---\ntwo\n--- End of content ---"}]}
]
`

// object is any JSON object.
type object = map[string]any

func parseJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

func TestOptimizePrintsTheDensityResult(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	got := decode[any](t, p.run("plugins", "try", "--step=optimize", "--strategy", "high-density", "--set", "workspace.root=/w",
		"--set", "compression.density.toolPresets=llxprt", "s.json"))
	want := parseJSON[any](t, `{
		"removals": [2],
		"replacements": {
			"0": {"speaker":"human","blocks":[{"type":"text","text":"look:\n[Earlier inclusion of a.ts removed — included again later]\nthanks"}]},
			"1": {"speaker":"ai","blocks":[{"type":"text","text":"reading"}]}
		},
		"metadata": {"readWritePairsPruned":1,"fileDeduplicationsPruned":1,"recencyPruned":0}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	applied := decode[struct{ History []object }](t,
		p.run("plugins", "try", "--step=optimize", "--apply", "--strategy", "high-density", "--set",
			"workspace.root=/w", "s.json"))
	if len(applied.History) != 5 {
		t.Errorf("--apply printed %d entries", len(applied.History))
	}
	p.file("smaller.json", p.run("plugins", "try", "--step=optimize", "--apply", "--strategy", "high-density", "--set",
		"workspace.root=/w", "s.json").stdout)
	again := p.run("plugins", "try", "--step=optimize", "--strategy", "high-density", "--set", "workspace.root=/w", "smaller.json").done(t)
	const nothing = `{"removals":[],"replacements":{},` +
		`"metadata":{"readWritePairsPruned":0,"fileDeduplicationsPruned":0,"recencyPruned":0}}` + "\n"
	if again.stdout != nothing {
		t.Errorf("the second time: %s", again.stdout)
	}
}

func TestOptimizeReadsStandardInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("plugins", "try", "--step=optimize", "--strategy", "high-density", "--set", "workspace.root=/w", "-")
	cmd.Stdin = strings.NewReader(pruning)
	if got := decode[object](t, p.finish(cmd)); cmp.Diff([]any{2.0}, got["removals"]) != "" {
		t.Errorf("got %v", got)
	}
}

// turns is a session of n questions and long answers.
func turns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"speaker":"human","blocks":[{"type":"text","text":"question %d"}]}`+"\n", i)
		fmt.Fprintf(&b, `{"speaker":"ai","blocks":[{"type":"text","text":"%s %d"}]}`+"\n",
			strings.Repeat("a long answer, ", 100), i)
	}
	return b.String()
}

func TestCompressPrintsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.jsonl", turns(60))
	args := []string{"plugins", "try", "--strategy", "top-down-truncation", "--set", "compression.threshold=0.5", "s.jsonl",
		"--set"}

	got := decode[struct {
		Kind                      string
		Reason                    *string
		History                   []object
		Metadata                  object
		TokensBefore, TokensAfter int
	}](t, p.run(append(args, "model.contextLimit=20000")...))
	if got.Kind != "applied" || got.Reason != nil || got.TokensAfter >= 6000 || got.TokensBefore <= 20000 {
		t.Errorf("kind %q, reason %v, %d tokens to %d", got.Kind, got.Reason, got.TokensBefore, got.TokensAfter)
	}
	want := object{"originalMessageCount": 120.0, "compressedMessageCount": float64(len(got.History)),
		"strategyUsed": "top-down-truncation",
		"llmCallMade":  false}
	for key, value := range want {
		if got.Metadata[key] != value {
			t.Errorf("metadata.%s = %v, want %v", key, got.Metadata[key], value)
		}
	}
	all := parseJSON[[]object](t, "["+strings.Join(strings.Split(strings.TrimSpace(turns(60)), "\n"), ",")+"]")
	if diff := cmp.Diff(all[len(all)-len(got.History):], got.History); diff != "" {
		t.Errorf("not a suffix of the history:\n%s", diff)
	}

	noop := decode[object](t, p.run(append(args, "model.contextLimit=2000000")...))
	if noop["kind"] != "noop" || noop["reason"] != "already-under-target" ||
		noop["tokensAfter"] != noop["tokensBefore"] {
		t.Errorf("kind %v, reason %v, %v tokens to %v", noop["kind"], noop["reason"], noop["tokensBefore"],
			noop["tokensAfter"])
	}
	if diff := cmp.Diff(any(len(all)), any(len(noop["history"].([]any)))); diff != "" {
		t.Errorf("entries of a no-op:\n%s", diff)
	}
}

func TestTokensPrintsCountsByEntryToolAndFile(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	got := decode[struct {
		Encoding string
		Exact    bool
		Total    int
		Entries  []struct {
			Index   int
			Speaker string
			Tokens  int
		}
		Tools, Files []struct {
			Name          string
			Calls, Tokens int
		}
	}](t, p.run("tokens", "-o", "json", "--set", "model.name=gpt-4o", "s.json"))
	sum := 0
	for i, e := range got.Entries {
		sum += e.Tokens
		if e.Index != i || e.Tokens <= 0 || e.Speaker == "" {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if got.Encoding != "r50k_base" || !got.Exact || len(got.Entries) != 6 || got.Total != sum || sum == 0 {
		t.Errorf("encoding %s (exact: %v), %d entries, total %d, sum %d", got.Encoding, got.Exact, len(got.Entries),
			got.Total, sum)
	}
	names := map[string]int{}
	for _, s := range append(got.Tools, got.Files...) {
		names[s.Name] = s.Calls
	}
	if diff := cmp.Diff(map[string]int{"read_file": 1, "write_file": 1, "b.ts": 1, "/w/b.ts": 1}, names); diff != "" {
		t.Errorf("calls by tool and file:\n%s", diff)
	}
}

func TestTokensKnowsToolsFromTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json",
		`[{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"peek","parameters":{"where":"b.ts"}}]},
		{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"peek","result":"x"}]}]`)
	got := decode[object](t, p.run("tokens", "-o", "json", "s.json",
		"--set", `compression.density.tools=[{"names":["peek"],"class":"read","paths":["where"]}]`))
	if files := got["files"].([]any); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
}

func TestConvertToNativeIsExact(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	const odd = `{"history":[
{"speaker":"human","blocks":[{"type":"text","text":"x","mine":1.50}],"metadata":{"b":1e3,"a":"\u00e9"},"own":[1, 2]},
{"speaker":"ai","blocks":[{"type":"hologram","z":12345678901234567890}]}
],"title":"kept"}`
	p.file("s.json", odd)
	first := p.run("sessions", "convert", "--to", "native", "s.json").done(t).stdout
	for _, part := range []string{`"mine":1.50`, `"metadata":{"b":1e3,"a":"\u00e9"}`, `"own":[1, 2]`,
		`"z":12345678901234567890`, `"title":"kept"`} {
		if !strings.Contains(first, part) {
			t.Errorf("no %s in %s", part, first)
		}
	}
	p.file("again.json", first)
	if second := p.run("sessions", "convert", "--to", "native", "again.json").done(t).stdout; second != first {
		t.Errorf("the second time:\n%s", cmp.Diff(first, second))
	}
}

func TestConvertWritesWhatProvidersTake(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	for _, format := range []string{"openai", "anthropic"} {
		out := p.run("sessions", "convert", "--to", format, "s.json").done(t).stdout
		p.file(format+".json", out)
		back := decode[struct{ History []object }](t, p.run("sessions", "convert", "--to", "native", format+".json"))
		if len(back.History) != 6 {
			t.Errorf("%s: %d entries come back of %s", format, len(back.History), out)
		}
	}
}

func TestPluginsListSaysWhereEachIsFrom(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.install("high-density")
	file := p.pluginFile("high-density")
	got := decode[[]object](t, p.run("plugins", "list", "-o", "json"))
	if len(got) != 1+len(binaries.Shipped) {
		t.Fatalf("found %v", got)
	}
	for key, want := range map[string]any{"name": "high-density", "trigger": "continuous", "defaultThreshold": 0.85,
		"requiresLLM": false, "state": "ready", "path": file, "sha256": sum(t, file), "builtIn": nil} {
		if got[0][key] != want {
			t.Errorf("%s of the file is %v, want %v", key, got[0][key], want)
		}
	}
	for i, name := range binaries.Shipped {
		l, state := got[1+i], "ready"
		if name == "high-density" {
			state = "shadowed"
		}
		if l["name"] != name || l["state"] != state || l["builtIn"] != true || l["sha256"] != nil {
			t.Errorf("%s is listed as %v", name, l)
		}
	}
	table := p.run("plugins", "list").done(t).stdout
	for _, want := range []string{"thresh-strategy-high-density\n", "built in\n",
		"\nhigh-density, built in: hidden by " + file + "\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}
}

func TestConfigExplainSaysWhereAValueCameFrom(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("thresh.yaml", "model:\n  contextLimit: 1234\n")
	r := p.run("config", "explain", "model.contextLimit", "compression.threshold", "--set",
		"compression.threshold=0.4").done(t)
	for _, want := range []string{"model.contextLimit = 1234", "thresh.yaml:2", "compression.threshold = 0.4",
		"--set"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	all := decode[[]object](t, p.run("config", "explain", "-o", "json"))
	if len(all) < 20 {
		t.Errorf("%d settings", len(all))
	}
}

// vector is one case of shared/vectors/optimize.jsonl.
type vector struct {
	ID      string
	History json.RawMessage
	Config  struct {
		ReadWritePruning, FileDedupe, RecencyPruning bool
		RecencyRetention                             float64
		WorkspaceRoot                                string
	}
	Expected any
}

// TestOptimizeVectorsThroughTheCommandLine takes two cases: all go through one host, in package engine.
func TestOptimizeVectorsThroughTheCommandLine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repo.Shared(t, "vectors", "optimize.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlaceHere(t)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text))
	for n := 0; lines.Scan(); n++ {
		if n%75 != 0 {
			continue
		}
		v := parseJSON[vector](t, lines.Text())
		t.Run(v.ID, func(t *testing.T) {
			p.file("v.json", string(v.History))
			args := []string{"plugins", "try", "--step=optimize", "--strategy", "high-density", "--set",
				"compression.density.toolPresets=llxprt", "v.json"}
			for key, value := range map[string]any{
				"workspace.root":                       v.Config.WorkspaceRoot,
				"compression.density.readWritePruning": v.Config.ReadWritePruning,
				"compression.density.fileDedupe":       v.Config.FileDedupe,
				"compression.density.recencyPruning":   v.Config.RecencyPruning,
				"compression.density.recencyRetention": v.Config.RecencyRetention,
			} {
				args = append(args, "--set", fmt.Sprintf("%s=%v", key, value))
			}
			if diff := cmp.Diff(v.Expected, decode[any](t, p.run(args...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
