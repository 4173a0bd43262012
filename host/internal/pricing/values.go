package pricing

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

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

// times reads a factor.
func (p *parser) times(key, value *yaml.Node) float64 {
	f, err := strconv.ParseFloat(value.Value, 64)
	if err != nil || !(f >= 1) || math.IsInf(f, 0) || value.Kind != yaml.ScalarNode || value.Tag == "!!str" {
		p.fail(value.Line, "%s: %s: want how many times as much it costs, 1 or more", key.Value, quote(value))
		return 0
	}
	return f
}

// tokens reads a number of tokens.
func (p *parser) tokens(key, value *yaml.Node) int {
	n, err := strconv.Atoi(value.Value)
	if err != nil || n < 0 || value.Kind != yaml.ScalarNode {
		p.fail(value.Line, "%s: %s: want a whole number of tokens, 0 or more", key.Value, quote(value))
		return 0
	}
	return n
}

// day reads a day, which is what.
func (p *parser) day(key, value *yaml.Node, what string) string {
	s := p.text(key, value)
	if _, err := time.Parse(time.DateOnly, s); err != nil && s != "" {
		p.fail(value.Line, "%s: %s: want %s, such as 2026-11-20", key.Value, quote(value), what)
	}
	return s
}

// over reads the prices of long prompts, by rising bounds.
func (p *parser) over(list *yaml.Node) (all []Over) {
	for n := range p.tables(list, "over", "tokens, input and output") {
		var o Over
		p.rates(n, &o.Rates, "tokens", func(key, value *yaml.Node) bool {
			if key.Value == "tokens" {
				o.Tokens = p.tokens(key, value)
			}
			return key.Value == "tokens"
		})
		if len(all) > 0 && o.Tokens <= all[len(all)-1].Tokens {
			p.fail(n.Line, "over: %d tokens do not follow %d: want rising bounds", o.Tokens, all[len(all)-1].Tokens)
		}
		all = append(all, o)
	}
	return all
}

// from reads the prices of days, the earliest first.
func (p *parser) from(list *yaml.Node) (all []From) {
	for n := range p.tables(list, "from", "day, input and output") {
		var f From
		p.rates(n, &f.Rates, "day", func(key, value *yaml.Node) bool {
			switch key.Value {
			case "day":
				f.Day = p.day(key, value, "the first day of these prices")
			case "over":
				f.Over = p.over(value)
			default:
				return false
			}
			return true
		})
		if len(all) > 0 && f.Day <= all[len(all)-1].Day {
			p.fail(n.Line, "from: %s does not follow %s: want the earliest first", f.Day, all[len(all)-1].Day)
		}
		all = append(all, f)
	}
	return all
}

// tables yields the tables of a list in a field.
func (p *parser) tables(list *yaml.Node, field, want string) func(func(*yaml.Node) bool) {
	return func(yield func(*yaml.Node) bool) {
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			p.fail(list.Line, "%s: %s: want a list of tables with %s", field, quote(list), want)
			return
		}
		for _, n := range list.Content {
			if n.Kind != yaml.MappingNode {
				p.fail(n.Line, "%s: %s: want a table with %s", field, quote(n), want)
			} else if !yield(n) {
				return
			}
		}
	}
}

// rate reads one of the five prices; false if the key is none.
func (p *parser) rate(r *Rates, key, value *yaml.Node) bool {
	into, ok := map[string]*float64{"input": &r.Input, "cacheRead": &r.CacheRead, "cacheWrite": &r.CacheWrite,
		"cacheWriteHour": &r.CacheWriteHour, "output": &r.Output}[key.Value]
	if ok {
		*into = p.price(key, value)
	}
	return ok
}

// rates reads the prices of a table. other reads the fields that are none, of which one is required.
func (p *parser) rates(n *yaml.Node, r *Rates, required string, other func(key, value *yaml.Node) bool) {
	seen := map[string]bool{}
	for key, value := range p.fields(n) {
		seen[key.Value] = true
		if !p.rate(r, key, value) && !other(key, value) {
			p.fail(key.Line, "%s is not known here; want %s, input, cacheRead, cacheWrite, cacheWriteHour or output",
				quote(key), required)
		}
	}
	for _, key := range []string{required, "input", "output"} {
		if !seen[key] {
			p.fail(n.Line, "%s is missing", key)
		}
	}
	if r.CacheRead > r.Input {
		p.fail(n.Line, "cacheRead is %g, more than input, which is %g", r.CacheRead, r.Input)
	}
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
