package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// harmless are changes to a file that must not change what is read of it.
var harmless = map[string]func(string) string{
	"a byte order mark": func(s string) string { return "\ufeff" + s },
	"CRLF":              func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"blank lines":       func(s string) string { return "\n\n" + s + "\n\n" },
}

// damages are changes after which a file is read as what it is, or refused.
var damages = map[string]func(string) string{
	"cut in the middle":      func(s string) string { return s[:len(s)/2] },
	"cut near the end":       func(s string) string { return s[:len(s)-3] },
	"without its beginning":  func(s string) string { return s[len(s)/3:] },
	"twice":                  func(s string) string { return s + "\n" + s },
	"a foreign line behind":  func(s string) string { return s + "\n" + `{"level":"info","msg":"started"}` + "\n" },
	"a foreign line between": func(s string) string { return strings.Replace(s, "\n", "\n{\"level\":\"info\"}\n", 1) },
	"prose behind":           func(s string) string { return s + "\nthat was it\n" },
	"a long line behind":     func(s string) string { return s + "\n" + strings.Repeat("a", 1<<16) },
	"deeply nested": func(s string) string {
		return s + "\n" + strings.Repeat(`{"messages":[`, 1<<12)
	},
	"UTF-16": func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
		return b.String()
	},
}

func TestNoFileIsReadAsAnotherFormat(t *testing.T) {
	for name, sample := range agentSamples {
		for change, make := range harmless {
			tr, err := transcript.Read(strings.NewReader(make(sample.in)), transcript.Options{})
			if err != nil || tr.Format != sample.format || brief(tr) != sample.want {
				t.Errorf("%s, %s: %v", name, change, err)
			}
		}
		for change, make := range damages {
			tr, err := transcript.Read(strings.NewReader(make(sample.in)), transcript.Options{AllowCut: true})
			if err == nil && tr.Format != sample.format {
				t.Errorf("%s, %s: read as %s", name, change, tr.Format)
			}
			plainError(t, fmt.Sprintf("%s, %s", name, change), err)
		}
		for _, f := range transcript.Formats() {
			_, err := transcript.Read(strings.NewReader(sample.in), transcript.Options{From: f.Format, AllowCut: true})
			plainError(t, fmt.Sprintf("%s as %s", name, f.Format), err)
		}
	}
	for name, in := range map[string]string{
		"one letter": strings.Repeat("a", 1<<20), "one letter in a string": `"` + strings.Repeat("a", 1<<20) + `"`,
		"brackets": strings.Repeat("[", 1<<20), "gzip": "\x1f\x8b\x08\x00", "zeros": string(bytes.Repeat([]byte{0}, 1<<20)),
	} {
		_, err := transcript.Read(strings.NewReader(in), transcript.Options{AllowCut: true})
		if err == nil {
			t.Errorf("%s was read", name)
		}
		plainError(t, name, err)
	}
}

// plainError fails unless err, if there is one, says in one short line what was wrong.
func plainError(t *testing.T, what string, err error) {
	t.Helper()
	var e *transcript.Error
	switch {
	case err == nil:
	case !errors.As(err, &e):
		t.Errorf("%s: %T %v", what, err, err)
	case e.Detail == "" || strings.Contains(err.Error(), "\n") || len(err.Error()) > 800:
		t.Errorf("%s: %v", what, err)
	}
}
