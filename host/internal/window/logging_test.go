package window_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"
)

func TestLogRecordsReachSlog(t *testing.T) {
	var out bytes.Buffer
	log := window.FromSlog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})))
	if log.IsDebug() || !log.IsInfo() {
		t.Error("the level is not that of the slog handler")
	}
	log.Debug("too little")
	log.Named("plugins").With("plugin", "p").Warn("slow", "ms", 7)
	got := out.String()
	for _, want := range []string{"level=WARN", "msg=slow", "logger=thresh.plugins", "plugin=p", "ms=7"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "too little") {
		t.Errorf("a debug record was logged: %s", got)
	}
}
