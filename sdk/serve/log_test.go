package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLogLinesAreWhatGoPluginReads(t *testing.T) {
	tests := map[string]struct {
		log  func(*slog.Logger)
		want map[string]any
	}{
		"attributes": {func(l *slog.Logger) {
			l.Warn("careful", "n", 3, "wait", 2*time.Second, "err", errors.New("oops"), "list", []string{"a"})
		}, map[string]any{"@level": "warn", "@message": "careful", "n": 3.0, "wait": "2s", "err": "oops",
			"list": []any{"a"}}},
		"groups become prefixes": {func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Info("x", slog.Group("h", "c", 3), slog.Group("", "d", 4))
		}, map[string]any{"@level": "info", "@message": "x", "a": 1.0, "g.b": 2.0, "g.h.c": 3.0, "g.d": 4.0}},
		"names of ours are not taken": {func(l *slog.Logger) { l.Error("x", "@message", 1, "@level", 2) },
			map[string]any{"@level": "error", "@message": "x", "_@message": 1.0, "_@level": 2.0}},
		"what JSON cannot say is text": {func(l *slog.Logger) { l.Info("x", "c", make(chan int)) },
			map[string]any{"@level": "info", "@message": "x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tt.log(slog.New(newLogHandler(&out)))
			if strings.Count(out.String(), "\n") != 1 {
				t.Fatalf("not one line: %q", out.String())
			}
			var got map[string]any
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if _, err := time.Parse(logTime, got["@timestamp"].(string)); err != nil {
				t.Error(err)
			}
			delete(got, "@timestamp")
			if name == "what JSON cannot say is text" {
				if s, _ := got["c"].(string); !strings.HasPrefix(s, "0x") {
					t.Errorf("c is %v", got["c"])
				}
				delete(got, "c")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogLinesStayBelowWhatAHostReadsAtOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newLogHandler(&out))
	long := strings.Repeat("\x01", 1<<20) // six bytes each in JSON
	args := []any{}
	for range 100 {
		args = append(args, "k", long, strings.Repeat("key", 1<<12), 1)
	}
	log.Info(long, args...)
	log.Info("many", "numbers", make([]int, 1<<20))
	for line := range strings.Lines(out.String()) {
		if len(line) > 64<<10 || !json.Valid([]byte(line)) {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestLogLevel(t *testing.T) {
	for name, want := range map[string]string{
		"trace": "trace debug info warn error", "debug": "debug info warn error", "info": "info warn error",
		"warn": "warn error", "error": "error", "": "info warn error", "loud": "info warn error",
	} {
		var out bytes.Buffer
		h := newLogHandler(&out)
		h.out.level.Set(levelOf(name))
		for _, l := range []slog.Level{slog.LevelDebug - 4, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn,
			slog.LevelError} {
			slog.New(h).Log(t.Context(), l, "x")
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			var fields map[string]string
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			got = append(got, fields["@level"])
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("level %q:\n%s", name, diff)
		}
	}
}
