package body

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
)

// A body has as many values as a conversation of its size may, whatever they are.
func TestValuesOfABody(t *testing.T) {
	for _, tt := range []struct {
		item string
		n    int
		want error
	}{
		{`{"role":"user","content":"."}`, 16_000, nil},
		{`{"role":"user","content":"."}`, 200_000, ErrValues},
		{`{"role":"user","content":"` + strings.Repeat("x", 80) + `"}`, 80_000, nil},
		{`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"."},`, 99) + `{"type":"text","text":"."}]}`,
			1000, ErrValues},
		{`{"role":"user","content":` + strings.Repeat("[", 10) + strings.Repeat("0,", 99_999) + "0" +
			strings.Repeat("]", 10) + `}`, 1, ErrValues},
	} {
		raw := `{"messages":[` + strings.Repeat(tt.item+",", tt.n-1) + tt.item + `]}`
		values := 0
		_, err := IndexWithin(provider.Messages, []byte(raw), func(n int) error { values = n; return nil })
		if !errors.Is(err, tt.want) {
			t.Errorf("%d × %.60s: %v", tt.n, tt.item, err)
		}
		if err == nil && values != 3*tt.n+2 {
			t.Errorf("%d × %.60s: %d values", tt.n, tt.item, values)
		}
	}
}
