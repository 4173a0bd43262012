package metrics_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// open opens a host that is measured and knows nothing of the machine.
func open(t *testing.T, set map[string]any) (*window.Host, sdkmetric.Reader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	h, err := window.Open(window.Options{
		Config: settings.Load(t, pluginDir, set), Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard}),
		Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, reader
}

func says(speaker content.Speaker, blocks ...content.Block) content.Content {
	return content.Content{Speaker: speaker, Blocks: blocks}
}

// telling is a conversation that holds the secret wherever one can.
func telling() []content.Content {
	entries := []content.Content{
		says(content.Human, content.Text{Text: "the password is " + secret}),
		says(content.AI, content.ToolCall{ID: secret, Name: secret, Parameters: []byte(`{"path":"/` + secret + `"}`)}),
		says(content.Tool, content.ToolResponse{CallID: secret, ToolName: secret, Result: []byte(`"` + secret + `"`)}),
		says(content.Tool, content.ToolResponse{CallID: "orphan-" + secret, ToolName: secret, Result: []byte(`"x"`)}),
	}
	for i := range 60 {
		entries = append(entries, says(content.Human, content.Text{Text: fmt.Sprint(secret, i)}),
			says(content.AI, content.Text{Text: strings.Repeat(secret+" is a long answer, ", 100)}))
	}
	return entries
}

// TestNoSecretIsMeasured runs sessions that hold a secret in all that people, agents, models and plugins say, and in
// settings that only name things; they end well and badly.
func TestNoSecretIsMeasured(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{
		Text: "<state_snapshot>\n<overall_goal>\n" + secret + "\n</overall_goal>\n</state_snapshot>"})})
	h, reader := open(t, map[string]any{
		"transcript.dir": filepath.Join(t.TempDir(), secret), "workspace.root": "/" + secret, "model.name": secret,
		"plugins.isolation":             "off",
		"profiles.writer.provider.kind": "openai", "profiles.writer.provider.model": "writer-1",
		"profiles.writer.provider.baseURL": server.URL, "profiles.writer.provider.retries": 0,
	})
	for name, c := range map[string]struct {
		settings map[string]any
		fails    int // of two turns
	}{
		"pruned": {settings: map[string]any{"compression.strategy": "high-density"}},
		"summarised": {settings: map[string]any{"compression.strategy": "one-shot", "compression.profile": "writer",
			"model.contextLimit": 20_000}},
		"a no-op": {settings: map[string]any{"compression.strategy": "gate", "compression.threshold": 0.01}},
		"too large": {settings: map[string]any{"compression.strategy": "gate", "model.contextLimit": 10,
			"compression.hardLimit": "error"}, fails: 2},
		"no model": {settings: map[string]any{"compression.strategy": "one-shot"}, fails: 1},
	} {
		s, err := h.Open(window.Opening{Key: store.Key{ID: secret + " " + name}, Settings: c.settings})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(t.Context(), window.Addition{Entries: telling(), Judge: window.Anything}); err != nil {
			t.Fatal(err)
		}
		ready, err := s.Prepare(t.Context(), window.Sending{})
		if (err != nil) != (c.fails > 0) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.ReportUsage(t.Context(), ready.Tokens, 0); err != nil {
			t.Error(err)
		}
		if _, err := s.Prepare(t.Context(), window.Sending{Pending: 7}); (err != nil) != (c.fails > 1) {
			t.Errorf("%s, again: %v", name, err)
		}
	}
	// A name that is refused is measured nowhere.
	if _, err := h.Open(window.Opening{Settings: map[string]any{"compression.strategy": secret}}); err == nil {
		t.Error("a session with an unknown strategy was opened")
	}
	got := collect(t, reader)
	for _, want := range []string{
		"thresh.sessions{} 5",
		"thresh.turns{outcome=ok,strategy=high-density} 2",
		"thresh.turns{outcome=ok,strategy=one-shot} 3",
		"thresh.turns{outcome=overflow,strategy=gate} 2",
		"thresh.turns{outcome=error,strategy=one-shot} 1",
		"thresh.plugin.state{state=ready,strategy=one-shot} 1",
		"thresh.compress.runs{result=applied,strategy=one-shot,trigger=hard-limit} ",
		"thresh.compress.runs{reason=other,result=noop,strategy=gate",
		"thresh.llm.calls{model=writer-1,profile=writer} ",
	} {
		if len(got.of(want)) == 0 {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got.String(), secret) {
		t.Errorf("it tells the secret:\n%s", got)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if after := collect(t, reader); len(after.of("thresh.sessions")) > 0 ||
		!after["thresh.turns{outcome=ok,strategy=one-shot} 3"] {
		t.Errorf("after Close:\n%s", after)
	}
}
