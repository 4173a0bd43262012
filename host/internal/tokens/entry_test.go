package tokens

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content"
)

func TestEntryCountsWhatAModelSees(t *testing.T) {
	c := testCounters()[o200k]
	const long = "The quick brown fox jumps over the lazy dog. "
	var (
		picture = encodedPNG(750, 100)                // 100 tokens
		unknown = strings.Repeat("QUJDZGVmMTIz", 200) // base64 of nothing known
		extra   = content.FieldsOf(content.Field{
			Name: "cache_control", Value: json.RawMessage(`{"type":"ephemeral"}`)})
		metadata = json.RawMessage(`{"timestamp":1700000000000,"model":"some-model"}`)
	)
	result := func(raw string) content.Block {
		return content.ToolResponse{CallID: "call_1", ToolName: "read_file", Result: json.RawMessage(raw)}
	}
	tests := map[string]struct {
		entry content.Content
		texts []string // counted as text
		more  int      // tokens in addition to these and the frame
	}{
		"nothing":          {},
		"metadata and ids": {entry: content.Content{Metadata: metadata, Extra: extra}},
		"text":             {entry: of(content.Text{Text: long, Extra: extra}), texts: []string{long}},
		"two texts": {entry: of(content.Text{Text: "hel"}, content.Text{Text: "lo"}),
			texts: []string{"hel", "lo"}},
		"code":             {entry: of(content.Code{Code: long, Language: "go"}), texts: []string{long}},
		"thinking":         {entry: of(content.Thinking{Thought: long, Signature: unknown}), texts: []string{long}},
		"only a signature": {entry: of(content.Thinking{Signature: unknown})},
		"a null block":     {entry: of(nil)},
		"call": {entry: of(content.ToolCall{ID: "call_1", Name: "read_file",
			Parameters: json.RawMessage(`{"path": "a"}`)}), texts: []string{"read_file", `{"path": "a"}`}},
		"result as string": {entry: of(result(`"a\n\"b\" \u00e9"`)), texts: []string{"a\n\"b\" é"}},
		"result as object": {entry: of(result(`{"a": [1, 2.50]}`)), texts: []string{`{"a": [1, 2.50]}`}},
		"result as number": {entry: of(result(`12.50`)), texts: []string{"12.50"}},
		"no result":        {entry: of(result("")), texts: nil},
		"null result":      {entry: of(result("null")), texts: nil},
		"error": {entry: of(content.ToolResponse{Result: content.String("half"), Error: long}),
			texts: []string{"half", long}},
		"structured error": {entry: of(content.ToolResponse{Result: json.RawMessage(`[1]`), Error: long}),
			texts: []string{"[1]", long}},
		"base64 in a text": {entry: of(content.Text{Text: picture}), texts: []string{picture}},
		"base64 as result": {entry: of(result(`"` + unknown + `"`)), texts: []string{unknown}},
		"picture in result": {entry: of(result(`[{"type":"image","data":"` + picture + `"},"b"]`)),
			texts: []string{`[{"type":"image","data":""},"b"]`}, more: 100},
		"picture as a URL in result": {
			entry: of(result(`{"url":"data:image/png;base64,` + picture + `"}`)), texts: []string{`{"url":""}`},
			more: 100,
		},
		"base64 in result": {entry: of(result(`{"a":"` + unknown + `"}`)), texts: []string{`{"a":"` + unknown + `"}`}},
		"unknown block": {entry: of(content.Opaque{JSON: json.RawMessage(`{"type":"x","s":"` + long + `"}`)}),
			texts: []string{`{"type":"x","s":"` + long + `"}`}},
		"base64 in an unknown": {entry: of(content.Opaque{JSON: json.RawMessage(`{"a":"` + unknown + `"}`)}),
			texts: []string{`{"a":""}`}, more: 1600},
		"picture in an unknown": {entry: of(content.Opaque{JSON: json.RawMessage(`{"a":"` +
			strings.ReplaceAll(picture, "/", `\/`) + `"}`)}), texts: []string{`{"a":""}`}, more: 100},
		"picture": {entry: of(content.Media{MimeType: "image/png", Data: picture, Encoding: "base64",
			Caption: long, Filename: "a.png"}), texts: []string{long}, more: 100},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := 4 + test.more
			for _, text := range test.texts {
				want += c.Text(text)
			}
			if got := c.Entry(test.entry); got != want {
				t.Errorf("%d tokens, want %d", got, want)
			}
		})
	}
}

func of(blocks ...content.Block) content.Content {
	return content.Content{Speaker: content.AI, Blocks: blocks}
}

func TestMediaAreEstimatedByKindAndSize(t *testing.T) {
	address := "https://example.com/" + strings.Repeat("a", 5000)
	sized := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	raw := func(head string) string {
		return base64.StdEncoding.EncodeToString([]byte(head + strings.Repeat("\x00", 60)))
	}
	tests := map[string]struct {
		mimeType, data, encoding string
		want                     int
	}{
		"nothing":        {"image/png", "", "base64", 0},
		"small PNG":      {"image/png", encodedPNG(100, 100), "base64", 14},
		"one pixel":      {"image/png", encodedPNG(1, 1), "base64", 1},
		"large PNG":      {"image/png", encodedPNG(4000, 3000), "base64", 1600},
		"by its content": {"IMAGE/JPEG", encodedPNG(100, 100), "base64", 14},
		"JPEG":           {"image/jpeg", encodedJPEG(t, 300, 250), "base64", 100},
		"GIF":            {"image/gif", raw("GIF89a\x2c\x01\xfa\x00"), "base64", 100},
		"lossy WebP": {"image/webp", raw("RIFF\x00\x00\x00\x00WEBPVP8 " +
			"\x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x2c\x01\xfa\x00"), "base64", 100},
		"lossless WebP": {"image/webp", raw("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x2b\x41\x3e\x00"),
			"base64", 100},
		"extended WebP": {"image/webp",
			raw("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x2b\x01\x00\xf9\x00\x00"), "base64", 100},
		"sizeless":                {"image/png", encodedPNG(0, 100), "base64", 1600},
		"cut off":                 {"image/jpeg", "/9j/4AAQ", "base64", 1600},
		"no base64":               {"image/png", "not base64 at all!", "base64", 1600},
		"drawing":                 {"image/svg+xml", sized(100), "base64", 1600},
		"elsewhere":               {"image/png", address, "url", 1600},
		"data URL":                {"image/png", "data:image/png;base64," + encodedPNG(100, 100), "url", 14},
		"data URL without a kind": {"", "data:image/png;base64," + encodedPNG(100, 100), "url", 14},
		"short PDF":               {"application/pdf", sized(1000), "base64", 2000},
		"PDF":                     {"application/pdf", sized(1_000_000), "base64", 40_000},
		"huge PDF":                {"application/pdf", sized(20_000_000), "base64", 200_000},
		"PDF elsewhere":           {"application/pdf", address, "url", 20_000},
		"audio":                   {"audio/mpeg", sized(160_000), "base64", 320},
		"video":                   {"video/mp4", sized(3_000_000), "base64", 3000},
		"text file":               {"text/csv", sized(4000), "base64", 1000},
		"anything":                {"", sized(100_000), "base64", 4000},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := testCounters()[cl100k].Entry(of(content.Media{MimeType: test.mimeType, Data: test.data,
				Encoding: test.encoding})) - entryFrame
			if tolerance := test.want / 1000; max(got-test.want, test.want-got) > tolerance { // base64 is padded
				t.Errorf("%d tokens, want %d", got, test.want)
			}
		})
	}
}

func TestBrokenJSONIsCountedAsItStands(t *testing.T) {
	c := testCounters()[cl100k]
	pad := strings.Repeat(" ", longBase64) // long enough to be searched for media
	for _, broken := range []string{`"`, `{"a`, `["a\`, `"""`, "\"\xff", `[\"]`} {
		broken := broken + pad
		if got, want := c.Entry(of(content.Opaque{JSON: json.RawMessage(broken)})),
			entryFrame+c.Text(broken); got != want {
			t.Errorf("%.10q: %d tokens, want %d", broken, got, want)
		}
	}
}

func manyEntries(n int) []content.Content {
	entries := make([]content.Content, n)
	for i := range entries {
		text := strings.Repeat(fmt.Sprintf("line %d: %s", i, prose), 1+i%6)
		switch i % 3 {
		case 0:
			entries[i] = of(content.Text{Text: text})
		case 1:
			entries[i] = of(content.ToolCall{ID: "c", Name: "shell", Parameters: json.RawMessage(someJSON)})
		case 2:
			entries[i] = of(content.ToolResponse{CallID: "c", ToolName: "shell", Result: content.String(text)})
		}
	}
	return entries
}

func TestCountAllCountsEachEntryInOrder(t *testing.T) {
	c, entries := testCounters()[o200k], manyEntries(100)
	var want, progress, ascending []int
	for i, e := range entries {
		want, ascending = append(want, c.Entry(e)), append(ascending, i+1)
	}
	got, err := c.CountAll(t.Context(), entries, func(done int) { progress = append(progress, done) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if !slices.Equal(progress, ascending) {
		t.Errorf("progress %v", progress)
	}
	if got, err := c.CountAll(t.Context(), nil, nil); err != nil || len(got) != 0 {
		t.Errorf("of no entries: %v, %v", got, err)
	}
}

func TestCountAllStopsWithItsContext(t *testing.T) {
	tests := map[string]struct {
		entries  []content.Content
		canceled bool // before it begins
	}{
		"between entries": {entries: manyEntries(100_000)},
		"in one text": {entries: []content.Content{of(content.Text{Text: "a"}),
			of(content.Text{Text: strings.Repeat("x y ", 25<<20)})}},
		"in one run": {entries: []content.Content{of(content.Text{Text: "a"}),
			of(content.Text{Text: strings.Repeat("x", 100<<20)})}},
		"before": {entries: manyEntries(100_000), canceled: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.canceled {
				cancel()
			}
			most := 0
			counts, err := testCounters()[cl100k].CountAll(ctx, test.entries, func(done int) {
				most = done
				cancel()
			})
			if counts != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%d counts, error %v", len(counts), err)
			}
			if most == len(test.entries) {
				t.Error("all entries were counted nevertheless")
			}
		})
	}
}
