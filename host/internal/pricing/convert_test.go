package pricing

import (
	"os"
	"strings"
	"testing"
)

// A small catalogue makes these rows, which the form of a list reads again.
func TestACatalogueIsConverted(t *testing.T) {
	c := Catalogue{Commit: "abc", Day: "2026-08-21", License: []byte("A licence\n\nin two lines\n"), Data: []byte(`[
	{"id":"anthropic","pricing_urls":["https://example.com/a#api"],"models":[
	 {"id":"claude-song-9","match":{"or":[{"starts_with":"claude-song-9"},{"equals":"claude-9-song"}]},"context_window":1000000,
	  "prices":[{"prices":{"input_mtok":{"base":3,"tiers":[{"start":200000,"price":6}]},"cache_write_mtok":3.75,
	   "cache_read_mtok":0.3,"output_mtok":15,"cache_write_1h_mtok":6,"web_searches_kcount":10}},
	   {"constraint":{"start_date":"2026-03-13"},"prices":{"input_mtok":1,"cache_write_mtok":1.25,"cache_read_mtok":0.1,
	    "output_mtok":5,"cache_write_1h_mtok":2}}]},
	 {"id":"claude-opus-5","match":{"starts_with":"claude-opus-5"},"context_window":200000,"prices":{"input_mtok":5,"output_mtok":25}},
	 {"id":"claude-embedding","match":{"equals":"claude-embedding"},"prices":{"input_mtok":1,"output_mtok":1}}]},
	{"id":"aws","models":[{"id":"claude-song-9","match":{"contains":"claude-song-9"},"prices":{"input_mtok":1,"output_mtok":1}}]}]`),
		Adds: []byte(`adds: [{model: claude-song-9, name: song, fast: 2, cacheMinimum: 512, asOf: "2026-11-29", source: https://example.com/f}]`)}
	prices, windows, err := c.Convert()
	if err != nil {
		t.Fatal(err)
	}
	const head = "# Converted by 'make prices': do not edit.\n# Of 2026-08-21, commit abc of github.com/pydantic/genai-prices.\n#\n"
	const want = head + "# A licence\n#\n# in two lines\nlists:\n" +
		`  - {name: song, models: ["claude-song-9*", claude-9-song], input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteHour: 6, ` +
		`output: 15, over: [{tokens: 200000, input: 6, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteHour: 6, output: 15}], ` +
		`from: [{day: "2026-03-13", input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2, output: 5}], fast: 2, ` +
		`cacheTTL: 5m, cacheMinimum: 512, asOf: "2026-08-21", source: https://example.com/a#api, ` +
		`note: "What speed costs is of 2026-11-29, from https://example.com/f"}` + "\n" +
		`  - {name: anthropic-opus-5, models: ["claude-opus-5*"], input: 5, output: 25, asOf: "2026-08-21", ` +
		`source: https://example.com/a#api}` + "\n"
	if string(prices) != want {
		t.Errorf("got\n%s\nwant\n%s", prices, want)
	}
	if all, err := parse("base.yaml", prices); err != nil || len(all) != 2 || all[0].Over[0].Input != 6 {
		t.Errorf("%+v, %v", all, err)
	}
	// Rows that are kept here know Opus 5 better.
	if want := `  - {models: ["claude-song-9*", claude-9-song], input: 1000000, asOf: "2026-08-21", source: https://example.com/a#api}` +
		"\n"; !strings.HasSuffix(string(windows), "windows:\n"+want) {
		t.Errorf("windows:\n%s", windows)
	}
	for adds, want := range map[string]string{
		`adds: [{model: claude-song-8, asOf: x, source: y}]`: `adds.yaml: the catalogue has no model "claude-song-8"`,
		`adds: [{model: claude-song-9, source: y}]`:          `adds.yaml: claude-song-9: asOf or source is missing`,
	} {
		c.Adds = []byte(adds)
		if _, _, err := c.Convert(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, commit, _ := strings.Cut(string(makefile), "CATALOGUE := ")
	if is := strings.TrimSuffix(strings.Fields(string(base))[12], "."); len(BaseDay()) != len("2026-08-21") || !strings.HasPrefix(commit, is+"\n") {
		t.Errorf("base.yaml is of %q, commit %q, and not that of the Makefile: 'make prices'", BaseDay(), is)
	}
}
