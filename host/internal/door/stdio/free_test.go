package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/service"
)

func TestMethodsWithoutASession(t *testing.T) {
	for request, want := range map[string]string{
		`"initialize"`: `"limits":{"requestBytes":268435456,"unanswered":512}`,
		`"tokens.count","params":{"entries":[{"speaker":"human","blocks":[{"type":"text","text":"x"}]}]}`: `"each":[`,
		`"tokens.count","params":{"entries":[{"speaker":"human","blocks":[]},7]}`:                         `"entry":1`,
		`"plugins.list"`: `"result":{"plugins":[]}`,
		`"plugins.reset","params":{"name":"gate"}`: `"result":{"reset":false}`,
		`"plugins.reset"`:                          `"code":-32602`,
		`"cancel","params":{"id":7}`:               `"result":{"canceled":false}`,
		`"cancel","params":{"id":[]}`:              `"code":-32602`,
		`"initialize","params":{"x":1}`:            `"code":-32602`,
	} {
		got := lines(t, maxLine, `{"jsonrpc":"2.0","id":1,"method":`+request+`}`)
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	var r struct{ Result struct{ Methods []string } }
	var want []string
	for _, m := range service.At(api.Run) {
		want = append(want, m.Name)
	}
	if err := json.Unmarshal([]byte(lines(t, maxLine, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)[0]),
		&r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Result.Methods); diff != "" {
		t.Error(diff)
	}
}

func TestTheFirstEntryThatIsRefusedIsNamed(t *testing.T) {
	got := lines(t, maxLine, `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}
{"jsonrpc":"2.0","id":2,"method":"history.add","params":{"session":"s","entries":[`+
		`{"speaker":"human","blocks":[{"type":"text","text":"x"}]},{"speaker":"ai","blocks":[]}]}}
{"jsonrpc":"2.0","id":3,"method":"history.get","params":{"session":"s"}}`)
	if !strings.Contains(got[1], `"entry":1`) || !strings.Contains(got[2], `"tokens":0`) {
		t.Errorf("%s", got)
	}
}

// TestCancelReachesItsRequestOnly by the id as it stands in the request: 1 and "1" are two ids.
func TestCancelReachesItsRequestOnly(t *testing.T) {
	s := &server{}
	ctxs := map[string]context.Context{}
	for _, id := range []string{`1`, `"1"`} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s.inProgress.Store(id, cancel)
		ctxs[id] = ctx
	}
	if r, err := s.Cancel(t.Context(), api.CancelRequest{ID: []byte(`"1"`)}); r != (api.CancelAnswer{Canceled: true}) ||
		err != nil {
		t.Errorf("%v, %v", r, err)
	}
	if ctxs["1"].Err() != nil || !errors.Is(context.Cause(ctxs[`"1"`]), errCanceled) {
		t.Error("another request was cancelled")
	}
}
