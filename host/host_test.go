package host_test

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/host"
)

// A program does not obey a file in whatever directory it runs in, unless it says so.
func TestTheProjectsFileIsReadOnRequest(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	if err := os.WriteFile("thresh.yaml", []byte("model: {contextLimit: 12345}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for project, read := range map[string]bool{"": false, ".": true} {
		h, err := host.Open(host.Options{Project: project, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Config().Settings().Model.ContextLimit == 12345; got != read {
			t.Errorf("project %q: read %v, want %v", project, got, read)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
