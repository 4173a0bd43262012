package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// open opens a host without plugins.
func open(t testing.TB) *host.Host {
	t.Helper()
	h, err := host.Open(host.Options{Config: settings.Load(t, "", nil), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// lines are the replies to some input.
func lines(t testing.TB, longest int, input string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := serve(t.Context(), open(t), nil, strings.NewReader(input), &out, hclog.NewNullLogger(), longest); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestALineThatIsTooLongIsLeftOut(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	got := lines(t, 1000, long+"\n"+`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}`+"\n"+long)
	want := []string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,` +
			`"message":"a line of more than 1000 bytes: send fewer entries at a time"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"session":"s","revision":0,"tokens":0,"entries":0}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,` +
			`"message":"a line of more than 1000 bytes: send fewer entries at a time"}}`,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
		t.Error(diff)
	}
}

func TestLongLinesThatAreNoRequest(t *testing.T) {
	for of, want := range map[string]string{
		"{": `"id":null,"error":{"code":-32700,"message":"not JSON at byte `,
		"a": `"id":null,"error":{"code":-32700,"message":"not JSON at byte `,
		"[": `"id":null,"error":{"code":-32600,"message":"batches are not supported: send one request a line"`,
	} {
		got := lines(t, maxLine, "\n  \r\n"+strings.Repeat(of, 1<<20)+"\n"+`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		if slices.Sort(got); len(got) != 2 || !strings.Contains(got[1], want) ||
			!strings.Contains(got[0], `"id":1,"result"`) {
			t.Errorf("a megabyte of %s: %.300s", of, got)
		}
	}
}

func TestMoreRequestsThanMayWait(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"session.open","params":{"id":"s"}}` + "\n")
	const n = 3 * maxUnanswered
	for i := range n {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"history.add","params":{"session":"s",`+
			`"entries":[{"speaker":"human","blocks":[{"type":"text","text":"x"}]}]}}`+"\n", i+1)
	}
	got := lines(t, maxLine, in.String())
	if len(got) != n+1 {
		t.Fatalf("%d replies", len(got))
	}
	for i, line := range got { // one session's requests are answered in their order
		var r struct {
			ID     int
			Result struct{ Revision int }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID != i || r.Result.Revision != i {
			t.Fatalf("reply %d: %s", i, line)
		}
	}
}

func TestFailedOpensLeaveNoQueue(t *testing.T) {
	var out bytes.Buffer
	s := &server{ctx: t.Context(), service: service.New(open(t)), out: &out, queues: queues{byID: map[string]*queue{}},
		slots: make(chan struct{}, maxUnanswered)}
	for i := range 100 {
		s.handle(jsonrpc.Line{Text: fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s%d","settings":{"nosuch":1}}}`, i)})
	}
	s.work.Wait()
	for {
		s.queues.mu.Lock()
		left := len(s.queues.byID)
		s.queues.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%d queues are left", left)
		default:
		}
	}
}

func TestSessionsThatAreLeftOpenAreClosed(t *testing.T) {
	h := open(t)
	for range 2 { // the second time, the id is free again
		var out bytes.Buffer
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}`)
		if err := Serve(t.Context(), h, nil, in, &out, hclog.NewNullLogger()); err != nil ||
			!strings.Contains(out.String(), `"result"`) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}

type failing struct{ after int }

var errGone = errors.New("stream closed")

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errGone
	}
	return len(p), nil
}

func TestAWriteThatFailsEndsServe(t *testing.T) {
	in, feed := io.Pipe() // it never ends
	defer feed.Close()
	go fmt.Fprint(feed, strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"nosuch"}`+"\n", 3))
	if err := Serve(t.Context(), open(t), nil, in, &failing{after: 1}, hclog.NewNullLogger()); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

func TestAReadThatFailsIsSaid(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session.open"}`+"\n"), broken{})
	var out bytes.Buffer
	if err := Serve(t.Context(), open(t), nil, in, &out, hclog.NewNullLogger()); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(out.String(), `"result"`) {
		t.Errorf("what was read before is answered: %s", out.String())
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errGone }

func TestTheKindOfAFailure(t *testing.T) {
	_, setting := open(t).Open(t.Context(), api.OpenRequest{Settings: map[string]any{"nosuch": 1}})
	for want, err := range map[api.Kind]error{
		"overflow": fmt.Errorf("x: %w", &api.Error{Kind: api.KindOverflow, MissingTokens: 3, Plugin: "s",
			Err: errors.New("y")}),
		"setting":  setting,
		"plugin":   &api.Error{Kind: api.KindPlugin, Plugin: "s", Retryable: true, Err: errors.New("y")},
		"internal": errors.New("x"),
	} {
		got := failure(nil, err)
		data := got.Data.(*api.Error)
		if got.Code != jsonrpc.CodeFailed || data.Kind != want || got.Message != err.Error() {
			t.Errorf("%s: %+v %+v", want, got, data)
		}
		if retryable := want == "plugin"; data.Retryable != retryable {
			t.Errorf("%s: retryable %v", want, data.Retryable)
		}
		if want == "overflow" && (data.MissingTokens != 3 || data.Plugin != "s") {
			t.Errorf("%s: %+v", want, data)
		}
	}
}

// FuzzServe feeds any bytes: each reply is one line of JSON, and Serve ends well.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"history.add","params":{"session":"s","entries":[{"speaker":"human",` +
		`"blocks":[{"type":"text","text":"x"}]}]}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"window.prepare","params":{"session":"s"}}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"session.close","params":{"session":"s"}}`))
	f.Add([]byte("[]\n{}\nnull\n\"\"\n{\"id\":[]}\n{\"jsonrpc\":\"2.0\",\"method\":\"\"}"))
	h := open(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		if err := serve(t.Context(), h, nil, bytes.NewReader(input), &out, hclog.NewNullLogger(), 1<<20); err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
			if len(line) > 0 && !json.Valid(line) {
				t.Fatalf("not JSON: %q", line)
			}
		}
	})
}
