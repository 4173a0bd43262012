package pricing

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// price reads an amount of money. YAML's NaN and infinity (.nan, .inf) are refused, and quoted numbers: they are
// usually meant for another field.
func (p *parser) price(key, value *yaml.Node) float64 {
	f, err := strconv.ParseFloat(value.Value, 64)
	// 0 is allowed: local models cost nothing.
	if err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) || value.Kind != yaml.ScalarNode ||
		value.Tag == "!!str" {
		p.fail(value.Line, "%s: %s: want a price in USD per million tokens, 0 or more", key.Value, quote(value))
		return 0
	}
	return f
}

// text reads a non-empty line that is safe to print on a terminal.
func (p *parser) text(key, value *yaml.Node) string {
	s := strings.TrimSpace(value.Value)
	unprintable := func(c rune) bool { return !strconv.IsPrint(c) }
	if value.Kind != yaml.ScalarNode || s == "" || strings.ContainsFunc(s, unprintable) {
		p.fail(value.Line, "%s: %s: want a line of text", key.Value, quote(value))
		return ""
	}
	return s
}

// name reads a name fit for settings, command lines and tables.
func (p *parser) name(key, value *yaml.Node) string {
	s := p.text(key, value)
	switch {
	case s == Auto || s == AutoHour || s == None:
		p.fail(value.Line, "name: %q is reserved in the setting model.priceList; want another name", s)
	case strings.ContainsAny(s, " ,=\""):
		p.fail(value.Line, "name: %s: want a word without spaces, commas, quotes and \"=\"", quote(value))
	}
	return s
}

// models reads patterns of model names in the syntax of [path.Match], without the provider's prefix.
func (p *parser) models(key, value *yaml.Node) []string {
	if value.Kind != yaml.SequenceNode {
		p.fail(value.Line, "models: %s: want a list of model names, such as [\"gpt-5*\"]", quote(value))
		return nil
	}
	models := make([]string, 0, len(value.Content))
	for _, n := range value.Content {
		s := p.text(key, n)
		if _, err := path.Match(s, ""); err != nil || strings.Contains(s, "/") {
			p.fail(n.Line, "models: %s: want a model's name without its provider; * stands for any characters",
				quote(n))
		}
		models = append(models, s)
	}
	return slices.Clip(models)
}

// quote shows a value in a message, shortened.
func quote(n *yaml.Node) string {
	const most = 60
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a table"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Value == "":
		return "nothing"
	case len(n.Value) > most:
		return strconv.Quote(strings.ToValidUTF8(n.Value[:most], "") + "…")
	}
	return strconv.Quote(n.Value)
}
