//go:build thresh_o200k

package tokens_test

import (
	"errors"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// internal/importrules runs it.
func TestWithoutOlderVocabularies(t *testing.T) {
	c, err := tokens.For("gpt-4", "")
	if err != nil || c.Exact() || c.Encoding() != "o200k_base" || c.Text("hello world") != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	t.Setenv("TIKTOKEN_CACHE_DIR", "")
	if _, err := tokens.For("", "cl100k_base"); !errors.Is(err, tokens.ErrNoVocabulary) {
		t.Error(err)
	}
}
