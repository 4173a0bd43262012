package tokens

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

func TestEncodingByModel(t *testing.T) {
	tests := map[string]struct {
		encoding string
		exact    bool
	}{
		"gpt-5":                       {o200k, true},
		"gpt-5.2-codex":               {o200k, true},
		"gpt-4o":                      {o200k, true},
		"gpt-4o-mini-2024-07-18":      {o200k, true},
		"chatgpt-4o-latest":           {o200k, true},
		"gpt-4.1-nano":                {o200k, true},
		"gpt-4.5-preview":             {o200k, true},
		"gpt-oss-120b":                {o200k, true},
		"o1":                          {o200k, true},
		"o3-mini":                     {o200k, true},
		"o4-mini":                     {o200k, true},
		"codex-mini-latest":           {o200k, true},
		"gpt-4":                       {cl100k, true},
		"gpt-4-32k":                   {cl100k, true},
		"gpt-4-turbo-2024-04-09":      {cl100k, true},
		"gpt-3.5-turbo":               {cl100k, true},
		"gpt-35-turbo":                {cl100k, true},
		"text-embedding-3-small":      {cl100k, true},
		"davinci-002":                 {cl100k, true},
		"text-davinci-003":            {cl100k, false}, // p50k_base
		"code-davinci-002":            {cl100k, false},
		"davinci":                     {cl100k, false}, // r50k_base
		"gpt2":                        {cl100k, false},
		"openai/gpt-4":                {cl100k, true},
		"openrouter/openai/gpt-4:x":   {cl100k, true},
		"openai.gpt-oss-120b-1:0":     {o200k, true},
		"ft:gpt-3.5-turbo:acme::id":   {cl100k, true},
		" GPT-4 ":                     {cl100k, true},
		"gpt-4.9":                     {o200k, false}, // unknown
		"gpt-40":                      {o200k, false},
		"o10":                         {o200k, false},
		"claude-sonnet-4-5":           {o200k, false},
		"anthropic/claude-3.5-sonnet": {o200k, false},
		"models/gemini-2.5-pro":       {o200k, false},
		"deepseek-chat":               {o200k, false},
		"qwen3-coder":                 {o200k, false},
		"llama-3.1-70b":               {o200k, false},
		"my-own":                      {o200k, false},
		"/":                           {o200k, false},
		"":                            {o200k, false},
	}
	for model, want := range tests {
		t.Run(model, func(t *testing.T) {
			c, err := For(model, "")
			if err != nil {
				t.Fatal(err)
			}
			if c.Encoding() != want.encoding || c.Exact() != want.exact {
				t.Errorf("%s, exact %v; want %s, exact %v", c.Encoding(), c.Exact(), want.encoding, want.exact)
			}
		})
	}
}

// Where tiktoken-go knows a model, alone or by the beginning of its name, it has the last word.
func TestModelsHaveTheEncodingOfTheLibrary(t *testing.T) {
	want := maps.Clone(tiktoken.MODEL_TO_ENCODING)
	for prefix, encoding := range tiktoken.MODEL_PREFIX_TO_ENCODING {
		want[prefix+"2026-01-01"] = encoding
	}
	for model, encoding := range want {
		old := !slices.Contains(Encodings(), encoding)
		if old {
			encoding = cl100k
		}
		if got, exact := encodingOf(model); got != encoding || exact == old {
			t.Errorf("%s: %s, exact %v; the library has %s", model, got, exact, encoding)
		}
	}
}

func TestAnExplicitEncodingWins(t *testing.T) {
	c, err := For("gpt-4o", "cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	if c.Encoding() != cl100k || !c.Exact() {
		t.Errorf("%s, exact %v", c.Encoding(), c.Exact())
	}
}

func TestAnUnknownEncodingIsAnErrorThatNamesTheKnown(t *testing.T) {
	c, err := For("gpt-4o", "o200k")
	if c != nil || !errors.Is(err, ErrUnknownEncoding) {
		t.Fatalf("counter %v, error %v", c, err)
	}
	for _, part := range append(Encodings(), "p50k_base", "r50k_base", `"o200k"`) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %s: %v", part, err)
		}
	}
}

func TestCountersShareOneLazilyLoadedVocabulary(t *testing.T) {
	first, _ := For("gpt-4", "")
	second, _ := For("", cl100k)
	if first.vocabulary != second.vocabulary {
		t.Fatal("two counters of one encoding have two vocabularies")
	}
	own := newVocabulary(cl100k) // other tests may have loaded the shared one
	first.vocabulary, second.vocabulary = own, own
	loads, load := 0, first.vocabulary.load
	first.vocabulary.load = sync.OnceValues(func() (*loaded, error) {
		loads++
		return load()
	})
	if n := first.Text(""); n != 0 || loads != 0 {
		t.Fatalf("%d tokens in nothing, %d loads before the first count", n, loads)
	}
	var group sync.WaitGroup
	for _, c := range []*Counter{first, second, first, second} {
		group.Go(func() {
			if n := c.Text("hello world"); n != 2 {
				t.Errorf("%d tokens, want 2", n)
			}
		})
	}
	group.Wait()
	if loads != 1 {
		t.Errorf("%d loads, want 1", loads)
	}
}

type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("a request to %s", r.URL)
	return nil, errors.New("no network in this test")
}

func TestVocabulariesArePartOfTheProgram(t *testing.T) {
	// The library would look here, and then fetch over this.
	cache := t.TempDir()
	t.Setenv("TIKTOKEN_CACHE_DIR", cache)
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = noNetwork{t}

	for _, encoding := range Encodings() {
		c, err := For("", encoding)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Load(); err != nil {
			t.Errorf("%s: %v", encoding, err)
		}
	}
	if files, err := os.ReadDir(cache); err != nil || len(files) > 0 {
		t.Errorf("files in the library's cache: %v, %v", files, err)
	}
}

// The compiled vocabularies are what the library's own loader has, and what "make generate" writes today.
func TestVocabulariesAreCurrent(t *testing.T) {
	race.Skip(t)
	for _, encoding := range Encodings() {
		t.Run(encoding, func(t *testing.T) {
			ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(encoding + ".tiktoken")
			if err != nil {
				t.Fatal(err)
			}
			v, err := load(encoding)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(v.table.Ranks(), ranks) {
				t.Error("the tokens differ from the library's: run make generate")
			}
			if testing.Short() {
				return // compiling takes seconds
			}
			want, err := bpe.Compile(ranks)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(filepath.Join("vocabulary", encoding+".bpe"))
			if err != nil || !bytes.Equal(file, want) {
				t.Errorf("the file is not current: run make generate (%v)", err)
			}
		})
	}
}

func TestABrokenBuildIsAnErrorOfLoad(t *testing.T) {
	c := &Counter{vocabulary: newVocabulary("no_such_base")}
	if err := c.Load(); err == nil || !strings.Contains(err.Error(), "no_such_base") {
		t.Fatalf("error %v", err)
	}
	if _, err := c.CountAll(t.Context(), manyEntries(1), nil); err == nil {
		t.Error("CountAll counted with a vocabulary that is not there")
	}
}
