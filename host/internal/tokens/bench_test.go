package tokens

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Time in proportion to size shows as the same MB/s for each size.
func BenchmarkText(b *testing.B) {
	c := testCounters()[o200k]
	for _, p := range hostilePatterns() {
		for _, kB := range []int{256, 512, 1024} {
			benchmarkText(b, c, fmt.Sprintf("%s/%dkB", p.name, kB), p.make(kB<<10))
		}
	}
	for name, text := range ordinaryTexts(b) {
		benchmarkText(b, c, name, text)
	}
}

func benchmarkText(b *testing.B, c *Counter, name, text string) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			c.Text(text)
		}
	})
}

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
