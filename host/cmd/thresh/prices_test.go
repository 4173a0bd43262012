package main_test

import (
	"strings"
	"testing"
)

func TestPricesAreShownAsATableAndAsAFileToStartFrom(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	table := p.run("config", "prices", "--set", "model.name=anthropic/claude-sonnet-4-5").done(t).stdout
	for _, want := range []string{"NAME", "*  anthropic-sonnet ", "   anthropic-sonnet-1h ", "   no-cache "} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if n := strings.Count(table, "*  anthropic"); n != 1 {
		t.Errorf("%d lists are in force:\n%s", n, table)
	}

	if models := p.run("config", "prices", "--columns", "name,models").done(t).stdout; !strings.Contains(
		models,
		"claude-sonnet-4*",
	) {
		t.Errorf("no models in\n%s", models)
	}

	// The file that is printed is one to change and to use.
	text := p.run("config", "prices", "-o", "yaml", "anthropic-sonnet").done(t).stdout
	file := p.file(
		"mine.yaml",
		strings.Replace(strings.Replace(text, "input: 3", "input: 2.5", 1), "name: anthropic-sonnet", "name: ours", 1),
	)
	type list struct {
		Name  string  `json:"name"`
		Input float64 `json:"input"`
	}
	found := decode[[]list](
		t, p.run("config", "prices", "-o", "json", "ours", "anthropic-sonnet", "--set", "model.priceFile="+file).done(t),
	)
	if len(found) != 2 || found[0] != (list{"ours", 2.5}) || found[1] != (list{"anthropic-sonnet", 3}) {
		t.Errorf("%+v", found)
	}
	if notes := p.run("config", "prices", "deepseek").done(t).stdout; !strings.Contains(notes, "\ndeepseek: ") {
		t.Errorf("there is no note:\n%s", notes)
	}
}

func TestPricesOfAWrongCall(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.run("config", "prices", "anthropic-sonet", "xyz").failed(t, 1, "did you mean anthropic-sonnet?", "xyz")
	p.run("config", "prices", "-o", "csv").failed(t, 2, "--output is text, json or yaml")
	p.run(
		"config", "prices", "--set", "model.priceList=anthropic-sonet",
	).failed(
		t, 1, "model.priceList", "did you mean anthropic-sonnet?",
	)
	bad := p.file("bad.yaml", "lists:\n  - name: a\n    input: -1\n")
	p.run(
		"config", "prices", "--set", "model.priceFile="+bad,
	).failed(
		t, 1, "model.priceFile", "bad.yaml:3: ", "want a price", "output is missing",
	)
}

// Every value that model.priceList can have is one for comparisons and for the list in force, too.
func TestAPriceListForACacheOfAnHourIsInForce(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	set := []string{"--set", "model.priceList=auto-1h", "--set", "model.name=claude-sonnet-4-5"}
	if r := p.run(append([]string{"config", "prices"}, set...)...).done(t); !strings.Contains(r.stdout,
		"*  anthropic-sonnet-1h") {
		t.Errorf("printed\n%s", r.stdout)
	}
	p.file("s.jsonl", conversation(4))
	r := decode[compared](t, p.run(append([]string{"compare", "--strategy", "distill", "--log-level", "error", "-o", "json",
		"s.jsonl"}, set...)...))
	if len(r.Prices) != 1 || r.Prices[0].Name != "anthropic-sonnet-1h" {
		t.Errorf("compared by %v", r.Prices)
	}
}
