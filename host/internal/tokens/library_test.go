package tokens

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

func TestAnOlderEncodingIsCountedFromItsFile(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	t.Setenv("TIKTOKEN_CACHE_DIR", dir)
	for _, f := range files {
		text, err := assets.Assets.ReadFile(f.encoding + ".tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name()), text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := For("gpt-5", f.encoding)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := For("", f.encoding); err != nil || again.vocabulary != c.vocabulary || !c.Exact() {
			t.Errorf("%s: a vocabulary of its own, or %v; exact: %v", f.encoding, err, c.Exact())
		}
		exact := oracle(t, f.encoding)
		texts := ordinaryTexts(t)
		texts["invalid"] = strings.Repeat("\xf0\x9f ok ", most)
		for name, text := range texts {
			text = text[:min(len(text), 10*most)]
			if got, want := c.Text(text), exact(text); got != want {
				t.Errorf("%s, %s, %d bytes: %d tokens, want %d", f.encoding, name, len(text), got, want)
			}
		}
		for _, p := range hostilePatterns() {
			text := p.make(3 * most)
			if got, want := c.Text(text), exact(text); max(got-want, want-got) > 2*len(text)/most {
				t.Errorf("%s, %s: %d tokens, want about %d", f.encoding, p.name, got, want)
			}
		}
	}
}

func TestAVocabularyThatIsNotThereIsAnErrorThatSaysWhereToGetIt(t *testing.T) {
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = noNetwork{t}
	f := file{encoding: "x50k_base"}
	dir := t.TempDir()
	for name, prepare := range map[string]func(){
		"no directory": func() { t.Setenv("TIKTOKEN_CACHE_DIR", " ") },
		"no file":      func() { t.Setenv("TIKTOKEN_CACHE_DIR", dir) },
		"another file": func() {
			if err := os.WriteFile(filepath.Join(dir, f.name()), []byte("IQ== 0\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		prepare()
		err := f.check()
		if !errors.Is(err, ErrNoVocabulary) || !strings.Contains(err.Error(), f.address()) ||
			!strings.Contains(err.Error(), "TIKTOKEN_CACHE_DIR") && !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
