package pricing_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

func load(t *testing.T, text string) (*pricing.Catalog, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := pricing.Load(file)
	if err != nil { // the directory is another in each run
		err = errors.New(strings.ReplaceAll(err.Error(), filepath.Dir(file)+string(filepath.Separator), ""))
	}
	return c, err
}

func shipped(t *testing.T) *pricing.Catalog {
	t.Helper()
	c, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheListOfAModel(t *testing.T) {
	c := shipped(t)
	for model, want := range map[string]string{
		"claude-opus-4-5-20251101":                        "anthropic-opus-4-5",
		"claude-opus-5":                                   "anthropic-opus",
		"claude-opus-5-5":                                 "anthropic-opus-5.5",
		"claude-opus-5[1m]":                               "anthropic-opus",
		"claude-opus-5-7":                                 "", // "claude-opus-5*" is not for what comes after it
		"claude-opus-5.7-20270101":                        "",
		"claude-fable-5":                                  "anthropic-fable-5",
		"claude-fable-5-2":                                "anthropic-fable-5.2",
		"claude-mythos-5-1":                               "anthropic-mythos-5.1",
		"claude-mythos-5-2":                               "", // unknown
		"claude-sonnet-4-5-20250929":                      "anthropic-sonnet-4-5",
		"claude-sonnet-4-6":                               "anthropic-sonnet",
		"Claude-Sonnet-4":                                 "anthropic-sonnet-4-0",
		"claude-sonnet-5":                                 "anthropic-sonnet-5",
		"anthropic/claude-sonnet-5.5":                     "anthropic-sonnet-5.5",
		"bedrock/us.anthropic.claude-sonnet-4-5-v1:0":     "anthropic-sonnet-4-5",
		"global.anthropic.claude-haiku-4-5-20251001-v1:0": "anthropic-haiku",
		"vertex_ai/claude-haiku-4-5@20251001":             "anthropic-haiku",
		"claude-opus-4-1":                                 "anthropic-opus-4-1", // three times what its successors cost
		"gpt-5":                                           "openai-gpt-5",
		"gpt-5-2025-08-07":                                "openai-gpt-5",
		"gpt-5.1-codex-max":                               "openai-gpt-5.1",
		"gpt-5-mini-2025-08-07":                           "openai-gpt-5-mini",
		"gpt-5-nano":                                      "openai-gpt-5-nano",
		"gpt-6-luna":                                      "openai-gpt-6-luna",
		"gpt-6.1-terra":                                   "openai-gpt-6.1-terra",
		"openai/gpt-6.2-astra-20261117":                   "openai-gpt-6.2-astra",
		"gpt-6":                                           "",
		"gpt-5.2":                                         "openai-gpt-5.2",
		"openrouter/openai/gpt-4.1-mini":                  "openai-gpt-4.1-mini",
		"gpt-4.1-2025-04-14":                              "openai-gpt-4.1",
		"gpt-4o-mini":                                     "openai-gpt-4o-mini",
		"gpt-4o-2024-11-20":                               "openai-gpt-4o",
		"o3":                                              "openai-o3",
		"models/gemini-2.5-pro":                           "gemini-2.5-pro",
		"gemini-2.5-flash-lite":                           "gemini-2.5-flash-lite",
		"gemini-4-argon":                                  "",
		"x-ai/grok-4.5":                                   "grok-4.5",
		"deepseek-chat":                                   "deepseek",
		"":                                                "",
		"llama-4":                                         "",
		strings.Repeat("a", 1<<20):                        "",
	} {
		got := ""
		if l := c.ForModel(model); l != nil {
			got = l.Name
		}
		if got != want {
			t.Errorf("%.60s: %q, want %q", model, got, want)
		}
	}
}

func TestTheListsThatShip(t *testing.T) {
	for _, l := range shipped(t).Lists() {
		if _, err := time.Parse(time.DateOnly, l.AsOf); err != nil || l.Source == "" ||
			!strings.HasPrefix(l.Source, "https://") && l.Name != "no-cache" {
			t.Errorf("%s: as of %q, from %q", l.Name, l.AsOf, l.Source)
		}
		if l.CacheRead > 0 && (l.Read() >= l.Input || l.CacheTTL == 0 || l.CacheMinimum == 0) {
			t.Errorf("%s: a cache like no other: %+v", l.Name, l)
		}
		if l.Output < l.Input || l.Input <= 0 {
			t.Errorf("%s: input %g, output %g", l.Name, l.Input, l.Output)
		}
		if bound, dear := l.Dear(); bound > 0 && (dear.Input < l.Input || dear.Output < l.Output) {
			t.Errorf("%s: over %d tokens cheaper: %+v", l.Name, bound, dear)
		}
	}
}

const own = `lists:
  - {name: anthropic-sonnet, models: ["claude-sonnet-4*"], input: 1, output: 2, asOf: "2026-01-01", source: our contract}
  - {name: tariffs, models: ["mine*"], input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2, output: 5, fast: 2,
     over: [{tokens: 1000, input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWriteHour: 4, output: 7.5}],
     from: [{day: 2026-02-01, input: 0.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteHour: 1, output: 3}],
     cacheTTL: 5m, asOf: "2026-01-01", source: here}
  - {name: local, models: ["qwen*"], input: 0, output: 0, asOf: "2026-01-01", source: our own machine}
`

func TestOnesOwnListsWin(t *testing.T) {
	c, err := load(t, own)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := c.Named("anthropic-sonnet"); err != nil || l.Input != 1 || l.Source != "our contract" {
		t.Errorf("%+v, %v", l, err)
	}
	if l := c.ForModel("ollama/qwen3:8b"); l == nil || l.Name != "local" {
		t.Errorf("%+v", l)
	}
	if got, want := len(c.Lists()), len(shipped(t).Lists())+3; got != want {
		t.Errorf("%d lists, want %d", got, want)
	}
}

func TestTheSettingChoosesTheList(t *testing.T) {
	c := shipped(t)
	for _, test := range []struct{ setting, model, want string }{
		{"auto", "claude-sonnet-5", "anthropic-sonnet-5"},
		{"", "claude-sonnet-5", "anthropic-sonnet-5"},
		{"auto", "", ""},
		{"auto", "gpt-7", ""},
		{"auto-1h", "claude-sonnet-5", "anthropic-sonnet-5-1h"},
		{"auto-1h", "gpt-5", "openai-gpt-5"},
		{"none", "claude-sonnet-5", ""},
		{"openai-gpt-5", "claude-sonnet-5", "openai-gpt-5"},
	} {
		l, err := c.Choose(test.setting, test.model)
		if got := name(l); err != nil || got != test.want {
			t.Errorf("%q for %q: %q, %v; want %q", test.setting, test.model, got, err, test.want)
		}
	}
	if l, err := c.Choose("typo", "claude-sonnet-5"); l != nil || !errors.Is(err, pricing.ErrUnknown) {
		t.Errorf("an unknown name: %v, %v", l, err)
	}
}

func name(l *pricing.List) string {
	if l == nil {
		return ""
	}
	return l.Name
}

func TestAMisspeltNameIsGuessed(t *testing.T) {
	c := shipped(t)
	for name, near := range map[string]string{
		"anthropic-sonet": "did you mean anthropic-sonnet?", "DeepSeek": "did you mean deepseek?",
		"openai": "did you mean openai-gpt-5.5?",
		"xyz":    "'thresh config prices' lists", strings.Repeat("a", 1<<20): "'thresh config prices' lists",
	} {
		_, err := c.Named(name)
		if !errors.Is(err, pricing.ErrUnknown) || !strings.Contains(err.Error(), near) || len(err.Error()) > 300 {
			t.Errorf("%.60s: %.400v", name, err)
		}
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, text := range map[string]string{"shipped": "", "own": own} {
		c := shipped(t)
		if text != "" {
			var err error
			if c, err = load(t, text); err != nil {
				t.Fatal(err)
			}
		}
		out, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := load(t, string(out))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.Lists(), again.Lists()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWhatIsWrongWithAFile(t *testing.T) {
	list := func(changes string) string {
		return "lists:\n  - name: mine\n    input: 1\n    output: 2\n    asOf: \"2026-01-01\"\n    source: here\n" +
			changes
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", `own.yaml:1: is empty; want "lists:" with at least one list`},
		"no table":      {"- 1", `own.yaml:1: want a table with "lists:"`},
		"no lists":      {"{}", `own.yaml:1: has no "lists:"`},
		"lists is none": {"lists: 3", `own.yaml:1: lists: want a list of at least one price list`},
		"not YAML":      {"lists:\n  - name: [", "own.yaml:2: is not YAML: did not find expected node content"},
		"two documents": {list("---\nlists: []\n"), "own.yaml:7: another YAML document follows the first; want one"},
		"a list is none": {"lists: [3]",
			`own.yaml:1: "3": want a price list, a table with name, input, output, asOf and source`},
		"an unknown key": {list("    inptu: 3\n"),
			`own.yaml:7: price list "mine": "inptu" is not known; want name, models, input, cacheRead, cacheWrite, ` +
				`cacheWriteHour, output, over, from, fast, cacheTTL, cacheMinimum, asOf, source or note`},
		"a key twice":  {list("    input: 3\n"), `own.yaml:7: price list "mine": "input" is already on line 3`},
		"a key on top": {list("prices: 3\n"), `own.yaml:7: "prices" is not known; want lists`},
		"a name twice": {list("  - {name: mine, input: 1, output: 2, asOf: 2026-01-01, source: x}\n"),
			`own.yaml:7: price list "mine": the list on line 2 has the same name`},
		"less than none": {list("    cacheRead: -0.1\n"),
			`own.yaml:7: price list "mine": cacheRead: "-0.1": want a price in USD per million tokens, 0 or more`},
		"not a number": {list("    cacheRead: .nan\n"),
			`own.yaml:7: price list "mine": cacheRead: ".nan": want a price in USD per million tokens, 0 or more`},
		"an odd NaN": {list("    cacheRead: NaN\n"),
			`own.yaml:7: price list "mine": cacheRead: "NaN": want a price in USD per million tokens, 0 or more`},
		"a price in text": {list("    cacheRead: \"0.1\"\n"),
			`own.yaml:7: price list "mine": cacheRead: "0.1": want a price in USD per million tokens, 0 or more`},
		"a dear cache": {list("    cacheRead: 3\n"),
			`own.yaml:7: price list "mine": cacheRead is 3, more than input, which is 1`},
		"a useless cache": {list("    cacheWrite: 3\n"),
			`own.yaml:7: price list "mine": cacheWrite without cacheRead: a cache that is never read`},
		"a TTL": {list("    cacheTTL: 5 minutes\n"),
			`own.yaml:7: price list "mine": cacheTTL: "5 minutes": want a duration of 0 or more, such as 5m or 1h`},
		"a minimum": {list("    cacheMinimum: 1.5\n"),
			`own.yaml:7: price list "mine": cacheMinimum: "1.5": want a whole number of tokens, 0 or more`},
		"models": {list("    models: gpt-5\n"),
			`own.yaml:7: price list "mine": models: "gpt-5": want a list of model names, such as ["gpt-5*"]`},
		"a pattern": {list("    models: [\"[\"]\n"),
			`own.yaml:7: price list "mine": models: "[": want a model's name without its provider; * stands for ` +
				`any characters`},
		"an alias": {list("    note: &a x\n    models: *a\n"),
			`own.yaml:8: price list "mine": models: an alias: want a list of model names, such as ["gpt-5*"]`},
		"a name of ours": {"lists: [{name: auto, input: 1, output: 1, asOf: 2026-01-01, source: x}]",
			`own.yaml:1: price list "auto": name: "auto" is reserved in the setting model.priceList; want ` +
				`another name`},
		"long prompts, no list": {list("    over: 3\n"),
			`own.yaml:7: price list "mine": over: "3": want a list of tables with tokens, input and output`},
		"long prompts, no price": {list("    over: [{tokens: 9, input: 1}]\n"),
			`own.yaml:7: price list "mine": output is missing`},
		"long prompts, an unknown key": {list("    over: [{tokens: 9, input: 1, output: 1, cache: 1}]\n"),
			`own.yaml:7: price list "mine": "cache" is not known here; want tokens, input, cacheRead, cacheWrite, ` +
				`cacheWriteHour or output`},
		"long prompts, not rising": {list("    over: [{tokens: 9, input: 1, output: 1}, {tokens: 9, input: 1, output: 1}]\n"),
			`own.yaml:7: price list "mine": over: 9 tokens do not follow 9: want rising bounds`},
		"days, the later first": {list("    from:\n    - {day: 2026-02-01, input: 1, output: 1}\n" +
			"    - {day: 2026-01-01, input: 1, output: 1}\n"),
			`own.yaml:9: price list "mine": from: 2026-01-01 does not follow 2026-02-01: want the earliest first`},
		"a day": {list("    from: [{day: soon, input: 1, output: 1}]\n"),
			`own.yaml:7: price list "mine": day: "soon": want the first day of these prices, such as 2026-11-20`},
		"slower": {list("    fast: 0.5\n"),
			`own.yaml:7: price list "mine": fast: "0.5": want how many times as much it costs, 1 or more`},
		"an hour, nothing shorter": {list("    cacheRead: 0.1\n    cacheWriteHour: 2\n"), `own.yaml:8: price list "mine": ` +
			`cacheWriteHour without cacheWrite: what does a shorter cache cost to write?`},
		"an hour, not of long prompts": {list("    cacheRead: 0.1\n    cacheWrite: 1\n    cacheWriteHour: 2\n" +
			"    over: [{tokens: 9, input: 1, output: 1}]\n"),
			`own.yaml:2: price list "mine": cacheWriteHour: want it in over and from too, or nowhere`},
		"a date": {"lists: [{name: a, input: 1, output: 1, asOf: yesterday, source: x}]",
			`own.yaml:1: price list "a": asOf: "yesterday": want the day on which the prices were looked up, such ` +
				`as 2026-11-20`},
		"nothing in it": {"lists:\n  - {}", "own.yaml:2: name is missing\nown.yaml:2: input is missing\nown.yaml:2: " +
			"output is missing\n" +
			"own.yaml:2: asOf is missing\nown.yaml:2: source is missing"},
	} {
		_, err := load(t, c.text)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, bytes.Repeat([]byte("# "), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{dir: "it is a directory", large: "larger than",
		filepath.Join(dir, "none"): "no such file"} {
		if _, err := pricing.Load(file); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Count(err.Error(), file) != 1 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A file of a million lists is judged in no more than the time it takes to read it, and its errors can be read.
func TestManyProblemsAreOneScreen(t *testing.T) {
	_, err := load(t, "lists:\n"+strings.Repeat(" - {}\n", 100_000))
	if err == nil || strings.Count(err.Error(), "\n") != 20 ||
		!strings.Contains(err.Error(), "and 499980 more problems") {
		t.Errorf("%.300v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(own)
	f.Add("lists: [{name: &a x, <<: *a}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := load(t, text)
		if err != nil {
			return
		}
		out, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := load(t, string(out)); err != nil {
			t.Fatalf("what was read is not written so that it can be read: %v\n%s", err, out)
		}
	})
}
