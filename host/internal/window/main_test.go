package window_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// pluginDir holds the strategies of the tests: those that are shipped, gate, and one that answers what cannot be
// applied.
var pluginDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "host")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		err = errors.Join(binaries.Strategies(dir), binaries.Plugins(dir, map[string]string{
			"gate": "host/cmd/thresh/testdata/gate", "out-of-bounds": "host/internal/plugins/testdata/faulty",
		}))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pluginDir = dir
		if code := m.Run(); code != 0 {
			return code
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

// open opens a host that knows nothing of the machine, with settings as --set has them.
func open(t testing.TB, set map[string]any) *window.Host {
	t.Helper()
	return openOn(t, nil, set)
}

// openOn is open for a host that keeps its sessions in a store; without one they are gone with it.
func openOn(t testing.TB, kept store.Store, set map[string]any) *window.Host {
	t.Helper()
	return openWith(t, window.Options{Store: kept, Keep: true}, set)
}

// openWith is open with further options.
func openWith(t testing.TB, o window.Options, set map[string]any) *window.Host {
	t.Helper()
	o.Config, o.Logger = settings.Load(t, pluginDir, set), hclog.New(&hclog.LoggerOptions{Output: io.Discard})
	h, err := window.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func begin(t testing.TB, h *window.Host, settings map[string]any) *window.Session {
	t.Helper()
	s, err := h.Open(window.Opening{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *window.Session, entries ...content.Content) {
	t.Helper()
	if _, err := s.Add(t.Context(), window.Entries(entries...)); err != nil {
		t.Fatal(err)
	}
}

func prepareTurn(t testing.TB, s *window.Session) window.Prepared {
	t.Helper()
	p, err := s.Prepare(t.Context(), window.Sending{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failing is a test, or a run of a property.
type failing interface{ Error(...any) }

// owned is the history of a session, ownedAt what it was at a moment.
func owned(t failing, s *window.Session) history.Snapshot { return ownedAt(t, s, nil) }

func ownedAt(t failing, s *window.Session, m *history.Point) history.Snapshot {
	h, err := s.HistoryAt(m)
	if err != nil {
		t.Error(err)
	}
	return h
}

func moment(t testing.TB, s *window.Session) history.Point {
	t.Helper()
	m, err := s.Point()
	if err != nil {
		t.Error(err)
	}
	return m
}

func says(speaker content.Speaker, text string) content.Content {
	return content.Content{Speaker: speaker, Blocks: []content.Block{content.Text{Text: text}}}
}

// texts are the first texts of entries.
func texts(history []content.Content) (out []string) {
	for _, c := range history {
		text, _ := c.Blocks[0].(content.Text)
		out = append(out, text.Text)
	}
	return out
}

// must fails the test unless err is as wanted.
func must(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// longest is the largest recording, in bytes, that is played: one after the other takes minutes.
func longest() int64 { return int64(full.Or(100<<10, 1<<30)) }

// soon is how long a test waits for what takes a moment on an idle machine.
const soon = 20 * time.Second
