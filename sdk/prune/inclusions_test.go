package prune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// piece is a part of a message: words of a person, or a file that was included.
type piece struct {
	text string
	path string // of the file as it is written, "" for all else
}

// included draws a message with words of a person and inclusions of both forms around and between them. Every
// inclusion is longer than the marker that may replace it.
func included(t *rapid.T) []piece {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line ends")
	words := func() piece {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"look at @a.ts", "", " ", "Content from @a.ts:", "Content from @b.ts:", "--- a.ts",
			"> --- End of content ---",
			"[Earlier inclusion of a.ts removed — included again later]", "AAAA", "三", "\r", "-- End of content --",
			"----- ---",
		}), 0, 3).Draw(t, "words")
		return piece{text: strings.Join(append(lines, ""), eol)}
	}
	path := func() string {
		return rapid.SampledFrom([]string{"a.ts", "./a.ts", "b.ts", "my notes.md"}).Draw(t, "path")
	}
	file := func() string {
		line := rapid.SampledFrom([]string{"AAAA", "", "look at @a.ts", "--- x", "Content from @a.ts", "from @b.ts:"})
		lines := rapid.SliceOfN(line, 0, 4).Draw(t, "content")
		return strings.Join(append(lines, strings.Repeat("x", 80)), eol)
	}
	pieces := []piece{words()}
	for range rapid.IntRange(0, 4).Draw(t, "inclusions") {
		if rapid.Bool().Draw(t, "one file") {
			p := path()
			pieces = append(pieces, piece{"--- " + p + " ---" + eol + file() + eol + closeLine, p}, piece{text: eol})
		} else {
			pieces = append(pieces, piece{text: blockOpen + eol})
			if rapid.Bool().Draw(t, "blank line first") {
				pieces = append(pieces, piece{text: eol})
			}
			for range rapid.IntRange(0, 3).Draw(t, "files") {
				p := path()
				pieces = append(pieces, piece{"Content from @" + p + ":" + eol + file(), p}, piece{text: eol})
			}
			pieces = append(pieces, piece{text: closeLine + eol})
		}
		pieces = append(pieces, words())
	}
	return pieces
}

// Whatever people write around inclusions of either form stays, byte for byte; of each file the last inclusion stays;
// every earlier one becomes its marker. [sdktest] checks that a second run finds nothing more.
func TestInclusionsGoAndWordsStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		messages := rapid.SliceOfN(rapid.Custom(included), 1, 4).Draw(rt, "messages")
		last := map[string]string{} // file → "message/piece" of its last inclusion
		for i, pieces := range messages {
			for j, p := range pieces {
				if p.path != "" {
					last[strings.TrimPrefix(p.path, "./")] = fmt.Sprint(i, "/", j)
				}
			}
		}
		var history []sdk.Content
		var want []string
		stripped := 0
		for i, pieces := range messages {
			before, after := "", ""
			for j, p := range pieces {
				before += p.text
				if p.path == "" || last[strings.TrimPrefix(p.path, "./")] == fmt.Sprint(i, "/", j) {
					after += p.text
					continue
				}
				after += "[Earlier inclusion of " + p.path + " removed — included again later]"
				stripped++
			}
			history = append(history, said(sdk.Human, before))
			want = append(want, after)
		}
		got, err := sdktest.Config{Density: &sdk.DensityConfig{FileDedupe: true}}.Optimize(t.Context(), strategy{},
			history)
		if err != nil {
			rt.Fatal(err)
		}
		for i, e := range got.History {
			text, was := e.Blocks[0].(sdk.Text).Text, history[i].Blocks[0].(sdk.Text).Text
			if d := cmp.Diff(want[i], text); d != "" {
				rt.Fatalf("message %d (-want +got):\n%s", i, d)
			}
			if len(text) > len(was) {
				rt.Fatalf("message %d grew from %d to %d bytes", i, len(was), len(text))
			}
		}
		if got.Metadata.FileDeduplicationsPruned != stripped {
			rt.Fatalf("%d inclusions went, the metadata says %+v", stripped, got.Metadata)
		}
	})
}

// The form that agents write names no file in its open line: two messages that include different files repeat nothing.
func TestReferencedFiles(t *testing.T) {
	const end = "\n--- End of content ---"
	block := func(files ...string) string {
		return "--- Content from referenced files ---\n" + strings.Join(files, "\n") + end
	}
	const a, b, aGone = "Content from @a.ts:\nAAAA", "Content from @b.ts:\nBBBB",
		"[Earlier inclusion of a.ts removed — included again later]"
	tests := map[string]struct{ texts, want []string }{
		"different files": {
			[]string{"look at @a.ts\n" + block(a), "look at @b.ts\n" + block(b)},
			[]string{"look at @a.ts\n" + block(a), "look at @b.ts\n" + block(b)},
		},
		"the same file": {
			[]string{"look at @a.ts\n" + block(a) + "\nthanks", block(a)},
			[]string{"look at @a.ts\n" + block(aGone) + "\nthanks", block(a)},
		},
		"one of two":     {[]string{block(a, b), block(a)}, []string{block(aGone, b), block(a)}},
		"in one message": {[]string{block(a, b, a)}, []string{block(aGone, b, a)}},
		"both forms": {
			[]string{block(a), "--- ./a.ts ---\nnew" + end},
			[]string{block(aGone), "--- ./a.ts ---\nnew" + end},
		},
		"words after the close line that look like a file's": {
			[]string{block(a) + "\nContent from @b.ts:\nis what I want", block(b)},
			[]string{block(a) + "\nContent from @b.ts:\nis what I want", block(b)},
		},
		"never closed": {
			[]string{"--- Content from referenced files ---\n" + a + "\nmy words", block(a)},
			[]string{"--- Content from referenced files ---\n" + a + "\nmy words", block(a)},
		},
		"opened twice": {[]string{block(block(a)), block(a)}, []string{block(block(a)), block(a)}},
		"a name without a path in a file": {
			[]string{block(a + "\nContent from @:\nBBBB"), block(a)},
			[]string{block(aGone + "\nContent from @:\nBBBB"), block(a)},
		},
		"spaces around a path": {[]string{block("Content from @ a.ts :\nAAAA"), block(a)}, []string{block(aGone), block(a)}},
		"a name without a path": {
			[]string{block("Content from @:\nx"), block("Content from @:\nx")},
			[]string{block("Content from @:\nx"), block("Content from @:\nx")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var history []sdk.Content
			for _, text := range test.texts {
				history = append(history, said(sdk.Human, text))
			}
			got := sdktest.Optimize(t, strategy{}, history,
				sdktest.Config{Density: &sdk.DensityConfig{FileDedupe: true}})
			var texts []string
			for _, e := range got.History {
				texts = append(texts, e.Blocks[0].(sdk.Text).Text)
			}
			if d := cmp.Diff(test.want, texts); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Agents send an inclusion as several text blocks of one message. Read one after the other they are one text, of which
// a stale inclusion goes; what the person wrote stays, and so do the blocks of others.
func TestInclusionsOverSeveralBlocks(t *testing.T) {
	body := strings.Repeat("AAAA\n", 20)
	const header, end = "\n--- Content from referenced files ---", "\n--- End of content ---"
	gone := func(p string) string { return "[Earlier inclusion of " + p + " removed — included again later]" }
	blocks := func(texts ...any) sdk.Content {
		c := sdk.Content{Speaker: sdk.Human}
		for _, text := range texts {
			switch text := text.(type) {
			case string:
				c.Blocks = append(c.Blocks, sdk.Text{Text: text})
			case sdk.Block:
				c.Blocks = append(c.Blocks, text)
			}
		}
		return c
	}
	a, b := "\nContent from @a.ts:\n", "\nContent from @b.ts:\n"
	last := blocks("again @a.ts", header, a, body, end)
	marked := sdk.Text{Text: body}
	marked.Extra = marked.Extra.With(content.Field{Name: "citations", Value: []byte(`[]`)})
	image := sdk.Media{MimeType: "image/png", Data: "x"}
	for name, tt := range map[string]struct{ history, want []sdk.Content }{
		"Gemini CLI": {
			[]sdk.Content{blocks("look @a.ts", header, a, body, end), last},
			[]sdk.Content{blocks("look @a.ts", header, "\n"+gone("a.ts"), end), last},
		},
		"one of two files": {
			[]sdk.Content{blocks("look", header, a, body, b, body, end), last},
			[]sdk.Content{blocks("look", header, "\n"+gone("a.ts"), b, body, end), last},
		},
		"both files": {
			[]sdk.Content{blocks("look", header, a, body, b, body, end), blocks(header, a, body, b, body, end)},
			[]sdk.Content{blocks("look", header, "\n"+gone("a.ts"), "\n"+gone("b.ts"), end),
				blocks(header, a, body, b, body, end)},
		},
		"another file": {
			[]sdk.Content{blocks("look", header, b, body, end), last},
			[]sdk.Content{blocks("look", header, b, body, end), last},
		},
		"in one message": {
			[]sdk.Content{blocks(header, a, body, a, body, end)},
			[]sdk.Content{blocks(header, "\n"+gone("a.ts"), a, body, end)},
		},
		"the first form, with words after it": {
			[]sdk.Content{blocks("see\n--- a.ts ---\n", body, body+"--- End of content ---\nmy words"), last},
			[]sdk.Content{blocks("see\n"+gone("a.ts")+"\n", "my words"), last},
		},
		"the first form, and the next begins": {
			[]sdk.Content{blocks("--- a.ts ---", body+"--- End of content ---\n--- b.ts ---\n"+body,
				"--- End of content ---\n"), last},
			[]sdk.Content{blocks(gone("a.ts")+"\n", "--- b.ts ---\n"+body, "--- End of content ---\n"), last},
		},
		"words that look like a file's": {
			[]sdk.Content{blocks("look", header, a, body, end, "Content from @b.ts:\nmy words"), last},
			[]sdk.Content{blocks("look", header, "\n"+gone("a.ts"), end, "Content from @b.ts:\nmy words"), last},
		},
		"an image among them": {
			[]sdk.Content{blocks("look", header, a, image, body, end), last},
			[]sdk.Content{blocks("look", header, a, image, body, end), last},
		},
		"an image in another file": {
			[]sdk.Content{blocks("look", header, b, image, body, a, body, end), last},
			[]sdk.Content{blocks("look", header, b, image, body, "\n"+gone("a.ts"), end), last},
		},
		"an image before them": {
			[]sdk.Content{blocks(image, "see\n--- a.ts ---\n", body, "--- End of content ---\n"), last},
			[]sdk.Content{blocks(image, "see\n"+gone("a.ts")+"\n"), last},
		},
		"a blank line behind them": {
			[]sdk.Content{blocks("see\n--- a.ts ---\n", body, "--- End of content ---\n \n"), last},
			[]sdk.Content{blocks("see\n" + gone("a.ts") + "\n \n"), last},
		},
		"a block that says more than its text": {
			[]sdk.Content{blocks("look", header, a, marked, end), last},
			[]sdk.Content{blocks("look", header, a, marked, end), last},
		},
		"never closed": {
			[]sdk.Content{blocks("look", header, a, body), last},
			[]sdk.Content{blocks("look", header, a, body), last},
		},
		"closed twice": {
			[]sdk.Content{blocks("look", header, a, body, end, end), last},
			[]sdk.Content{blocks("look", header, a, body, end, end), last},
		},
		"closed twice, a block that alternates": {
			[]sdk.Content{blocks(header+a+body+end, end), last},
			[]sdk.Content{blocks(header+"\n"+gone("a.ts")+end, end), last},
		},
		"as long as the marker": {
			[]sdk.Content{blocks("look", header, a, strings.Repeat("A", len(gone("a.ts"))+1-len(a)), end), last},
			[]sdk.Content{blocks("look", header, a, strings.Repeat("A", len(gone("a.ts"))+1-len(a)), end), last},
		},
		"shorter than the marker": {
			[]sdk.Content{blocks("look", header, a, "AAA", end), last},
			[]sdk.Content{blocks("look", header, a, "AAA", end), last},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sdktest.Config{Density: &sdk.DensityConfig{FileDedupe: true}}.Optimize(t.Context(), strategy{},
				tt.history)
			// What went from several blocks in a row cannot be told apart by who judges marks.
			if err != nil && name != "both files" {
				t.Error(err)
			}
			for i := range got.History { // where the marks are
				got.History[i].Metadata = nil
			}
			if d := cmp.Diff(tt.want, got.History, cmp.Comparer(sdk.Content.Equal)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
