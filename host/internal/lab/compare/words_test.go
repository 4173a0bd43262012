package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content"
)

// inText returns the identifiers of a text, each once, sorted.
func inText(b content.Block) []string {
	var out []string
	blockWords(b, func(s string) { out = append(out, s) })
	slices.Sort(out)
	return slices.Compact(out)
}

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                            nil,
		"just a plain sentence, no more.":             nil,
		"See /w/src/main.go:12:5: undefined":          {"/w/src/main.go"},
		"(./cmd/thresh/root.go)":                      {"cmd/thresh/root.go"},
		"yes and/or no":                               nil,
		"https://example.org/a?b=c":                   {"https://example.org/a"},
		"file:/etc/hosts ~/.config/x":                 {"/etc/hosts", "~/.config/x"},
		"in .env and config.yaml.":                    {"config.yaml"},
		"parseHeader HttpServer max_tokens _x x_":     {"HttpServer", "max_tokens", "parseHeader"},
		"std::vec::Vec and a::b":                      {"a::b", "std::vec::Vec"},
		"os.ReadFile e.g. i.e. v1.26.0 0.95 10.0.0.1": {"10.0.0.1", "os.ReadFile", "v1.26.0"},
		"error E0425, TS2304: ENOENT or EMPTY":        {"E0425", "ENOENT", "TS2304"},
		"order 4417 of 12, sha 9f86d081884c7d":        {"4417", "9f86d081884c7d"},
		"id 550e8400-e29b-41d4-a716-446655440000":     {"550e8400-e29b-41d4-a716-446655440000"},
		"a well-known user-agent gpt-4o-mini":         {"gpt-4o-mini"},
		"key:value_of user@host_1":                    {"host_1", "value_of"},
		"say \"hello there\" or 'ab' `go vet ./...`":  {"go vet ./...", "hello there"},
		"don't split what isn't quoted":               nil,
		"'unfinished":                                 nil,
		"\"" + strings.Repeat("x", 81) + "\"":         nil,
		strings.Repeat("a1", 129) + " ok_now":         {"ok_now"}, // data
		"größe_der_Datei":                             {"größe_der_Datei"},
	} {
		if diff := cmp.Diff(want, inText(content.Text{Text: text})); diff != "" {
			t.Errorf("%.60q:\n%s", text, diff)
		}
	}
}

func TestIdentifiersOfEachKindOfBlock(t *testing.T) {
	for name, c := range map[string]struct {
		block content.Block
		want  []string
	}{
		"parameters": {content.ToolCall{Name: "read_file", ID: "call_1",
			Parameters: json.RawMessage(`{"file_path":"/w/a.go","old\u005fname" : ["fooBar",
			"two words", {"line_no":1234}], "n":7}`)}, []string{"/w/a.go", "1234", "fooBar", "two words"}},
		"a result that is text": {content.ToolResponse{ToolName: "read_file",
			Result: content.String("a\nfunc doIt() {\"x y\"}")}, []string{"doIt", "x y"}},
		"a result that is JSON": {content.ToolResponse{Result: json.RawMessage(`{"reservation_id":"ZFA04Y",` +
			`"total":1500}`)}, []string{"1500", "ZFA04Y", "reservation_id"}},
		"an error": {content.ToolResponse{Error: "ENOENT: no such file /w/b.go"},
			[]string{"/w/b.go", "ENOENT"}},
		"a thought": {content.Thinking{Thought: "look at fooBar"}, []string{"fooBar"}},
		"code":      {content.Code{Code: "fooBar()"}, []string{"fooBar"}},
		"media":     {content.Media{Data: "fooBar"}, nil},
		"broken JSON": {content.ToolCall{Parameters: json.RawMessage(`{"a":"/w/x.go","b":"cut o`)},
			[]string{"/w/x.go"}},
		"a backslash at the end": {content.ToolCall{Parameters: json.RawMessage(`"\`)}, nil},
	} {
		if diff := cmp.Diff(c.want, inText(c.block)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Whatever stands in a text, an identifier is a part of it of a bounded size, and of a bounded number.
func FuzzIdentifiers(f *testing.F) {
	f.Add(`{"a":"/w/a.go:12","b":["fooBar 'x y'"]}`)
	f.Add(`"""'' a.b::c-d/e@f ~~ \"`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range []content.Block{
			content.Text{Text: text}, content.ToolCall{Parameters: json.RawMessage(text)},
			content.ToolResponse{Result: json.RawMessage(text)},
		} {
			n := 0
			blockWords(b, func(s string) {
				if n++; len(s) < 3 || len(s) > maxRun || n > 2*len(text) {
					t.Fatalf("%q is the %d. identifier of %q", s, n, text)
				}
				if _, plain := b.(content.Text); plain && !strings.Contains(text, s) {
					t.Fatalf("%q is not in %q", s, text)
				}
				if utf8.ValidString(text) && !utf8.ValidString(s) {
					t.Fatalf("%q is cut out of %q", s, text)
				}
			})
		}
	})
}

// BenchmarkIdentifiers reads a MiB of whatever a tool may print.
func BenchmarkIdentifiers(b *testing.B) {
	for name, unit := range map[string]string{
		"one letter": "a", "quotes": `"`, "open quotes": ` "a`, "dots": "a.", "slashes": "a/", "colons": "a:",
		"dashes": "a-", "spaces": "aB ",
		"code": "func parseHeader(b []byte) (int, error) { return os.Open(\"/etc/hosts\") }\n", "numbers": "12345,",
	} {
		text := strings.Repeat(unit, maxScan/len(unit))
		for kind, block := range map[string]content.Block{
			"text": content.Text{Text: text}, "json": content.ToolCall{Parameters: content.String(text)},
		} {
			b.Run(fmt.Sprintf("%s/%s", name, kind), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					blockWords(block, func(string) {})
				}
			})
		}
	}
}
