package rawjson_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		raw := []byte(text)
		_ = skipAll(raw)
		_, _ = rawjson.Text(raw)
		rawjson.Field(raw, "a")
		_ = rawjson.New(raw).Array(func(int) error { return rawjson.ErrKind })
	}, hostile.JSON...)
}
