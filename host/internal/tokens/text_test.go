package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// oracle counts with the library as it comes: its own patterns, nothing cut. It is quadratic.
func oracle(tb testing.TB, encoding string) func(string) int {
	tb.Helper()
	setLoader()
	codec, err := tiktoken.GetEncoding(encoding)
	if err != nil {
		tb.Fatal(err)
	}
	return func(s string) int { return len(codec.EncodeOrdinary(s)) }
}

var setLoader = sync.OnceFunc(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })

// testCounters returns the counters of all encodings; the tests share them, as loading takes a while.
var testCounters = sync.OnceValue(func() map[string]*Counter {
	counters := map[string]*Counter{}
	for _, encoding := range Encodings() {
		counters[encoding], _ = For("", encoding)
	}
	return counters
})

func forEachEncoding(t *testing.T, test func(t *testing.T, c *Counter, exact func(string) int)) {
	for _, encoding := range Encodings() {
		t.Run(encoding, func(t *testing.T) { test(t, testCounters()[encoding], oracle(t, encoding)) })
	}
}

const (
	prose = "It was the third time that week: the build had failed, nobody knew why, and it's always \"fine on my " +
		"machine\". " +
		"We'll see (they said) — 1,250 tests, 37 of them red…\n\n\tWhat now?  Naïve façade, Straße, Ελληνικά, " +
		"Привет!\r\n"
	chinese  = "我们昨天讨论了这个问题，结果发现：缓存没有更新。请检查第１２行的代码，然后重新运行测试！日本語のテキストもあります。한국어도 있습니다.\n"
	someJSON = `{"id":"toolu_01","ok":true,"n":-12.50e3,"path":"/src/a-b/c_d.go","lines":[1,22,333,4444],` +
		`"s":"a\n\tb \"q\" é"}`
)

func ordinaryTexts(tb testing.TB) map[string]string {
	tb.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no source files to count: %v", err)
	}
	var source strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		source.Write(text)
	}
	const more = 300 // enough for several windows
	return map[string]string{
		"prose":  strings.Repeat(prose, more),
		"source": source.String(),
		"JSON":   strings.Repeat(someJSON+",", 2*more),
		"lines":  strings.Repeat(someJSON+"\n", 2*more),
		"CJK":    strings.Repeat(chinese, more),
	}
}

func TestOrdinaryTextIsCountedExactly(t *testing.T) {
	race.Skip(t)
	forEachEncoding(t, func(t *testing.T, c *Counter, exact func(string) int) {
		for name, text := range ordinaryTexts(t) {
			if got, want := c.Text(text), exact(text); got != want {
				t.Errorf("%s, %d bytes: %d tokens, want %d", name, len(text), got, want)
			}
		}
	})
}

func TestKnownCounts(t *testing.T) {
	tests := map[string]struct {
		text string
		want int // in cl100k_base
	}{
		"nothing":                      {"", 0},
		"two words":                    {"hello world", 2},
		"space between two line ends":  {"\n \n", 1},
		"a special string is text":     {"<|endoftext|>", 7},
		"so is one that is cut":        {"<|fim_prefix|> b <|endof", 11},
		"a zero byte":                  {"\x00", 1},
		"half a character is U+FFFD":   {"\xe5", 1},
		"81 spaces":                    {strings.Repeat(" ", 81), 1},
		"digits are grouped by threes": {"1234567", 3},
	}
	c := testCounters()[cl100k]
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := c.Text(test.text); got != test.want {
				t.Errorf("%d tokens, want %d", got, test.want)
			}
		})
	}
}

func TestInvalidBytesCountAsReplacementCharacters(t *testing.T) {
	c := testCounters()[o200k]
	for _, bad := range []string{"a\xffb", "\xc3", strings.Repeat("\xf0\x9f", 3000), "ok \xed\xa0\x80 ok"} {
		if got, want := c.Text(bad), c.Text(string([]rune(bad))); got != want {
			t.Errorf("%.20q: %d tokens, want %d", bad, got, want)
		}
	}
}

// textOf draws texts that are rich in what the patterns tell apart, so that the classes meet in every order.
func textOf(longestRun int) *rapid.Generator[string] {
	runes := []rune("aZéßǅʰ字あ가١٣9½²'sS'tLl!/-_=<|。，€\u0301\u0903\u200d " +
		"\t\n\r\v\f\u0085\u00a0\u2028\u3000\u0000\ufffd😀ſK")
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			r := rapid.OneOf(rapid.SampledFrom(runes), rapid.Rune()).Draw(t, "rune")
			b.WriteString(strings.Repeat(string(r), rapid.IntRange(1, longestRun).Draw(t, "length")))
		}
		return b.String()
	})
}

func TestShortTextIsCountedExactly(t *testing.T) {
	race.Skip(t)
	forEachEncoding(t, func(t *testing.T, c *Counter, exact func(string) int) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.OneOf(rapid.String(), textOf(4)).Draw(t, "text")
			if got, want := c.Text(text), exact(text); got != want {
				t.Fatalf("%d tokens, want %d", got, want)
			}
		})
	})
}

func TestHostileTextIsCountedExactly(t *testing.T) {
	race.Skip(t)
	forEachEncoding(t, func(t *testing.T, c *Counter, exact func(string) int) {
		for _, p := range hostilePatterns() {
			text := p.make(2_000)
			if got, want := c.Text(text), exact(text); got != want {
				t.Errorf("%s, %d bytes: %d tokens, want %d", p.name, len(text), got, want)
			}
		}
	})
}

// Drawn runs are longer than any token, of few characters, so that tokens could be chosen in many ways.
func TestDrawnRunsAreCountedExactly(t *testing.T) {
	race.Skip(t)
	alphabets := []string{"a", "ab", "aAbB", "AあAb", "字的一", "\u0301aA", "\u0301!", "=-*/#_", "─│┌", "/\n!", " \n",
		" \t\n\r", "\u00a0 \n", "'sa", "12٣", "aA'!/\n \t\u0301字s"}
	forEachEncoding(t, func(t *testing.T, c *Counter, exact func(string) int) {
		rapid.Check(t, func(t *rapid.T) {
			runes := []rune(rapid.SampledFrom(alphabets).Draw(t, "alphabet"))
			longest := rapid.SampledFrom([]int{1, 3, 300}).Draw(t, "longest")
			var unit strings.Builder
			for range rapid.IntRange(1, rapid.SampledFrom([]int{6, 60}).Draw(t, "most runs")).Draw(t, "runs") {
				r := rapid.SampledFrom(runes).Draw(t, "rune")
				unit.WriteString(strings.Repeat(string(r), rapid.IntRange(1, longest).Draw(t, "length")))
			}
			text := strings.Repeat(unit.String(), 1000/unit.Len()+1)
			if got, want := c.Text(text), exact(text); got != want {
				t.Fatalf("%d bytes: %d tokens, want %d", len(text), got, want)
			}
		})
	})
}

// Nothing is allocated per piece.
func TestCountingAllocatesNothing(t *testing.T) {
	c := testCounters()[o200k]
	for name, text := range ordinaryTexts(t) {
		c.Text(text)
		if n := testing.AllocsPerRun(10, func() { c.Text(text) }); n > 5 {
			t.Errorf("%s: %v allocations for %d bytes", name, n, len(text))
		}
	}
}

// A long text is counted in parts. They must add up, wherever it is cut.
func TestPartsAddUp(t *testing.T) {
	c := testCounters()[o200k]
	v, err := c.vocabulary.load()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range ordinaryTexts(t) {
		text = strings.Repeat(text, 3*partSize/len(text)+1) + "\xff"
		if parts := cut(text); len(parts) < 2 || strings.Join(parts, "") != text {
			t.Errorf("%s: %d bytes are cut into %d parts", name, len(text), len(parts))
		}
		if want, err := v.count(t.Context(), text, false); err != nil || c.Text(text) != want {
			t.Errorf("%s: %d tokens, want %d, %v", name, c.Text(text), want, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), textOf(4)).Draw(t, "text")
		for _, encoding := range Encodings() {
			c := testCounters()[encoding]
			i := safeCut(text, rapid.IntRange(0, len(text)).Draw(t, "from"))
			if got, want := c.Text(text[:i])+c.Text(text[i:]), c.Text(text); got != want {
				t.Fatalf("%s: cut at %d: %d tokens, want %d", encoding, i, got, want)
			}
		}
	})
}

// A text without a place to cut at is counted in parts as well, whose pieces and tokens must come to be the same.
func TestPartsOfALongTextAddUp(t *testing.T) {
	ctx, patterns := t.Context(), hostilePatterns()
	check := func(t rapid.TB, text string, part int) {
		for _, encoding := range Encodings() {
			v, err := testCounters()[encoding].vocabulary.load()
			if err != nil {
				t.Fatal(err)
			}
			want, err := v.count(ctx, text, false)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := v.countLong(ctx, text, part); err != nil || got != want {
				t.Fatalf("%s: %d bytes of %.9q in parts of %d: %d tokens, want %d, %v",
					encoding, len(text), text, part, got, want, err)
			}
		}
	}
	// Short parts, of which some begin within a token.
	for _, p := range patterns {
		for part := 20; part < 60; part += 4 {
			for length := 695; length < 698; length++ {
				check(t, p.make(length), part)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "patterns") {
			p := patterns[rapid.IntRange(0, len(patterns)-1).Draw(t, "pattern")]
			s := p.make(rapid.IntRange(1, 6000).Draw(t, "length"))
			text.WriteString(s[rapid.IntRange(0, min(len(s), 10)).Draw(t, "from"):])
		}
		check(t, text.String(), rapid.IntRange(20, 3000).Draw(t, "part"))
	})
}

func FuzzText(f *testing.F) {
	for _, p := range hostilePatterns() {
		f.Add(p.make(300))
	}
	f.Add(prose + chinese)
	f.Add("\n \n<|endoftext|>")
	exact := map[string]func(string) int{}
	for _, encoding := range Encodings() {
		exact[encoding] = oracle(f, encoding)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1<<10)] // the library takes quadratic time
		for encoding, c := range testCounters() {
			if got, want := c.Text(text), exact[encoding](text); got != want {
				t.Fatalf("%s: %d tokens, want %d", encoding, got, want)
			}
		}
	})
}
