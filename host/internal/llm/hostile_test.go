package llm_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) { llm.ReadWords([]byte(text)) },
		append(hostile.Some(`{"error":{"message":{"a":1},"type":[],"code":1e9},"detail":[{"msg":"x"}]}`, 12),
			hostile.JSON...)...)
}
