package tokens

import (
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// BenchmarkCount compares our counter with tiktoken-go on ordinary text of 1 MB. The library gets less of it, since its
// speed does not depend on the length of ordinary text.
func BenchmarkCount(b *testing.B) {
	for _, encoding := range []string{o200k, cl100k} {
		c, library := testCounters()[encoding], oracle(b, encoding)
		for _, corpus := range corpora(b) {
			b.Run(encoding+"/"+corpus.name+"/thresh", func(b *testing.B) { benchmarkText(b, c.Text, corpus.text) })
			b.Run(encoding+"/"+corpus.name+"/tiktoken-go", func(b *testing.B) {
				benchmarkText(b, library, corpus.text[:100<<10])
			})
		}
	}
}

// BenchmarkShort is BenchmarkCount for texts of a few bytes, to see whether the library is ever the faster one.
func BenchmarkShort(b *testing.B) {
	c, library := testCounters()[o200k], oracle(b, o200k)
	text := corpora(b)[0].text
	for _, size := range []int{4, 16, 64, 256} {
		b.Run(strconv.Itoa(size)+"/thresh", func(b *testing.B) { benchmarkText(b, c.Text, text[:size]) })
		b.Run(strconv.Itoa(size)+"/tiktoken-go", func(b *testing.B) { benchmarkText(b, library, text[:size]) })
	}
}

// BenchmarkHostile counts 1 MB of what makes naive counters quadratic.
func BenchmarkHostile(b *testing.B) {
	for _, encoding := range []string{o200k, cl100k} {
		for _, p := range hostilePatterns() {
			b.Run(encoding+"/"+p.name, func(b *testing.B) {
				benchmarkText(b, testCounters()[encoding].Text,
					p.make(1<<20))
			})
		}
	}
}

func benchmarkText(b *testing.B, count func(string) int, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	count(text[:min(len(text), 100)]) // loads the vocabulary
	for b.Loop() {
		count(text)
	}
}

type corpus struct{ name, text string }

// corpora are texts of 1 MB of the kinds that histories consist of: the code of Go's standard library, its comments as
// prose, and what is drawn from these.
func corpora(tb testing.TB) []corpus {
	tb.Helper()
	const size = 1 << 20
	var code, prose strings.Builder
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src/net/http/*.go"))
	if err != nil || len(files) == 0 {
		tb.Skipf("the standard library's sources are not here: %v", err)
	}
	more, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src/*/*.go"))
	for _, name := range append(files, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		code.Write(text)
		for line := range strings.Lines(string(text)) {
			if comment, ok := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// "); ok {
				prose.WriteString(comment)
			}
		}
		if code.Len() > size && prose.Len() > size {
			break
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(next func() string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(next())
		}
		return b.String()
	}
	words := strings.Fields(prose.String())
	word := func() string { return words[rng.IntN(len(words))] }
	phrases := strings.FieldsFunc(chinese+manyPhrases, func(r rune) bool { return r == '\n' })
	pictures := []rune("😀😅🤔🎉🚀🔥👍🏽✅❌⚠️📦🐛🔧📝💡🧪")
	return []corpus{
		{"prose", prose.String()[:size]},
		{"Go code", code.String()[:size]},
		{"JSON", draw(func() string {
			return fmt.Sprintf(`{"id":"call_%08x","path":"src/%s/%s.go","line":%d,"ok":%t,"text":%q},`,
				rng.Uint32(), word(), word(), rng.IntN(2000), rng.IntN(2) == 0, word()+" "+word()+" "+word())
		})},
		{"log lines", draw(func() string {
			return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.%03dZ INFO [worker-%d] %s %s request=%08x status=%d "+
				"took=%dms\n",
				1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1000), rng.IntN(16), word(), word(),
				rng.Uint32(), 200+rng.IntN(300), rng.IntN(5000))
		})},
		{"CJK", draw(func() string { return phrases[rng.IntN(len(phrases))] })},
		{"emoji", draw(func() string {
			return string(pictures[rng.IntN(len(pictures))]) + string(pictures[rng.IntN(len(pictures))]) + " " +
				word() + " "
		})},
	}
}

const manyPhrases = `今天天气很好，我们一起去公园散步吧。
数据库连接失败，正在重试第三次。
请先运行测试，再提交代码。
这个函数返回一个错误，因为文件不存在。
用户登录后可以查看自己的订单。
設定ファイルを読み込めませんでした。
テストが三件失敗しました。原因を調べてください。
変更を保存してから、もう一度ビルドします。
このメソッドは非同期で実行されます。
파일을 찾을 수 없습니다. 경로를 확인하세요.
서버가 응답하지 않아 연결을 종료합니다.
모든 테스트가 통과했습니다.
缓存命中率下降到百分之六十以下。
线程池已满，任务被拒绝执行。
版本号必须遵循语义化规范。
`

// benchHistory is 5,000 entries of about 900,000 tokens.
func benchHistory() []content.Content { return manyEntries(5_000) }

func BenchmarkLoad(b *testing.B) {
	for _, encoding := range Encodings() {
		b.Run(encoding, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := (&Counter{vocabulary: newVocabulary(encoding)}).Load(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEntry(b *testing.B) {
	c := testCounters()[o200k]
	for i, name := range []string{"text", "call", "response"} {
		b.Run(name, func(b *testing.B) {
			e := benchHistory()[i+3]
			b.ReportAllocs()
			for b.Loop() {
				c.Entry(e)
			}
		})
	}
}

// BenchmarkRecount and BenchmarkThreeEntries are the token work of a turn without and with counts that are kept.
func BenchmarkRecount(b *testing.B) {
	c, entries := testCounters()[o200k], benchHistory()
	total := 0
	for b.Loop() {
		counts, err := c.CountAll(b.Context(), entries, nil)
		if err != nil {
			b.Fatal(err)
		}
		total = 0
		for _, n := range counts {
			total += n
		}
	}
	b.ReportMetric(float64(total), "tokens")
}

func BenchmarkThreeEntries(b *testing.B) {
	c, entries := testCounters()[o200k], benchHistory()[2500:2503]
	total := 0
	for b.Loop() {
		total = 0
		for _, e := range entries {
			total += c.Entry(e)
		}
	}
	b.ReportMetric(float64(total), "tokens")
}
