package pricing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Forms names the catalogues of others that a file of price lists may be, as they are published.
const Forms = "genai-prices (data.json), LiteLLM (model_prices_and_context_window.json) and models.dev (api.json)"

// offer is what a catalogue of others says of a model at one provider. Prices are in USD per million tokens.
type offer struct {
	provider, model string
	models          []string // patterns
	prices          []From   // the earliest first, whose day is ""
	fast            float64
	window          int
	source          string
}

// makers are the providers of models of their own, by the names that catalogues have for them: how names of lists begin
// here, and the page of prices, where a catalogue has none.
var makers = map[string]struct{ prefix, page string }{
	"anthropic":   {"anthropic-", "https://platform.claude.com/docs/en/about-claude/pricing"},
	"openai":      {"openai-", "https://developers.openai.com/api/docs/pricing"},
	"google":      {"", "https://ai.google.dev/gemini-api/docs/pricing"},
	"gemini":      {"", "https://ai.google.dev/gemini-api/docs/pricing"},
	"deepseek":    {"", "https://api-docs.deepseek.com/quick_start/pricing"},
	"x-ai":        {"", "https://docs.x.ai/docs/models"},
	"xai":         {"", "https://docs.x.ai/docs/models"},
	"mistral":     {"", "https://mistral.ai/pricing"},
	"moonshotai":  {"", "https://platform.moonshot.ai/docs/pricing/chat"},
	"moonshot":    {"", "https://platform.moonshot.ai/docs/pricing/chat"},
	"zai":         {"", "https://docs.z.ai/guides/overview/pricing"},
	"minimax":     {"", "https://platform.minimax.io/docs/guides/pricing-paygo"},
	"cohere":      {"", "https://cohere.com/pricing"},
	"cohere_chat": {"", "https://cohere.com/pricing"},
	"alibaba":     {"", "https://www.alibabacloud.com/help/en/model-studio/models"},
	"dashscope":   {"", "https://www.alibabacloud.com/help/en/model-studio/models"},
}

// cacheOf returns how long a provider's prompt cache holds and the shortest prompt that it takes, which no catalogue
// says: see the notes in prices.yaml. Of other providers as little as of any is assumed.
func cacheOf(o offer) (ttl time.Duration, minimum int) {
	switch o.provider {
	case "openai":
		if o.prices[len(o.prices)-1].CacheWrite > 0 { // from GPT-5.6 on
			return 30 * time.Minute, 1024
		}
		return 10 * time.Minute, 1024
	case "google", "gemini":
		return 5 * time.Minute, 2048
	case "deepseek":
		return 3 * time.Hour, 64
	}
	return 5 * time.Minute, 1024
}

// list makes a price list of an offer that has prices for words; ok is false for others.
func (o offer) list(asOf string) (l *List, ok bool) {
	maker := makers[o.provider]
	model := o.model[strings.LastIndexByte(o.model, '/')+1:]
	l = &List{
		Name:   strings.ToLower(cmp.Or(maker.prefix, "") + strings.TrimPrefix(model, "claude-")),
		Models: o.models, AsOf: asOf, Source: cmp.Or(o.source, maker.page, "the page of "+o.provider),
		Fast: o.fast,
	}
	if maker.page == "" {
		l.Name = strings.ToLower(o.provider + "/" + o.model)
	}
	if len(o.prices) == 0 || strings.ContainsAny(l.Name, " ,=\"") || l.Name == Auto || l.Name == AutoHour || l.Name == None {
		return nil, false
	}
	for i := range o.prices {
		f := &o.prices[i]
		f.Rates = f.Rates.sound()
		for j := range f.Over {
			f.Over[j].Rates = f.Over[j].Rates.sound()
		}
	}
	l.set(o.prices[0].Rates, o.prices[0].Over)
	l.From = o.prices[1:]
	for _, r := range l.rest() {
		if (r.CacheWriteHour > 0) != (l.CacheWriteHour > 0) { // half of it is of no use
			return nil, false
		}
	}
	if l.Input == 0 && l.Output == 0 || len(l.Models) == 0 {
		return nil, false
	}
	if o.prices[len(o.prices)-1].CacheRead > 0 {
		l.CacheTTL, l.CacheMinimum = cacheOf(o)
	}
	return l, true
}

// sound returns rates that this package can apply: a cache that is never read, or dearly, is none.
func (r Rates) sound() Rates {
	if r.CacheRead > r.Input {
		r.CacheRead = 0
	}
	if r.CacheRead == 0 {
		r.CacheWrite = 0
	}
	if r.CacheWrite == 0 {
		r.CacheWriteHour = 0
	}
	return r
}

// readForeign reads a catalogue of others; ok is false if it is none.
func readForeign(file string, data []byte, asOf string) (all lists, ok bool, err error) {
	r := reader{file: file}
	var offers []offer
	switch first := bytes.TrimLeft(data, " \t\r\n\ufeff"); {
	case bytes.HasPrefix(first, []byte("[")) && bytes.Contains(data, []byte(`"models"`)):
		offers = r.genai(data)
	case bytes.HasPrefix(first, []byte("{")) && bytes.Contains(data, []byte(`"litellm_provider"`)):
		offers = r.litellm(data)
	case bytes.HasPrefix(first, []byte("{")) && bytes.Contains(data, []byte(`"models"`)) &&
		bytes.Contains(data, []byte(`"cost"`)):
		offers = r.modelsDev(data)
	default:
		return lists{}, false, nil
	}
	if err := r.err(); err != nil {
		return lists{}, true, err
	}
	return inOrder(offers, asOf), true, nil
}

// inOrder returns the lists of offers, those of makers first.
func inOrder(offers []offer, asOf string) (all lists) {
	all.versions = true
	names := map[string]bool{}
	for _, resold := range []bool{false, true} {
		for _, o := range offers {
			if _, maker := makers[o.provider]; maker == resold {
				continue
			}
			if l, ok := o.list(asOf); ok && !names[l.Name] {
				names[l.Name] = true
				all.all = append(all.all, l)
				if resold {
					all.resold++
				}
			}
		}
	}
	return all
}

// reader reads a catalogue of others and collects its problems. With any, the catalogue is refused as a whole, as a file
// of one's own is.
type reader struct {
	file string
	errs []error
	more int
}

func (r *reader) err() error {
	if r.more > 0 {
		return errors.Join(append(r.errs, fmt.Errorf("%s: and %d more problems", r.file, r.more))...)
	}
	return errors.Join(r.errs...)
}

func (r *reader) fail(model, format string, args ...any) {
	if len(r.errs) == maxProblems {
		r.more++
		return
	}
	r.errs = append(r.errs, &Error{File: r.file, Model: model, Problem: fmt.Sprintf(format, args...)})
}

// decode reads the whole file into to. A problem has its line.
func (r *reader) decode(data []byte, to any) bool {
	err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), to)
	if err == nil {
		return true
	}
	offset := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset
	}
	line := 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Problem: "is not JSON of its form: " + err.Error()})
	return false
}

// model reads what a catalogue says of a model.
func (r *reader) model(name string, data json.RawMessage, to any) bool {
	if err := json.Unmarshal(data, to); err != nil {
		r.fail(name, "%s", strings.TrimPrefix(err.Error(), "json: "))
		return false
	}
	return true
}

// price checks a price of a model, times so much; nil is 0.
func (r *reader) price(model, field string, usd *float64, times float64) float64 {
	switch {
	case usd == nil:
		return 0
	case *usd < 0 || *usd*times > 1e6:
		r.fail(model, "%s is %g: want a price of 0 or more", field, *usd)
		return 0
	}
	return math.Round(*usd*times*1e9) / 1e9 // 0.0000003 × 1000000 is not quite 0.3
}

// exactly returns the pattern that matches just a model's name, without the provider's prefix.
func exactly(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "*", `\*`, "?", `\?`).Replace(strings.ToLower(model))
}

// sorted returns the keys of a table, so that the same file makes the same lists.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
